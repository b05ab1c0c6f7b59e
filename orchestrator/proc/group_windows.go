package proc

import (
	"os"
	"syscall"
)

const errTextBusy = syscall.Errno(32) // ERROR_SHARING_VIOLATION

func attributes(s Spec, files []*os.File) *os.ProcAttr {
	env := s.Env
	if env == nil {
		env = []string{} // nil would hand on our own
	}
	sys := &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
	return &os.ProcAttr{Dir: s.Dir, Env: env, Files: files, Sys: sys}
}

// askToEnd: this system has no request that every program understands.
func (c *child) askToEnd() {}

func (c *child) killGroup() { _ = c.process.Kill() }

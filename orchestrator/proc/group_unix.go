//go:build unix

package proc

import (
	"os"
	"syscall"
)

const errTextBusy = syscall.ETXTBSY

func attributes(s Spec, files []*os.File) *os.ProcAttr {
	env := s.Env
	if env == nil {
		env = []string{} // nil would hand on our own
	}
	return &os.ProcAttr{Dir: s.Dir, Env: env, Files: files, Sys: &syscall.SysProcAttr{Setpgid: true}}
}

// askToEnd also wakes a group that was suspended, which would not hear the request otherwise. Errors mean that nobody is left.
func (c *child) askToEnd() {
	_ = syscall.Kill(-c.process.Pid, syscall.SIGTERM)
	_ = syscall.Kill(-c.process.Pid, syscall.SIGCONT)
}

// killGroup names the leader too: it may have joined another group.
func (c *child) killGroup() {
	_ = syscall.Kill(-c.process.Pid, syscall.SIGKILL)
	_ = c.process.Kill()
}

package proc

import (
	"os"
	"syscall"
)

const errTextBusy = syscall.Errno(32) // ERROR_SHARING_VIOLATION

// ownGroup starts a command in a process group of its own.
func ownGroup(*os.File) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// askToEnd: this system has no request that every program understands.
func (c *child) askToEnd() {}

func (c *child) killGroup() { c.killLeader() }

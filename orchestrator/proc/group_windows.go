package proc

import (
	"os"
	"syscall"
)

const errTextBusy = syscall.Errno(32) // ERROR_SHARING_VIOLATION

// newGroupAttr starts a command in a process group of its own.
func newGroupAttr(*os.File) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// terminateGroup does nothing: this system has no request that every program understands.
func (c *child) terminateGroup() {}

func (c *child) killGroup() { c.killLeader() }

package proc

import (
	"os"
	"syscall"
)

const errTextBusy = syscall.ETXTBSY

// newGroupAttr returns the attributes of a command in a process group of its own, and with a
// terminal in a session of its own.
func newGroupAttr(terminal *os.File) *syscall.SysProcAttr {
	if terminal != nil {
		return &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	}
	return &syscall.SysProcAttr{Setpgid: true}
}

// terminateGroup sends SIGTERM to the group, and wakes a suspended one, which would not get the
// signal otherwise. An error means that the group is gone.
func (c *child) terminateGroup() {
	_ = syscall.Kill(-c.pid, syscall.SIGTERM)
	_ = syscall.Kill(-c.pid, syscall.SIGCONT)
}

// killGroup kills the group, and also the leader by its number: the leader may have joined another
// group.
func (c *child) killGroup() {
	_ = syscall.Kill(-c.pid, syscall.SIGKILL)
	c.killLeader()
}

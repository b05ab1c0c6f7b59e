package proc

import (
	"os"
	"syscall"
)

const errTextBusy = syscall.ETXTBSY

// newGroupAttr returns attributes that start a command in a new process group. A command with a
// terminal starts in a new session on that terminal instead.
func newGroupAttr(terminal *os.File) *syscall.SysProcAttr {
	if terminal != nil {
		return &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	}
	return &syscall.SysProcAttr{Setpgid: true}
}

// terminateGroup sends SIGTERM to the group, and then SIGCONT, because a suspended group does not
// act on SIGTERM before it continues. Errors mean that the group is gone.
func (c *child) terminateGroup() {
	_ = syscall.Kill(-c.pid, syscall.SIGTERM)
	_ = syscall.Kill(-c.pid, syscall.SIGCONT)
}

// killGroup kills the group, and then the leader by its process ID, because the leader may have
// joined another group.
func (c *child) killGroup() {
	_ = syscall.Kill(-c.pid, syscall.SIGKILL)
	c.killLeader()
}

//go:build unix

package proc

import (
	"os"
	"syscall"
)

const errTextBusy = syscall.ETXTBSY

// ownGroup starts a command in a process group of its own; with a terminal that is the first of a session, too.
func ownGroup(terminal *os.File) *syscall.SysProcAttr {
	if terminal != nil {
		return &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	}
	return &syscall.SysProcAttr{Setpgid: true}
}

// askToEnd also wakes a group that was suspended, which would not hear the request otherwise. Errors mean that nobody is left.
func (c *child) askToEnd() {
	_ = syscall.Kill(-c.pid, syscall.SIGTERM)
	_ = syscall.Kill(-c.pid, syscall.SIGCONT)
}

// killGroup names the leader too: it may have joined another group.
func (c *child) killGroup() {
	_ = syscall.Kill(-c.pid, syscall.SIGKILL)
	c.killLeader()
}

//go:build unix

package proc

import "syscall"

const errTextBusy = syscall.ETXTBSY

// ownGroup starts a command in a process group of its own.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

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

//go:build unix

package stub

import "syscall"

// detached is a session of its own, where a signal to the agent's group does not reach.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

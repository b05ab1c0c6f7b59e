package runner

import "syscall"

// ownGroup keeps a terminal's Ctrl-C from kanban-run, which the worker asks to end, and has the system ask it when the worker dies.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

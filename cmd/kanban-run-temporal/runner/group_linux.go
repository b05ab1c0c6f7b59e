package runner

import (
	"os"
	"syscall"
)

// ownGroup keeps a terminal's Ctrl-C from kanban-run, which the worker stops itself, and has the
// system send it SIGTERM when the worker dies.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// HideEnvironment keeps other processes of the user, such as agents, from reading this process's
// environment and memory, which hold the keys.
func HideEnvironment() error {
	const setDumpable = 4 // PR_SET_DUMPABLE
	if _, _, errno := syscall.Syscall(syscall.SYS_PRCTL, setDumpable, 0, 0); errno != 0 {
		return os.NewSyscallError("prctl", errno)
	}
	return nil
}

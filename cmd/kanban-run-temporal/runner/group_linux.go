package runner

import (
	"os"
	"syscall"
)

// ownSession returns attributes for a process in a session and a group of its own. The process has
// no terminal to ask a person on, and a terminal's Ctrl-C does not reach it; instead the worker
// stops the process. When the worker dies, the system sends SIGTERM to the process.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
}

// HideEnvironment prevents other processes of the user, such as agents, from reading the
// environment and memory of this process, which hold keys.
func HideEnvironment() error {
	const setDumpable = 4 // PR_SET_DUMPABLE
	if _, _, errno := syscall.Syscall(syscall.SYS_PRCTL, setDumpable, 0, 0); errno != 0 {
		return os.NewSyscallError("prctl", errno)
	}
	return nil
}

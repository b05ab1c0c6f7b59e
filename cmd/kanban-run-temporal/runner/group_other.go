//go:build !linux

package runner

import "syscall"

// ownSession returns attributes for a process in a session and a group of its own. The process has
// no terminal to ask a person on, and a terminal's Ctrl-C does not reach it; instead the worker
// stops the process. A run outlives a killed worker, and ends when it finds that another run has
// gone on with the board.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// HideEnvironment does nothing on this system.
func HideEnvironment() error { return nil }

//go:build !linux

package runner

import "syscall"

// ownGroup returns attributes for a process in a group of its own. A terminal's Ctrl-C does not
// reach the process; instead the worker stops the process. A run outlives a killed worker, and ends
// when it finds that another run has gone on with the board.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// HideEnvironment does nothing on this system.
func HideEnvironment() error { return nil }

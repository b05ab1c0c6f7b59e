//go:build !linux

package runner

import "syscall"

// ownGroup keeps a terminal's Ctrl-C from kanban-run, which the worker stops itself. A run outlives
// a killed worker, and ends when it finds that another one has gone on with its board.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// HideEnvironment does nothing on this system.
func HideEnvironment() error { return nil }

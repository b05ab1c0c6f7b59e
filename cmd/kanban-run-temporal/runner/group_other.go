//go:build !linux

package runner

import "syscall"

// ownGroup keeps a terminal's Ctrl-C from kanban-run, which the worker asks to end. A run outlives
// a worker that is killed, and ends when it finds that another has gone on with its board.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// HideEnvironment does nothing here.
func HideEnvironment() error { return nil }

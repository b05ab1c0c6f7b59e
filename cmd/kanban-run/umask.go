//go:build unix

package main

import "syscall"

// keepOwnRights takes from the file mode creation mask what it would take from the user's own rights. With
// such a mask, a folder of a run, or of an agent, would be one that nobody can enter.
func keepOwnRights() {
	mask := syscall.Umask(0)
	syscall.Umask(mask &^ 0o700)
}

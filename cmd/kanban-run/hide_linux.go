package main

import "golang.org/x/sys/unix"

// hide keeps other programs of the same user out of this process's memory and environment, which hold the secrets that its
// agents do not get, and keeps it from leaving them in a core dump. Agents are not affected: an exec ends it.
func hide() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

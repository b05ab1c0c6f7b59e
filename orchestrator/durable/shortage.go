package durable

import (
	"errors"
	"slices"
	"syscall"
)

// IsMachineFault reports whether a file could not be used because of the machine: it is out of open
// files, memory or space, or its storage does not answer. Such an error does not mean that the file is
// bad, and nobody is to blame for it.
func IsMachineFault(err error) bool {
	var code syscall.Errno
	return errors.As(err, &code) && slices.Contains(machineFaults, code)
}

var machineFaults = []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC, syscall.EDQUOT,
	syscall.EIO, syscall.ESTALE, syscall.ENOTCONN, syscall.ETIMEDOUT, syscall.EHOSTDOWN}

// MachineHint returns what a person can do about an error of the system, or "" for other errors.
func MachineHint(err error) string {
	var code syscall.Errno
	if !errors.As(err, &code) {
		return ""
	}
	for _, h := range machineHints {
		if slices.Contains(h.codes, code) {
			return h.hint + "; the same command goes on"
		}
	}
	return ""
}

var machineHints = []struct {
	codes []syscall.Errno
	hint  string
}{
	{[]syscall.Errno{syscall.ENOSPC, syscall.EDQUOT}, "free some space"},
	{[]syscall.Errno{syscall.EMFILE, syscall.ENFILE}, "allow more open files (ulimit -n), or fewer boards side by side (-j)"},
	{[]syscall.Errno{syscall.ENOMEM}, "free some memory, or work on fewer boards side by side (-j)"},
	{[]syscall.Errno{syscall.EAGAIN}, "allow more processes (ulimit -u, or the limit of the container)"},
	{[]syscall.Errno{syscall.EIO}, "the disk fails, or the server of a network file system: see the log of the system (dmesg), and mend it"},
	{[]syscall.Errno{syscall.EROFS}, "the file system is mounted read-only, as the system does after a fault of the disk (dmesg): mount it for writing"},
	{[]syscall.Errno{syscall.ESTALE}, "the server of the network file system has lost the file: mount it anew"},
	{[]syscall.Errno{syscall.ENOTCONN, syscall.ETIMEDOUT, syscall.EHOSTDOWN}, "the server or the program behind the file system does not answer: mount it anew"},
	{[]syscall.Errno{syscall.EFBIG}, "a file may not grow so large: allow larger ones (ulimit -f)"},
	{[]syscall.Errno{syscall.EACCES, syscall.EPERM}, "it may not be used: look at its owner and mode, and those of the folders above it (ls -ld)"},
	{[]syscall.Errno{syscall.ENOLCK}, "the file system gives no locks, as NFS does without its lock service: mount it with locks, or work on a local disk"},
}

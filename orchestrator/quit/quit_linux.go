// Package quit ends this program by SIGQUIT as SIGQUIT ends other programs, until a run catches the
// signal. Go's own handler, which is there before any package, would print all goroutines instead.
//
// Of the standard library the package imports only syscall. Therefore Go initialises it before
// nearly all other packages, in the first part of a millisecond.
package quit

import (
	"syscall"
	"unsafe"
)

func init() { setAction(&action{}) }

// action is the kernel's struct sigaction, which is shorter on all architectures. Zeros are the default
// action of a signal, and an empty mask.
type action [8]uint64

// Catch makes this process catch SIGQUIT again. The caller has called [os/signal.Notify], which takes
// Go's handler for installed.
func Catch() {
	var a action // Go's handler is the same for all signals
	sigaction(syscall.SIGABRT, nil, &a)
	setAction(&a)
}

func setAction(a *action) { sigaction(syscall.SIGQUIT, a, nil) }

// sigaction cannot fail for these signals.
func sigaction(s syscall.Signal, set, was *action) {
	const maskSize = 8 // in bytes
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(was)), maskSize, 0, 0)
}

package attempt_test

import (
	"fmt"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// resetMarks resets the limits that bear a mark, as what starts containers does.
func resetMarks() {
	for _, resource := range []int{unix.RLIMIT_FSIZE, unix.RLIMIT_LOCKS} {
		all := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
		if err := unix.Prlimit(0, resource, &all, nil); err != nil {
			panic(err)
		}
	}
}

// TestResidentLeavesNothing: what a program has started lives while steps come and go, and ends
// with it, also in a session of its own and as an orphan. Beside it, nothing is left of a step.
func TestResidentLeavesNothing(t *testing.T) {
	for _, kind := range []string{"child", "orphan"} {
		t.Run(kind, func(t *testing.T) {
			r := stay(t)
			var pid, child int
			_, _ = fmt.Sscan(ask(t, r, kind, ""), &pid, &child)
			out := run(t, callOf(t, nil, message{"unmarked", ""}))
			if out.Reply == nil {
				t.Fatalf("Run = %v, want a reply", out.Failure)
			}
			var step, stray int
			_, _ = fmt.Sscan(out.Reply.Message, &step, &stray)
			if stray == 0 || syscall.Kill(stray, 0) == nil {
				t.Errorf("process %d outlived its step because a resident runs", stray)
			}
			if pid == 0 || child == 0 || syscall.Kill(pid, 0) != nil || syscall.Kill(child, 0) != nil {
				t.Fatalf("the program %d or its %s %d was ended with a step", pid, kind, child)
			}
			if err := r.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if syscall.Kill(pid, 0) == nil || syscall.Kill(child, 0) == nil {
				t.Errorf("the program %d or its %s %d lives on", pid, kind, child)
			}
		})
	}
}

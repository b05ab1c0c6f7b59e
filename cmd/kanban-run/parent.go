package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// parentPoll is the time between two looks at the parent process.
const parentPoll = 200 * time.Millisecond

// followParent sends SIGTERM to this process when the process that started it ends, in a CI job. The
// runner of a job signals only the first process of a step, a shell for example, and agents would
// work on beside the steps after it. A process for which SIGINT or SIGHUP was ignored at its start is
// to outlive its shell, as with & and nohup. The function stop ends the looks.
func (j *job) followParent() (stop func()) {
	if j == nil || signal.Ignored(os.Interrupt) || signal.Ignored(syscall.SIGHUP) {
		return func() {}
	}
	parent, done := os.Getppid(), make(chan struct{})
	go func() {
		looks := time.NewTicker(parentPoll)
		defer looks.Stop()
		for {
			select {
			case <-looks.C:
				if os.Getppid() != parent {
					_ = syscall.Kill(os.Getpid(), syscall.SIGTERM) // this process is there
					return
				}
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

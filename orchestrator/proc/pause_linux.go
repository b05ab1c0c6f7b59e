package proc

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stopSelf stops this process until it is continued.
func stopSelf() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
	<-continued
}

// watchTerminal pauses the run when the user presses Ctrl-Z, and looks at the clock, for [Frozen].
// It also continues a guardian that was stopped alone, perhaps by an agent, because otherwise the
// shell would consider the job stopped.
func (l *Link) watchTerminal() {
	asked := make(chan os.Signal, 1)
	if !signal.Ignored(syscall.SIGTSTP) {
		signal.Notify(asked, syscall.SIGTSTP)
	}
	look := time.NewTicker(lookTime)
	defer look.Stop()
	halted := false
	for {
		select {
		case <-asked:
			pause()
			for len(asked) > 0 { // drop repetitions, because the guardian also sends SIGTSTP
				<-asked
			}
			halted = false
		case <-look.C:
			paused.look(time.Now())
			halted = l.resumeGuardian(halted)
		case <-l.lost:
			return
		}
	}
}

// resumeGuardian checks the guardian once, and reports whether it is stopped. The argument "before"
// is the result of the previous check. resumeGuardian continues the guardian only if both checks
// found it stopped. A single check is not enough: a terminal may stop the guardian shortly before
// this process, and the check may happen in between.
func (l *Link) resumeGuardian(before bool) (halted bool) {
	guardian := os.Getppid()
	s, ok := readStat(guardian)
	if ok && s.halted && before {
		_ = unix.Kill(guardian, unix.SIGCONT)
	}
	return ok && s.halted
}

// pause stops all commands and then this process. Once this process is continued, pause continues
// the commands.
func pause() {
	paused.begin(time.Now())
	signalCommands(unix.SIGSTOP)
	stopSelf()
	signalCommands(unix.SIGCONT)
	paused.end(time.Now())
}

// signalCommands signals all processes that this process has started. The second round finds
// processes that were started during the first.
func signalCommands(s unix.Signal) {
	for range 2 {
		children, _ := listChildren(os.Getpid())
		for _, child := range children {
			if of, ok := readStat(child); !ok || subreaper.isForeign(child, of) {
				continue
			}
			for _, pid := range appendDescendants(nil, child) {
				_ = unix.Kill(pid, s)
			}
		}
	}
}

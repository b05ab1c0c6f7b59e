package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"kanban-run/orchestrator/failpoint"
)

// Guards says whether this system has a guardian.
const Guards = true

const (
	// strangersPause is how often the guardian looks what its strangers have started. Most runs have none.
	strangersPause = 100 * time.Millisecond
	// stoppedTime is how long a runner may be stopped: as long as this process, which a terminal stops too, needs to be stopped.
	stoppedTime = 100 * time.Millisecond
	// patienceTime is how long a runner may take to end at once: longer than it tries to kill what will not die.
	patienceTime = 2 * sweepTime
	// oneRequest is the time within which several signals are one request, as the runner sees it.
	oneRequest = 300 * time.Millisecond
	// signalTime is how much later than the runner the guardian may hear of a signal to both.
	signalTime = 100 * time.Millisecond
)

// guardian is owned by the goroutine of Guard. What the runner says is the listening goroutine's until the runner has ended.
type guardian struct {
	wire   *wire
	runner int
	fate   Fate
	files  map[uint32]*os.File // that are held, by the name that the runner gave them
	first  time.Time           // of the first request to end
}

// Guard is a guardian's whole life. It starts this very program again, as "ARGV0 guarded-runner ARGS...", with the same
// standard files and environment and in the same group, and returns when the runner has ended and nothing is left of what it
// started. Children that this process had before, and what they start, are not touched. It takes SIGINT, SIGTERM, SIGHUP,
// SIGQUIT and SIGPIPE for as long as the process lives, and prints nothing.
//
// Errors: the runner could not be started, or *LeftoverError. The fate counts in both cases.
func Guard(args []string) (Fate, error) {
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, append(requests(), syscall.SIGPIPE, syscall.SIGCHLD)...)
	g := &guardian{fate: Fate{Code: -1}, files: map[uint32]*os.File{}}
	if err := Adopt(); err != nil {
		return g.fate, err
	}
	if err := g.start(args, signals); err != nil {
		return g.fate, fmt.Errorf("start the runner: %w", err)
	}
	failpoint.At("runner-started")
	err := g.attend(signals)
	failpoint.At("runner-gone")
	err = errors.Join(err, household.endAll())
	g.letGo()
	g.drain(signals)
	return g.fate, err
}

// start waits while the system has no process to give, but not after it was asked to end.
func (g *guardian) start(args []string, signals <-chan os.Signal) error {
	ours, theirs, err := newWires()
	if err != nil {
		return err
	}
	defer theirs.Close()
	asked, cancel := context.WithCancel(context.Background())
	defer cancel()
	started := make(chan error)
	go func() { started <- patiently(asked, func() error { return g.startOnce(args, theirs) }) }()
	g.wire = ours
	for {
		select {
		case err := <-started:
			if err != nil {
				ours.close()
			}
			return err
		case s := <-signals:
			g.take(s)
			if g.fate.Asked != 0 {
				cancel()
			}
		}
	}
}

// startOnce goes by /proc/self/exe, which is this program also after somebody has put another in its place.
func (g *guardian) startOnce(args []string, link *os.File) error {
	argv := append([]string{os.Args[0], RunnerCommand}, args...)
	files := []uintptr{os.Stdin.Fd(), os.Stdout.Fd(), os.Stderr.Fd(), linkFD: link.Fd()}
	runner, err := household.start("/proc/self/exe", argv, &syscall.ProcAttr{Env: os.Environ(), Files: files})
	g.runner = runner
	return err
}

// attend returns when the runner was reaped and all that it said was heard.
func (g *guardian) attend(signals <-chan os.Signal) error {
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		g.listen()
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		await(g.runner)
	}()
	due, stop := household.watch()
	defer stop()
	var late <-chan time.Time
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGCHLD {
				time.AfterFunc(stoppedTime, g.wake)
			}
			if urgent := g.urgent(s, time.Now()); urgent && late == nil {
				late = time.After(patienceTime)
			}
			g.take(s)
		case <-late:
			_ = unix.Kill(g.runner, unix.SIGKILL) // it hangs; it is not reaped before judge
		case <-due:
			household.look()
		case <-ended:
			g.wire.end()
			<-heard
			return g.judge()
		}
	}
}

// urgent says whether the runner has to end at once: SIGQUIT says so, and whoever asks a second time. Several signals of one moment
// are one request.
func (g *guardian) urgent(s os.Signal, now time.Time) bool {
	if s == syscall.SIGPIPE || s == syscall.SIGCHLD {
		return false
	}
	if g.first.IsZero() {
		g.first = now
	}
	return s == syscall.SIGQUIT || now.Sub(g.first) > oneRequest
}

// wake lets a runner go on that somebody stopped, for one its own agent: nobody would watch the agent. When a terminal has
// stopped the whole group this process does not get here before the group goes on.
func (g *guardian) wake() {
	if s, ok := readStat(g.runner); ok && s.halted {
		_ = unix.Kill(g.runner, unix.SIGCONT)
	}
}

// take passes a signal on. A runner that is gone or listens no more cannot be told.
func (g *guardian) take(s os.Signal) {
	if g.note(s) {
		_ = g.wire.send(packet{kind: took, value: uint32(g.fate.Asked)})
	}
}

// note says whether the signal is a request.
func (g *guardian) note(s os.Signal) bool {
	if s == syscall.SIGPIPE || s == syscall.SIGCHLD {
		return false
	}
	g.fate.Asked = s.(syscall.Signal)
	return true
}

// drain takes what came while the rest was ended. A terminal's signal that has ended the runner is on its way to us too.
func (g *guardian) drain(signals <-chan os.Signal) {
	if g.fate.Asked == 0 && slices.Contains(requests(), os.Signal(g.fate.Signal)) {
		select {
		case s := <-signals:
			g.note(s)
		case <-time.After(signalTime):
		}
	}
	for len(signals) > 0 {
		g.note(<-signals)
	}
}

// listen ends when the runner has closed the link, or with the wire's input.
func (g *guardian) listen() {
	for {
		p, err := g.wire.receive()
		if err != nil {
			return
		}
		g.hear(p)
	}
}

func (g *guardian) hear(p packet) {
	switch p.kind {
	case hold:
		answer := packet{kind: done, value: p.value}
		if g.files[p.value] = p.file; p.file == nil {
			answer.kind = not
		}
		_ = g.wire.deliver(answer)
	case drop:
		_ = g.files[p.value].Close()
		delete(g.files, p.value)
		_ = g.wire.deliver(packet{kind: done, value: p.value})
	case code:
		g.fate.Told, g.fate.Code = true, int(int32(p.value))
	}
}

// judge reaps the runner and says how it ended. Its own word on its exit code counts more than the system's.
func (g *guardian) judge() error {
	status, err := household.reap(g.runner)
	if err != nil {
		return fmt.Errorf("wait for the runner: %w", err)
	}
	if !g.fate.Told {
		g.fate.Code = status.ExitStatus()
	}
	if status.Signaled() {
		g.fate.Signal = status.Signal()
	}
	return nil
}

// letGo frees what was held.
func (g *guardian) letGo() {
	for _, f := range g.files {
		_ = f.Close()
	}
	g.wire.close()
}

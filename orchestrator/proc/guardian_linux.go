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
	"kanban-run/orchestrator/quit"
)

// Guards reports whether this system has a guardian.
const Guards = true

const (
	// foreignScanPause is the time between two scans for descendants of foreign processes, which
	// most runs do not have.
	foreignScanPause = 100 * time.Millisecond
	// stoppedTime is the time for which the guardian waits before it continues a stopped runner. If
	// a terminal stops the whole group, it stops the guardian within this time, too. The guardian
	// then does not continue the runner.
	stoppedTime = 100 * time.Millisecond
	// patienceTime is how long the guardian waits for a runner that has to end at once. Then it
	// kills the runner and all remaining processes.
	patienceTime = 5 * time.Second
	// oneRequest is the time within which several signals count as one request to end. The runner
	// uses the same time.
	oneRequest = 300 * time.Millisecond
	// signalTime is the longest time for which the guardian waits for a terminal's signal that has
	// ended the runner. The terminal sends the same signal to the guardian.
	signalTime = 100 * time.Millisecond
)

// guardian is owned by the goroutine of Guard. Until the runner has ended, the fields "files",
// "fate.Told" and "fate.Code" belong to the goroutine of receivePackets instead.
type guardian struct {
	wire         *wire
	runner       int
	fate         Fate
	files        map[uint32]*os.File // the runner's files, by the numbers that it gave them
	firstRequest time.Time           // time of the first request to end; zero if there was none
}

// Guard runs a guardian. It starts this program again, as "ARGV0 guarded-runner ARGS...", with the
// same standard files and environment and in the same group. It returns when the runner and all the
// processes that the runner started have ended. It leaves alone the children that this process had
// before, and their descendants. It catches SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE and SIGTSTP
// until this process ends, and prints nothing.
//
// Errors: *NoProcError, *LeftoverError, or an error of the system, such as one at the start of the
// runner. The fate is valid even with an error.
func Guard(args []string) (Fate, error) {
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, append(endSignals(), syscall.SIGPIPE, syscall.SIGCHLD)...)
	quit.Catch()
	if !signal.Ignored(syscall.SIGTSTP) {
		signal.Notify(signals, syscall.SIGTSTP)
	}
	g := &guardian{fate: Fate{Code: -1}, files: map[uint32]*os.File{}}
	if err := checkProc(); err != nil {
		return g.fate, err
	}
	if err := Adopt(); err != nil {
		return g.fate, err
	}
	if err := g.startRunner(args, signals); err != nil {
		return g.fate, fmt.Errorf("start the runner: %w", err)
	}
	failpoint.At("runner-started")
	err := g.watchRunner(signals)
	failpoint.At("runner-gone")
	err = errors.Join(err, subreaper.killAllOrphans())
	g.releaseFiles()
	g.drainSignals(signals)
	return g.fate, err
}

// startRunner starts the runner. While the system is out of processes it tries again, until a
// signal asks this process to end.
func (g *guardian) startRunner(args []string, signals <-chan os.Signal) error {
	ours, theirs, err := newWires()
	if err != nil {
		return err
	}
	defer theirs.Close()
	asked, cancel := context.WithCancel(context.Background())
	defer cancel()
	started := make(chan error)
	go func() { started <- retryStart(asked, nil, func() error { return g.forkRunner(args, theirs) }) }()
	g.wire = ours
	for {
		select {
		case err := <-started:
			if err != nil {
				ours.close()
			}
			return err
		case s := <-signals:
			g.forward(s)
			if g.fate.Asked != 0 {
				cancel()
			}
		}
	}
}

// forkRunner executes /proc/self/exe, because this path names this program even after its file was
// replaced.
func (g *guardian) forkRunner(args []string, link *os.File) error {
	argv := append([]string{os.Args[0], RunnerCommand}, args...)
	files := []uintptr{os.Stdin.Fd(), os.Stdout.Fd(), os.Stderr.Fd(), linkFD: link.Fd()}
	runner, err := subreaper.start("/proc/self/exe", argv, &syscall.ProcAttr{Env: os.Environ(), Files: files})
	g.runner = runner
	return err
}

// watchRunner forwards signals to the runner. It returns once the packets of the runner are handled
// and the runner is reaped.
func (g *guardian) watchRunner(signals <-chan os.Signal) error {
	received := make(chan struct{})
	go func() {
		defer close(received)
		g.receivePackets()
	}()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		await(g.runner)
	}()
	due, stop := subreaper.scheduleScans()
	defer stop()
	var hung <-chan time.Time
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGTSTP {
				g.pause()
			}
			if s == syscall.SIGCHLD {
				time.AfterFunc(stoppedTime, g.resumeRunner)
			}
			if urgent := g.isUrgent(s, time.Now()); urgent && hung == nil {
				hung = time.After(patienceTime)
			}
			g.forward(s)
		case <-hung:
			_ = unix.Kill(g.runner, unix.SIGKILL) // the runner hangs; reapRunner reaps it
		case <-due:
			subreaper.scanForeign()
		case <-ended:
			g.wire.shutdown()
			<-received
			return g.reapRunner()
		}
	}
}

// pause stops the runner, which in turn stops its commands. Then it stops this process, so that the
// shell sees a stopped job. Once this process is continued, pause continues the runner.
func (g *guardian) pause() {
	_ = unix.Kill(g.runner, unix.SIGTSTP)
	stopSelf()
	_ = unix.Kill(g.runner, unix.SIGCONT)
}

// isUrgent reports whether a signal means that the runner has to end at once. SIGQUIT means this,
// and so does a second request. Several signals within oneRequest are one request.
func (g *guardian) isUrgent(s os.Signal, now time.Time) bool {
	if !isRequest(s) {
		return false
	}
	if g.firstRequest.IsZero() {
		g.firstRequest = now
	}
	return s == syscall.SIGQUIT || now.Sub(g.firstRequest) > oneRequest
}

// resumeRunner continues a stopped runner, because an agent may have stopped it in order to work
// unwatched. If a terminal stopped the whole group, this process is stopped, too, and does not call
// resumeRunner.
func (g *guardian) resumeRunner() {
	if s, ok := readStat(g.runner); ok && s.halted {
		_ = unix.Kill(g.runner, unix.SIGCONT)
	}
}

// forward records a request to end and sends it to the runner. The request is lost if the runner is
// gone or does not read.
func (g *guardian) forward(s os.Signal) {
	if g.record(s) {
		_ = g.wire.trySend(packet{kind: signalTaken, value: uint32(g.fate.Asked)})
	}
}

// isRequest reports whether a signal asks this process to end.
func isRequest(s os.Signal) bool {
	return s != syscall.SIGPIPE && s != syscall.SIGCHLD && s != syscall.SIGTSTP
}

// record stores a signal as the last request to end. It returns false if the signal is no such
// request.
func (g *guardian) record(s os.Signal) bool {
	if !isRequest(s) {
		return false
	}
	g.fate.Asked = s.(syscall.Signal)
	return true
}

// drainSignals records the signals that arrived while the orphans were killed. If a terminal's
// signal has ended the runner, drainSignals first waits for that signal to reach this process, too.
func (g *guardian) drainSignals(signals <-chan os.Signal) {
	if g.fate.Asked == 0 && slices.Contains(endSignals(), os.Signal(g.fate.Signal)) {
		select {
		case s := <-signals:
			g.record(s)
		case <-time.After(signalTime):
		}
	}
	for len(signals) > 0 {
		g.record(<-signals)
	}
}

// receivePackets handles packets until the runner has closed the link or the wire is shut down.
func (g *guardian) receivePackets() {
	for {
		p, err := g.wire.receive()
		if err != nil {
			return
		}
		g.handle(p)
	}
}

func (g *guardian) handle(p packet) {
	switch p.kind {
	case holdFile:
		answer := packet{kind: requestDone, value: p.value}
		if g.files[p.value] = p.file; p.file == nil {
			answer.kind = requestRefused
		}
		_ = g.wire.send(answer)
	case releaseFile:
		_ = g.files[p.value].Close()
		delete(g.files, p.value)
		_ = g.wire.send(packet{kind: requestDone, value: p.value})
	case exitCode:
		g.fate.Told, g.fate.Code = true, int(int32(p.value))
	}
}

// reapRunner reaps the runner and records its end. An exit code from Link.Leave takes precedence
// over the exit status.
func (g *guardian) reapRunner() error {
	status, err := subreaper.reap(g.runner)
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

// releaseFiles closes the runner's locked files, which frees their locks for other processes.
func (g *guardian) releaseFiles() {
	for _, f := range g.files {
		_ = f.Close()
	}
	g.wire.close()
}

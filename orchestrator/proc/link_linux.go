package proc

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"kanban-run/orchestrator/quit"
)

// linkFD is the runner's descriptor of its end of the link.
const linkFD = 3

// Link is the runner's end of its link to the guardian. It lives as long as the runner.
type Link struct {
	wire    *wire
	signals chan os.Signal
	lost    chan struct{}

	mu      sync.Mutex
	next    uint32
	waiting map[uint32]chan bool // channels for the guardian's answers, by number of the request
}

// Join opens the runner's end of the link to the guardian. Afterwards this process discards the
// signals that reach it directly, and gets the guardian's signals over the link. Errors: an error
// of the system, or that the process has no guardian, for instance because a person started it.
func Join() (*Link, error) {
	if err := checkLink(); err != nil {
		return nil, fmt.Errorf("this command is not for people: %w", err)
	}
	unix.CloseOnExec(linkFD)
	// Without this, ps and top would show the name exe, because this process was started as
	// /proc/self/exe.
	_ = os.WriteFile("/proc/self/comm", []byte(filepath.Base(os.Args[0])), 0)
	// If the guardian dies while this process is stopped, the kernel continues this process, so
	// that it notices the loss.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGCONT), 0, 0, 0); err != nil {
		return nil, fmt.Errorf("ask to be woken: %w", err)
	}
	// These signals are received but never read. If this process ignored them instead, all its
	// children would ignore them, too.
	signal.Notify(make(chan os.Signal, 1), endSignals()...)
	quit.Catch()
	l, err := newLink(linkFD)
	if err == nil {
		go l.watchTerminal()
		subreaper.startReaping() // until the runner ends
	}
	return l, err
}

// endSignals returns the signals that ask a program to end, except those that this process has
// ignored since its start. Under nohup, SIGHUP is ignored; in the background of a script, SIGINT
// and SIGQUIT are ignored.
func endSignals() []os.Signal {
	all := []os.Signal{syscall.SIGTERM}
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			all = append(all, s)
		}
	}
	return all
}

// checkLink checks that linkFD is one end of a socket pair that the parent made. If the other end
// is closed, checkLink does not check who made the pair, because the parent may be gone.
func checkLink() error {
	kind, err := unix.GetsockoptInt(linkFD, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return fmt.Errorf("look for the link: %w", err)
	}
	peer, err := unix.GetsockoptUcred(linkFD, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return fmt.Errorf("look who made the link: %w", err)
	}
	if kind != unix.SOCK_SEQPACKET || int(peer.Pid) != os.Getppid() && !isHungUp(linkFD) {
		return errors.New("descriptor 3 is no link to a guardian")
	}
	return nil
}

func isHungUp(fd int32) bool {
	fds := []unix.PollFd{{Fd: fd}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 1 && fds[0].Revents&unix.POLLHUP != 0
}

func newLink(fd int) (*Link, error) {
	w, err := newWire(fd)
	if err != nil {
		return nil, err
	}
	l := &Link{wire: w, signals: make(chan os.Signal, 64), lost: make(chan struct{}), waiting: map[uint32]chan bool{}}
	go l.receivePackets()
	return l, nil
}

// Signals returns a channel of the signals that the guardian received from outside: SIGINT,
// SIGTERM, SIGHUP and SIGQUIT. Each signal arrives once and in order, even if it was sent before
// Join.
func (l *Link) Signals() <-chan os.Signal { return l.signals }

// Lost returns a channel that is closed when the guardian is gone. The runner then has to kill its
// processes and end.
func (l *Link) Lost() <-chan struct{} { return l.lost }

// Hold gives the guardian a duplicate of an open file, usually a locked one, and returns when the
// guardian has it. The guardian closes the duplicate when the function release is called. If the
// runner dies before that, the guardian closes the duplicate once all processes that the runner
// started have ended. To free a lock for certain, the runner must unlock the file, and not only
// close it. Once the guardian is gone, the function release does nothing. Errors: the guardian is
// gone or has no descriptors left.
func (l *Link) Hold(f *os.File) (release func() error, err error) {
	l.mu.Lock()
	l.next++
	name := l.next
	l.mu.Unlock()
	if err := l.request(packet{holdFile, name, f}); err != nil {
		return nil, fmt.Errorf("have the guardian hold %s: %w", f.Name(), err)
	}
	return func() error {
		if err := l.request(packet{releaseFile, name, nil}); err != nil && !errors.Is(err, errLost) {
			return fmt.Errorf("have the guardian release %s: %w", f.Name(), err)
		}
		return nil
	}, nil
}

// Leave tells the guardian the exit code. The runner must end right after this call.
func (l *Link) Leave(status int) error {
	if err := l.wire.trySend(packet{kind: exitCode, value: uint32(int32(status))}); err != nil {
		return fmt.Errorf("tell the guardian the exit code: %w", err)
	}
	return nil
}

var (
	errLost    = errors.New("the guardian is gone")
	errRefused = errors.New("the guardian cannot")
)

// request sends a packet and waits for the answer. Errors: errLost, errRefused.
func (l *Link) request(p packet) error {
	answer := make(chan bool, 1)
	l.mu.Lock()
	l.waiting[p.value] = answer
	l.mu.Unlock()
	if err := l.wire.send(p); err != nil {
		if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
			return errLost
		}
		return err
	}
	select {
	case ok := <-answer:
		if !ok {
			return errRefused
		}
		return nil
	case <-l.lost:
		return errLost
	}
}

// receivePackets delivers the packets of the guardian. When the guardian is gone, it closes the
// channel l.lost.
func (l *Link) receivePackets() {
	defer close(l.lost)
	for {
		p, err := l.wire.receive()
		if err != nil {
			return
		}
		switch p.kind {
		case signalTaken:
			select {
			case l.signals <- syscall.Signal(p.value):
			default: // the signal is dropped, because 64 are still unread
			}
		case requestDone, requestRefused:
			l.answer(p.value, p.kind == requestDone)
		}
	}
}

func (l *Link) answer(name uint32, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if answer := l.waiting[name]; answer != nil {
		answer <- ok
		delete(l.waiting, name)
	}
}

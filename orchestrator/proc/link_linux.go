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
)

// linkFD is the descriptor of the runner that is its end of the link.
const linkFD = 3

// Link is the runner's end of its link to the guardian. It lives as long as the runner.
type Link struct {
	wire    *wire
	signals chan os.Signal
	lost    chan struct{}

	mu      sync.Mutex
	next    uint32
	waiting map[uint32]chan bool // for the guardian's answers
}

// Join takes up the link to the guardian. From now on signals that reach this process itself are discarded: the guardian takes
// them and passes them on. Errors: the process has no guardian, because somebody started it by hand.
func Join() (*Link, error) {
	if err := checkLink(); err != nil {
		return nil, fmt.Errorf("this command is not for people: %w", err)
	}
	unix.CloseOnExec(linkFD)
	// It was started as /proc/self/exe, and ps and top would call it exe.
	_ = os.WriteFile("/proc/self/comm", []byte(filepath.Base(os.Args[0])), 0)
	// A runner that is stopped when its guardian dies goes on, and sees that it is alone.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGCONT), 0, 0, 0); err != nil {
		return nil, fmt.Errorf("ask to be woken: %w", err)
	}
	// Taken and never read. They are not ignored, because ignoring is inherited.
	signal.Notify(make(chan os.Signal, 1), requests()...)
	return newLink(linkFD)
}

// requests are the signals by which people and systems ask a program to end. Who started it with nohup wants no hangups, and a
// shell that started it in the background of a script no signals of the keyboard.
func requests() []os.Signal {
	all := []os.Signal{syscall.SIGTERM}
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			all = append(all, s)
		}
	}
	return all
}

// checkLink looks whether the descriptor is the other end of a socket that the parent made. The parent may be gone already.
func checkLink() error {
	kind, err := unix.GetsockoptInt(linkFD, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return fmt.Errorf("look for the link: %w", err)
	}
	peer, err := unix.GetsockoptUcred(linkFD, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return fmt.Errorf("look who made the link: %w", err)
	}
	if kind != unix.SOCK_SEQPACKET || int(peer.Pid) != os.Getppid() && !hungUp(linkFD) {
		return errors.New("descriptor 3 is no link to a guardian")
	}
	return nil
}

func hungUp(fd int32) bool {
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
	go l.listen()
	return l, nil
}

// Signals gives what the guardian took from outside, SIGINT, SIGTERM, SIGHUP or SIGQUIT, each once and in order. What came
// before Join is among them.
func (l *Link) Signals() <-chan os.Signal { return l.signals }

// Lost is closed when the guardian is gone. The runner is then to kill what it started, and to leave.
func (l *Link) Lost() <-chan struct{} { return l.lost }

// Hold gives the guardian a duplicate of an open file, most likely one that is locked, and returns when the guardian has it.
// It closes it at release, or, if the runner dies, when nothing that the runner started is left. A lock that is to be free
// at release must be unlocked and not only closed by the runner. Once the guardian is gone release has nothing to do.
// Errors: the guardian is gone or has no descriptors left.
func (l *Link) Hold(f *os.File) (release func() error, err error) {
	l.mu.Lock()
	l.next++
	name := l.next
	l.mu.Unlock()
	if err := l.ask(packet{hold, name, f}); err != nil {
		return nil, fmt.Errorf("have the guardian hold %s: %w", f.Name(), err)
	}
	return func() error {
		if err := l.ask(packet{drop, name, nil}); err != nil && !errors.Is(err, errLost) {
			return fmt.Errorf("have the guardian release %s: %w", f.Name(), err)
		}
		return nil
	}, nil
}

// Leave tells the guardian the exit code. It is the runner's last word: it must end now.
func (l *Link) Leave(status int) error {
	if err := l.wire.send(packet{kind: code, value: uint32(int32(status))}); err != nil {
		return fmt.Errorf("tell the guardian the exit code: %w", err)
	}
	return nil
}

var (
	errLost    = errors.New("the guardian is gone")
	errRefused = errors.New("the guardian cannot")
)

// ask sends a request and waits for the answer.
func (l *Link) ask(p packet) error {
	answer := make(chan bool, 1)
	l.mu.Lock()
	l.waiting[p.value] = answer
	l.mu.Unlock()
	if err := l.wire.deliver(p); err != nil {
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

// listen ends with the guardian.
func (l *Link) listen() {
	defer close(l.lost)
	for {
		p, err := l.wire.receive()
		if err != nil {
			return
		}
		switch p.kind {
		case took:
			select {
			case l.signals <- syscall.Signal(p.value):
			default: // nobody reads: 64 requests to end were not enough
			}
		case done, not:
			l.answer(p.value, p.kind == done)
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

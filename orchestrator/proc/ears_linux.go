package proc

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ears wait for all pipes at once, by an epoll of their own, so that a pipe that is silent costs neither a goroutine nor a buffer.
// A pipe that can be moved gets a goroutine for just that.
type ears struct {
	mu    sync.Mutex
	epoll *os.File // nil while there is nothing to wait for
	fd    int
	last  int32
	pipes map[int32]*pipe
}

// ear is what ears know of a pipe; ears.mu guards it.
type ear struct {
	id   int32 // 0: the ears do not have it
	busy bool  // a goroutine moves it
}

// deafPause is the longest between two attempts to move a pipe that the system cannot wait for.
const deafPause = 5 * time.Millisecond

var hearing = &ears{pipes: map[int32]*pipe{}}

// take moves the pipe until it is over or dropped, and closes it.
func (e *ears) take(p *pipe) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.addLocked(p) != nil {
		go attend(p)
	}
}

// attend is what there is without an epoll: for a system that has none to give.
func attend(p *pipe) {
	for pause := time.Microsecond; !p.move() && !p.dropped.Load(); pause = min(2*pause, deafPause) {
		time.Sleep(pause)
	}
	p.close()
}

func (e *ears) addLocked(p *pipe) error {
	if e.epoll == nil {
		if err := e.open(); err != nil {
			return err
		}
	}
	e.last++
	if err := unix.EpollCtl(e.fd, unix.EPOLL_CTL_ADD, p.fd, p.event(e.last)); err != nil {
		e.rest()
		return err
	}
	p.id = e.last
	e.pipes[p.id] = p
	return nil
}

// event is told once and then asked for again: two goroutines must not move one pipe.
func (p *pipe) event(id int32) *unix.EpollEvent {
	event := &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT, Fd: id}
	if p.to == nil {
		event.Events = unix.EPOLLOUT | unix.EPOLLONESHOT
	}
	return event
}

// open starts to listen. The runtime waits for the epoll as it does for any other file.
func (e *ears) open() error {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	if err := unix.SetNonblock(fd, true); err != nil { // so NewFile sees that it can be waited for
		_ = unix.Close(fd)
		return err
	}
	f := os.NewFile(uintptr(fd), "epoll")
	conn, err := f.SyscallConn()
	if err != nil {
		_ = f.Close()
		return err
	}
	e.epoll, e.fd = f, fd
	go e.listen(conn)
	return nil
}

// rest ends listen when there is nothing to hear.
func (e *ears) rest() {
	if len(e.pipes) == 0 {
		_ = e.epoll.Close()
		e.epoll = nil
	}
}

func (e *ears) listen(conn syscall.RawConn) {
	var events [64]unix.EpollEvent
	for {
		var n int
		err := conn.Read(func(fd uintptr) bool {
			var err error
			for n, err = unix.EpollWait(int(fd), events[:], 0); err == unix.EINTR; {
				n, err = unix.EpollWait(int(fd), events[:], 0)
			}
			return n > 0
		})
		if err != nil {
			return
		}
		e.wake(events[:n])
	}
}

func (e *ears) wake(events []unix.EpollEvent) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, event := range events {
		if p := e.pipes[event.Fd]; p != nil {
			p.busy = true
			go e.move(p)
		}
	}
}

func (e *ears) move(p *pipe) {
	over := p.move() || p.dropped.Load()
	e.mu.Lock()
	p.busy = false
	over = over || p.dropped.Load()
	if !over && unix.EpollCtl(e.fd, unix.EPOLL_CTL_MOD, p.fd, p.event(p.id)) == nil {
		e.mu.Unlock()
		return
	}
	e.forget(p)
	e.mu.Unlock()
	if over {
		p.close()
	} else {
		attend(p)
	}
}

// drop has the pipe closed, however much is left; a goroutine that moves it is not interrupted.
func (e *ears) drop(p *pipe) {
	p.dropped.Store(true)
	e.mu.Lock()
	idle := p.id != 0 && !p.busy
	if idle {
		e.forget(p)
	}
	e.mu.Unlock()
	if idle {
		p.close()
	}
}

func (e *ears) forget(p *pipe) {
	_ = unix.EpollCtl(e.fd, unix.EPOLL_CTL_DEL, p.fd, nil)
	delete(e.pipes, p.id)
	p.id = 0
	e.rest()
}

package proc

import (
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// Whoever waits for a leader's end does it in one of two ways. A command of a moment is waited for in place, by a thread that
// sleeps in poll: what it costs to put a goroutine to sleep and wake it again is half of what such a command costs. A command
// that lives longer has no thread and no descriptor: one goroutine looks, at SIGCHLD, which of all leaders have ended.
const (
	// moment is long for a program and short for a person.
	moment = 3 * time.Millisecond
	// maxInPlace is how many commands may have a thread at a time.
	maxInPlace = 1
)

var inPlace = make(chan struct{}, maxInPlace)

// watch sees to it that ended is closed at the leader's end. It returns true when that is so already. One that has all its input
// may end within a moment.
func (c *child) watch(given bool, timeout time.Duration) (ended bool) {
	wait := moment
	if timeout > 0 {
		wait = min(wait, timeout)
	}
	if given && awaitInPlace(c.pid, wait) {
		close(c.ended)
		return true
	}
	household.listenFor(c.pid, c.ended)
	return c.hasEnded()
}

func awaitInPlace(pid int, wait time.Duration) (ended bool) {
	select {
	case inPlace <- struct{}{}:
		defer func() { <-inPlace }()
	default:
		return false
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for deadline := time.Now().Add(wait); ; {
		n, err := unix.Poll(polled, int(max(time.Until(deadline), 0)/time.Millisecond))
		if err != unix.EINTR { // by SIGCHLD
			return n > 0 && hasDied(pid)
		}
	}
}

// hasDied does not reap. It is also true of a number that is nobody's of ours, for which nobody need wait.
func hasDied(pid int) bool {
	var info unix.Siginfo
	err := waitid(unix.P_PID, pid, unix.WNOHANG, &info)
	for err == unix.EINTR {
		err = waitid(unix.P_PID, pid, unix.WNOHANG, &info)
	}
	return info.Signo != 0 || err != nil
}

// listenFor closes the channel at the leader's end, which may have been before.
func (f *family) listenFor(leader int, ended chan<- struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leaders[leader] = ended
	if f.waiters++; f.waiters == 1 {
		f.bell = make(chan os.Signal, 1) // one is enough: it says that there is something to see, not what
		signal.Notify(f.bell, unix.SIGCHLD)
		go f.answer(f.bell)
	}
	if hasDied(leader) {
		f.announce(leader)
	}
}

// answer ends with the last waiter.
func (f *family) answer(bell <-chan os.Signal) {
	for range bell {
		f.mu.Lock()
		f.lookLocked()
		f.mu.Unlock()
	}
}

// lookLocked announces who has ended.
func (f *family) lookLocked() {
	for leader, ended := range f.leaders {
		if ended != nil && hasDied(leader) {
			f.announce(leader)
		}
	}
}

// announce says it once.
func (f *family) announce(leader int) {
	ended := f.leaders[leader]
	if ended == nil {
		return
	}
	close(ended)
	f.leaders[leader] = nil
	if f.waiters--; f.waiters == 0 {
		signal.Stop(f.bell)
		close(f.bell) // after Stop nothing is sent any more
		f.bell = nil
	}
}

package proc

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// strangers are processes below this one that it did not start: another program that became this one did, as in
// `daemon & exec kanban-run`. Their orphans fall to us too.
type strangers struct {
	had   bool // any, at the start; without them there can be none later
	known beings
	// looks are when the last two looks began, in clock ticks since the system's start. One look can miss what moves meanwhile.
	looks [2]uint64
}

// clockTick is the unit of the times in /proc, USER_HZ, on all systems that Go runs on.
const clockTick = 10 * time.Millisecond

// add adds these processes and all below them.
func (s *strangers) add(pids []int) {
	s.looks = [2]uint64{s.looks[1], sinceBoot()}
	for _, top := range pids {
		for _, pid := range descent(nil, top) {
			if of, ok := readStat(pid); ok {
				s.known.add(pid, of)
			}
		}
	}
}

// forget removes those that are gone.
func (s *strangers) forget() {
	for b := range s.known {
		if of, ok := readStat(b.pid); !ok || of.born != b.born {
			delete(s.known, b)
		}
	}
}

func sinceBoot() uint64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &t)
	return uint64(time.Duration(t.Nano()) / clockTick)
}

// watch says when it is time to look, never if there are no strangers.
func (f *family) watch() (due <-chan time.Time, stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.strangers.had {
		return nil, func() {}
	}
	ticker := time.NewTicker(strangersPause)
	return ticker.C, ticker.Stop
}

// look finds what the strangers have started, and reaps those that died. While the runner lives, a reaper itself, every other
// child of ours is a stranger.
func (f *family) look() {
	f.mu.Lock()
	defer f.mu.Unlock()
	var others []int
	below, _ := children(os.Getpid()) // what is missed now is seen the next time
	for _, pid := range below {
		s, ok := readStat(pid)
		if _, leads := f.leaders[pid]; leads || !ok {
			continue
		}
		if s.dead {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
			continue
		}
		others = append(others, pid)
	}
	if !f.leadersLive() {
		return // the runner may have ended before the list was read, and what it left be on it
	}
	f.strangers.forget()
	f.strangers.add(others)
}

// leadersLive is false from some time before their children fall to us.
func (f *family) leadersLive() bool {
	for pid := range f.leaders {
		if living(pid) == 0 {
			return false
		}
	}
	return true
}

// endAll ends everything below this process but the strangers.
func (f *family) endAll() error { return f.end(f.fromRunner) }

// fromRunner says of an orphan that is no known stranger whether it came from the runner. What was started just now without a
// mark could be a stranger's.
func (f *family) fromRunner(pid int) bool {
	if !f.strangers.had {
		return true
	}
	s, ok := readStat(pid)
	return ok && (s.born < f.strangers.looks[0] || foreignMark(pid) ||
		markList(pid) != os.Getenv(markVariable))
}

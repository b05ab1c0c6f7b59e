package proc

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// foreignProcesses are descendants of this process that it did not start. They were started by
// another program, which then became this one by exec, as in `daemon & exec kanban-run`. If they
// leave orphans, these become children of this process, too.
type foreignProcesses struct {
	any   bool // there were some at the start; later no others can appear
	known processSet
	// scans are the starts of the last two scans, in clock ticks since boot. One scan can miss
	// processes that get another parent meanwhile.
	scans [2]uint64
}

// clockTick is the unit of the times in /proc, USER_HZ, on all systems that Go runs on.
const clockTick = 10 * time.Millisecond

// add adds processes and all their descendants.
func (s *foreignProcesses) add(pids []int) {
	s.scans = [2]uint64{s.scans[1], ticksSinceBoot()}
	for _, top := range pids {
		for _, pid := range appendDescendants(nil, top) {
			if of, ok := readStat(pid); ok {
				s.known.add(pid, of)
			}
		}
	}
}

// removeGone forgets the processes that have ended.
func (s *foreignProcesses) removeGone() {
	for b := range s.known {
		if of, ok := readStat(b.pid); !ok || of.born != b.born {
			delete(s.known, b)
		}
	}
}

func ticksSinceBoot() uint64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &t)
	return uint64(time.Duration(t.Nano()) / clockTick)
}

// scheduleScans returns a channel that receives when a scan is due, or nil if there are no foreign
// processes.
func (r *reaper) scheduleScans() (due <-chan time.Time, stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.foreign.any {
		return nil, func() {}
	}
	ticker := time.NewTicker(foreignScanPause)
	return ticker.C, ticker.Stop
}

// scanForeign adds the descendants of the foreign processes, and reaps dead children. The runner is
// itself a reaper, so while it lives every other child of the guardian is foreign.
func (r *reaper) scanForeign() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var others []int
	below, _ := listChildren(os.Getpid()) // the next scan sees the children that this one misses
	for _, pid := range below {
		s, ok := readStat(pid)
		if _, leads := r.leaders[pid]; leads || !ok {
			continue
		}
		if s.dead {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
			continue
		}
		others = append(others, pid)
	}
	if !r.leadersAreAlive() {
		return // the runner may have ended before the list was read, so its orphans may be on it
	}
	r.foreign.removeGone()
	r.foreign.add(others)
}

// leadersAreAlive reports whether no leader is dying. If a leader is dying, it returns false
// already before the children of the leader become orphans.
func (r *reaper) leadersAreAlive() bool {
	for pid := range r.leaders {
		if liveThread(pid) == 0 {
			return false
		}
	}
	return true
}

// killAllOrphans kills all descendants of this process except the foreign ones.
func (r *reaper) killAllOrphans() error { return r.killOrphans(r.isFromRunner) }

// isFromRunner reports whether an orphan that is not known as foreign was left by the runner. It
// returns false for an unmarked orphan that started after the earlier of the last two scans,
// because a foreign process could have left it.
func (r *reaper) isFromRunner(pid int) bool {
	if !r.foreign.any {
		return true
	}
	s, ok := readStat(pid)
	return ok && (s.born < r.foreign.scans[0] || hasForeignMark(pid) ||
		readMarkVariable(pid) != os.Getenv(markVariable))
}

package proc

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// foreignProcesses are descendants of this process that it did not start. They were started by
// another program, which then became this one by exec, as in `daemon & exec kanban-run`. Their
// orphans become children of this process, too.
type foreignProcesses struct {
	any   bool // true if Adopt found foreign processes; all later ones descend from these
	known processSet
	// scans holds the start times of the last two scans, in clock ticks since boot. Two are kept
	// because one scan can miss a process that gets another parent during the scan.
	scans [2]uint64
}

// clockTick is the unit of the times in /proc (USER_HZ). It is the same on all systems that Go runs
// on.
const clockTick = 10 * time.Millisecond

// add adds processes and all their descendants to the known ones.
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

// scanForeign adds the descendants of the foreign processes, and reaps dead children. While the
// runner lives, all children of the guardian except the runner are foreign, because the runner
// adopts its own orphans.
func (r *reaper) scanForeign() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var others []int
	below, _ := listChildren(os.Getpid()) // the next scan sees a child that this scan misses
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
		return // if the runner ended before the list was read, the list may contain its orphans
	}
	r.foreign.removeGone()
	r.foreign.add(others)
}

// leadersAreAlive reports whether all leaders, the children that this process started, are alive. A
// dying leader counts as dead even before its children become orphans.
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

// isFromRunner reports whether the runner left the orphan behind. The caller has excluded the known
// foreign processes. An orphan without a mark counts as the runner's if it started before the last
// two scans. If it started later, a foreign process may have left it.
func (r *reaper) isFromRunner(pid int) bool {
	if !r.foreign.any {
		return true
	}
	s, ok := readStat(pid)
	return ok && (s.born < r.foreign.scans[0] || hasForeignMark(pid) ||
		readMarkVariable(pid) != os.Getenv(markVariable))
}

package proc

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// sweepTime bounds the wait for killed processes. They end in milliseconds, but later if they
	// are in the middle of a system call, or if there are a thousand processes per core.
	sweepTime  = 10 * time.Second
	sweepPause = time.Millisecond
)

// reaper distinguishes three kinds of children of this process. Leaders are those that it started
// itself. Foreign children are those that it had before Adopt. All others are orphans, which
// commands left behind.
type reaper struct {
	fork func(name string, argv []string, attr *syscall.ProcAttr) (pid int, err error)

	mu      sync.Mutex
	adopts  bool
	leaders map[int]struct{}
	stay    map[int]Mark // marks of the leaders with Spec.Stays, by process ID
	foreign foreignProcesses
}

type handle struct {
	mark Mark
}

// subreaper is the only reaper, because the kernel keeps one list of children for the whole
// process.
var subreaper = &reaper{
	fork:    syscall.ForkExec,
	leaders: map[int]struct{}{},
	stay:    map[int]Mark{},
	foreign: foreignProcesses{known: processSet{}},
}

// Adopt makes this process the reaper of its orphaned descendants, so that Run can find and end
// them. Call it before the program starts any process, because from then on every child that Run
// did not start counts as an orphan and is killed. It leaves alone the children from before Adopt:
// another program started them and then became this one by exec. Without Adopt, Run ends only a
// command's process group.
func Adopt() error {
	subreaper.mu.Lock()
	defer subreaper.mu.Unlock()
	if subreaper.adopts {
		return nil
	}
	before, err := listChildren(os.Getpid())
	if err != nil {
		return fmt.Errorf("list the children of this process: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the reaper of orphans: %w", err)
	}
	subreaper.adopts = true
	subreaper.foreign.any = len(before) > 0
	subreaper.foreign.add(before)
	return nil
}

// forkChild starts a command. It holds the lock during the fork, because the limits that are set to
// the mark belong to the whole process. Moreover, a child that is not yet among the leaders could
// be mistaken for an orphan.
func forkChild(s *Spec, files inherited) (*child, error) {
	subreaper.mu.Lock()
	defer subreaper.mu.Unlock()
	mark := s.Mark
	if mark == 0 {
		mark = NewMark()
	}
	defer setMarkLimits(mark)()
	attr := &syscall.ProcAttr{
		Dir:   s.Dir,
		Env:   markEnv(s.Env, mark),
		Files: files.withTerminal(s).withHeld(s).descriptors(),
		Sys:   newSessionAttr(s.Terminal),
	}
	pid, err := subreaper.startLocked(s.Argv[0], s.Argv, attr)
	if err != nil {
		return nil, err
	}
	if s.Stays {
		subreaper.stay[pid] = mark
	}
	return newChild(pid, handle{mark}), nil
}

// descriptors returns the files' descriptors, and makes them blocking.
func (f inherited) descriptors() []uintptr {
	all := make([]uintptr, len(f))
	for i, file := range f {
		all[i] = noDescriptor
		if file != nil {
			all[i] = file.Fd()
		}
	}
	return all
}

// noDescriptor has package syscall close a descriptor in the child.
const noDescriptor = ^uintptr(0)

// start starts a leader without a mark.
func (r *reaper) start(name string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.startLocked(name, argv, attr)
}

// startLocked starts a leader without package os, which would keep a descriptor for each child. The
// reaper knows a leader only by its number, so no signal may be sent to a leader that was reaped.
func (r *reaper) startLocked(name string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	pid, err = r.fork(name, argv, attr)
	if err == nil {
		r.leaders[pid] = struct{}{}
	}
	return pid, err
}

func (r *reaper) isForeign(pid int, of stat) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.foreign.known.has(pid, of)
}

// reap reaps a leader, and forgets it before the lock is released, because another process may get
// the same number at once.
func (r *reaper) reap(leader int) (syscall.WaitStatus, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.leaders, leader)
	delete(r.stay, leader)
	var status unix.WaitStatus
	_, err := unix.Wait4(leader, &status, 0, nil)
	for err == unix.EINTR {
		_, err = unix.Wait4(leader, &status, 0, nil)
	}
	return syscall.WaitStatus(status), err
}

func (c *child) reap() (syscall.WaitStatus, error) { return subreaper.reap(c.pid) }

// killTree kills the leader and all its descendants. Otherwise descendants outside of the leader's
// group would live until the leader has ended, which may take long.
func (c *child) killTree() {
	for _, pid := range appendDescendants(nil, c.pid) {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// sweep ends the orphans of the command.
func (c *child) sweep() error {
	return subreaper.killOrphans(func(pid int) bool { return subreaper.isOrphanOf(pid, c.mark) })
}

// isOrphanOf reports whether an orphan has to end with the command that has the mark. An orphan
// with the mark has to end. An orphan of unknown origin has to end if every running command has
// Spec.Stays. A running command without Spec.Stays keeps the orphan alive, because that command
// could have left the orphan. A command with Spec.Stays does not keep the orphan alive, because the
// orphan would then live as long as that command.
func (r *reaper) isOrphanOf(pid int, mark Mark) bool {
	return hasMark(pid, mark) || r.allStay() && !r.isOfOneThatStays(pid)
}

// allStay reports whether every running command has Spec.Stays.
func (r *reaper) allStay() bool { return len(r.leaders) == len(r.stay) }

func (r *reaper) isOfOneThatStays(pid int) bool {
	for _, mark := range r.stay {
		if hasMark(pid, mark) {
			return true
		}
	}
	return false
}

// killOrphans kills the orphans for which the function claim returns true, with all their
// descendants. A process that one of them starts in the meantime becomes an orphan when its parent
// dies, so killOrphans repeats the search until it finds no more orphans. Errors: *LeftoverError
// after sweepTime.
func (r *reaper) killOrphans(claim func(pid int) bool) error {
	deadline := time.Now().Add(sweepTime)
	for quiet := 0; quiet < 2; {
		left, seen := r.findOrphans(claim)
		switch seen {
		case childless:
			return nil
		case uncertain:
			time.Sleep(sweepPause)
			fallthrough
		case noOrphans:
			// Look twice: a list that is read while processes die may lack a living process.
			quiet++
			continue
		}
		quiet = 0
		for _, pid := range left {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		if time.Now().After(deadline) {
			return &LeftoverError{left}
		}
		time.Sleep(sweepPause)
	}
	return nil
}

// progress is the result of one check of the children.
type progress int

const (
	unfinished progress = iota // an orphan has to end or was just reaped, or the list is incomplete
	uncertain                  // an orphan is unclaimed, perhaps because exec hides its environment
	noOrphans                  // only leaders and foreign processes are left
	childless                  // there are no children
)

// listAdopted lists the children of this process that may be orphans. While a command without
// Spec.Stays runs, listAdopted reads only the list of the first thread. This list has all orphans, because
// the kernel gives an orphan to the first thread that is not ending (find_new_reaper), and Go's
// runtime never ends the first thread. At other times listAdopted reads the lists of all threads.
func (r *reaper) listAdopted() ([]int, error) {
	if r.allStay() || !hasChildrenLists() {
		return listChildren(os.Getpid())
	}
	return listThreadChildren(os.Getpid(), os.Getpid())
}

// findOrphans lists the living orphans for which the function claim returns true, with all their
// descendants, and reaps the dead orphans. It also lists every dying orphan. The function claim
// cannot judge a dying orphan, because its environment is gone, so the caller has to wait for its
// end.
func (r *reaper) findOrphans(claim func(pid int) bool) (alive []int, seen progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.adopts || errors.Is(waitid(unix.P_ALL, 0, unix.WNOHANG, nil), unix.ECHILD) {
		return nil, childless // the common case, which costs one system call
	}
	pids, err := r.listAdopted()
	spared, dead, unclaimed := len(r.leaders), 0, 0
	for _, pid := range pids {
		if _, leads := r.leaders[pid]; leads { // unreaped, so no other process has its number
			continue
		}
		s, ok := readStat(pid)
		switch {
		case r.foreign.known.has(pid, s):
			spared++
		case s.dead:
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
			dead++
		case ok && (liveThread(pid) == 0 || claim(pid)):
			alive = appendDescendants(alive, pid)
		case ok:
			unclaimed++
		}
	}
	switch {
	case err != nil || len(alive) > 0 || dead > 0 || spared+unclaimed == 0:
		return alive, unfinished
	case unclaimed > 0:
		return nil, uncertain
	default:
		return nil, noOrphans
	}
}

// reapPause is the least time between two searches for dead orphans, because many may die at once.
const reapPause = 100 * time.Millisecond

// startReaping reaps the orphans of commands as they die, until stop is called. Otherwise dead
// orphans would stay until their command ends. They would count against the user's limit of
// processes, and could use it up.
func (r *reaper) startReaping() (stop func()) {
	died, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(died, unix.SIGCHLD)
	go func() {
		defer close(done)
		for range died {
			r.reapDead()
			time.Sleep(reapPause)
		}
	}()
	return func() {
		signal.Stop(died)
		close(died)
		<-done
	}
}

// reapDead reaps the orphans that have died. It skips foreign processes. It also skips leaders,
// because only the method reap is allowed to reap them. The lock is held from the fork of a leader
// until the leader is noted, so a leader is never mistaken for an orphan.
func (r *reaper) reapDead() {
	r.mu.Lock()
	defer r.mu.Unlock()
	pids, _ := r.listAdopted() // the next search sees a child that this search misses
	for _, pid := range pids {
		if _, leads := r.leaders[pid]; leads {
			continue
		}
		if s, ok := readStat(pid); ok && s.dead && !r.foreign.known.has(pid, s) {
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		}
	}
}

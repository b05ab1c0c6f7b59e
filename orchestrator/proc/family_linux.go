package proc

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// sweepTime is for processes in the middle of a system call, and for systems with a thousand processes for each core; SIGKILL
	// takes milliseconds otherwise.
	sweepTime  = 10 * time.Second
	sweepPause = time.Millisecond
)

// family knows which children of this process it has started itself, the leaders, and which it had before Adopt, the strangers.
// Every other child is an orphan that a command left behind and that came to us because of Adopt.
type family struct {
	fork func(name string, argv []string, attr *syscall.ProcAttr) (pid int, err error)

	mu        sync.Mutex
	adopts    bool
	leaders   map[int]struct{}
	strangers strangers
}

type kin struct {
	mark Mark
}

// The table of children belongs to the process, so there is one.
var household = &family{fork: syscall.ForkExec, leaders: map[int]struct{}{}, strangers: strangers{known: beings{}}}

// Adopt makes this process the one to which orphaned descendants fall, so that Run can find and end them. It is called at the
// start of the program, before anything else starts processes: from then on every child that Run did not start is an orphan to
// it, and is killed. Children that the process has by then, because another program started them and then became this one,
// are left alone. Without Adopt Run ends a command's process group, and what left the group lives on.
func Adopt() error {
	household.mu.Lock()
	defer household.mu.Unlock()
	if household.adopts {
		return nil
	}
	before, err := children(os.Getpid())
	if err != nil {
		return fmt.Errorf("list the children of this process: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the reaper of orphans: %w", err)
	}
	household.adopts = true
	household.strangers.had = len(before) > 0
	household.strangers.add(before)
	return nil
}

// spawn holds the lock over the fork: the limit is one of the whole process, and a child that is not in the table yet could
// be taken for an orphan.
func spawn(s *Spec, files inherited) (*child, error) {
	household.mu.Lock()
	defer household.mu.Unlock()
	mark := s.Mark
	if mark == 0 {
		mark = NewMark()
	}
	defer setMark(mark)()
	attr := &syscall.ProcAttr{Dir: s.Dir, Env: markEnv(s.Env, mark), Files: files.on(s), Sys: ownGroup(s.Terminal)}
	pid, err := household.startLocked(s.Argv[0], s.Argv, attr)
	if err != nil {
		return nil, err
	}
	return newChild(pid, kin{mark}), nil
}

// start starts a leader without a mark.
func (f *family) start(name string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.startLocked(name, argv, attr)
}

// startLocked goes below package os, which would keep a descriptor for each child. So the number is all there is to name a
// leader by, and no signal is sent to one that was reaped.
func (f *family) startLocked(name string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	pid, err = f.fork(name, argv, attr)
	if err == nil {
		f.leaders[pid] = struct{}{}
	}
	return pid, err
}

// reap takes the leader off the table in the same moment as it frees its number for another process.
func (f *family) reap(leader int) (syscall.WaitStatus, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.leaders, leader)
	var status unix.WaitStatus
	_, err := unix.Wait4(leader, &status, 0, nil)
	for err == unix.EINTR {
		_, err = unix.Wait4(leader, &status, 0, nil)
	}
	return syscall.WaitStatus(status), err
}

func (c *child) reap() (syscall.WaitStatus, error) { return household.reap(c.pid) }

func (c *child) killLeader() { _ = unix.Kill(c.pid, unix.SIGKILL) }

// killBelow kills the leader and all below it. Those that left its group need not wait for the leader's end, which may take
// long.
func (c *child) killBelow() {
	for _, pid := range descent(nil, c.pid) {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// sweep ends the orphans of the command.
func (c *child) sweep() error {
	return household.end(func(pid int) bool { return household.belongs(pid, c.mark) })
}

// belongs also claims an orphan of unknown origin when no other command is running that it could be from.
func (f *family) belongs(pid int, mark Mark) bool { return bears(pid, mark) || len(f.leaders) == 0 }

// end kills the orphans that are claimed, with all below them. What they started in the meantime falls to us when they die, so
// it goes on until none is left.
func (f *family) end(claim func(pid int) bool) error {
	deadline := time.Now().Add(sweepTime)
	for quiet := 0; quiet < 2; {
		left, seen := f.orphans(claim)
		switch seen {
		case childless:
			return nil
		case uncertain:
			time.Sleep(sweepPause)
			fallthrough
		case unchanged:
			quiet++ // a list that is read while others die may lack one that lives, so it is read twice
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

// progress says what a look at the children has shown.
type progress int

const (
	unfinished progress = iota // some live, or have died just now and may have left children, or could not be listed
	uncertain                  // there are orphans of others; or of ours, in the moment of exec, when they show no variables
	unchanged                  // those that there are, are leaders and strangers
	childless                  // there are none at all
)

// adopted lists children of this process, all orphans among them. While other commands run, that is the list of the first thread only: the
// kernel gives an orphan to the first thread that is not ending (find_new_reaper), and Go's runtime never ends that one. The lists of
// all threads are read behind the last command.
func (f *family) adopted() ([]int, error) {
	if len(f.leaders) == 0 || !listsChildren() {
		return children(os.Getpid())
	}
	return childrenOf(os.Getpid(), os.Getpid())
}

// orphans lists those that are claimed and not dead, with all their descendants, and reaps all that are dead. Whoever is dying is
// listed too: it shows no variables any more, so it could be ours, and then has to be waited for.
func (f *family) orphans(claim func(pid int) bool) (alive []int, seen progress) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.adopts || errors.Is(waitid(unix.P_ALL, 0, unix.WNOHANG, nil), unix.ECHILD) {
		return nil, childless // the common case, for the price of one system call
	}
	pids, err := f.adopted()
	spared, dead, unclaimed := len(f.leaders), 0, 0
	for _, pid := range pids {
		if _, leads := f.leaders[pid]; leads { // no need to look at it: its number is its own until it is reaped
			continue
		}
		s, ok := readStat(pid)
		switch {
		case f.strangers.known.has(pid, s):
			spared++
		case s.dead:
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
			dead++
		case ok && (living(pid) == 0 || claim(pid)):
			alive = descent(alive, pid)
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
		return nil, unchanged
	}
}

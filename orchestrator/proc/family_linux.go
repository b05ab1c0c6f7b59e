package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// sweepTime is for processes in the middle of a system call; SIGKILL takes milliseconds otherwise.
	sweepTime  = 5 * time.Second
	sweepPause = time.Millisecond
)

// family knows which children of this process lead a command that runs. Every other child is an orphan that some command left
// behind and that came to us because of Adopt.
//
// Each command bears a mark, a soft limit on file sizes so large that it limits nothing: it survives setsid, double forks,
// exec and a cleared environment, and says which of several commands an orphan is from.
type family struct {
	mu      sync.Mutex
	leaders map[int]struct{}
}

type kin struct {
	mark uint64 // 0: none
}

// The table of children belongs to the process, so there is one.
var household = &family{leaders: map[int]struct{}{}}

// Adopt makes this process the one to which orphaned descendants fall, so that Run can find and end them. It is called once,
// at the start of the program. Without it Run ends a command's process group, and what left the group lives on.
func Adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the reaper of orphans: %w", err)
	}
	return nil
}

// spawn holds the lock over the fork: the limit is one of the whole process, and a child that is not in the table yet could
// be taken for an orphan.
func spawn(s Spec, files []*os.File) (*child, error) {
	household.mu.Lock()
	defer household.mu.Unlock()
	mark, unset := setMark(s.Mark)
	defer unset()
	p, err := os.StartProcess(s.Argv[0], s.Argv, attributes(s, files))
	if err != nil {
		return nil, err
	}
	household.leaders[p.Pid] = struct{}{}
	return newChild(p, kin{mark}), nil
}

// setMark returns 0 where the system forbids the limit. Orphans are then told apart by nothing, and end with the last command.
func setMark(wanted Mark) (mark uint64, unset func()) {
	if wanted == 0 {
		wanted = NewMark()
	}
	var old unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_FSIZE, nil, &old); err != nil {
		return 0, func() {}
	}
	mark = uint64(wanted)
	if err := unix.Prlimit(0, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: mark, Max: old.Max}, nil); err != nil {
		return 0, func() {}
	}
	return mark, func() { _ = unix.Prlimit(0, unix.RLIMIT_FSIZE, &old, nil) }
}

// EndMarked kills every process that bears the mark, and what it started, and returns when none is left: what an agent of a run
// that died left behind. Errors: *LeftoverError.
func EndMarked(mark Mark) error {
	deadline := time.Now().Add(sweepTime)
	for {
		left := marked(uint64(mark))
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return &LeftoverError{left}
		}
		for _, pid := range left {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		time.Sleep(sweepPause)
	}
}

// marked lists the live processes that bear the mark, with all below them.
func marked(mark uint64) []int {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || mark == 0 {
		return nil
	}
	var all []int
	for _, stat := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		var limit unix.Rlimit
		if unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &limit) != nil || limit.Cur != mark {
			continue
		}
		if state, _ := status(pid); state != 'Z' && state != 0 {
			all = descent(all, pid)
		}
	}
	return all
}

// reap takes the leader off the table in the same moment as it frees its number for another process.
func (c *child) reap() (*os.ProcessState, error) {
	household.mu.Lock()
	defer household.mu.Unlock()
	delete(household.leaders, c.process.Pid)
	return c.process.Wait()
}

// await returns when the leader has ended, and does not reap it. It waits without a thread of its own where it can.
func (c *child) await() {
	if awaitPidfd(c.process.Pid) == nil {
		return
	}
	for waitid(unix.P_PID, c.process.Pid, 0, nil) == unix.EINTR {
		continue
	}
}

func awaitPidfd(pid int) error {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Read(func(uintptr) bool {
		var info unix.Siginfo
		err := waitid(unix.P_PID, pid, unix.WNOHANG, &info)
		return info.Signo != 0 || err != nil && err != unix.EINTR
	})
}

func waitid(kind, id, options int, info *unix.Siginfo) error {
	return unix.Waitid(kind, id, info, unix.WEXITED|unix.WNOWAIT|options, nil)
}

// sweep ends the orphans of the command. What they started in the meantime falls to us when they die, so it goes on until
// none is left.
func (c *child) sweep() error {
	deadline := time.Now().Add(sweepTime)
	for quiet := 0; quiet < 2; {
		left, state := household.orphans(c.mark)
		switch {
		case state == childless:
			return nil
		case state == unchanged && len(left) == 0:
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
	unchanged progress = iota
	childless          // there are none at all
	reaped             // some were dead; those may have left children of their own just now
)

// orphans lists those of the command with that mark that are alive, with all their descendants, and reaps all that are dead.
func (f *family) orphans(mark uint64) (alive []int, seen progress) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if errors.Is(waitid(unix.P_ALL, 0, unix.WNOHANG, nil), unix.ECHILD) {
		return nil, childless // the common case, for the price of one system call
	}
	for _, pid := range children(os.Getpid()) {
		if _, leads := f.leaders[pid]; leads {
			continue
		}
		switch state, group := status(pid); {
		case group == unix.Getpgrp() || group == 0:
			// Not from a command: whoever started it in our own group waits for it. Or gone already.
		case state == 'Z':
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
			seen = reaped
		case f.belongs(pid, mark):
			alive = descent(alive, pid)
		}
	}
	return alive, seen
}

// belongs also claims an orphan of unknown origin when no other command is running that it could be from: a program that sets
// limits itself, another kanban-run for one, leaves such.
func (f *family) belongs(pid int, mark uint64) bool {
	var limit unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &limit); err == nil && mark != 0 && limit.Cur == mark {
		return true
	}
	return len(f.leaders) == 0
}

// descent appends a process and all below it. One that starts others as fast as they are ended is overtaken only so.
func descent(all []int, pid int) []int {
	if slices.Contains(all, pid) {
		return all
	}
	all = append(all, pid)
	for _, below := range children(pid) {
		all = descent(all, below)
	}
	return all
}

// children lists the children of a process, of all its threads.
func children(pid int) []int {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil || len(lists) == 0 {
		if _, err := os.Stat("/proc/thread-self/children"); err == nil {
			return nil // the process is gone
		}
		return scan(pid)
	}
	var pids []int
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // a thread that ended; its children are listed with another
		}
		for _, field := range bytes.Fields(text) {
			if pid, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// scan is for kernels without lists of children.
func scan(parent int) []int {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	var pids []int
	for _, stat := range stats {
		fields := statFields(stat)
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
		if err == nil && len(fields) > 1 && string(fields[1]) == strconv.Itoa(parent) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// status returns a process's state letter and its group, 0 when it is gone.
func status(pid int) (state byte, group int) {
	fields := statFields(fmt.Sprintf("/proc/%d/stat", pid))
	if len(fields) < 3 {
		return 0, 0
	}
	group, err := strconv.Atoi(string(fields[2]))
	if err != nil {
		return 0, 0
	}
	return fields[0][0], group
}

// statFields are the fields after the name, which may itself hold spaces and brackets: state, parent, group, …
func statFields(path string) [][]byte {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
}

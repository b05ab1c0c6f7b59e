package proc

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"kanban-run/orchestrator/durable"
)

// A command has its mark in three places, because processes lose each of them in a different way:
//
//   - as a soft limit on file sizes, so large that it limits nothing. It survives setsid, double
//     forks, exec and a cleared environment. Programs that set limits, such as sudo and programs
//     that start containers, overwrite it. It cannot be set above a hard limit.
//   - as a soft limit on file locks, with the same properties. The kernel keeps this limit, but has
//     not used it since version 2.4.
//   - in an environment variable, which lists the mark of each kanban-run that is an ancestor.
const markVariable = "KANBAN_RUN_MARK"

// maxEnviron is the greatest number of bytes that are read of an environment. It is more than the
// 6 MiB of arguments and environment that a process can get at its start (execve(2)).
const maxEnviron = 8 << 20

// markLimits lists the limits that hold the mark.
var markLimits = [...]int{unix.RLIMIT_FSIZE, unix.RLIMIT_LOCKS}

// setMarkLimits sets the limits of this process to the mark, so that the next child inherits them.
// If the system forbids this, only the variable holds the mark.
func setMarkLimits(mark Mark) (unset func()) {
	var undo []func()
	for _, resource := range markLimits {
		var old unix.Rlimit
		if unix.Prlimit(0, resource, nil, &old) != nil ||
			unix.Prlimit(0, resource, &unix.Rlimit{Cur: uint64(mark), Max: old.Max}, nil) != nil {
			continue
		}
		undo = append(undo, func() { _ = unix.Prlimit(0, resource, &old, nil) })
	}
	return func() {
		for _, f := range undo {
			f()
		}
	}
}

func startMarked(cmd *exec.Cmd) error {
	subreaper.mu.Lock() // the limits belong to the whole process
	defer subreaper.mu.Unlock()
	mark := NewMark()
	defer setMarkLimits(mark)()
	cmd.Env = markEnv(cmd.Env, mark)
	return cmd.Start()
}

// markEnv returns env with the mark added to the marks of the kanban-runs that are ancestors of
// this process. The function takes those marks from env. If env has no marks, the function takes
// the marks from the environment of this process.
func markEnv(env []string, mark Mark) []string {
	outer := os.Getenv(markVariable)
	marked := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		value, ok := strings.CutPrefix(entry, markVariable+"=")
		if ok {
			outer = value
		}
		return ok
	})
	if outer != "" {
		outer += ","
	}
	return append(marked, markVariable+"="+outer+formatMark(mark))
}

func formatMark(mark Mark) string { return strconv.FormatUint(uint64(mark), 16) }

// IsMarked reports whether a command of any kanban-run has started this process, directly or
// through others.
func IsMarked() bool {
	self := os.Getpid()
	return readMarkVariable(self) != "" || slices.ContainsFunc(readMarkLimits(self), isMark)
}

// IsWithin reports whether a command with the mark has started this process, directly or through
// others.
func IsWithin(mark Mark) bool { return mark != 0 && hasMark(os.Getpid(), mark) }

// hasMark looks for one of the marks in the limits and the environment of a process.
func hasMark(pid int, marks ...Mark) bool {
	isOne := func(m uint64) bool { return slices.Contains(marks, Mark(m)) }
	if slices.ContainsFunc(readMarkLimits(pid), isOne) {
		return true
	}
	for word := range strings.SplitSeq(readMarkVariable(pid), ",") {
		if m, err := strconv.ParseUint(word, 16, 64); err == nil && isOne(m) {
			return true
		}
	}
	return false
}

// readMarkLimits returns the current markLimits of a process. It returns nil if the process is gone
// or belongs to another user.
func readMarkLimits(pid int) []uint64 {
	var all []uint64
	for _, resource := range markLimits {
		var limit unix.Rlimit
		if unix.Prlimit(pid, resource, nil, &limit) == nil {
			all = append(all, limit.Cur)
		}
	}
	return all
}

// hasForeignMark reports whether another process has a limit that looks like a mark. A limit that
// this process has, too, does not count.
func hasForeignMark(pid int) bool {
	own := readMarkLimits(os.Getpid())
	return slices.ContainsFunc(readMarkLimits(pid), func(l uint64) bool {
		return isMark(l) && !slices.Contains(own, l)
	})
}

// isMark reports whether a limit has the form of a mark that NewMark returns.
func isMark(limit uint64) bool { return limit>>48 == 1<<14 }

// readMarkVariable returns the value of markVariable in the environment of a process. It returns ""
// if the process has no such variable or belongs to another user.
func readMarkVariable(pid int) string {
	text := readEnviron(pid, pid)
	if len(text) == 0 { // the environment was cleared, or the first thread has ended
		text = readEnviron(pid, liveThread(pid))
	}
	for entry := range bytes.SplitSeq(text, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(markVariable+"=")); ok {
			return string(value)
		}
	}
	return ""
}

func readEnviron(pid, thread int) []byte {
	f, err := os.Open(fmt.Sprintf("/proc/%d/task/%d/environ", pid, thread))
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxEnviron))
	return text
}

// EndMarked kills the processes that agents of dead runs left behind: all that have one of the marks,
// and their descendants. It returns when all of them have ended. The runs were at work at born, and the
// caller, who found them dead, is at here. Of another place nothing is known: its run may be at work,
// so EndMarked kills nothing. The same holds if this process itself has one of the marks, and then
// EndMarked returns a *LeftoverError. Errors: *LeftoverError if some do not end, or an error of the
// system.
func EndMarked(born, here durable.Place, marks ...Mark) error {
	marks = slices.DeleteFunc(slices.Clone(marks), func(m Mark) bool { return m == 0 })
	if len(marks) == 0 || !born.IsAt(here) || !born.IsInBootOf(here) {
		return nil
	}
	if self := os.Getpid(); hasMark(self, marks...) {
		return &LeftoverError{[]int{self}}
	}
	deadline := time.Now().Add(sweepTime)
	all := processSet{} // kept over all rounds, because a dying process hides its mark
	for {
		none := true
		err := eachMarked(marks, func(pid int, s stat) bool {
			none = false
			all.add(pid, s)
			_ = unix.Kill(pid, unix.SIGKILL)
			return true
		})
		if err != nil {
			return fmt.Errorf("look for leftovers: %w", err)
		}
		left := all.alive()
		if none && len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return &LeftoverError{left}
		}
		time.Sleep(sweepPause)
	}
}

// Lives reports whether a process with the mark is alive. That may be an agent of the marked run,
// or a process that the agent left behind.
func Lives(mark Mark) bool {
	lives := false
	if mark != 0 {
		_ = eachMarked([]Mark{mark}, func(int, stat) bool {
			lives = true
			return false
		})
	}
	return lives
}

// chases bounds how often a search looks for processes that were started during the search.
const chases = 10

// eachMarked calls the function visit for every living process that has one of the marks and for their
// descendants, until the function returns false. A look at all processes takes longer than one process
// of a chain of forks lives. So the search begins with the newest, and goes on with those that were
// started meanwhile.
func eachMarked(marks []Mark, visit func(pid int, s stat) bool) error {
	seen := map[int]bool{}
	for range chases {
		pids, err := listProcesses()
		if err != nil {
			return err
		}
		pids = slices.DeleteFunc(pids, func(pid int) bool { return seen[pid] })
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range slices.Backward(pids) {
			seen[pid] = true
			if !hasMark(pid, marks...) {
				continue
			}
			for _, below := range appendDescendants(nil, pid) {
				if s, ok := readStat(below); ok && !s.dead && !visit(below, s) {
					return nil
				}
			}
		}
	}
	return nil
}

package proc

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A command has its mark in three places, because processes lose each in ways of their own:
//
//   - as a soft limit on file sizes, so large that it limits nothing. It survives setsid, double
//     forks, exec and a cleared environment; programs that set limits, such as sudo and those that
//     start containers, overwrite it, and below a hard limit it cannot be set.
//   - as a soft limit on file locks, which the kernel keeps and has not used since version 2.4, in
//     the same way.
//   - as a variable of the environment, a list with one mark for each kanban-run above the command.
const markVariable = "KANBAN_RUN_MARK"

// maxEnviron is more than a process can be given at its start: 6 MiB of arguments and environment
// (execve(2)).
const maxEnviron = 8 << 20

// markLimits are the limits that bear the mark.
var markLimits = [...]int{unix.RLIMIT_FSIZE, unix.RLIMIT_LOCKS}

// setMarkLimits sets the limits of this process, for the child that is started next to inherit.
// Where the system forbids it, only the variable bears the mark.
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

// markEnv returns the environment with the mark in it, after the marks of the kanban-runs above,
// which are in the environment itself or, where that was filtered, in that of this process.
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

// IsMarked says whether this process was started by a command, of any kanban-run.
func IsMarked() bool {
	self := os.Getpid()
	return readMarkVariable(self) != "" || slices.ContainsFunc(readMarkLimits(self), isMark)
}

// IsWithin says whether this process was started by a command with the mark,
// or by a process below it.
func IsWithin(mark Mark) bool { return mark != 0 && hasMark(os.Getpid(), mark) }

// hasMark finds the mark in the limits or in the environment of a process.
func hasMark(pid int, mark Mark) bool {
	return slices.Contains(readMarkLimits(pid), uint64(mark)) ||
		slices.Contains(strings.Split(readMarkVariable(pid), ","), formatMark(mark))
}

// readMarkLimits are the limits of a process that may bear a mark; none if it is gone or another
// user's.
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

// hasForeignMark says whether a limit of the process looks like a mark, and is none of the limits
// of this process.
func hasForeignMark(pid int) bool {
	own := readMarkLimits(os.Getpid())
	return slices.ContainsFunc(readMarkLimits(pid), func(l uint64) bool {
		return isMark(l) && !slices.Contains(own, l)
	})
}

// isMark says whether a limit looks like what NewMark makes.
func isMark(limit uint64) bool { return limit>>48 == 1<<14 }

// readMarkVariable is the value of the variable in a process's environment, "" when it has none or
// is another user's.
func readMarkVariable(pid int) string {
	text := readEnviron(pid, pid)
	if len(text) == 0 { // cleared, or that of a first thread that has ended
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

// EndMarked kills every process that has the mark, with its descendants, and returns when none is
// left: what an agent of a run that died left behind. Errors: *LeftoverError, at once when such an
// agent started this process itself, or what the system said.
func EndMarked(mark Mark) error {
	if mark == 0 {
		return nil
	}
	if self := os.Getpid(); hasMark(self, mark) {
		return &LeftoverError{[]int{self}}
	}
	deadline := time.Now().Add(sweepTime)
	all := processSet{} // a dying process shows no mark any more
	for {
		if err := addMarked(all, mark); err != nil {
			return fmt.Errorf("look for leftovers: %w", err)
		}
		left := all.alive()
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

// Lives says whether a process has the mark: an agent of a run, or what one left behind.
func Lives(mark Mark) bool {
	all := processSet{}
	return mark != 0 && addMarked(all, mark) == nil && len(all.alive()) > 0
}

// addMarked adds the processes that have the mark, with all their descendants.
func addMarked(all processSet, mark Mark) error {
	pids, err := listProcesses()
	for _, pid := range pids {
		if !hasMark(pid, mark) {
			continue
		}
		for _, below := range appendDescendants(nil, pid) {
			if s, ok := readStat(below); ok {
				all.add(below, s)
			}
		}
	}
	return err
}

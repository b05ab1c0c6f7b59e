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

// A command bears its mark twice, because processes lose either in ways of their own:
//
//   - as a soft limit on file sizes, so large that it limits nothing. It survives setsid, double forks, exec and a cleared
//     environment; programs that set limits, such as sudo and those that start containers, overwrite it.
//   - as a variable of the environment, a list with one mark for each kanban-run that the command is below of.
const markVariable = "KANBAN_RUN_MARK"

// maxEnviron is more than a process can be given at its start: 6 MiB of arguments and environment (execve(2)).
const maxEnviron = 8 << 20

// setMark sets the limit of this process, for the child that is started next to inherit. Where the system forbids it the
// variable is all there is.
func setMark(mark Mark) (unset func()) {
	var old unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_FSIZE, nil, &old); err != nil {
		return func() {}
	}
	if err := unix.Prlimit(0, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: uint64(mark), Max: old.Max}, nil); err != nil {
		return func() {}
	}
	return func() { _ = unix.Prlimit(0, unix.RLIMIT_FSIZE, &old, nil) }
}

// markEnv returns the environment with the mark in it, after those of the kanban-runs above: from the environment itself or,
// where that was filtered, from our own.
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
	return append(marked, markVariable+"="+outer+hex(mark))
}

func hex(mark Mark) string { return strconv.FormatUint(uint64(mark), 16) }

// bears says whether a process bears the mark in either way.
func bears(pid int, mark Mark) bool {
	return fileLimit(pid) == uint64(mark) || slices.Contains(strings.Split(markList(pid), ","), hex(mark))
}

// fileLimit is 0 for a process that is gone or somebody else's.
func fileLimit(pid int) uint64 {
	var limit unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &limit); err != nil {
		return 0
	}
	return limit.Cur
}

// isMark says whether a limit looks like what NewMark makes.
func isMark(limit uint64) bool { return limit>>48 == 1<<14 }

// markList is the value of the variable in a process's environment, "" when it has none or is somebody else's.
func markList(pid int) string {
	text := environ(pid, pid)
	if len(text) == 0 { // cleared, or that of a first thread that has ended
		text = environ(pid, living(pid))
	}
	for entry := range bytes.SplitSeq(text, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(markVariable+"=")); ok {
			return string(value)
		}
	}
	return ""
}

func environ(pid, thread int) []byte {
	f, err := os.Open(fmt.Sprintf("/proc/%d/task/%d/environ", pid, thread))
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxEnviron))
	return text
}

// EndMarked kills every process that bears the mark, and what it started, and returns when none is left: what an agent of a run
// that died left behind. Errors: *LeftoverError, at once when this process itself was started by such an agent, or what the system said.
func EndMarked(mark Mark) error {
	if mark == 0 {
		return nil
	}
	if self := os.Getpid(); bears(self, mark) {
		return &LeftoverError{[]int{self}}
	}
	deadline := time.Now().Add(sweepTime)
	all := beings{} // a process that is dying bears no mark any more
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

// addMarked adds the processes that bear the mark, with all below them.
func addMarked(all beings, mark Mark) error {
	everyone, err := everybody()
	for _, pid := range everyone {
		if !bears(pid, mark) {
			continue
		}
		for _, below := range descent(nil, pid) {
			if s, ok := readStat(below); ok {
				all.add(below, s)
			}
		}
	}
	return err
}

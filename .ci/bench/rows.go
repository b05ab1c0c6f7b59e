package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"kanban-run/orchestrator/journal"
)

const exitLimit = 7

func rows() []row {
	steps := map[int]int{1000: 200, 10000: 200, 100000: 40}
	floor := func(n int) func(*lab) (float64, error) {
		return func(l *lab) (float64, error) {
			return ratio(func() (float64, error) { return l.step(n, steps[n]) }, func() (float64, error) { return l.floor(n, steps[n]) })
		}
	}
	growth := func(n int) func(*lab) (float64, error) {
		return func(l *lab) (float64, error) {
			return ratio(func() (float64, error) { return l.step(n, steps[n]) }, func() (float64, error) { return l.step(1000, steps[1000]) })
		}
	}
	memory := func(n int) func(*lab) (float64, error) {
		return func(l *lab) (float64, error) {
			u, err := l.usageOfRun(n, steps[n])
			return u.peakMB(), err
		}
	}
	return []row{
		{"step, 1k tasks, to the C floor", "x", 1.25, false, floor(1000)},
		{"step, 10k tasks, to the C floor", "x", 1.25, false, floor(10000)},
		{"step, 100k tasks, to the C floor", "x", 1.25, false, floor(100000)},
		{"step, 10k tasks, to 1k", "x", 2, false, growth(10000)},
		{"step, 100k tasks, to 1k", "x", 12, false, growth(100000)},
		{"step, 1k tasks, to the plain Python", "x", 0.15, false, func(l *lab) (float64, error) {
			return ratio(func() (float64, error) { return l.step(1000, 200) }, func() (float64, error) { return l.python(1000, 40) })
		}},
		{"100 boards at -j 8, to C loops, 8 at once", "x", 1.3, false, func(l *lab) (float64, error) {
			return ratio(func() (float64, error) { return l.crowdStep(l.sideBySide) }, func() (float64, error) { return l.crowdStep(l.crowdFloor) })
		}},
		{"peak memory, 1k tasks", "MB", 16, true, memory(1000)},
		{"peak memory, 10k tasks", "MB", 24, true, memory(10000)},
		{"peak memory, 100k tasks", "MB", 64, true, memory(100000)},
		{"peak memory of the guardian", "MB", 16, true, func(l *lab) (float64, error) {
			u, err := l.usageOfRun(100000, steps[100000])
			return float64(u.guardianKB) / 1024, err
		}},
		{"peak memory over idle, 5 GB stdout", "MB", 4, true, floodRow(100, "")},
		{"peak memory over idle, 2 GB stderr", "MB", 4, true, floodRow(40, ">&2")},
		{"version, to a Go hello world", "x", 5, false, (*lab).version},
		{"1000 boards asleep: threads", "", 10, true, asleepRow("threads")},
		{"1000 boards asleep: fds a board", "", 4, true, asleepRow("fds")},
		{"1000 boards asleep: peak memory", "MB", 25, true, asleepRow("memory")},
		{"1000 boards asleep: wake-ups in 5 s", "", 10, true, asleepRow("wakeups")},
		{"a journal of 1M records verified", "s", 0.5, false, (*lab).journal},
		{"status, a journal of 1M records", "s", 0.5, false, (*lab).status},
	}
}

// ratio measures a, then b, on the same machine in the same state.
func ratio(a, b func() (float64, error)) (float64, error) {
	x, err := a()
	if err != nil {
		return 0, err
	}
	y, err := b()
	return x / y, err
}

// command returns kanban-run on the board of a folder.
func (l *lab) command(dir string, maxSteps int, more ...string) *exec.Cmd {
	args := []string{"--quiet", "--max-steps", strconv.Itoa(maxSteps),
		"--exec", "Implementor=" + l.path("agent"), "--exec", "Manager=" + l.path("manager")}
	cmd := exec.Command(l.binary, append(append(args, more...), "kanban.yaml")...)
	cmd.Dir = dir
	return cmd
}

// step returns the time of one step of kanban-run, in seconds.
func (l *lab) step(n, steps int) (float64, error) {
	dir, err := l.makeBoard(n)
	if err == nil {
		err = resetBoard(dir)
	}
	if err != nil {
		return 0, err
	}
	return timePerStep(steps, l.command(dir, steps), exitLimit)
}

func (l *lab) floor(n, steps int) (float64, error) {
	dir, err := l.makeBoard(n)
	if err == nil {
		err = resetBoard(dir)
	}
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(l.path("floor"), "kanban.yaml", l.path("agent"), l.path("manager"), strconv.Itoa(steps))
	cmd.Dir = dir
	return timePerStep(steps, cmd, 0)
}

// crowdSteps is the number of steps of each board of a crowd, which has more tasks.
const crowdSteps = 20

// crowdStep returns the time of one step of a hundred boards.
func (l *lab) crowdStep(run func(folders []string) (*exec.Cmd, int)) (float64, error) {
	folders, err := l.makeCrowd(100)
	if err != nil {
		return 0, err
	}
	cmd, code := run(folders)
	return timePerStep(crowdSteps*len(folders), cmd, code)
}

func (l *lab) sideBySide(folders []string) (*exec.Cmd, int) {
	cmd := l.command(filepath.Dir(folders[0]), crowdSteps, "-j", "8")
	cmd.Args = cmd.Args[:len(cmd.Args)-1]
	for _, dir := range folders {
		cmd.Args = append(cmd.Args, filepath.Join(filepath.Base(dir), "kanban.yaml"))
	}
	return cmd, exitLimit
}

func (l *lab) crowdFloor(folders []string) (*exec.Cmd, int) {
	args := append([]string{"8", strconv.Itoa(crowdSteps), l.path("agent"), l.path("manager")}, folders...)
	return exec.Command(l.path("crowd"), args...), 0
}

// python returns the time of a step of the specification's pseudo code, written plainly.
func (l *lab) python(n, steps int) (float64, error) {
	if exec.Command("python3", "-c", "import yaml, jsonschema").Run() != nil {
		return 0, fmt.Errorf("%w: python3 with yaml and jsonschema is missing", errSkipped)
	}
	dir, err := l.makeBoard(n)
	if err == nil {
		err = resetBoard(dir)
	}
	if err != nil {
		return 0, err
	}
	cmd := exec.Command("python3", filepath.Join(l.source, "plain.py"), "kanban.yaml", l.path("agent"), l.path("manager"), strconv.Itoa(steps))
	cmd.Dir = dir
	return timePerStep(steps, cmd, 0)
}

// timePerStep runs a command that must end with the exit code, and returns seconds a step.
func timePerStep(steps int, cmd *exec.Cmd, code int) (float64, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if got := cmd.ProcessState.ExitCode(); got != code {
		return 0, fmt.Errorf("%s: exit code %d, want %d: %w\n%s", filepath.Base(cmd.Path), got, code, err, out.Bytes())
	}
	return took.Seconds() / float64(steps), nil
}

// longBoard returns a board with a journal of a million records, made at the first call.
func (l *lab) longBoard() (board, path string, err error) {
	dir := l.path("long")
	board, path = filepath.Join(dir, "kanban.yaml"), filepath.Join(dir, ".kanban-run", "runs", "kanban.yaml", "journal.jsonl")
	if _, err := os.Stat(board); err == nil {
		return board, path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", "", err
	}
	if err := writeLongHistory(path, filepath.Base(board)); err != nil {
		return "", "", err
	}
	return board, path, os.WriteFile(board, []byte("phase: complete\ncurrent: null\ntasks: []\n"), 0o644)
}

// journal returns the time to verify a journal of a million records.
func (l *lab) journal() (float64, error) {
	_, path, err := l.longBoard()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	sum, err := journal.Read(path, func(journal.Record) error { return nil })
	if err == nil && sum.Records < million {
		err = fmt.Errorf("read %d records", sum.Records)
	}
	return time.Since(began).Seconds(), err
}

// status returns the time of kanban-run status on a board with a million records.
func (l *lab) status() (float64, error) {
	board, _, err := l.longBoard()
	if err != nil {
		return 0, err
	}
	return timePerStep(1, exec.Command(l.binary, "status", board), 0)
}

// version compares the start of the program with that of a Go hello world.
func (l *lab) version() (float64, error) {
	hello := l.path("hello")
	if _, err := os.Stat(hello); errors.Is(err, os.ErrNotExist) {
		source := l.path("hello.go")
		if err := os.WriteFile(source, []byte("package main\n\nfunc main() { println(\"hello\") }\n"), 0o644); err != nil {
			return 0, err
		}
		if out, err := exec.Command("go", "build", "-o", hello, source).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%w\n%s", err, out)
		}
	}
	many := func(path string, args ...string) func() (float64, error) {
		return func() (total float64, err error) {
			for range 50 {
				t, err := timePerStep(50, exec.Command(path, args...), 0)
				if err != nil {
					return 0, err
				}
				total += t
			}
			return total, nil
		}
	}
	return ratio(many(l.binary, "version"), many(hello))
}

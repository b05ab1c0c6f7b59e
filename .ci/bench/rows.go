package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
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
		{"step, 1k tasks, to the C floor", "x", 1.8, false, floor(1000)},
		{"step, 10k tasks, to the C floor", "x", 2, false, floor(10000)},
		{"step, 100k tasks, to the C floor", "x", 3, false, floor(100000)},
		{"step, 10k tasks, to 1k", "x", 2.2, false, growth(10000)},
		{"step, 100k tasks, to 1k", "x", 20, false, growth(100000)},
		{"step, 1k tasks, to the plain Python", "x", 0.15, false, func(l *lab) (float64, error) {
			return ratio(func() (float64, error) { return l.step(1000, 200) }, func() (float64, error) { return l.python(1000, 40) })
		}},
		{"peak memory, 10k tasks", "MB", 24, true, memory(10000)},
		{"peak memory, 100k tasks", "MB", 64, true, memory(100000)},
		{"peak memory over idle, 5 GB stdout", "MB", 4, true, floodRow(100, "")},
		{"peak memory over idle, 2 GB stderr", "MB", 4, true, floodRow(40, ">&2")},
		{"1000 boards asleep: threads", "", 10, true, asleepRow("threads")},
		{"1000 boards asleep: fds a board", "", 6, true, asleepRow("fds")},
		{"1000 boards asleep: peak memory", "MB", 64, true, asleepRow("memory")},
		{"1000 boards asleep: of a core", "%", 2, true, asleepRow("processor")},
		{"start to the first spawn, to a Go hello world", "x", 6, false, (*lab).firstSpawn},
		{"a journal of 1M records verified", "s", 0.5, false, (*lab).journal},
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

// longJournal returns the path of a journal of a million records, made at the first call.
func (l *lab) longJournal() (string, error) {
	path := l.path("journal.jsonl")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	return path, writeLongHistory(path, "kanban.yaml")
}

// journal returns the time to verify a journal of a million records.
func (l *lab) journal() (float64, error) {
	path, err := l.longJournal()
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

// firstSpawn compares the time from the start of a run to that of its first agent with the time
// that a Go hello world takes from its start to its end.
func (l *lab) firstSpawn() (float64, error) {
	hello, err := l.buildHello()
	if err != nil {
		return 0, err
	}
	return ratio(many(l.timeToSpawn), many(func() (float64, error) { return timePerStep(1, exec.Command(hello), 0) }))
}

// many returns the sum of fifty measurements.
func many(measure func() (float64, error)) func() (float64, error) {
	return func() (total float64, err error) {
		for range 50 {
			t, err := measure()
			if err != nil {
				return 0, err
			}
			total += t
		}
		return total, nil
	}
}

func (l *lab) buildHello() (path string, err error) {
	path = l.path("hello")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	source := l.path("hello.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() { println(\"hello\") }\n"), 0o644); err != nil {
		return "", err
	}
	if out, err := exec.Command("go", "build", "-o", path, source).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
}

// timeToSpawn returns the seconds until the agent of a run opens its end of a pipe.
func (l *lab) timeToSpawn() (float64, error) {
	dir, err := l.makeBoard(1000)
	if err == nil {
		err = resetBoard(dir)
	}
	if err != nil {
		return 0, err
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil && !errors.Is(err, os.ErrExist) {
		return 0, err
	}
	cmd := exec.Command(l.binary, "--quiet", "--max-retries", "0", "--exec", l.path("first"), "kanban.yaml")
	cmd.Dir = dir
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	opened, err := os.Open(pipe)
	took := time.Since(began)
	if err != nil {
		return 0, errors.Join(err, cmd.Process.Kill())
	}
	_ = cmd.Wait() // an agent that replies nothing makes it end with 4
	return took.Seconds(), opened.Close()
}

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

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/journal"
)

const exitLimit = 7

// steps holds the number of steps that a row runs, by the number of the board's tasks.
var steps = map[int]int{100: 90, 1000: 200, 10000: 60}

func rows() []row {
	floor := func(n int) func(*lab) (float64, error) {
		return ratio(func(l *lab) (float64, error) { return l.step(n) },
			func(l *lab) (float64, error) { return l.floor(n) })
	}
	memory := func(n int) func(*lab) (float64, error) {
		return func(l *lab) (float64, error) {
			u, err := l.usageOfRun(n)
			return u.peakMB(), err
		}
	}
	return []row{
		{"step, 100 tasks, to the C floor", "x", 4, false, floor(100)},
		{"step, 1k tasks, to the C floor", "x", 8, false, floor(1000)},
		{"step, 10k tasks, to 1k", "x", 10, false,
			ratio(func(l *lab) (float64, error) { return l.step(10000) },
				func(l *lab) (float64, error) { return l.step(1000) })},
		{"processor, a task with walk, to the C floor", "x", 5, false,
			ratio((*lab).walkProcessor, (*lab).floorProcessor)},
		{"peak memory, 1k tasks", "MB", 32, true, memory(1000)},
		{"peak memory, 10k tasks", "MB", 64, true, memory(10000)},
		{"peak memory over idle, 5 GB stdout", "MB", 8, true, floodRow(100, "")},
		{"peak memory over idle, 2 GB stderr", "MB", 8, true, floodRow(40, ">&2")},
		{"1000 boards asleep: threads", "", 200, true, asleepRow("threads")},
		{"1000 boards asleep: fds a board", "", 6, true, asleepRow("fds")},
		{"1000 boards asleep: peak memory", "MB", 80, true, asleepRow("memory")},
		{"1000 boards asleep: of a core", "%", 2, true, asleepRow("processor")},
		{"log -f beside a run, to the run", "x", 1, false, watcherRow("log", "-f")},
		{"status -w beside a run, to the run", "x", 1, false, watcherRow("status", "-w")},
		{"view beside a run, to the run", "x", 1, false, watcherRow("view")},
		{"log -f beside an agent asleep, of a core", "%", 0.5, true, idleRow("log", "-f")},
		{"status -w beside an agent asleep, of a core", "%", 0.5, true, idleRow("status", "-w")},
		{"view beside an agent asleep, of a core", "%", 0.5, true, idleRow("view")},
		{"a dry run of 100 tasks, to the real run", "x", 1.5, false, ratio((*lab).dryRun, (*lab).realRun)},
		{"start to the first spawn, to a Go hello world", "x", 15, false,
			ratio(many((*lab).timeToSpawn), many((*lab).hello))},
		{"start, 1k tasks, 50 role files to none, CPU", "x", 1.5, false,
			ratio(func(l *lab) (float64, error) { return l.startProcessor(50) },
				func(l *lab) (float64, error) { return l.startProcessor(0) })},
		{"a journal of 100k records verified", "s", 1, false, (*lab).verifyJournal},
		{"a run resumed behind 100k records", "s", 2, false, (*lab).resume},
	}
}

// ratio returns a function that calls the functions a and b and divides the first result by the
// second. The two calls follow each other directly, so that the machine is in the same state.
func ratio(a, b func(*lab) (float64, error)) func(*lab) (float64, error) {
	return func(l *lab) (float64, error) {
		x, err := a(l)
		if err != nil {
			return 0, err
		}
		y, err := b(l)
		return x / y, err
	}
}

// command returns the command that runs the board of a folder with agents that reply at once.
func (l *lab) command(dir string, maxSteps int) *exec.Cmd {
	return l.kanbanRun(dir, maxSteps, "--exec", "Manager="+l.path("manager"))
}

// kanbanRun returns the command that runs the board of a folder with an Implementor that replies at
// once.
func (l *lab) kanbanRun(dir string, maxSteps int, more ...string) *exec.Cmd {
	args := []string{"--quiet", "--max-steps", strconv.Itoa(maxSteps), "--exec", "Implementor=" + l.path("agent")}
	cmd := exec.Command(l.binary, append(append(args, more...), "kanban.yaml")...)
	cmd.Dir = dir
	return cmd
}

// step returns the time of one step of kanban-run, in seconds.
func (l *lab) step(n int) (float64, error) {
	dir, err := l.freshBoard(n)
	if err != nil {
		return 0, err
	}
	took, _, err := timePerStep(steps[n], l.command(dir, steps[n]), exitLimit)
	return took, err
}

// floor returns the time of one step of the C loop, in seconds.
func (l *lab) floor(n int) (float64, error) {
	took, _, err := l.runFloor(n)
	return took, err
}

func (l *lab) runFloor(n int) (took, processor float64, err error) {
	dir, err := l.freshBoard(n)
	if err != nil {
		return 0, 0, err
	}
	cmd := exec.Command(l.path("floor"), "kanban.yaml", l.path("agent"), l.path("manager"), strconv.Itoa(steps[n]))
	cmd.Dir = dir
	return timePerStep(steps[n], cmd, 0)
}

// walkProcessor returns the processor time of a step whose Manager is the built-in "walk", in
// seconds.
func (l *lab) walkProcessor() (float64, error) {
	dir, err := l.freshBoard(100)
	if err != nil {
		return 0, err
	}
	_, processor, err := timePerStep(steps[100], l.kanbanRun(dir, steps[100], "--agent", "Manager=walk"), exitLimit)
	return processor, err
}

func (l *lab) floorProcessor() (float64, error) {
	_, processor, err := l.runFloor(100)
	return processor, err
}

// timePerStep runs a command that takes the given number of steps and must end with the given exit
// code. It returns two averages over the steps, in seconds: the time, and the processor time of the
// command and the processes below it.
func timePerStep(steps int, cmd *exec.Cmd, code int) (took, processor float64, err error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	err = cmd.Run()
	passed := time.Since(began)
	if got := cmd.ProcessState.ExitCode(); got != code {
		return 0, 0, fmt.Errorf("%s: exit code %d, want %d: %w\n%s", filepath.Base(cmd.Path), got, code, err,
			out.Bytes())
	}
	spent := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return passed.Seconds() / float64(steps), spent.Seconds() / float64(steps), nil
}

// longJournal returns the path of a journal of 100,000 records. It writes the journal at the first
// call.
func (l *lab) longJournal() (string, error) {
	path := l.path("journal.jsonl")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	return path, l.writeHistory(path, longTasks, longRecords)
}

// writeHistory writes the journal of earlier runs on the board of n tasks, as it stands.
func (l *lab) writeHistory(path string, n int, records uint64) error {
	dir, err := l.freshBoard(n)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, "kanban.yaml"))
	if err != nil {
		return err
	}
	return writeHistory(path, "kanban.yaml", board.SHA(text), records)
}

// boardBehind returns the folder of a fresh board of n tasks with the journal of an earlier run.
func (l *lab) boardBehind(journal string, n int) (string, error) {
	dir, err := l.freshBoard(n)
	if err != nil {
		return "", err
	}
	history, err := os.ReadFile(journal)
	if err != nil {
		return "", err
	}
	runDir := filepath.Join(dir, ".kanban-run", "runs", "kanban.yaml")
	if err := os.MkdirAll(runDir, 0o700); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(runDir, "journal.jsonl"), history, 0o600)
}

// verifyJournal returns the time to verify a journal of 100,000 records, in seconds.
func (l *lab) verifyJournal() (float64, error) {
	path, err := l.longJournal()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	sum, err := journal.Read(path, func(journal.Record) error { return nil })
	if err == nil && sum.Records < longRecords {
		err = fmt.Errorf("read %d records", sum.Records)
	}
	return time.Since(began).Seconds(), err
}

// resume returns the time of a run of one step on a board whose journal has 100,000 records, in
// seconds.
func (l *lab) resume() (float64, error) {
	path, err := l.longJournal()
	if err != nil {
		return 0, err
	}
	dir, err := l.boardBehind(path, longTasks)
	if err != nil {
		return 0, err
	}
	took, _, err := timePerStep(1, l.command(dir, 1), exitLimit)
	return took, err
}

// hello returns the time of a Go program that prints hello world, from start to end, in seconds.
func (l *lab) hello() (float64, error) {
	program, err := l.buildHello()
	if err != nil {
		return 0, err
	}
	took, _, err := timePerStep(1, exec.Command(program), 0)
	return took, err
}

// many returns a function that calls the function measure fifty times and returns the sum of the
// results.
func many(measure func(*lab) (float64, error)) func(*lab) (float64, error) {
	return func(l *lab) (total float64, err error) {
		for range 50 {
			t, err := measure(l)
			if err != nil {
				return 0, err
			}
			total += t
		}
		return total, nil
	}
}

// startProcessor returns the processor time of five runs of one step on a board of 1,000 tasks, in a folder
// with some role files, in seconds.
func (l *lab) startProcessor(roles int) (total float64, err error) {
	for range 5 {
		dir, err := l.freshBoard(1000)
		if err != nil {
			return 0, err
		}
		for i := range roles {
			path := filepath.Join(dir, ".kanban-run", "roles", fmt.Sprintf("Role%d.md", i))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return 0, err
			}
			text := fmt.Sprintf("---\nname: Role%d\ncommand: sh agents/%[1]d.sh\nreview: {command: sh check.sh}\n---\nYou are one.\n", i)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return 0, err
			}
		}
		_, processor, err := timePerStep(1, l.kanbanRun(dir, 1, "--agent", "Manager=walk"), exitLimit)
		if err != nil {
			return 0, err
		}
		total += processor
	}
	return total, nil
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

// timeToSpawn returns the seconds from the start of a run until its first agent opens its end of a
// pipe.
func (l *lab) timeToSpawn() (float64, error) {
	dir, err := l.freshBoard(1000)
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
	_ = cmd.Wait() // exit code 4, because the agent gives no reply
	return took.Seconds(), opened.Close()
}

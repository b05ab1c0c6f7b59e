package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usage is the resources of the runner, the process that does the work, as the kernel counts them.
// The guardian and the agents are not included.
type usage struct {
	peakKB  int // the kernel's VmHWM; ru_maxrss would include the memory of the parent before exec
	threads int
	fds     int // the last count: a starting board has a few more
}

func (u usage) peakMB() float64 { return float64(u.peakKB) / 1024 }

// watchUsage reads the usage of a command's runner until the command ends or the limit is reached.
// It returns the highest memory and number of threads, and the last number of descriptors.
func watchUsage(cmd *exec.Cmd, limit time.Duration) usage {
	var most usage
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	over := time.After(limit)
	for {
		now := readUsage(cmd.Process.Pid, cmd.Path)
		if now.fds == 0 {
			now.fds = most.fds
		}
		most = usage{max(most.peakKB, now.peakKB), max(most.threads, now.threads), now.fds}
		select {
		case <-ended:
			return most
		case <-over:
			_ = cmd.Process.Signal(syscall.SIGINT)
			<-ended
			return most
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func readUsage(pid int, program string) usage {
	processes := processesOf(pid, filepath.Base(program))
	if len(processes) < 2 {
		return usage{}
	}
	runner := processes[1]
	u := usage{peakKB: readStatus(runner, "VmHWM:"), threads: readStatus(runner, "Threads:")}
	// Only root may read the descriptors of a process that hides its memory.
	if entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", runner)); err == nil {
		u.fds = len(entries)
	}
	return u
}

// processesOf returns the process IDs of a guardian and of its runner, a child of the same name. It
// does not look at the runner's children: they are agents, which have the runner's name, memory and
// descriptors until they exec.
func processesOf(pid int, name string) []int {
	all := []int{pid}
	for _, child := range children(pid) {
		comm, _ := os.ReadFile("/proc/" + child + "/comm")
		if id, err := strconv.Atoi(child); err == nil && strings.TrimSpace(string(comm)) == name {
			all = append(all, id)
		}
	}
	return all
}

func children(pid int) (all []string) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, t := range tasks {
		text, _ := os.ReadFile(t)
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}

func readStatus(pid int, field string) int {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), field); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n
		}
	}
	return 0
}

func runAndWatch(cmd *exec.Cmd, limit time.Duration) (usage, error) {
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	return watchUsage(cmd, limit), nil
}

// measureProcessor returns the share of a core, in percent, that the guardian and the runner of a
// command take once all agents sleep.
func measureProcessor(cmd *exec.Cmd, agents int) (float64, error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	processes := processesOf(cmd.Process.Pid, filepath.Base(cmd.Path))
	for over := time.Now().Add(30 * time.Second); len(processes) < 2 || len(children(processes[1])) < agents; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(over) {
			_ = cmd.Process.Signal(syscall.SIGINT)
			return 0, errors.Join(errors.New("the agents do not all run"), cmd.Wait())
		}
		processes = processesOf(cmd.Process.Pid, filepath.Base(cmd.Path))
	}
	time.Sleep(3 * time.Second)
	const seconds = 10
	before := countTicks(processes)
	time.Sleep(seconds * time.Second)
	ticks := countTicks(processes) - before
	err := cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait() // exit status 130, after SIGINT
	return float64(ticks) / seconds, err
}

// countTicks returns the processor time of processes, without their children, in hundredths of a
// second. Source: proc(5), utime and stime.
func countTicks(processes []int) int {
	sum := 0
	for _, pid := range processes {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // from field 3
		if len(fields) < 13 {
			continue
		}
		for _, field := range fields[11:13] {
			n, _ := strconv.Atoi(field)
			sum += n
		}
	}
	return sum
}

func (l *lab) usageOfRun(n int) (usage, error) {
	dir, err := l.freshBoard(n)
	if err != nil {
		return usage{}, err
	}
	return runAndWatch(l.command(dir, steps[n]), 10*time.Minute)
}

// floodRow returns a measurement of the difference between two peaks of memory: the peak with an
// agent that writes long lines, and the peak with a silent agent. Each line has about 80 MB.
func floodRow(lines int, to string) func(*lab) (float64, error) {
	return func(l *lab) (float64, error) { return l.measureFlood(lines, to) }
}

func (l *lab) measureFlood(lines int, to string) (float64, error) {
	dir, err := l.makeBoard(1000)
	if err != nil {
		return 0, err
	}
	peak := func(agent string) (float64, error) {
		if err := resetBoard(dir); err != nil {
			return 0, err
		}
		cmd := exec.Command(l.binary, "--quiet", "--max-retries", "0", "--exec", agent, "kanban.yaml")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "KANBAN_RUN_MAX_OUTPUT=0")
		u, err := runAndWatch(cmd, 10*time.Minute)
		return u.peakMB(), err
	}
	idle, err := peak("true")
	if err != nil {
		return 0, err
	}
	busy, err := peak(fmt.Sprintf(`sh -c "awk 'BEGIN { for (s = \"agent output \"; length(s) < 1000000;) s = s s; for (i = 0; i < %d; i++) { for (j = 0; j < 48; j++) printf \"%%s\", s; print \"\" } }' %s"`, lines, to))
	return busy - idle, err
}

// asleepRow returns a measurement that runs a thousand boards side by side and reads one figure of
// the run. The agents of the boards sleep.
func asleepRow(figure string) func(*lab) (float64, error) {
	return func(l *lab) (float64, error) {
		const boards = 1000
		cmd, err := l.sleepCommand(boards)
		if err != nil {
			return 0, err
		}
		if figure == "processor" {
			return measureProcessor(cmd, boards)
		}
		u, err := runAndWatch(cmd, 8*time.Second)
		switch {
		case err != nil:
			return 0, err
		case figure == "threads":
			return float64(u.threads), nil
		case figure == "fds":
			return l.descriptorsPerBoard(u.fds, boards)
		default:
			return u.peakMB(), nil
		}
	}
}

// descriptorsPerBoard returns the number of descriptors that each board after the first takes.
func (l *lab) descriptorsPerBoard(fds, boards int) (float64, error) {
	cmd, err := l.sleepCommand(1)
	if err != nil {
		return 0, err
	}
	one, err := runAndWatch(cmd, 2*time.Second)
	if err == nil && one.fds == 0 {
		err = fmt.Errorf("%w: only root may count the descriptors", errSkipped)
	}
	return float64(fds-one.fds) / float64(boards-1), err
}

// sleepCommand returns the command that runs the given number of boards, whose agents sleep.
func (l *lab) sleepCommand(boards int) (*exec.Cmd, error) {
	dir := l.path("asleep")
	if err := os.MkdirAll(filepath.Join(dir, "tasks"), 0o755); err != nil {
		return nil, err
	}
	args := []string{"--quiet", "-j", strconv.Itoa(boards), "--exec", "sleep 60"}
	for i := range boards {
		name, task := fmt.Sprintf("b%d.yaml", i), fmt.Sprintf("tasks/%d.md", i)
		err := os.WriteFile(filepath.Join(dir, task), []byte("---\nrole: Implementor\n---\n"), 0o644)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), fmt.Appendf(nil, "current: %[1]s\ntasks: [%[1]s]\n", task),
				0o644)
		}
		if err != nil {
			return nil, err
		}
		args = append(args, name)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".kanban-run")); err != nil {
		return nil, err
	}
	cmd := exec.Command(l.binary, args...)
	cmd.Dir = dir
	return cmd, nil
}

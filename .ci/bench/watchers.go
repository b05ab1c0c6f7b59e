package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// idle is how long a watcher is measured beside an agent that sleeps.
const idle = 20 * time.Second

// watchedSteps is the number of steps of the run beside which a watcher is measured.
const watchedSteps = 90

// watcherRow returns a function that measures a command that watches a board of 500 earlier steps while
// a run takes 90 more. The result is its processor time to that of the run, agents included.
func watcherRow(args ...string) func(*lab) (float64, error) {
	return func(l *lab) (float64, error) {
		w, err := l.watch(100, args)
		if err != nil {
			return 0, err
		}
		_, processor, err := timePerStep(watchedSteps, l.command(w.Dir, watchedSteps), exitLimit)
		spent, failed := w.leave()
		return spent.Seconds() / (processor * watchedSteps), errors.Join(err, failed)
	}
}

// idleRow returns a function that measures the share of a core, in percent, that a watcher takes while
// the agent of a run sleeps, behind 500 earlier steps. What the watcher took until then is left out.
func idleRow(args ...string) func(*lab) (float64, error) {
	return func(l *lab) (float64, error) {
		w, err := l.watch(100, args)
		if err != nil {
			return 0, err
		}
		run := exec.Command(l.binary, "--quiet", "--exec", "sleep 600", "kanban.yaml")
		run.Dir = w.Dir
		if err := run.Start(); err != nil {
			return 0, err
		}
		time.Sleep(2 * time.Second) // until what the start of the agent says is shown
		before, err := processorOf(w.Process.Pid)
		time.Sleep(idle)
		after, failed := processorOf(w.Process.Pid)
		_ = run.Process.Signal(syscall.SIGINT)
		_ = run.Wait() // exit code 130
		_, left := w.leave()
		return 100 * (after - before).Seconds() / idle.Seconds(), errors.Join(err, failed, left)
	}
}

// watcher is a command that watches a board, and the tab of a browser that it may have.
type watcher struct {
	*exec.Cmd
	closeTab func()
}

// viewedSteps is the number of steps that were run before a page is looked at.
const viewedSteps = 500

// boardToWatch returns the folder of a board with a history of 500 steps. That of a board for view was run
// by kanban-run, because each step is a row of the page.
func (l *lab) boardToWatch(n int, command string) (string, error) {
	if command == "view" {
		dir, err := l.freshBoard(viewedTasks)
		if err == nil {
			_, _, err = timePerStep(viewedSteps, l.kanbanRun(dir, viewedSteps, "--agent", "Manager=walk"), exitLimit)
		}
		return dir, err
	}
	journal := l.path("history.jsonl")
	if _, err := os.Stat(journal); err != nil {
		if err := l.writeHistory(journal, n, historyRecords); err != nil {
			return "", err
		}
	}
	return l.boardBehind(journal, n)
}

// watch starts a watcher on a board of n tasks with a history. A command view gets a tab.
func (l *lab) watch(n int, args []string) (*watcher, error) {
	dir, err := l.boardToWatch(n, args[0])
	if err != nil {
		return nil, err
	}
	w := &watcher{exec.Command(l.binary, append(args, "kanban.yaml")...), func() {}}
	w.Dir = dir
	terminal, err := pty.StartWithSize(w.Cmd, &pty.Winsize{Rows: 40, Cols: 200})
	if err != nil {
		return nil, err
	}
	lines := bufio.NewReader(terminal)
	first, err := lines.ReadString('\n') // the watcher has read the journal
	if err == nil && args[0] == "view" {
		err = w.openTab(first)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return w, err
}

// openTab reads what a browser reads of the page, until leave: at each event the page, one at a time.
func (w *watcher) openTab(line string) error {
	at := strings.Index(line, "http://")
	if at < 0 {
		return fmt.Errorf("no address in %q", line)
	}
	address := strings.Fields(line[at:])[0]
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	stop, cancel := context.WithCancel(context.Background())
	w.closeTab = cancel
	client, root := &http.Client{Jar: jar}, address[:strings.Index(address, "/?")]
	for _, first := range []string{address, root + "/"} { // the token becomes a cookie
		if _, err := fetch(stop, client, first); err != nil {
			return err
		}
	}
	events, err := get(stop, client, root+"/events")
	if err != nil {
		return err
	}
	changes := make(chan struct{}, 1) // what changes while the page is fetched leads to one fetch more
	go func() {
		defer close(changes)
		for lines := bufio.NewScanner(events.Body); lines.Scan(); {
			if lines.Text() != "event: change" {
				continue
			}
			select {
			case changes <- struct{}{}:
			default:
			}
		}
	}()
	go func() {
		shown := "" // the number of the page that the tab has; "": none
		for range changes {
			next := root + "/"
			if shown != "" {
				next += "?since=" + shown
			}
			shown, _ = fetch(stop, client, next) // an error means that the watcher has left
		}
	}()
	return nil
}

// fetch reads a page to its end, and returns its number.
func fetch(stop context.Context, client *http.Client, address string) (number string, err error) {
	page, err := get(stop, client, address)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(io.Discard, page.Body)
	return page.Header.Get("Kanban-Page"), errors.Join(err, page.Body.Close())
}

func get(stop context.Context, client *http.Client, address string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(stop, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", address, answer.Status)
	}
	return answer, nil
}

// leave ends the watcher, and returns its processor time.
func (w *watcher) leave() (time.Duration, error) {
	w.closeTab()
	if err := w.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return 0, err
	}
	_ = w.Wait() // 130, or 0 if the run that it watches has ended
	return w.ProcessState.UserTime() + w.ProcessState.SystemTime(), nil
}

// processorOf returns the processor time of a process so far, to a hundredth of a second.
func processorOf(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, err := strconv.Atoi(fields[11])
	system, failed := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond, errors.Join(err, failed)
}

// dryRun returns the processor time of a dry run of 100 tasks, in seconds.
func (l *lab) dryRun() (float64, error) {
	dir, err := l.freshBoard(100)
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(l.binary, "--quiet", "--dry-run", "kanban.yaml")
	cmd.Dir = dir
	_, processor, err := timePerStep(1, cmd, 0)
	return processor, err
}

// realRun returns the processor time of a run of 100 tasks with agents that reply at once, in seconds.
func (l *lab) realRun() (float64, error) {
	dir, err := l.freshBoard(100)
	if err != nil {
		return 0, err
	}
	_, processor, err := timePerStep(1, l.kanbanRun(dir, 0, "--agent", "Manager=walk"), 0)
	return processor, err
}

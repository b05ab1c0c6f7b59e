//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// goneWithin is how long what the program has to end may be there after its end: it may be seen dying.
	goneWithin = 2 * time.Second
	// stuckAfter is how long a run of these small boards may take on a busy machine.
	stuckAfter = 30 * time.Second
)

// site is a folder with a board, and what is started there. Everything that
// it starts bears its marker.
type site struct {
	t        testing.TB
	dir      string
	marker   string
	binary   string
	args     []string // before the boards
	env      []string
	boards   []string      // kanban.yaml if there are none
	calls    string        // the agents' own log
	patience time.Duration // with a run, if it may take longer than stuckAfter
	listed   string        // the entries of the board's list before its tasks
	cloned   bool          // the agents work in a clone
	shield   bool          // another process is the parent of kanban-run: a failpoint may kill that one

	// Left behind when both halves were killed: the next start ends them before its first spawn.
	owed      []process
	owedMarks []string // in the environment of those that were just starting
}

// newSite makes a board kanban.yaml of n tasks that agent.sh plays.
func newSite(t testing.TB, binary string, n int) *site {
	t.Helper()
	s := emptySite(t, binary)
	s.args = []string{"--exec", "sh " + scriptOf(t, "agent.sh") + " " + s.marker}
	s.write("kanban.yaml", boardText(1, n))
	for i := range n {
		s.write(fmt.Sprintf("tasks/%d.md", i+1), "---\nrole: Implementor\n---\n")
	}
	return s
}

func emptySite(t testing.TB, binary string) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{t: t, dir: dir, binary: binary, calls: "calls", marker: "crashtest" + strings.ReplaceAll(dir, "/", "-") + fmt.Sprint("-", os.Getpid(), "-")}
	t.Cleanup(func() { endBearers(t, s.marker) })
	return s
}

// boardText is a board with the current task; 0 is none.
func boardText(current, n int) string {
	text := "current: null\ntasks:\n"
	if current > 0 {
		text = fmt.Sprintf("current: tasks/%d.md\ntasks:\n", current)
	}
	for i := range n {
		text += fmt.Sprintf("  - tasks/%d.md\n", i+1)
	}
	return text
}

// boardText is the site's own board with the current task; 0 is none.
func (s *site) boardText(current, n int) string {
	return strings.Replace(boardText(current, n), "tasks:\n", "tasks:\n"+s.listed, 1)
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

func (s *site) write(name, text string) {
	s.t.Helper()
	path := s.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) remove(name string) {
	s.t.Helper()
	if err := os.Remove(s.path(name)); err != nil {
		s.t.Fatal(err)
	}
}

// read returns a file; "" when it is not there.
func (s *site) read(name string) string {
	text, _ := os.ReadFile(s.path(name))
	return string(text)
}

// await waits until a file is there.
func (s *site) await(name string) {
	s.t.Helper()
	if !within(stuckAfter, func() bool { return exists(s.path(name)) }) {
		s.t.Fatalf("%s does not appear\n%s", name, s.read("output"))
	}
}

// command is kanban-run in the site's folder, with nothing of the tester's own settings.
func (s *site) command(env []string, args ...string) *exec.Cmd {
	argv := append([]string{s.binary}, args...)
	if s.shield {
		argv = append([]string{"sh", "-c", `"$@"; exit $?`, "shield-" + s.marker}, argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = s.dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "KANBAN_RUN_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "CRASH_MARKER="+s.marker, "KANBAN_RUN_GRACE=300ms")
	cmd.Env = append(append(cmd.Env, s.env...), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// launched is a kanban-run that was started.
type launched struct {
	site     *site
	cmd      *exec.Cmd
	guardian process // what the user started
	ended    chan struct{}
}

// start starts a run of the boards, of the site's own when none is named.
func (s *site) start(env []string, boards ...string) *launched {
	s.t.Helper()
	if len(boards) == 0 {
		boards = s.ownBoards()
	}
	return s.launch(s.command(env, append(append([]string(nil), s.args...), boards...)...))
}

func (s *site) ownBoards() []string {
	if len(s.boards) == 0 {
		return []string{"kanban.yaml"}
	}
	return s.boards
}

// journalOf is the journal of a board.
func journalOf(board string) string { return ".kanban-run/runs/" + board + "/journal.jsonl" }

func (s *site) launch(cmd *exec.Cmd) *launched {
	s.t.Helper()
	out, err := os.OpenFile(s.path("output"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		s.t.Fatal(err)
	}
	defer out.Close()
	if cmd.Stdout == nil {
		cmd.Stdout, cmd.Stderr = out, out
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	g, _, _ := look(cmd.Process.Pid)
	r := &launched{site: s, cmd: cmd, guardian: g, ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		_ = cmd.Wait()
	}()
	return r
}

func (r *launched) running() bool {
	select {
	case <-r.ended:
		return false
	default:
		return true
	}
}

// wait returns the exit code; -1 after a signal.
func (r *launched) wait() int {
	r.site.t.Helper()
	select {
	case <-r.ended:
		return r.cmd.ProcessState.ExitCode()
	case <-time.After(max(r.site.patience, stuckAfter)):
		r.site.t.Fatalf("kanban-run does not end; its processes: %v\n%s", bearers(r.site.marker), r.site.read("output"))
		return 0
	}
}

// kill kills a half or both. A runner that is not there yet cannot be killed: the guardian is
// then. It returns whom it killed.
func (r *launched) kill(v victim) victim {
	runner, split := runnerOf(r.guardian.pid)
	if !split {
		v = guardianOnly
	}
	if v == bothHalves {
		r.guardian.stop() // it would do its work before it is killed
	}
	if v != guardianOnly {
		runner.kill()
	}
	if v != runnerOnly {
		r.guardian.kill()
	}
	return v
}

// nobodyIsLeft: what outlived the other half of the program ends, and then all that bears the marker is
// gone, but what is owed.
func (s *site) nobodyIsLeft() {
	s.t.Helper()
	s.awaitHalves()
	var left []process
	gone := within(goneWithin, func() bool {
		left = slices.DeleteFunc(bearers(s.marker), s.owes)
		return len(left) == 0
	})
	if !gone {
		s.t.Fatalf("%d processes are left after %v: %v\n%s", len(left), goneWithin, left, s.story())
	}
}

// awaitHalves waits for the end of the program itself: one that was killed may still be dying, and one
// whose other half was killed ends by itself.
func (s *site) awaitHalves() {
	s.t.Helper()
	var left []process
	if !within(stuckAfter, func() bool { left = s.halves(); return len(left) == 0 }) {
		s.t.Fatalf("these do not end: %v\n%s", left, s.story())
	}
}

// halves are the processes of the program itself.
func (s *site) halves() []process {
	return slices.DeleteFunc(bearers(s.marker), func(p process) bool {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
		return err != nil || !bytes.HasPrefix(line, []byte(s.binary+"\x00")) || s.owes(p)
	})
}

// owes says whether the next start is to end a process: it was left behind, or an agent that was
// left behind has started it since.
func (s *site) owes(p process) bool {
	environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid))
	if slices.ContainsFunc(s.owedMarks, func(mark string) bool { return bytes.Contains(environ, []byte(mark)) }) {
		return true
	}
	group, err := syscall.Getpgid(p.pid)
	return slices.ContainsFunc(s.owed, func(o process) bool { return o == p || err == nil && o.pid == group })
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"kanban-run/orchestrator/proc"
)

// standIn is set for a test binary that is to be kanban-run.
const standIn = "TEST_BINARY_IS_KANBAN_RUN"

// gitTemplate names the variable with the folder that git init copies.
const gitTemplate = "GIT_TEMPLATE_DIR"

// TestMain makes the test binary stand in for kanban-run, so that the race detector looks into it.
// The runner is always kanban-run.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == labCommand {
		os.Exit(playLab(os.Stdin, os.Stdout, os.Args[2]))
	}
	if len(os.Args) == 2 && os.Args[1] == viewsCommand {
		os.Exit(printViews(os.Stdin, os.Stdout))
	}
	if os.Getenv(standIn) != "" || len(os.Args) > 1 && os.Args[1] == proc.RunnerCommand {
		main()
	}
	if filepath.Base(os.Args[0]) != "kanban-run" {
		leaveSurroundings()
	}
	testscript.Main(m, map[string]func(){"kanban-run": main})
}

// leaveSurroundings frees the tests of where they run. kanban-run itself, which this binary is in
// a script, keeps what the script gives it.
func leaveSurroundings() {
	// Under nohup, and in the background of a script, signals are ignored, and what is ignored is
	// inherited. What is taken is not.
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	// For each push to a folder git would look for garbage in one process more, or three.
	template, err := filepath.Abs("testdata/template")
	if err == nil {
		err = os.Setenv(gitTemplate, template)
	}
	if err != nil {
		panic(err)
	}
	// A test that plays a job says so itself.
	for _, name := range []string{"CI", "GITHUB_ACTIONS"} {
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
}

// TestScripts runs testdata/script/*.txtar: what a user can see. Each script is
// named after what it proves.
func TestScripts(t *testing.T) {
	t.Parallel()
	programs := scriptPrograms(t)
	testscript.Run(t, testscript.Params{
		Files:         scriptFiles(t),
		Setup:         func(env *testscript.Env) error { return setupScript(env, programs) },
		Condition:     condition,
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"lines":     lines,
			"same":      sameLines,
			"waitfor":   waitFor,
			"interrupt": interrupt,
			"manytasks": manyTasks,
			"mkfifo":    makeFIFO,
			"gone":      gone,
			"waitgone":  waitGone,
			"forge":     forge,
			"validate":  validate,
		},
	})
}

// condition root: the tests run as root. mounts: a process may mount a file system of its own.
func condition(cond string) (bool, error) {
	switch cond {
	case "root":
		return os.Geteuid() == 0, nil
	case "exhaustive":
		return exhaustive(), nil
	case "mounts":
		return exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt").Run() == nil, nil
	default:
		return false, fmt.Errorf("unknown condition %q", cond)
	}
}

// scriptFiles are the scripts, or those alone that do more in the exhaustive tests.
func scriptFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	if !exhaustive() {
		return files
	}
	return slices.DeleteFunc(files, func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && !bytes.Contains(text, []byte("exhaustive]")) && !bytes.Contains(text, []byte("\nmanytasks "))
	})
}

// scriptPrograms is the folder with the actor and with kanban-run as it is shipped. Where the race
// detector is to look into kanban-run, it has the actor only, and the scripts get the test binary.
func scriptPrograms(t *testing.T) string {
	t.Helper()
	actor, err := buildActor()
	if err == nil && !raceEnabled {
		_, err = buildPlain()
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(actor)
}

// setupScript puts the programs onto PATH, and keeps the test machine's own settings and
// secrets out of the scripts.
func setupScript(env *testscript.Env, programs string) error {
	env.Setenv("PATH", programs+string(filepath.ListSeparator)+env.Getenv("PATH"))
	env.Vars = slices.DeleteFunc(env.Vars, func(v string) bool { return strings.HasPrefix(v, "KANBAN_RUN_") })
	env.Setenv("GORACE", "atexit_sleep_ms=0") // else every agent of a race-detecting test takes a second to end
	env.Setenv(gitTemplate, os.Getenv(gitTemplate))
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o755)
}

// lines N FILE: the file has N lines.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	got := bytes.Count([]byte(ts.ReadFile(args[1])), []byte("\n"))
	if (fmt.Sprint(got) == args[0]) == neg {
		ts.Fatalf("%s has %d lines, want %s", args[1], got, args[0])
	}
}

// same FILE: all lines of the file are the same.
func sameLines(ts *testscript.TestScript, neg bool, args []string) {
	all := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n")
	slices.Sort(all)
	if (len(slices.Compact(all)) == 1) == neg {
		ts.Fatalf("%s has %d different lines", args[0], len(all))
	}
}

// waitfor FILE [REGEXP]: waits until the file has something in it, or a line that matches.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	want, err := regexp.Compile("(?m)" + strings.Join(args[1:], " "))
	ts.Check(err)
	path := ts.MkAbs(args[0])
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		if text, err := os.ReadFile(path); err == nil && len(text) > 0 && want.Match(text) {
			return
		}
	}
	ts.Fatalf("%s did not appear", strings.Join(args, " with "))
}

// interrupt SIGNAL FILE: sends the signal to the process whose number stands in the
// file; of a runner, to the process that the user started, which is its guardian. KILL
// goes to the runner itself.
func interrupt(ts *testscript.TestScript, _ bool, args []string) {
	pid := pidIn(ts, args[1])
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "QUIT": syscall.SIGQUIT, "KILL": syscall.SIGKILL}
	if args[0] != "KILL" {
		pid = userStarted(pid)
	}
	if err := syscall.Kill(pid, signals[args[0]]); err != nil {
		ts.Fatalf("kill %d: %v", pid, err)
	}
}

// userStarted is the process that a user started: the guardian of a runner.
func userStarted(pid int) int {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !bytes.Contains(line, []byte(proc.RunnerCommand)) {
		return pid
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return pid
	}
	var state string
	var parent int
	if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent); err != nil {
		return pid
	}
	return parent
}

// gone FILE: the process whose number stands in the file is no more.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	if pid := pidIn(ts, args[0]); hasEnded(pid) == neg {
		ts.Fatalf("process %d: ended is %v", pid, neg)
	}
}

// waitgone FILE: waits until the process whose number stands in the file is no more.
func waitGone(ts *testscript.TestScript, _ bool, args []string) {
	pid := pidIn(ts, args[0])
	for deadline := time.Now().Add(20 * time.Second); !hasEnded(pid); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("process %d has not ended", pid)
		}
	}
}

// pidIn returns the number of a process that stands in a file.
func pidIn(ts *testscript.TestScript, file string) (pid int) {
	if _, err := fmt.Sscan(ts.ReadFile(file), &pid); err != nil {
		ts.Fatalf("%s: %v", file, err)
	}
	return pid
}

// hasEnded reports whether a process is no more, or a zombie.
func hasEnded(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		return bytes.Contains(stat, []byte(") Z ")) // dead, and its new parent has not looked yet
	}
	return syscall.Kill(pid, 0) == syscall.ESRCH
}

// mkfifo FILE
func makeFIFO(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o600))
}

// manytasks N [FEW]: a board of N tasks, and their files; of FEW, or of a tenth, unless the test is exhaustive.
func manyTasks(ts *testscript.TestScript, _ bool, args []string) {
	var n int
	if _, err := fmt.Sscan(args[0], &n); err != nil {
		ts.Fatalf("%v", err)
	}
	if !exhaustive() {
		n /= 10
		if len(args) > 1 {
			_, err := fmt.Sscan(args[1], &n)
			ts.Check(err)
		}
	}
	var board, order strings.Builder
	board.WriteString("current: tasks/1.md\ntasks:\n")
	ts.Check(os.MkdirAll(ts.MkAbs("tasks"), 0o755))
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&board, "  - tasks/%d.md\n", i)
		fmt.Fprintf(&order, "Implementor tasks/%d.md\nManager tasks/%d.md\n", i, i)
		ts.Check(os.WriteFile(ts.MkAbs(fmt.Sprintf("tasks/%d.md", i)), []byte("---\nrole: Implementor\n---\n"), 0o644))
	}
	ts.Check(os.WriteFile(ts.MkAbs("kanban.yaml"), []byte(board.String()), 0o644))
	ts.Check(os.WriteFile(ts.MkAbs("order"), []byte(order.String()), 0o644))
}

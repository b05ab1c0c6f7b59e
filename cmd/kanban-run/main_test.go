//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
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

// TestMain makes the test binary stand in for kanban-run and for the agents of the scripts. The runner is always kanban-run.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == labCommand {
		os.Exit(playLab(os.Stdin, os.Stdout, os.Args[2]))
	}
	if os.Getenv(standIn) != "" || len(os.Args) > 1 && os.Args[1] == proc.RunnerCommand {
		main()
	}
	// Under nohup signals are ignored, and what is ignored is inherited. What is taken is not.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	testscript.Main(m, map[string]func(){
		"kanban-run": main,
		"actor":      actor,
	})
}

// TestScripts runs testdata/script/*.txtar: what a user can see. Each script is named after what it proves.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		Setup:         setupScript,
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
			"forge":     forge,
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

// setupScript keeps the test machine's own settings and secrets out of the scripts.
func setupScript(env *testscript.Env) error {
	env.Vars = slices.DeleteFunc(env.Vars, func(v string) bool { return strings.HasPrefix(v, "KANBAN_RUN_") })
	env.Setenv("GORACE", "atexit_sleep_ms=0") // else every agent of a race-detecting test takes a second to end
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

// waitfor FILE: waits until the file is there.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return
		}
	}
	ts.Fatalf("%s did not appear", args[0])
}

// interrupt SIGNAL FILE: sends the signal to the process whose number stands in the file; of a runner, to the process that the
// user started, which is its guardian. KILL goes to the runner itself.
func interrupt(ts *testscript.TestScript, _ bool, args []string) {
	var pid int
	if _, err := fmt.Sscan(ts.ReadFile(args[1]), &pid); err != nil {
		ts.Fatalf("%s: %v", args[1], err)
	}
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
	var pid int
	if _, err := fmt.Sscan(ts.ReadFile(args[0]), &pid); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	ended := syscall.Kill(pid, 0) == syscall.ESRCH
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		ended = bytes.Contains(stat, []byte(") Z ")) // dead, and its new parent has not looked yet
	}
	if ended == neg {
		ts.Fatalf("process %d: ended is %v", pid, ended)
	}
}

// mkfifo FILE
func makeFIFO(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o600))
}

// manytasks N: a board of N tasks, and their files; a tenth of that unless the test is exhaustive.
func manyTasks(ts *testscript.TestScript, _ bool, args []string) {
	var n int
	if _, err := fmt.Sscan(args[0], &n); err != nil {
		ts.Fatalf("%v", err)
	}
	if !exhaustive() {
		n /= 10
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

// actor is the agent of the scripts: it does what its flags say and then replies.
func actor() {
	flags := flag.NewFlagSet("actor", flag.ContinueOnError)
	var (
		log      = flags.String("log", "", "append ROLE and task to this file")
		identity = flags.String("identity", "", "append a digest of argv, stdin, environment and folder to this file")
		input    = flags.String("input", "", "append the input to this file")
		walk     = flags.Bool("walk", false, "reply as a Manager: the next task of the list")
		write    = flags.Bool("write", false, "with -walk: write current onto the board too")
		reply    = flags.String("reply", `{"status":"ok","message":"done"}`, "what to print")
		edit     = flags.String("edit", "", "OLD=>NEW: replace the text on the board")
		odd      = flags.Int("odd", 0, "reply as a Manager with so many odd tasks")
		link     = flags.String("link", "", "replace the board by a link to this")
		flaky    = flags.String("flaky", "", "print garbage until this file exists, and make it")
		parent   = flags.String("parent", "", "write the number of the parent process to this file, then wait for a signal")
		pid      = flags.String("pid", "", "write the number of this process to this file")
		stubborn = flags.String("stubborn", "", "with -parent: on SIGTERM write this file and go on")
		until    = flags.String("until", "", "wait until this file exists")
		code     = flags.Int("exit", 0, "exit code")
		env      = flags.String("env", "", "write the environment to this file")
	)
	check(flags.Parse(os.Args[1:]))
	data, err := io.ReadAll(os.Stdin)
	check(err)
	var in struct {
		TaskFile   string   `json:"task_file"`
		KanbanFile string   `json:"kanban_file"`
		DoneTask   string   `json:"done_task"`
		Tasks      []string `json:"tasks"`
	}
	check(json.Unmarshal(data, &in))
	appendLine(*log, os.Getenv("KANBAN_RUN_ROLE")+" "+in.TaskFile+in.DoneTask)
	appendLine(*input, string(data))
	dir, err := os.Getwd()
	check(err)
	appendLine(*identity, fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", os.Args, data, os.Environ(), dir))))
	if *env != "" {
		check(os.WriteFile(*env, []byte(strings.Join(os.Environ(), "\n")+"\n"), 0o644))
	}
	if *pid != "" {
		check(os.WriteFile(*pid, []byte(fmt.Sprintln(os.Getpid())), 0o644))
	}
	for *until != "" && !exists(*until) {
		time.Sleep(5 * time.Millisecond)
	}
	if *parent != "" {
		waitForSignal(*parent, *stubborn)
	}
	if *edit != "" {
		before, after, _ := strings.Cut(*edit, "=>")
		editBoard(in.KanbanFile, before, after)
	}
	if *link != "" {
		check(os.Remove(in.KanbanFile))
		check(os.Symlink(*link, in.KanbanFile))
	}
	switch {
	case *flaky != "" && !exists(*flaky):
		check(os.WriteFile(*flaky, []byte("seen\n"), 0o644))
		fmt.Println("garbage")
	case *odd > 0:
		fmt.Println(oddReply(*odd))
	case *walk:
		fmt.Println(walkReply(in.KanbanFile, in.DoneTask, in.Tasks, *write))
	default:
		fmt.Println(*reply)
	}
	os.Exit(*code)
}

// waitForSignal says in a file whose child it is and lets itself be ended.
func waitForSignal(file, stubborn string) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	check(os.WriteFile(file, []byte(fmt.Sprintln(os.Getppid())), 0o644))
	for over := time.After(time.Minute); ; {
		select {
		case <-asked:
			if stubborn == "" {
				os.Exit(143)
			}
			check(os.WriteFile(stubborn, []byte("asked\n"), 0o644))
		case <-over:
			os.Exit(1)
		}
	}
}

// oddReply has so many entries that look like YAML that no board with them could be read.
func oddReply(n int) string {
	tasks := make([]string, n)
	for i := range tasks {
		tasks[i] = fmt.Sprintf("- : # [%d", i)
	}
	data, err := json.Marshal(map[string]any{"status": "ok", "message": "", "next_task": nil, "tasks": tasks})
	check(err)
	return string(data)
}

func walkReply(kanban, done string, tasks []string, write bool) string {
	next := "null"
	if i := slices.Index(tasks, done); i >= 0 && i+1 < len(tasks) {
		next = tasks[i+1]
	}
	if write {
		text, err := os.ReadFile(kanban)
		check(err)
		line := regexp.MustCompile(`(?m)^current: .*$`).Find(text)
		editBoard(kanban, string(line), "current: "+next)
	}
	if tasks == nil {
		tasks = []string{}
	}
	reply := map[string]any{"status": "ok", "message": "next", "next_task": next, "tasks": tasks}
	if next == "null" {
		reply["next_task"] = nil
	}
	data, err := json.Marshal(reply)
	check(err)
	return string(data)
}

func editBoard(path, before, after string) {
	text, err := os.ReadFile(path)
	check(err)
	check(os.WriteFile(path, bytes.Replace(text, []byte(before), []byte(after), 1), 0o644))
}

func appendLine(path, line string) {
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	check(err)
	_, err = fmt.Fprintln(f, line)
	check(err)
	check(f.Close())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
}

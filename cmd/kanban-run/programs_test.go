package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// started is a kind of program that kanban-run starts.
type started struct {
	program, when, lookup, environment, folder string
	at                                         []string // the calls that start or find it: FILE FUNCTION
}

// programs is the table of all programs. Who starts another one has to find a row for it.
var programs = []started{
	{"an agent, a review command, a judge", "in its attempt", "in `PATH`, or the path that is named; once, when the run begins",
		"that of agents (above), with the role's `env` and the keys of the adapter's provider", "the work directory",
		[]string{"orchestrator/attempt/attempt.go proc.Start", "orchestrator/proc/lookup.go exec.LookPath", "cmd/kanban-run/initreview.go exec.LookPath",
			"orchestrator/agent/codex/mcp.go agent.LookPath", "orchestrator/agent/exec.go proc.LookPath",
			"orchestrator/agent/program.go proc.LookPath", "orchestrator/agent/stub/stub.go agent.LookPath", "orchestrator/roster/installed.go agent.LookPath", "orchestrator/roster/program.go agent.LookPath"}},
	{"a resident supervisor", "from the first checkpoint to the end of the run", "as an agent", "that of its role", "the work directory",
		[]string{"orchestrator/attempt/resident.go proc.Start"}},
	{"an ACP agent", "in its attempt, by a client that kanban-run is itself", "as an agent", "that of its role", "the work directory",
		[]string{"orchestrator/agent/acp/client.go exec.Command"}},
	{"the agents of `supervise`", "while you talk to them", "in `PATH`", "that of agents", "the current folder",
		[]string{"orchestrator/supervise/program.go proc.Run"}},
	{"a program that is asked for its version or help", "`check --agents`", "as the agent", "that of agents without any secret, whatever `env.pass` says", "the work directory",
		[]string{"orchestrator/agent/question.go proc.Run"}},
	{"the command of `notify`", "when a message is due, also behind the end of a run", "once, when the run begins, with the bytes that its files had then", "that of agents without a role's `env`", "the current folder",
		[]string{"orchestrator/notify/send.go proc.Run", "cmd/kanban-run/notify.go proc.LookPath"}},
	{"git, and what git starts (ssh, gpg, credential helpers)", "before, between and behind the turns", "in `PATH` without relative folders and those in the work tree",
		"kanban-run's own, without git's variables that could lead it elsewhere", "the work tree",
		[]string{"orchestrator/git/git.go proc.Run", "orchestrator/git/program.go proc.LookPath", "orchestrator/proc/lookup.go exec.LookPath"}},
	{"the commands of `clones_setup` and `land_verify`", "when a clone is made; when `land` has merged", "in `PATH`, or in the clone", "that of agents without a role's `env`", "the work directory, in the clone",
		[]string{"orchestrator/clone/setup.go proc.Run", "orchestrator/clone/setup.go agent.LookPath"}},
	{"the browser", "`view --open`", "as git", "that of agents without any secret, with a mark: what it starts decides about no board", "the current folder",
		[]string{"cmd/kanban-run/view.go proc.Detach", "orchestrator/proc/group.go exec.Command"}},
	{"the runner, which is kanban-run itself", "behind its guardian", "its own path", "kanban-run's own; of a CI job's variables some reach it only", "the current folder",
		[]string{"orchestrator/proc/reaper_other.go os.StartProcess"}},
}

// starters are the functions that start or find a program.
var starters = []string{"proc.Run", "proc.Start", "proc.Detach", "proc.LookPath", "agent.LookPath", "exec.Command", "exec.CommandContext", "exec.LookPath", "os.StartProcess", "syscall.ForkExec"}

// TestPrograms: each call that starts or finds a program belongs to a row of the table of programs,
// and docs/security.md has that table.
func TestPrograms(t *testing.T) {
	known := map[string]bool{}
	for _, p := range programs {
		for _, at := range p.at {
			known[at] = false
		}
	}
	for _, root := range []string{"orchestrator", "cmd/kanban-run", "roles"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && slices.Contains([]string{"testdata", "modeltest", "agenttest"}, d.Name()):
				return fs.SkipDir
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if name := starterOf(n); name != "" {
					at := filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("../..")+"/")) + " " + name
					if _, is := known[at]; !is {
						t.Errorf("%s is in no row of the table of programs", at)
					}
					known[at] = true
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for at, found := range known {
		if !found && !strings.Contains(at, "reaper_") {
			t.Errorf("%s starts nothing any more", at)
		}
	}
	wantPrograms(t, filepath.Join("../..", "docs", "security.md"))
}

// starterOf returns the function that a node calls, if it is one of starters.
func starterOf(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return ""
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	of, ok := f.X.(*ast.Ident)
	if name := fmt.Sprint(of, ".", f.Sel); ok && slices.Contains(starters, name) {
		return name
	}
	return ""
}

// wantPrograms holds the page to the table, or writes the table there with KANBAN_TEST_UPDATE.
func wantPrograms(t *testing.T, page string) {
	t.Helper()
	const begin, end = "<!-- programs -->\n", "<!-- end of programs -->"
	text, err := os.ReadFile(page)
	must(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the table of programs", page)
	}
	table := "\n| program | when | looked up | environment | folder |\n|---|---|---|---|---|\n"
	for _, p := range programs {
		table += fmt.Sprintf("| %s | %s | %s | %s | %s |\n", p.program, p.when, p.lookup, p.environment, p.folder)
	}
	want := before + begin + table + "\n" + end + after
	switch {
	case want == string(text):
	case os.Getenv("KANBAN_TEST_UPDATE") != "":
		must(t, os.WriteFile(page, []byte(want), 0o644))
	default:
		t.Error("docs/security.md has another table of programs; make docs writes it")
	}
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/testfile"
)

// How an example of a page is run.
const (
	aBoard    = "a board"
	aBoards   = "checkpoints of a board"
	aRole     = "a role"
	roleKeys  = "keys of a role, each line one of them"
	aTask     = "a task"
	taskKeys  = "keys of a task"
	settings  = "settings"
	shell     = "commands, in a folder with a board"
	aWorkflow = "a workflow"
	inPython  = "an agent in Python"
	elsewhere = "another test runs it"
)

// examples are the examples of the pages in their order, and how each is run. A
// new one needs a line here.
var examples = map[string][]string{
	"beyond-one-machine.md": {settings, elsewhere, elsewhere, elsewhere, elsewhere, elsewhere}, // a_board_goes_on_in_another_clone; TestReadme of kanban-run-temporal; TestEnvironment of gitstore
	"boards.md":             {aBoard},
	"checkpoints.md":        {aBoards, elsewhere},      // TestExamplesRun (examples/checkpoints)
	"getting-started.md":    {elsewhere, shell, aTask}, // a_demo_of_a_night
	"github-actions.md":     {aWorkflow},
	"landing.md":            {elsewhere},                                          // from_the_table_to_main
	"overnight.md":          {elsewhere, elsewhere, elsewhere, elsewhere},         // until_seven; TestRealOutage; TestUnitRestarts
	"places.md":             {elsewhere},                                          // from_init_to_the_commit
	"playbooks.md":          {taskKeys, settings, settings, elsewhere, elsewhere}, // a_person_is_told
	"recipes.md":            {settings},
	"review.md":             {roleKeys},
	"roles.md":              {aRole, settings},
	"running.md":            {elsewhere},                             // TestLiveMoments
	"watching.md":           {elsewhere, aTask, settings, aRole},     // what_is_said_to_a_running_agent
	"writing-an-agent.md":   {inPython, shell, elsewhere, elsewhere}, // the shell block; a_supervisor_stays_for_the_run
	"../README.md":          {elsewhere, shell, aTask, aBoard},       // make run, make install, a_demo_of_a_night
}

var block = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```|(?:^    [^\n]*\n)+")

// TestExamplesOfPages: what a page shows, works.
func TestExamplesOfPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../docs/../README.md") {
		name := strings.TrimPrefix(page, "../../docs/")
		if slices.Contains([]string{"reference.md", "architecture.md"}, name) {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, m := range block.FindAllStringSubmatch(listsLeftOut(string(text)), -1) {
			if m[1] == "" {
				m[1] = strings.ReplaceAll("\n"+m[0], "\n    ", "\n")
			}
			found = append(found, m[1])
		}
		if len(found) != len(examples[name]) {
			t.Errorf("%s has %d examples, %d are said how to run:\n%s", name, len(found), len(examples[name]), strings.Join(found, "\n---\n"))
			continue
		}
		for i, kind := range examples[name] {
			t.Run(fmt.Sprintf("%s %d", name, i+1), func(t *testing.T) { runExample(t, kind, found[i]) })
		}
	}
}

// TestCallsOfATask: with an adapter for all roles a task costs two calls of a model, with walk as the Manager one, also
// where the settings have it and a flag names the adapter.
func TestCallsOfATask(t *testing.T) {
	for flags, want := range map[string]int{"--agent stub": 2, "--agent stub --agent Manager=walk": 1} {
		dir := t.TempDir()
		testfile.Write(t, filepath.Join(dir, "kanban.yaml"), "current: tasks/1.md\ntasks: [tasks/1.md]\n")
		testfile.Write(t, filepath.Join(dir, "tasks/1.md"), "Do it.\n")
		runDocumented(t, dir, fmt.Sprintf("kanban-run -q %s kanban.yaml\n[ $(kanban-run log --json | grep -c ATTEMPT_STARTED) = %d ]", flags, want))
	}
	runDocumented(t, t.TempDir(), "kanban-run init . && kanban-run -q --agent stub && [ $(kanban-run log --json | grep -c ATTEMPT_STARTED) = 1 ]")
}

// listsLeftOut blanks the second lines of list entries, which are indented, too.
func listsLeftOut(text string) string {
	return regexp.MustCompile(`(?m)^(\s*- .*\n)(?:    .*\n)+`).ReplaceAllString(text, "$1")
}

func runExample(t *testing.T, kind, text string) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	board := "current: tasks/1-lexer.md\ntasks: [tasks/1-lexer.md]\n"
	write("kanban.yaml", board)
	for _, task := range regexp.MustCompile(`tasks/[a-z0-9-]+\.md`).FindAllString(board+text, -1) {
		write(task, "Do it.\n")
	}
	write("docs/goal.md", "A goal.\n")
	write("docs/dates.md", "Dates.\n")
	write("agent.sh", agentInTheDocs(t))
	script := "kanban-run check --agent stub kanban.yaml"
	switch kind {
	case elsewhere:
		return
	case aBoard:
		write("kanban.yaml", text)
	case aBoards:
		write("kanban.yaml", "current: tasks/1-outline.md\ntasks: [tasks/1-outline.md, tasks/2-draft.md]\n"+text)
	case aRole:
		name := regexp.MustCompile(`(?m)^name: (\w+)$`).FindStringSubmatch(text)[1]
		write(".kanban-run/roles/"+name+".md", text)
		write("agents/review", "#!/bin/sh\n")
		write("tasks/1-lexer.md", "---\nrole: "+name+"\n---\nDo it.\n")
		write("SUPERVISOR.md", "Look at it.\n")
		script = "kanban-run check kanban.yaml && kanban-run roles " + name
	case roleKeys:
		for line := range strings.Lines(text) {
			runExample(t, aRole, "---\nname: Reviewer\nagent: claude\n"+line+"---\nDo it.\n")
		}
		return
	case aTask:
		write("tasks/1-lexer.md", text+"Do it.\n")
	case taskKeys:
		write("tasks/1-lexer.md", "---\n"+text+"---\nDo it.\n")
	case settings:
		write(".kanban-run.yaml", text)
		script = "kanban-run config | grep 'kanban-run.yaml'"
	case inPython:
		if _, err := exec.LookPath("python3"); err != nil {
			t.Skip("python3 is not installed")
		}
		write("agent.py", text)
		script = "kanban-run --exec 'python3 agent.py' --agent Manager=walk kanban.yaml"
	case aWorkflow:
		checkWorkflow(t, text)
		return
	case shell:
		script = text
	}
	runDocumented(t, dir, script)
}

// runDocumented runs commands of a page as a shell does, each of which must succeed.
func runDocumented(t *testing.T, dir, script string) {
	t.Helper()
	program, err := os.Executable() // the race detector looks into it
	if err == nil && !raceEnabled {
		program, err = buildPlain()
	}
	bin := t.TempDir()
	if err == nil {
		err = os.Symlink(program, filepath.Join(bin, "kanban-run"))
	}
	if err != nil {
		t.Fatal(err)
	}
	// No agent is installed: the stub stands for the one that a reader has.
	cmd := exec.Command("sh", "-e", "-c", strings.ReplaceAll(script, "$PWD/bin:", ""))
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + dir, standIn + "=1", "MY_OTHER_SECRET=s3cretvalue", "KANBAN_RUN_AGENT=stub", "GORACE=atexit_sleep_ms=0"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v of\n%s\n%s", err, script, out)
	}
}

// agentInTheDocs is the agent that writing-an-agent shows.
func agentInTheDocs(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/writing-an-agent.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "```sh\n")
	text, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("the page shows no agent")
	}
	return text
}

// checkWorkflow holds the steps of a workflow that use the action against the action.
func checkWorkflow(t *testing.T, text string) {
	t.Helper()
	var steps []struct {
		Uses string
		With map[string]any
	}
	var action struct{ Inputs, Outputs map[string]any }
	if err := yaml.Unmarshal([]byte(text), &steps); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../../action.yml")
	if err == nil {
		err = yaml.Unmarshal(source, &action)
	}
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for _, s := range steps {
		if !strings.HasPrefix(s.Uses, "OWNER/kanban-run@") {
			continue
		}
		used++
		for name := range s.With {
			if _, ok := action.Inputs[name]; !ok {
				t.Errorf("the action has no input %s", name)
			}
		}
	}
	for _, m := range regexp.MustCompile(`steps\.board\.outputs\.([a-z_-]+)`).FindAllStringSubmatch(text, -1) {
		if _, ok := action.Outputs[m[1]]; !ok {
			t.Errorf("the action has no output %s", m[1])
		}
	}
	if used == 0 {
		t.Error("the action is not used")
	}
}

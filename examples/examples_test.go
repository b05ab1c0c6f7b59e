// Package examples_test plays the example boards with nothing but the loop of seed 004, so that an
// example that stops working and a runner that stops working are told apart.
package examples_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	kanban "kanban-run/orchestrator/board"
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/walk"
	"kanban-run/roles"
	"kanban-run/schema"
)

func TestHello(t *testing.T) {
	p := play(t, "hello")
	p.loop("kanban.yaml")
	p.wantSteps("Implementor tasks/1-greet.md", "Implementor tasks/2-answer.md")
	p.wantFile("out/1-greet.txt", "Hello, board.\n")
	p.wantFile("out/2-answer.txt", "Hello yourself, agent.\n")
	p.wantWorkLog("tasks/1-greet.md", "tasks/2-answer.md")
}

// The board goes through every row of seed 004's "Agent Role Mapping", and once back from review.
func TestPhases(t *testing.T) {
	p := play(t, "phases")
	p.loop("kanban.yaml")
	p.wantSteps(
		"Architect tasks/1-design.md",
		"Manager tasks/2-plan.md",
		"Implementor tasks/3-write-slug.md",
		"Architect tasks/3-write-slug.md",
		"Implementor tasks/3-write-slug.md",
		"Architect tasks/3-write-slug.md",
		"Implementor tasks/4-write-manual.md",
		"Architect tasks/4-write-manual.md",
		"Architect tasks/5-validate.md",
	)
	p.wantFile("kanban.yaml", `# yaml-language-server: $schema=../../schema/kanban.schema.json
# From an idea to a checked program. No task names a role, so the phase decides who works:
# design and validate: Architect; plan: Manager; execute: Implementor, with sub_phase review: Architect.
title: A program that makes slugs
phase: complete
current: null   # the Manager moves this on

tasks:
  - tasks/1-design.md
  - tasks/2-plan.md
  - tasks/3-write-slug.md
  - tasks/4-write-manual.md
  - tasks/5-validate.md
`)
	p.wantWorkLog("tasks/1-design.md", "tasks/2-plan.md", "tasks/3-write-slug.md", "tasks/4-write-manual.md", "tasks/5-validate.md")
	slug, err := exec.Command("sh", filepath.Join(p.dir, "out/slug.sh"), "  What --  now? ").Output()
	if err != nil || string(slug) != "what-now\n" {
		t.Errorf("out/slug.sh = %q, %v, want what-now", slug, err)
	}
}

// A task that is not ok is a person's.
func TestPhasesEscalates(t *testing.T) {
	p := play(t, "phases")
	p.write("kanban.yaml", "phase: execute\ncurrent: tasks/1-design.md\ntasks:\n  - tasks/1-design.md\n")
	p.loop("kanban.yaml")
	p.wantSteps("Implementor tasks/1-design.md")
	p.wantFile("kanban.yaml", "phase: execute\ncurrent: null\ntasks:\n  - tasks/1-design.md\n")
	if p.last.Status != "escalate" {
		t.Errorf("last status = %s, want escalate", p.last.Status)
	}
}

func TestBatch(t *testing.T) {
	p := play(t, "batch")
	for _, board := range []string{"letters.yaml", "poems.md", "recipes.yaml"} {
		p.loop(board)
	}
	p.wantSteps(
		"Implementor tasks/letter-ada.md", "Implementor tasks/letter-bo.md",
		"Implementor tasks/poem-night.md", "Implementor tasks/poem-rain.md",
		"Implementor tasks/recipe-soup.md", "Implementor tasks/recipe-tea.md",
	)
	p.wantFile("out/poem-rain.txt", "8\n")
	if got := strings.Count(p.read("poems.md"), " [done]\n"); got != 3 {
		t.Errorf("poems.md has %d entries that are done, want 3:\n%s", got, p.read("poems.md"))
	}
	if got := strings.Count(p.read("recipes.yaml"), "state: done"); got != 3 {
		t.Errorf("recipes.yaml has %d entries that are done, want 3:\n%s", got, p.read("recipes.yaml"))
	}
	if !strings.Contains(p.read("recipes.yaml"), "    state: done        # soup first\n") {
		t.Errorf("recipes.yaml lost its comment:\n%s", p.read("recipes.yaml"))
	}
}

// Editors find the schema by the first line; every board keeps the schema.
func TestBoardsKeepTheSchema(t *testing.T) {
	boards, err := filepath.Glob("*/[a-z]*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	boards = append(boards, "batch/poems.md")
	if len(boards) != 6 {
		t.Errorf("boards = %v, want 6 of them", boards)
	}
	for _, name := range boards {
		source := read(t, name)
		const modeline = "# yaml-language-server: $schema=../../schema/kanban.schema.json\n"
		if !strings.HasPrefix(strings.TrimPrefix(source, "---\n"), modeline) {
			t.Errorf("%s does not begin with %s", name, modeline)
		}
		var board any
		if err := yaml.Unmarshal([]byte(frontmatter(source)), &board); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if violations, err := schema.Validate("kanban", board); err != nil || len(violations) > 0 {
			t.Errorf("%s breaks the schema: %v %v", name, violations, err)
		}
	}
}

func TestReadmes(t *testing.T) {
	names, err := filepath.Glob("*/README.md")
	names = slices.DeleteFunc(names, func(name string) bool { // they have no board
		return slices.Contains([]string{"container", "github-actions", "slurm"}, filepath.Dir(name))
	})
	if err != nil || len(names) != 4 {
		t.Fatalf("READMEs: %v, %v, want 4", names, err)
	}
	for _, name := range names {
		text := read(t, name)
		if lines := strings.Count(text, "\n"); lines > 12 {
			t.Errorf("%s has %d lines, want about ten", name, lines)
		}
		if !strings.Contains(text, "    cd examples/"+filepath.Dir(name)+" && kanban-run ") {
			t.Errorf("%s does not say how to run it", name)
		}
	}
}

// player is one copy of an example that is being run.
type player struct {
	t        *testing.T
	dir      string
	settings *config.Settings
	roles    *roles.Set
	steps    []string // "ROLE TASK"
	last     reply    // the agent's, then the Manager's
}

type board struct {
	Phase    string
	SubPhase string `yaml:"sub_phase"`
	Current  *string
	Tasks    []any
}

type reply struct {
	Status   string   `json:"status"`
	Message  string   `json:"message"`
	NextTask *string  `json:"next_task"`
	Tasks    []string `json:"tasks"`
}

func play(t *testing.T, example string) *player {
	t.Helper()
	p := &player{t: t, dir: t.TempDir()}
	if err := os.CopyFS(p.dir, os.DirFS(example)); err != nil {
		t.Fatal(err)
	}
	set, err := roles.Load()
	if err != nil {
		t.Fatal(err)
	}
	p.roles = set
	known := func(name string) bool { _, err := set.Lookup(name); return err == nil }
	// Started from elsewhere, as `kanban-run examples/hello/kanban.yaml` is.
	p.settings, _, err = config.Load(config.Input{File: filepath.Join(p.dir, config.FileName), StartDir: t.TempDir(), KnownRole: known})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// loop is seed 004's supervisor_loop, "State Machine".
func (p *player) loop(name string) {
	p.t.Helper()
	for range 30 {
		b := p.board(name)
		if b.Current == nil || b.Phase == "complete" {
			return
		}
		role := p.determineRole(b)
		p.steps = append(p.steps, role+" "+*b.Current)
		if role != "Manager" {
			p.last = p.spawn(role, map[string]any{"task_file": *b.Current, "kanban_file": name})
		}
		p.manage(name, b)
	}
	p.t.Fatalf("%s does not end: %v", name, p.steps)
}

// manage calls the Manager twice, as happens when its first reply is lost in a crash: the second
// call must find the decision made, and must not make another.
func (p *player) manage(name string, before board) {
	p.t.Helper()
	input := map[string]any{"kanban_file": name, "done_task": *before.Current, "tasks": before.paths()}
	first := p.spawn("Manager", input)
	written := p.read(name)
	second := p.spawn("Manager", input)
	if !cmp.Equal(first.NextTask, second.NextTask) || !cmp.Equal(first.Tasks, second.Tasks) || p.read(name) != written {
		p.t.Fatalf("called again for %s the Manager answers %+v, want %+v and the same board", *before.Current, second, first)
	}
	p.last = second
	after := p.board(name)
	if !cmp.Equal(after.paths(), first.Tasks) {
		p.t.Errorf("tasks on the board = %v, in the reply = %v, want the same", after.paths(), first.Tasks)
	}
	if !cmp.Equal(after.Current, before.Current) && !cmp.Equal(after.Current, first.NextTask) {
		p.t.Errorf("current on the board = %v, next_task = %v, want the same", after.Current, first.NextTask)
	}
	p.record(name, first.NextTask)
}

// record writes the answer onto a board that the Manager left alone; onto
// another it changes nothing.
func (p *player) record(name string, next *string) {
	current := "null"
	if next != nil {
		current = *next
	}
	p.write(name, regexp.MustCompile(`(?m)^current: *[^ #\n]*`).ReplaceAllLiteralString(p.read(name), "current: "+current))
}

func (p *player) determineRole(b board) string {
	var meta struct{ Role, Assignee string }
	if err := yaml.Unmarshal([]byte(frontmatter(p.read(*b.Current))), &meta); err != nil {
		p.t.Fatal(err)
	}
	if name := meta.Role + meta.Assignee; name != "" {
		role, err := p.roles.Lookup(name)
		if err != nil {
			p.t.Fatal(err)
		}
		return role.Name
	}
	switch {
	case b.Phase == "plan":
		return "Manager"
	case b.Phase == "design", b.Phase == "validate", b.Phase == "execute" && b.SubPhase == "review":
		return "Architect"
	}
	return "Implementor"
}

func (p *player) spawn(role string, input map[string]any) reply {
	p.t.Helper()
	encoded, err := json.Marshal(input)
	if err != nil {
		p.t.Fatal(err)
	}
	output := p.start(p.settings.Choose(role), encoded)
	decoder := json.NewDecoder(bytes.NewReader(output))
	decoder.DisallowUnknownFields()
	var r reply
	if err := decoder.Decode(&r); err != nil || decoder.More() || r.Message == "" {
		p.t.Fatalf("%s replies %s: %v, want one reply", role, output, err)
	}
	if !slices.Contains([]string{"ok", "blocked", "error", "escalate"}, r.Status) {
		p.t.Fatalf("%s replies with status %q", role, r.Status)
	}
	return r
}

// start starts an agent, and returns what it prints.
func (p *player) start(choice config.Choice, input []byte) []byte {
	p.t.Helper()
	var stdout, stderr bytes.Buffer
	if choice.Agent == "walk" {
		return p.walk(input)
	}
	cmd := exec.Command(filepath.Join(choice.Dir, choice.Command))
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.dir, bytes.NewReader(input), &stdout, &stderr
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		p.t.Fatalf("%v %s: %v\n%s", cmd.Args, input, err, stderr.Bytes())
	}
	return stdout.Bytes()
}

// walk is the Manager that the run itself plays.
func (p *player) walk(input []byte) []byte {
	p.t.Helper()
	var in struct {
		KanbanFile string   `json:"kanban_file"`
		DoneTask   string   `json:"done_task"`
		Tasks      []string `json:"tasks"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		p.t.Fatal(err)
	}
	path := filepath.Join(p.dir, in.KanbanFile)
	b, err := kanban.Parse(in.KanbanFile, []byte(p.read(in.KanbanFile)))
	if err != nil {
		p.t.Fatal(err)
	}
	place, err := kanban.OpenPlace(p.dir, path)
	if err != nil {
		p.t.Fatal(err)
	}
	at := b.Finder()(in.DoneTask)
	d := walk.Decide(walk.Turn{Task: in.DoneTask, At: at, Status: p.last.Status, Len: b.Len(), Marked: func(i int) bool { return b.Entry(i).Done() },
		Head: func(i int) walk.Head {
			task, err := place.ReadTask(b.Entry(i).Path)
			if err != nil {
				return walk.Head{Path: b.Entry(i).Path, Fault: err}
			}
			return walk.Head{Path: task.Ref.Path, Done: task.Done()}
		}})
	if d.Mark {
		marked, err := b.MarkDone(at)
		if err != nil {
			p.t.Fatal(err)
		}
		p.write(in.KanbanFile, string(marked.Source))
	}
	out := reply{Status: d.Status, Message: d.Message, Tasks: in.Tasks}
	if d.Next != "" {
		out.NextTask = &d.Next
	}
	text, err := json.Marshal(out)
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

func (p *player) board(name string) board {
	p.t.Helper()
	var b board
	if err := yaml.Unmarshal([]byte(frontmatter(p.read(name))), &b); err != nil {
		p.t.Fatalf("%s: %v\n%s", name, err, p.read(name))
	}
	return b
}

func (b board) paths() []string {
	var paths []string
	for _, entry := range b.Tasks {
		switch e := entry.(type) {
		case string:
			paths = append(paths, strings.TrimSuffix(e, " [done]"))
		case map[string]any:
			paths = append(paths, e["file"].(string))
		}
	}
	return paths
}

func (p *player) wantSteps(want ...string) {
	p.t.Helper()
	if diff := cmp.Diff(want, p.steps); diff != "" {
		p.t.Errorf("steps differ (-want +got):\n%s", diff)
	}
}

func (p *player) wantFile(name, want string) {
	p.t.Helper()
	if diff := cmp.Diff(want, p.read(name)); diff != "" {
		p.t.Errorf("%s differs (-want +got):\n%s", name, diff)
	}
}

// Work logs have the shape that the embedded roles teach.
func (p *player) wantWorkLog(names ...string) {
	p.t.Helper()
	entry := regexp.MustCompile(`(?s)\n## Work Log\n\n### \[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] [A-Z][a-z]+: [^\n]+\n\n\*\*Facts:\*\*\n- .*\n\n` +
		`\*\*Analysis:\*\*\n- .*\n\n\*\*Conclusion:\*\*\n- Status: ok\n`)
	for _, name := range names {
		if !entry.MatchString(p.read(name)) {
			p.t.Errorf("%s has no work log entry:\n%s", name, p.read(name))
		}
	}
}

func (p *player) read(name string) string {
	p.t.Helper()
	return read(p.t, filepath.Join(p.dir, name))
}

func (p *player) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// frontmatter is the part between the fences, or the whole of a plain YAML file.
func frontmatter(source string) string {
	if rest, ok := strings.CutPrefix(source, "---\n"); ok {
		head, _, _ := strings.Cut(rest, "\n---\n")
		return head
	}
	return source
}

// TestUnits: systemd accepts the units of the overnight example.
func TestUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("there is no systemd here")
	}
	verify := exec.Command(analyze, "verify", "--user", "overnight/kanban.service", "overnight/kanban.timer")
	verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	if out, err := verify.CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

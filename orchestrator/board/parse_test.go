package board

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/frontmatter"
	"kanban-run/schema"
)

func mustParse(t testing.TB, file, source string) *Board {
	t.Helper()
	b, err := Parse(file, []byte(source))
	if err != nil {
		t.Fatalf("Parse(%q) = %v", source, err)
	}
	return b
}

func problems(list []*frontmatter.Problem) []string {
	var out []string
	for _, p := range list {
		out = append(out, p.Error())
	}
	return out
}

// want is the expected content of a board.
type want struct {
	Phase, SubPhase string
	Current         Current
	Tasks           []Entry
}

// shape is a board and its meaning.
type shape struct {
	name, file, source string
	want               want
	terminal           bool
	warnings           []string
}

func (c shape) check(t *testing.T) {
	b := mustParse(t, c.file, c.source)
	got := want{Phase: b.Phase, SubPhase: b.SubPhase, Current: b.Current, Tasks: b.entries}
	if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
	if b.Terminal() != c.terminal {
		t.Errorf("Terminal() = %v, want %v", b.Terminal(), c.terminal)
	}
	if diff := cmp.Diff(c.warnings, problems(b.Warnings)); diff != "" {
		t.Errorf("Warnings (-want +got):\n%s", diff)
	}
	if string(b.Source) != c.source || b.SHA != SHA([]byte(c.source)) {
		t.Errorf("Source or SHA are not those of the file")
	}
}

// The shapes come from real boards; the names say what is peculiar.
func TestParseReadsRealShapes(t *testing.T) {
	for _, c := range []shape{
		{
			name: "markdown, unquoted date, block list", file: "7-kanban.md",
			source: "---\ntype: kanban\ncreated: 2026-02-25T14:59:23.544307\nphase: exploration\ncurrent: tasks/a.md\ntasks:\n  - tasks/a.md\n  - tasks/b.md\n---\n\n# Kanban\n",
			want: want{Phase: "exploration", Current: Current{Set: true, Path: "tasks/a.md", Line: 5, Column: 10},
				Tasks: []Entry{{Path: "tasks/a.md", Line: 7}, {Path: "tasks/b.md", Line: 8}}},
		},
		{
			name: "everything in single quotes, flow list", file: "101-kanban.md",
			source: "---\ntype: 'kanban'\ncreated: '2026-03-03 00:48:20.168029'\nphase: 'exploration'\ncurrent: 'tasks/a.md'\ntasks: ['tasks/a.md', 'tasks/b.md']\n---\n",
			want: want{Phase: "exploration", Current: Current{Set: true, Path: "tasks/a.md", Line: 5, Column: 10},
				Tasks: []Entry{{Path: "tasks/a.md", Line: 6}, {Path: "tasks/b.md", Line: 6}}},
		},
		{
			name: "done suffixes and explicit null", file: "33-kanban.md",
			source: "---\nphase: complete\ncurrent: null\ntasks:\n  - tasks/a.md\n  - tasks/b.md [done]\n---\n",
			want: want{Phase: "complete", Current: Current{Set: true, Null: true, Line: 3, Column: 10},
				Tasks: []Entry{{Path: "tasks/a.md", Line: 5}, {Path: "tasks/b.md", State: "done", Line: 6}}},
			terminal: true,
		},
		{
			name: "empty list", file: "40-kanban.md",
			source: "---\nphase: complete\ncurrent: null\ntasks: []\n---\n",
			want: want{Phase: "complete", Current: Current{Set: true, Null: true, Line: 3, Column: 10},
				Tasks: []Entry{}}, terminal: true,
		},
		{
			name: "blank lines in the list, a list of the author's before it", file: "59-kanban.md",
			source: "---\nphase: complete\ncurrent: null\ndone:\n  - tasks/a.md\ntasks:\n  - tasks/a.md\n\n  - tasks/b.md\n\n---\n",
			want: want{Phase: "complete", Current: Current{Set: true, Null: true, Line: 3, Column: 10},
				Tasks: []Entry{{Path: "tasks/a.md", Line: 7}, {Path: "tasks/b.md", Line: 9}}},
			terminal: true,
		},
		{
			name: "maps with file, status and assignee", file: "kanban.yaml",
			source: "phase: execute\nsub_phase: review\ncurrent: a.md\ntasks:\n- file: a.md\n  status: todo\n  assignee: Architect\n- {file: b.md, state: done, note: mine}\n",
			want: want{Phase: "execute", SubPhase: "review",
				Current: Current{Set: true, Path: "a.md", Line: 3, Column: 10},
				Tasks: []Entry{{Path: "a.md", State: "todo", Assignee: "Architect", Line: 5},
					{Path: "b.md", State: "done", Line: 8}}},
		},
	} {
		t.Run(c.name, c.check)
	}
}

func TestParseReadsUnusualShapes(t *testing.T) {
	for _, c := range []shape{
		{
			name: "no phase", file: "kanban.yml", source: "current: a.md\ntasks: [a.md]\n",
			want: want{Current: Current{Set: true, Path: "a.md", Line: 1, Column: 10},
				Tasks: []Entry{{Path: "a.md", Line: 2}}},
		},
		{
			name: "absent current on a finished board", file: "kanban.yaml", source: "phase: Done\ntasks: [a.md]\n",
			want: want{Phase: "Done", Tasks: []Entry{{Path: "a.md", Line: 2}}}, terminal: true,
		},
		{
			name: "finished and still pointing at a task", file: "kanban.yaml",
			source: "phase: COMPLETED\ncurrent: a.md\ntasks: [a.md]\n",
			want: want{Phase: "COMPLETED", Current: Current{Set: true, Path: "a.md", Line: 2, Column: 10},
				Tasks: []Entry{{Path: "a.md", Line: 3}}}, terminal: true,
		},
		{
			name: "tilde", file: "kanban.yaml", source: "phase: x\ncurrent: ~\ntasks: []\n",
			want:     want{Phase: "x", Current: Current{Set: true, Null: true, Line: 2, Column: 10}, Tasks: []Entry{}},
			terminal: true,
		},
		{
			name: "byte order mark and CRLF", file: "kanban.md",
			source: "\ufeff---\r\nphase: x\r\ncurrent: a.md\r\ntasks:\r\n  - a.md\r\n---\r\n",
			want: want{Phase: "x", Current: Current{Set: true, Path: "a.md", Line: 3, Column: 10},
				Tasks: []Entry{{Path: "a.md", Line: 5}}},
		},
		{
			name: "brackets within a name", file: "kanban.yaml",
			source: "current: 'a [b].md'\ntasks: ['a [b].md', 'c [1]', '[done]', 'd[done]']\n",
			want: want{Current: Current{Set: true, Path: "a [b].md", Line: 1, Column: 10},
				Tasks: []Entry{{Path: "a [b].md", Line: 2}, {Path: "c [1]", Line: 2}, {Path: "[done]", Line: 2},
					{Path: "d[done]", Line: 2}}},
		},
		{
			name: "a task named like a date", file: "kanban.yaml", source: "current: 2026-01-01\ntasks: [2026-01-01]\n",
			want: want{Current: Current{Set: true, Path: "2026-01-01", Line: 1, Column: 10},
				Tasks: []Entry{{Path: "2026-01-01", Line: 2}}},
		},
	} {
		t.Run(c.name, c.check)
	}
}

// An odd but legal board is read with a warning.
func TestParseWarns(t *testing.T) {
	for _, c := range []shape{
		{
			name: "empty current", file: "kanban.yaml", source: "phase: x\ncurrent:\ntasks: []\n",
			want:     want{Phase: "x", Current: Current{Set: true, Null: true, Line: 2, Column: 9}, Tasks: []Entry{}},
			terminal: true,
			warnings: []string{"kanban.yaml:2:9: current is empty, which is read as null: the work is over"},
		},
		{
			name: "suffix on current", file: "kanban.yaml", source: "current: a.md [in progress]\ntasks: [a.md]\n",
			want: want{Current: Current{Set: true, Path: "a.md", Line: 1, Column: 10},
				Tasks: []Entry{{Path: "a.md", Line: 2}}},
			warnings: []string{"kanban.yaml:1:10: current has the suffix [in progress], which is not part of the path"},
		},
		{
			name: "no tasks", file: "kanban.yaml", source: "current: a.md\n",
			want:     want{Current: Current{Set: true, Path: "a.md", Line: 1, Column: 10}},
			warnings: []string{"kanban.yaml: the board has no list of tasks"},
		},
		{
			name: "empty tasks", file: "kanban.yaml", source: "current: a.md\ntasks:\n",
			want:     want{Current: Current{Set: true, Path: "a.md", Line: 1, Column: 10}},
			warnings: []string{"kanban.yaml:2:7: the board has no list of tasks"},
		},
		{
			name: "a task twice", file: "kanban.yaml", source: "current: a.md\ntasks:\n- a.md\n- a.md [done]\n",
			want: want{Current: Current{Set: true, Path: "a.md", Line: 1, Column: 10},
				Tasks: []Entry{{Path: "a.md", Line: 3}, {Path: "a.md", State: "done", Line: 4}}},
			warnings: []string{"kanban.yaml:4:3: the task a.md is already on line 3"},
		},
		{
			name: "state and status", file: "kanban.yaml",
			source: "current: a.md\ntasks:\n- {file: a.md, status: todo, state: done}\n",
			want: want{Current: Current{Set: true, Path: "a.md", Line: 1, Column: 10},
				Tasks: []Entry{{Path: "a.md", State: "done", Line: 3}}},
			warnings: []string{"kanban.yaml:3:3: state done and status todo differ; state counts"},
		},
		{
			name: "a field in another case", file: "kanban.yaml",
			source: "Phase: design\ncurrent: a.md\ntasks: [a.md]\nsub-phase: x\n",
			want: want{Current: Current{Set: true, Path: "a.md", Line: 2, Column: 10},
				Tasks: []Entry{{Path: "a.md", Line: 3}}},
			warnings: []string{"kanban.yaml:1:1: the field Phase is not phase and has no meaning here",
				"kanban.yaml:4:1: the field sub-phase is not sub_phase and has no meaning here"},
		},
	} {
		t.Run(c.name, c.check)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, file, source, want, hint string }{
		{"no frontmatter", "k.md", "# Board\n---\nphase: x\nphase: y\n---\n", "k.md:1: this is no board",
			"begin with ---"},
		{"empty Markdown", "k.md", "", "k.md:1: this is no board", "begin with ---"},
		{"empty YAML", "k.yaml", "", "k.yaml: the file is empty", ""},
		{"phase twice", "k.md", "---\nphase: x\ntasks: []\nphase: y\n---\n",
			"k.md:4:1: the key \"phase\" is already on line 2", "remove"},
		{"unquoted colon in a request of many lines", "k.md",
			"---\ntype: kanban\nrequest: GOAL: change it\n\nNeeded Changes:\n- Lexer - x\nphase: x\n---\n",
			"k.md:3:14: invalid YAML: mapping values", "check --fix"},
		{"request that ends in a colon", "k.md", "---\nrequest: Do the following:\n\n## Tasks\n1. a\nphase: x\n---\n",
			"k.md:2:26: invalid YAML: mapping values", "check --fix"},
		{"current: no", "k.yaml", "current: no\ntasks: []\n", "k.yaml:1:10: current: no is a yes or no", "null"},
		{"current: false", "k.yaml", "current: false\ntasks: []\n", "k.yaml:1:10: current", "quotes"},
		{"current is an empty text", "k.yaml", "current: \"\"\ntasks: []\n", "k.yaml:1:10: current",
			"kanban-run schema kanban"},
		{"current is a number", "k.yaml", "current: 7\ntasks: []\n", "k.yaml:1:10: current", "quotes"},
		{"current is a list", "k.yaml", "current: [a.md]\ntasks: []\n", "k.yaml:1:10: current", "schema kanban"},
		{"current is a map", "k.yaml", "current: {file: a.md}\ntasks: []\n", "k.yaml:1:10: current", "schema kanban"},
		{"current is empty text", "k.yaml", "current: ''\ntasks: []\n", "k.yaml:1:10: current", ""},
		{"current is blank", "k.yaml", "current: ' '\ntasks: []\n", "k.yaml:1:10: current: the path is empty", "null"},
		{"escape in current", "k.yaml", "current: \"a\\e[2J.md\"\ntasks: []\n", "k.yaml:1:10: current", ""},
		{"NUL in a task", "k.yaml", "current: a.md\ntasks: [\"a\\0.md\"]\n",
			"k.yaml:2:9: tasks: the path holds the character '\\x00'", ""},
		{"newline in a task", "k.yaml", "current: a.md\ntasks:\n- |\n  a.md\n",
			"k.yaml:3:3: tasks: the path holds the character '\\n'", ""},
		{"control in a map", "k.yaml", "current: a.md\ntasks:\n- file: \"\\x9b\"\n",
			"k.yaml:3:9: tasks: file: the path holds", ""},
		{"phase is a number", "k.yaml", "phase: 1\ncurrent: a\ntasks: []\n", "k.yaml:1:8: phase", "quotes"},
		{"sub_phase is a list", "k.yaml", "sub_phase: [a]\ncurrent: a\ntasks: []\n", "k.yaml:1:12: sub_phase", ""},
		{"tasks is text", "k.yaml", "current: a\ntasks: a.md\n", "k.yaml:2:8: tasks", "tasks: [a.md]"},
		{"tasks is a map", "k.yaml", "current: a\ntasks: {a.md: done}\n", "k.yaml:2:8: tasks", ""},
		{"a task is a number", "k.yaml", "current: a\ntasks: [a, 1]\n", "k.yaml:2:12: a task must be a path", "quotes"},
		{"a task is null", "k.yaml", "current: a\ntasks:\n- a\n-\n", "k.yaml:4:2: a task must be a path", ""},
		{"a task is a list", "k.yaml", "current: a\ntasks:\n- [a]\n", "k.yaml:3:3: a task must be a path", ""},
		{"a map without file", "k.yaml", "current: a\ntasks:\n- a.md: done\n",
			"k.yaml:3:3: a task that is a map needs file", "colon"},
		{"file is a number", "k.yaml", "current: a\ntasks:\n- file: 1\n", "k.yaml:3:9: tasks: file must be text",
			"quotes"},
		{"file is null", "k.yaml", "current: a\ntasks:\n- file:\n", "k.yaml:3:8: tasks: file must be text", "quotes"},
		{"state is a list", "k.yaml", "current: a\ntasks:\n- file: a\n  state: [x]\n",
			"k.yaml:4:10: tasks: state must be text", ""},
		{"two documents", "k.yaml", "current: a\ntasks: []\n---\ncurrent: b\n", "k.yaml:3:1: a second YAML document",
			""},
		{"alias bomb", "k.yaml", "a: &a [x, x]\nb: &b [*a, *a]\ntasks: []\n", "k.yaml:1:4: anchors", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := Parse(c.file, []byte(c.source))
			var p *frontmatter.Problem
			if !errors.As(err, &p) {
				t.Fatalf("Parse(%q) = %+v, %v, want a *frontmatter.Problem", c.source, b, err)
			}
			if !strings.HasPrefix(p.Error(), c.want) {
				t.Errorf("error = %q, want it to begin %q", p, c.want)
			}
			if !strings.Contains(p.Hint(), c.hint) {
				t.Errorf("hint = %q, want it to contain %q", p.Hint(), c.hint)
			}
		})
	}
}

// Parse judges entries in its own words, with their lines. The schema must agree.
func TestEntriesAreJudgedAsTheSchemaDoes(t *testing.T) {
	for _, entry := range []string{
		"a.md", "'a.md [done]'", "1", "1.5", "true", "null", "~", "[a]", "{file: a.md}",
		"{file: a.md, state: done, status: x, assignee: y}",
		"{file: a.md, state: null, status: ~, assignee: }", "{file: a.md, state: 1}", "{file: a.md, status: [x]}",
		"{file: a.md, assignee: true}",
		"{file: 1}", "{file: }", "{state: done}", "{}", "''", "{file: ''}", `"a\tb"`, `"a\x7f"`, `{file: "a\nb"}`,
		"{file: a.md, extra: [1, {a: b}]}",
	} {
		_, err := Parse("k.yaml", []byte("current: a.md\ntasks: ["+entry+"]\n"))
		var value any
		if err := yaml.Unmarshal([]byte(entry), &value); err != nil {
			t.Fatal(err)
		}
		violations, verr := schema.Validate("kanban", map[string]any{"tasks": []any{value}})
		if verr != nil {
			t.Fatal(verr)
		}
		if (err == nil) != (len(violations) == 0) {
			t.Errorf("entry %s: Parse = %v, the schema says %v", entry, err, violations)
		}
	}
}

func TestWarningsAreBounded(t *testing.T) {
	b := mustParse(t, "k.yaml", "current: a\ntasks:\n"+strings.Repeat("- a\n", 1000))
	if len(b.Warnings) != maxWarnings+1 {
		t.Fatalf("there are %d warnings, want %d", len(b.Warnings), maxWarnings+1)
	}
	if got, want := b.Warnings[maxWarnings].Error(), "k.yaml: 949 more warnings"; got != want {
		t.Errorf("last warning = %q, want %q", got, want)
	}
	for _, w := range b.Warnings {
		if !w.Warning {
			t.Errorf("%v is not marked as a warning", w)
		}
	}
}

func TestEntryDone(t *testing.T) {
	for state, want := range map[string]bool{"": false, "todo": false, "done": true, "Done": true, " x ": true,
		"COMPLETED": true, "cancelled": true, "review": false, "undone": false} {
		if got := (Entry{State: state}).Done(); got != want {
			t.Errorf("Entry{State: %q}.Done() = %v, want %v", state, got, want)
		}
	}
}

func TestTaskPaths(t *testing.T) {
	b := mustParse(t, "k.yaml", "current: a\ntasks: ['a [done]', {file: b}]\n")
	if diff := cmp.Diff([]string{"a", "b"}, b.TaskPaths()); diff != "" {
		t.Errorf("TaskPaths (-want +got):\n%s", diff)
	}
	if got := mustParse(t, "k.yaml", "current: a\n").TaskPaths(); got == nil || len(got) != 0 {
		t.Errorf("TaskPaths() without tasks = %#v, want an empty list", got)
	}
}

func TestPlacedErrors(t *testing.T) {
	cause := &PathError{Path: "a.md", Text: "it is gone", hint: func() string { return "bring it back" }}
	b := mustParse(t, "k.yaml", "phase: x\ncurrent: a.md\ntasks:\n- b.md [done]\n- a.md\n")
	own := &frontmatter.Problem{File: "a.md", Line: 3, Text: "own place"}
	task := &Task{Ref: Ref{Path: "a.md"}, RoleLine: 4, roleColumn: 7}
	for _, c := range []struct {
		name       string
		err        error
		want, hint string
	}{
		{"current", b.CurrentProblem(cause), "k.yaml:2:10: current: a.md: it is gone", "bring it back"},
		{"entry", b.EntryProblem(b.Entry(1), cause), "k.yaml:5: tasks: a.md: it is gone", "bring it back"},
		{"own place", b.CurrentProblem(fmt.Errorf("read: %w", own)), "read: a.md:3: own place", ""},
		{"role", task.RoleProblem(cause), "a.md:4:7: a.md: it is gone", "bring it back"},
		{"missing current", mustParse(t, "k.yaml", "phase: x\ntasks: ['a [done]', b]\n").MissingCurrent(),
			"k.yaml:1: current is missing", "current: b"},
		{"missing current, nothing to do", mustParse(t, "k.yaml", "phase: x\ntasks: []\n").MissingCurrent(),
			"k.yaml:1: current is missing", "current: null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.HasPrefix(c.err.Error(), c.want) {
				t.Errorf("error = %q, want it to begin %q", c.err, c.want)
			}
			if got := failure.HintOf(c.err); !strings.Contains(got, c.hint) {
				t.Errorf("hint = %q, want it to contain %q", got, c.hint)
			}
		})
	}
	if err := b.CurrentProblem(cause); !errors.Is(err, cause) {
		t.Errorf("CurrentProblem(%v) loses its cause", cause)
	}
}

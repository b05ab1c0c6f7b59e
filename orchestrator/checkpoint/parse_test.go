package checkpoint

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/frontmatter"
	"kanban-run/schema"
)

// parse reads the field checkpoints of a board of the given text.
func parse(t *testing.T, source string) (s *event.Supervision, off bool, err error) {
	t.Helper()
	doc, err := frontmatter.ParseYAML("k.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	_, node := doc.Field("checkpoints")
	return Parse(doc, node)
}

// checkSchema compares a verdict with the one of the schema that editors use.
func checkSchema(t *testing.T, source string, valid bool) {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(source), &v); err != nil {
		t.Fatal(err)
	}
	violations, err := schema.Validate("kanban", v)
	if err != nil || (len(violations) == 0) != valid {
		t.Errorf("the schema finds %v, %v in %q; Parse takes it: %v", violations, err, source, valid)
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, source string
		want         event.Supervision
	}{
		{"every", "checkpoints: {every: 3}\n", event.Supervision{Role: "Supervisor", Every: 3, OnBlock: event.BlockPerson}},
		{"at", "checkpoints:\n  at:\n  - {id: C-1, after: tasks/a.md}\n", event.Supervision{Role: "Supervisor",
			At: []event.CheckpointAt{{ID: "C-1", After: "tasks/a.md"}}, OnBlock: event.BlockPerson}},
		{"all there is", "checkpoints:\n  role: Architect\n  requirement: docs/goal.md\n  every: 1\n  on_block: abort\n" +
			"  at:\n  - id: CHECKPOINT-001\n    after: tasks/2.md\n    scope: [tasks/1.md, tasks/2.md]\n  - {after: 2026-01-01, id: '7'}\n",
			event.Supervision{Role: "Architect", Requirement: "docs/goal.md", Every: 1, OnBlock: event.BlockAbort, At: []event.CheckpointAt{
				{ID: "CHECKPOINT-001", After: "tasks/2.md", Scope: []string{"tasks/1.md", "tasks/2.md"}},
				{ID: "7", After: "2026-01-01"}}}},
		{"a key without a value is missing", "checkpoints: {every: 2, role: , at: , requirement: ~, on_block: null}\n",
			event.Supervision{Role: "Supervisor", Every: 2, OnBlock: event.BlockPerson}},
		{"a requirement of two lines", "checkpoints:\n  every: 2\n  requirement: |\n    a site\n    for cats\n",
			event.Supervision{Role: "Supervisor", Requirement: "a site\nfor cats\n", Every: 2, OnBlock: event.BlockPerson}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, off, err := parse(t, tt.source)
			if err != nil || off {
				t.Fatalf("Parse = off %v, %v, want neither", off, err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("Parse differs (-want +got):\n%s", diff)
			}
			checkSchema(t, tt.source, true)
		})
	}
}

func TestParseOff(t *testing.T) {
	for _, word := range []string{"off", "OFF", "'off'", "false", "False", "null", "~", ""} {
		source := "checkpoints: " + word + "\n"
		if s, off, err := parse(t, source); s != nil || !off || err != nil {
			t.Errorf("Parse(%q) = %v, off %v, %v, want off", source, s, off, err)
		}
		checkSchema(t, source, true)
	}
}

// TestFaults: each has its place and says what to do. loose: the schema cannot say so.
func TestFaults(t *testing.T) {
	const (
		nothing = "write every: 3 for one after every third finished task, at: for one after a certain task, or checkpoints: off"
		mapping = "write checkpoints: {every: 3}, or checkpoints: off; rename the field where it means something else"
		number  = "write for example every: 3, for a checkpoint after every third finished task and after the last"
		ways    = "write person (the run ends, and a person decides), revise (the Manager plans anew), override (the run goes on) or abort (the board ends)"
		list    = "write at: and below it one - {id: CHECKPOINT-001, after: tasks/1.md} a line"
		word    = "write a letter or a digit, then letters, digits, dots, dashes and underscores: id: CHECKPOINT-001"
		tasks   = "write scope: [tasks/1.md, tasks/2.md], or remove it: then it looks at the tasks finished since the last checkpoint"
	)
	at := func(entry string) string { return "checkpoints:\n  at:\n  - " + entry + "\n" }
	quote := func(name string) string {
		return "write " + name + ": TEXT; put the value in quotes when it looks like a number or a boolean"
	}
	for _, tt := range []struct {
		name, source, want, hint string
		loose                    bool
	}{
		{"a text", "checkpoints: after the second\n", "1:14: checkpoints must be a mapping, or off", mapping, false},
		{"on", "checkpoints: true\n", "1:14: checkpoints must be a mapping, or off", mapping, false},
		{"a number", "checkpoints: 3\n", "1:14: checkpoints must be a mapping, or off", mapping, false},
		{"a list", "phase: x\ncheckpoints:\n- a\n", "3:1: checkpoints must be a mapping, or off", mapping, false},
		{"nothing in it", "checkpoints: {}\n", "1:14: checkpoints: it names no checkpoint", nothing, true},
		{"a role only", "checkpoints:\n  role: Architect\n", "2:3: checkpoints: it names no checkpoint", nothing, true},
		{"an empty list", "checkpoints:\n  at: []\n", "2:3: checkpoints: it names no checkpoint", nothing, true},
		{"a misspelt key", "checkpoints:\n  evrey: 3\n", `2:3: checkpoints: unknown key "evrey"`, "did you mean every?", false},
		{"a dash", "checkpoints:\n  every: 3\n  on-block: abort\n", `3:3: checkpoints: unknown key "on-block"`, "did you mean on_block?", false},
		{"an unknown key", "checkpoints:\n  every: 3\n  colour: red\n", `3:3: checkpoints: unknown key "colour"`,
			"checkpoints has the keys role, requirement, every, at, on_block", false},
		{"never", "checkpoints: {every: 0}\n", "1:22: checkpoints: every must be a whole number, 1 or more", number, false},
		{"below none", "checkpoints: {every: -1}\n", "1:22: checkpoints: every must be a whole number, 1 or more", number, false},
		{"half", "checkpoints: {every: 1.5}\n", "1:22: checkpoints: every must be a whole number, 1 or more", number, false},
		{"a quoted number", "checkpoints: {every: '3'}\n", "1:22: checkpoints: every must be a whole number, 1 or more", number, false},
		{"a list of numbers", "checkpoints: {every: [3]}\n", "1:22: checkpoints: every must be a whole number, 1 or more", number, false},
		{"a number beyond all", "checkpoints: {every: 99999999999999999999}\n",
			"1:22: checkpoints: every must be a whole number, 1 or more", number, true},
		{"a role that is a number", "checkpoints: {every: 3, role: 7}\n", "1:31: checkpoints: role must be text", quote("role"), false},
		{"an empty role", "checkpoints: {every: 3, role: ' '}\n", "1:31: checkpoints: role is empty", "write a value, or remove the line", false},
		{"an escape in a role", "checkpoints: {every: 3, role: \"a\\eb\"}\n", `1:31: checkpoints: role holds the character '\x1b'`,
			"remove the character", false},
		{"a requirement that is a map", "checkpoints: {every: 3, requirement: {a: b}}\n", "1:38: checkpoints: requirement must be text",
			quote("requirement"), false},
		{"an empty requirement", "checkpoints: {every: 3, requirement: ''}\n", "1:38: checkpoints: requirement is empty",
			"write a value, or remove the line", false},
		{"an unknown way on", "checkpoints:\n  every: 3\n  on_block: stop\n", "3:13: checkpoints: on_block must be person, revise, override or abort",
			ways, false},
		{"at is a map", "checkpoints:\n  at: {id: A, after: a.md}\n", "2:7: checkpoints: at must be a list", list, false},
		{"an entry that is a path", at("tasks/a.md"), "3:5: checkpoints: a checkpoint must be a mapping with id and after", list, false},
		{"an entry without a value", at(""), "3:4: checkpoints: a checkpoint must be a mapping with id and after", list, false},
		{"an unknown key of an entry", at("{id: A, befor: a.md}"), `3:13: checkpoints: unknown key "befor"`,
			"a checkpoint has the keys id, after, scope", false},
		{"no id", at("{after: a.md}"), "3:5: checkpoints: a checkpoint has no id", "write for example id: CHECKPOINT-001", false},
		{"an id that is a number", at("{id: 1, after: a.md}"), "3:10: checkpoints: id must be text", quote("id"), false},
		{"an empty id", at("{id: '', after: a.md}"), "3:10: checkpoints: id is empty", "write a value, or remove the line", false},
		{"a path for an id", at("{id: ../a, after: a.md}"), `3:10: checkpoints: the id "../a" cannot be said everywhere`, word, false},
		{"an id of two words", at("{id: a b, after: a.md}"), `3:10: checkpoints: the id "a b" cannot be said everywhere`, word, false},
		{"an id with an accent", at("{id: é, after: a.md}"), `3:10: checkpoints: the id "\u00e9" cannot be said everywhere`, word, false},
		{"an id with an escape", at("{id: \"a\\x07\", after: a.md}"), `3:10: checkpoints: id holds the character '\a'`,
			"remove the character", false},
		{"a long id", at("{id: " + strings.Repeat("a", 65) + ", after: a.md}"), "3:10: checkpoints: the id is longer than 64 characters",
			"write a shorter one: id: CHECKPOINT-001", false},
		{"an id twice", at("{id: A, after: a.md}\n  - {after: b.md, id: A}"), "4:23: checkpoints: the id A is already on line 3",
			"give each checkpoint an id of its own", true},
		{"no task", at("{id: A}"), "3:5: checkpoints: the checkpoint A does not say after which task it comes",
			"write after: and the path of the task after which it comes", false},
		{"a task that is a list", at("{id: A, after: [a.md]}"), "3:20: checkpoints: after must be text", quote("after"), false},
		{"a scope that is a path", at("{id: A, after: a.md, scope: a.md}"), "3:33: checkpoints: scope must be a list of tasks", tasks, false},
		{"an empty scope", at("{id: A, after: a.md, scope: []}"), "3:33: checkpoints: scope must be a list of tasks", tasks, false},
		{"a scope of numbers", at("{id: A, after: a.md, scope: [a.md, 2]}"), "3:40: checkpoints: scope must be text", quote("scope"), false},
		{"the first of two", "checkpoints:\n  every: 0\n  on_block: stop\n", "2:10: checkpoints: every must be a whole number, 1 or more", number, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, off, err := parse(t, tt.source)
			p, ok := errors.AsType[*frontmatter.Problem](err)
			if !ok || s != nil || off {
				t.Fatalf("Parse = %v, off %v, %v, want a Problem only", s, off, err)
			}
			if got := p.Error(); got != "k.yaml:"+tt.want {
				t.Errorf("Error() = %s, want k.yaml:%s", got, tt.want)
			}
			if got := p.Hint(); got != tt.hint {
				t.Errorf("Hint() = %s, want %s", got, tt.hint)
			}
			checkSchema(t, tt.source, tt.loose)
		})
	}
}

// TestTasks: every path is yielded with the node that it came from, and can be replaced.
func TestTasks(t *testing.T) {
	doc, err := frontmatter.ParseYAML("k.yaml",
		[]byte("checkpoints:\n  at:\n  - {id: A, scope: [a.md, b.md], after: b.md}\n  - {id: B, after: c.md}\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, node := doc.Field("checkpoints")
	s, _, err := Parse(doc, node)
	if err != nil {
		t.Fatal(err)
	}
	for task, n := range Tasks(s, node) {
		if *task != n.Value {
			t.Errorf("%s was read from %s", *task, n.Value)
		}
		*task = "x/" + *task
	}
	want := []event.CheckpointAt{{ID: "A", After: "x/b.md", Scope: []string{"x/a.md", "x/b.md"}}, {ID: "B", After: "x/c.md"}}
	if diff := cmp.Diff(want, s.At); diff != "" {
		t.Errorf("At differs (-want +got):\n%s", diff)
	}
	for range Tasks(s, node) {
		break
	}
}

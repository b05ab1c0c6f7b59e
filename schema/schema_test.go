package schema

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

func TestNames(t *testing.T) {
	want := []string{"checkpoint-input", "checkpoint-reply", "event", "instruction-input", "judge-input", "judge-reply", "kanban", "manager-input", "manager-reply", "ready-input", "ready-reply", "reply", "report", "role", "settings", "standing",
		"stub", "task", "task-input"}
	if got := Names(); !slices.Equal(got, want) {
		t.Errorf("Names() = %v, want %v", got, want)
	}
}

// TestSources requires what editors rely on: the identifier, the draft, and words for every field.
func TestSources(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			source, err := Source(name)
			if err != nil {
				t.Fatal(err)
			}
			var doc map[string]any
			if err := json.Unmarshal(source, &doc); err != nil {
				t.Fatal(err)
			}
			if got, want := doc["$id"], "https://kanban-run.example/schema/"+name+".schema.json"; got != want {
				t.Errorf("$id = %v, want %v", got, want)
			}
			if got, want := doc["$schema"], "https://json-schema.org/draft/2020-12/schema"; got != want {
				t.Errorf("$schema = %v, want %v", got, want)
			}
			if doc["title"] == nil || doc["description"] == nil {
				t.Errorf("title = %v, description = %v, want both", doc["title"], doc["description"])
			}
			checkDocumented(t, doc)
			if _, err := Validate(name, map[string]any{}); err != nil {
				t.Errorf("Validate(%q, {}) = %v, want a schema that compiles", name, err)
			}
		})
	}
}

// checkDocumented also requires that no $ref leaves its file.
func checkDocumented(t *testing.T, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			checkDocumented(t, item)
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && !strings.HasPrefix(ref, "#/$defs/") {
			t.Errorf("$ref = %q, want one within the file", ref)
		}
		fields, _ := v["properties"].(map[string]any)
		for name, field := range fields {
			rule, _ := field.(map[string]any)
			if rule["description"] == nil && rule["$ref"] == nil {
				t.Errorf("the field %s has no description", name)
			}
		}
		for _, item := range v {
			checkDocumented(t, item)
		}
	}
}

func TestUnknownName(t *testing.T) {
	for _, name := range []string{"", "nope", "../schema", "kanban.schema.json"} {
		var unknown *UnknownError
		if _, err := Source(name); !errors.As(err, &unknown) {
			t.Errorf("Source(%q) = %v, want an *UnknownError", name, err)
		}
		if _, err := Validate(name, nil); !errors.As(err, &unknown) ||
			!strings.Contains(unknown.Hint(), "manager-reply") {
			t.Errorf("Validate(%q) = %v, want an *UnknownError that hints at the names", name, err)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		name, schema, yaml string
		want               []string
	}{
		{"a board", "kanban",
			"phase: execute\ncurrent: a.md\ntasks: [a.md, 'b.md [done]', {file: c.md, status: done, assignee: x}]",
			nil},
		{"an author's own keys", "kanban",
			"created: 2026-02-25T14:59:23.544307\nrequest: |\n  GOAL: x\n1: one\nlog: [{at: 2026-01-02}]", nil},
		{"an ended board", "kanban", "phase: complete\ncurrent: null\ntasks: []", nil},
		{"an empty list of tasks", "kanban", "tasks:", nil},
		{"current is a boolean", "kanban", "current: false",
			[]string{"current is the boolean false, want string or null"}},
		{"current is a number", "kanban", "current: 7", []string{"current is the number 7, want string or null"}},
		{"current is a list", "kanban", "current: [a.md]", []string{"current is a list, want string or null"}},
		{"current is empty", "kanban", `current: ""`, []string{"current is empty or holds a control character"}},
		{"escape in a path", "kanban", `current: "a\eb.md"`, []string{"current is empty or holds a control character"}},
		{"NUL in an entry", "kanban", `tasks: [a.md, "b\0.md"]`,
			[]string{"tasks[1] is empty or holds a control character"}},
		{"tasks is a map", "kanban", "tasks: {a: b}", []string{"tasks is an object, want list or null"}},
		{"an entry without a file", "kanban", "tasks: [{state: done}]", []string{"tasks[0].file is missing"}},
		{"an entry that is a number", "kanban", "tasks: [a.md, 3]",
			[]string{"tasks[1] is the number 3, want string or object"}},
		{"several at once", "kanban", "phase: 3\ncurrent: false\ntasks: [{file: 1}]",
			[]string{"current is the boolean false, want string or null",
				"phase is the number 3, want string or null", "tasks[0].file is the number 1, want string"}},
		{"a board that is a list", "kanban", "[a]", []string{"is a list, want object"}},

		{"a task", "task", "role: Architect\ntitle: 2026-01-01\nstate: todo\nx: y", nil},
		{"role is a list", "task", "role: [a, b]", []string{"role is a list, want string or null"}},

		{"task input", "task-input", `{task_file: a, kanban_file: b}`, nil},
		{"task input with more", "task-input", `{task_file: a, kanban_file: b, tasks: []}`,
			[]string{"tasks is not a known key"}},
		{"manager input", "manager-input", `{kanban_file: b, done_task: a, tasks: [a]}`, nil},
		{"manager input with anomalies", "manager-input", `{kanban_file: b, done_task: a, anomalies: [{type: anomaly_report, content: {executor_id: I, anomaly_type: idle, severity: critical, details: d, recommendation: replan}}], tasks: [a]}`, nil},
		{"manager input with a block", "manager-input", `{kanban_file: b, done_task: a, anomalies: [{type: anomaly_report, content: {executor_id: I, anomaly_type: checkpoint_block, severity: critical, details: d, recommendation: replan}}], tasks: [a]}`, nil},
		{"manager input with a loop", "manager-input", `{kanban_file: b, done_task: a, anomalies: [{type: anomaly_report, content: {executor_id: I, anomaly_type: loop_suspected, severity: critical, details: d, recommendation: replan}}], tasks: [a]}`, nil},
		{"manager input without tasks", "manager-input", `{kanban_file: b, done_task: a}`,
			[]string{"tasks is missing"}},
		{"instruction", "instruction-input", `{instruction: do it}`, nil},
		{"no instruction", "instruction-input", `{}`, []string{"instruction is missing"}},

		{"a reply", "reply", `{status: blocked, message: "", extra: {a: [1]}}`, nil},
		{"an empty reply", "reply", `{}`, []string{"message is missing", "status is missing"}},
		{"status with a space", "reply", `{status: "ok ", message: m}`,
			[]string{`status is "ok ", want ok, blocked, error or escalate`}},
		{"a Cyrillic o", "reply", `{status: "оk", message: m}`,
			[]string{`status is "\u043ek", want ok, blocked, error or escalate`}},
		{"status is null", "reply", `{status: null, message: m}`,
			[]string{"status is null, want ok, blocked, error or escalate"}},
		{"message is null", "reply", `{status: ok, message: null}`, []string{"message is null, want string"}},
		{"a long status", "reply", `{status: ` + strings.Repeat("x", 100) + `, message: m}`,
			[]string{`status is "` + strings.Repeat("x", 59) + `…, want ok, blocked, error or escalate`}},
		{"the Manager's reply", "manager-reply", `{status: ok, message: m, next_task: a, tasks: [], more: 1}`, nil},
		{"the Manager's last reply", "manager-reply", `{status: ok, message: m, next_task: null, tasks: [a]}`, nil},
		{"no next_task, no tasks", "manager-reply", `{status: ok, message: m}`,
			[]string{"next_task is missing", "tasks is missing"}},
		{"next_task is empty", "manager-reply", `{status: ok, message: m, next_task: "", tasks: []}`,
			[]string{"next_task is empty"}},
		{"tasks is null", "manager-reply", `{status: ok, message: m, next_task: null, tasks: null}`,
			[]string{"tasks is null, want list"}},
		{"tasks holds a map", "manager-reply", `{status: ok, message: m, next_task: null, tasks: [{file: a}]}`,
			[]string{"tasks[0] is an object, want string"}},

		{"a role", "role",
			"name: x\ncommand: [a, 1]\ntools: Read, Write\ntimeout: 90s\ngrace: 0\nenv: {pass: [A], set: {B: 1}}", nil},
		{"what a role may ask of a tool", "role",
			"permission: edit\npermissionMode: acceptEdits\nmax_turns: 3\nmax_cost: 2.50\nmcp_config: a.json\nreview: supervisor\nreview_rounds: 2", nil},
		{"an unknown permission", "role", "permission: root",
			[]string{"permission is \"root\", want read-only, edit, full, plan, default, dontAsk, acceptEdits, auto, " +
				"workspace-write, bypassPermissions or danger-full-access"}},
		{"no turns and no cost", "role", "max_turns: 0\nmax_cost: -1",
			[]string{"max_cost is -1: must be >= 0 but found -1", "max_turns is 0: must be >= 1 but found 0"}},
		{"an unknown reviewer", "role", "review: Architect",
			[]string{`review is "Architect", want supervisor or none`}},
		{"a sub-agent file's keys", "role", "name: x\ncolor: red\nmodel: inherit", nil},
		{"a bare number of seconds", "role", "timeout: 90",
			[]string{"timeout is no duration; write a number with its unit, for example 90s, 30m or 1h30m"}},
		{"names with a star in a role", "role", "env: {pass: [MY_*], only: ['*_PATH', HOME]}", nil},
		{"names with a star in settings", "settings", "env: {pass: ['MY_*'], only: ['*']}", nil},
		{"no variable has a star in its name", "settings", "env: {set: {'A*': x}}",
			[]string{"env.set.A* is no name of a variable; write it without $ and ="}},
		{"an assignment in pass", "role", "env: {pass: [A=1]}",
			[]string{"env.pass[0] is no name of a variable; write it without $ and ="}},

		{"settings", "settings",
			"exec: ./agent.sh -x\nagent: {manager: stub, default: exec}\ntimeout: 1h30m\njobs: 2\non_divergence: freeze\nredact: [x]", nil},
		{"limits", "settings",
			"max_steps: 1\nmax_cost: 2.50\nmax_duration: 1h\nmax_task_steps: 2\nmax_task_cost: $0.25\nmax_task_duration: 10m\n" +
				"max_attempt_cost: 1\nmax_output: 200M", nil},
		{"a cost with a comma", "settings", "max_cost: 1,50",
			[]string{"max_cost is no amount; write US dollars, for example 2.50"}},
		{"no settings", "settings", "", nil},
		{"an unknown setting", "settings", "timeouts: 1h", []string{"timeouts is not a known key"}},
		{"no job at all", "settings", "jobs: 0", []string{"jobs is 0: must be >= 1 but found 0"}},

		{"stub rules", "stub",
			"- {role: Manager, attempt: [1, 2], do: garbage}\n- {task: a.md, do: slow, for: 2s}\n- {status: blocked}",
			nil},
		{"an unknown act", "stub", "- {do: dance}",
			[]string{`[0].do is "dance", want reply, garbage, half-json, empty, wrong-enum, hang, slow or write-board`}},
		{"attempts count from one", "stub", "- {attempt: [0]}",
			[]string{"[0].attempt[0] is 0: must be >= 1 but found 0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var v any
			if err := yaml.Unmarshal([]byte(tt.yaml), &v); err != nil {
				t.Fatal(err)
			}
			violations, err := Validate(tt.schema, v)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range violations {
				got = append(got, v.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Validate(%s, %s) differs (-want +got):\n%s", tt.schema, tt.yaml, diff)
			}
		})
	}
}

func TestViolationPath(t *testing.T) {
	got, err := Validate("settings", map[string]any{"a/b~c d": 1})
	if want := []Violation{{"/a~1b~0c d", "is not a known key"}}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("Validate(settings) = %v, %v, want %v", got, err, want)
	}
	got, err = Validate("role", map[string]any{"env": map[string]any{"set": map[string]any{"é": []any{}}}})
	want := []Violation{{"/env/set/é", "is a list, want string, number, boolean or null"},
		{"/env/set/é", "is no name of a variable; write it without $ and ="}}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("Validate(role) = %v, %v, want %v", got, err, want)
	}
}

// TestHostileValues: the library panics on some values and takes minutes over others.
func TestHostileValues(t *testing.T) {
	deep := any("x")
	for range 5000 {
		deep = []any{deep}
	}
	for _, tt := range []struct {
		name  string
		value any
	}{
		{"a number of a thousand million digits", json.Number("1e1000000000")},
		{"not a number", math.NaN()},
		{"infinity", math.Inf(-1)},
		{"depth", deep},
		{"a channel", make(chan int)},
		{"a struct within", []any{struct{}{}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := Validate("stub", []any{map[string]any{"bytes": tt.value}}); err == nil {
				t.Errorf("Validate(stub) = %v, want an error", got)
			}
		})
	}
}

// TestDecodedYAML: a YAML decoder returns dates, and keys that are not strings.
func TestDecodedYAML(t *testing.T) {
	v := map[any]any{"current": "a.md", 1: []string{"x"}, "at": time.Unix(0, 0), "n": uint64(math.MaxUint64),
		"j": json.Number("12")}
	if got, err := Validate("kanban", v); err != nil || got != nil {
		t.Errorf("Validate(kanban) = %v, %v, want it to be valid", got, err)
	}
}

func TestValidateConcurrently(t *testing.T) {
	done := make(chan error)
	for range 8 {
		go func() {
			_, err := Validate("manager-reply", map[string]any{"status": 1})
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

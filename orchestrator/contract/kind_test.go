package contract_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/schema"
)

// TestKinds: seed 004, "Output Specification (Agent → Supervisor)": task agents reply with two
// keys, the Manager with four; an instruction's reply is judged like a task's. Seed 003,
// "Supervisor Feedback": a review's reply is a text.
func TestKinds(t *testing.T) {
	for _, tt := range []struct {
		kind         contract.Kind
		name, schema string
		keys         []string // of the reply, as the agent is told and a person is shown
	}{
		{contract.Task, "task", "reply", []string{"status", "message"}},
		{contract.Manager, "manager", "manager-reply", []string{"status", "message", "next_task", "tasks"}},
		{contract.Instruction, "instruction", "reply", []string{"status", "message"}},
		{contract.Review, "review", "", nil},
		{contract.Command, "command", "", nil},
		{contract.Ready, "ready", "ready-reply", []string{"type", "message"}},
		{contract.Checkpoint, "checkpoint", "checkpoint-reply", []string{"type", "verdict", "score", "key_findings", "risks", "quality_trend"}},
		{contract.Judge, "judge", "judge-reply", []string{"q1", "q2", "q3", "q4", "q5", "message"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.kind.String(); got != tt.name {
				t.Errorf("String() = %q, want %q", got, tt.name)
			}
			if got := tt.kind.Schema(); got != tt.schema {
				t.Errorf("Schema() = %q, want %q", got, tt.schema)
			}
			expected, form := tt.kind.Expected(), tt.kind.ReplyForm()
			if tt.kind == contract.Command {
				if form != "" {
					t.Errorf("ReplyForm() = %q, want no form", form)
				}
				return
			}
			if tt.schema == "" {
				if expected != "any text" || form != "" {
					t.Errorf("Expected() = %q, ReplyForm() = %q, want any text and no form", expected, form)
				}
				return
			}
			if whole, err := schema.Source(tt.schema); err != nil || expected != string(whole) {
				t.Errorf("Expected() = %q, %v, want the schema %s", expected, err, tt.schema)
			}
			words, object, _ := strings.Cut(form, "\n\n")
			if !strings.Contains(words, "one JSON object and nothing else") {
				t.Errorf("ReplyForm() = %q, want it to ask for one object", words)
			}
			var told struct{ Required []string }
			if err := json.Unmarshal([]byte(object), &told); err != nil || !slices.Equal(told.Required, tt.keys) {
				t.Errorf("ReplyForm() requires %q, %v, want %q", told.Required, err, tt.keys)
			}
		})
	}
}

// TestUnknownKind: a number that is no kind has a name, too.
func TestUnknownKind(t *testing.T) {
	for k, want := range map[contract.Kind]string{9: "contract 9", 8: "contract 8", -1: "contract -1", contract.Judge: "judge"} {
		if got := k.String(); got != want {
			t.Errorf("String() = %q, want %q", got, want)
		}
	}
}

// TestOf: only the Manager's reply says what comes next: seed 004, "Output Specification (Agent →
// Supervisor)".
func TestOf(t *testing.T) {
	for call, want := range map[event.Call]contract.Kind{event.TaskCall: contract.Task, event.ManagerCall: contract.Manager, event.ReviewCall: contract.Review,
		event.CommandCall: contract.Command, event.ReadyCall: contract.Ready, event.CheckpointCall: contract.Checkpoint, event.JudgeCall: contract.Judge, "": contract.Task} {
		if got := contract.Of(call); got != want {
			t.Errorf("Of(%v) = %v, want %v", call, got, want)
		}
	}
}

// TestReplySchema: it is the schema of the contract, in one line, without what tools refuse.
func TestReplySchema(t *testing.T) {
	for _, c := range []contract.Kind{contract.Task, contract.Manager, contract.Instruction} {
		source, err := c.ReplySchema()
		if err != nil || bytes.ContainsAny(source, "\n") {
			t.Fatalf("%s: ReplySchema() = %s, %v, want one line", c, source, err)
		}
		var got, full map[string]any
		whole, err := schema.Source(c.Schema())
		if err != nil || json.Unmarshal(source, &got) != nil || json.Unmarshal(whole, &full) != nil {
			t.Fatalf("%s: ReplySchema() = %s, %v, want JSON", c, source, err)
		}
		if got["$schema"] != nil || got["properties"] == nil || got["required"] == nil || full["$schema"] == nil {
			t.Errorf("%s: ReplySchema() = %s, want all but the dialect", c, source)
		}
	}
	if _, err := contract.Review.ReplySchema(); err == nil {
		t.Error("a review has a schema, want none")
	}
}

package event_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/event"
)

// facts are the texts of events that no redaction changes, because a later run goes by them. Paths
// and roles are looked at before they are journaled.
var facts = []string{
	"version", "given", "manager_adapter", "on_divergence", "withheld", "step", "task", "role", "board_sha256", "mark", "place", "judge", "call", "adapter", "digest", "stored", "tasks_sha256", "current", "status", "next_task", "tasks",
	"source", "policy", "about", "before_sha256", "after_sha256", "manager", "outcome", "file", "owner", "previous_owner", "owners", "snapshot_hash", "snapshot_hashes", "decision", "path", "choice", "affected_tasks", "until", "id", "type",
	"anomaly_type", "check", "severity", "tool", "recommendation", "action", "content.reason", "content.assistance_type",
	"supervisor_memory", "data.status", "data.task_id", "data.verification", "data.supervision_verdict", "request_id", "supervisor_adapter", "on_block", "checkpoint",
	"teardown_state", "missing", "ack_status", "agent", "agents", "strategy", "then", "tree", "finding", "task_sha256", "marks_sha256", "decide_sha256", "recommend", "executor", "class", "provider", "gone", "behind", "by", "report_sha256", "reach.secrets", "reach.tools",
}

// TestRedacted: every text of every event is a fact or is redacted.
func TestRedacted(t *testing.T) {
	for _, kind := range event.Kinds() {
		e, err := event.Decode(kind, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if event.Redacted(e, strings.Clone) == nil {
			t.Errorf("%s: nothing is left of an event without texts", kind)
		}
		v := reflect.New(reflect.TypeOf(e)).Elem()
		fill(v)
		full := v.Interface().(event.Event)
		before, err := json.Marshal(full)
		if err != nil {
			t.Fatal(err)
		}
		got := event.Redacted(full, func(text string) string { return strings.ReplaceAll(text, "secret", "hidden") })
		checkRedacted(t, kind, "", v, reflect.ValueOf(got))
		if after, err := json.Marshal(full); err != nil || string(after) != string(before) {
			t.Errorf("%s: the event itself was changed", kind)
		}
	}
}

// checkRedacted looks at each field, also of structs in it. The name of such a struct stands
// before those of its fields.
func checkRedacted(t *testing.T, kind, prefix string, before, got reflect.Value) {
	t.Helper()
	for i := range before.NumField() {
		f := before.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[time.Time]() {
			if !f.Anonymous {
				name += "."
			}
			checkRedacted(t, kind, prefix+name, before.Field(i), got.Field(i))
			continue
		}
		name = prefix + name
		value := fmt.Sprint(got.Field(i).Interface())
		if p, ok := got.Field(i).Interface().(*string); ok {
			value = *p
		}
		switch fact := slices.Contains(facts, name); {
		case strings.Contains(value, "hidden") && fact:
			t.Errorf("%s: %s is a fact and was changed", kind, name)
		case strings.Contains(value, "secret") && !fact:
			t.Errorf("%s: %s shows a secret", kind, name)
		case strings.Count(fmt.Sprint(before.Field(i).Interface()), "secret") != strings.Count(value, "hidden") && !fact:
			t.Errorf("%s: %s lost its text: %q", kind, name, value)
		}
	}
}

// fill puts a text into every field that can hold one.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("a secret")
		case reflect.Struct:
			if f.Type() != reflect.TypeFor[time.Time]() {
				fill(f)
			}
		case reflect.Slice:
			if f.Type().Elem().Kind() == reflect.String {
				f.Set(reflect.ValueOf([]string{"a secret"}))
			}
		case reflect.Pointer:
			if f.Type().Elem().Kind() == reflect.String {
				text := "a secret"
				f.Set(reflect.ValueOf(&text))
			}
		}
	}
}

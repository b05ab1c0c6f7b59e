package event_test

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/eventtest"
)

// TestFormsLast holds every field of every kind of event to testdata/form.txt: "fields are only added, a kind is
// never used for something else, a removed kind is still read". A line has a kind, a field, its type, and the
// form of journals from which on flow.Next reads it, which the event has to say (see event.Needs); or "gone" for a
// field that was removed, whose name stays taken. KANBAN_TEST_UPDATE=1 adds lines, and changes none.
func TestFormsLast(t *testing.T) {
	const path = "testdata/form.txt"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]string{} // the number, or "gone", of each kind and field
	for line := range strings.Lines(string(text)) {
		at := strings.LastIndexByte(strings.TrimSpace(line), ' ')
		held[line[:at]] = strings.TrimSpace(line[at:])
	}
	var added []string
	has := map[string]bool{}
	for _, kind := range event.Kinds() {
		zero, _ := event.Decode(kind, []byte("{}"))
		full := reflect.New(reflect.TypeOf(zero))
		eventtest.Fill(full.Interface())
		needs := event.Needs(full.Elem().Interface().(event.Event))
		if needs > event.Form {
			t.Errorf("%s needs form %d, and the program writes form %d", kind, needs, event.Form)
		}
		for _, field := range eventtest.Fields(reflect.TypeOf(zero)) {
			field = kind + " " + field
			has[field] = true
			switch form := held[field]; form {
			case "":
				added = append(added, field+" ?\n")
			case "gone", "?":
				t.Errorf("%s: %s in %s; say from which form on flow.Next reads it, or 1 if it does not", field, form, path)
			default:
				if n, err := strconv.Atoi(form); err != nil || n > max(needs, 1) {
					t.Errorf("%s is read from form %s on, and the event needs form %d", field, form, needs)
				}
			}
		}
	}
	for field, form := range held {
		if !has[field] && form != "gone" {
			t.Errorf("%s is gone, or has another type: every later version has to read it", field)
		}
	}
	if len(added) > 0 && os.Getenv("KANBAN_TEST_UPDATE") != "" {
		lines := slices.Sorted(slices.Values(append(slices.Collect(strings.Lines(string(text))), added...)))
		if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if len(added) > 0 {
		t.Errorf("%s lacks these fields, which KANBAN_TEST_UPDATE=1 adds:\n%s", path, strings.Join(added, ""))
	}
}

type split struct {
	event.RunFinished
	Into int
}

func (s split) Needs() int {
	if s.Into > 0 {
		return 2
	}
	return 0
}

// TestNeeds: an event that says nothing needs the first form; another one says itself what it needs.
func TestNeeds(t *testing.T) {
	for want, events := range map[int][]event.Event{0: {event.RunFinished{}, split{}}, 2: {split{Into: 1}}} {
		for _, e := range events {
			if got := event.Needs(e); got != want {
				t.Errorf("Needs(%+v) = %d, want %d", e, got, want)
			}
		}
	}
}

// TestUnknown: an event of a later version says that it is one, and is shown as it was written.
func TestUnknown(t *testing.T) {
	e := event.Unknown{Type: "TASK_SPLIT", About: "t.md", Writer: "Manager", Content: []byte(`{"into":2}`)}
	text, err := json.Marshal(e)
	if s := e.Sentence(); s.Text != "task split: t.md (of a later version of kanban-run)" || event.Actor(e) != "Manager" || err != nil || string(text) != `{"into":2}` {
		t.Errorf("%q by %s: %s, %v", s.Text, event.Actor(e), text, err)
	}
}

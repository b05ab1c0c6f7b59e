package ledger

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/eventtest"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
)

const golden = "testdata/golden"

// TestGoldenJournals: "every later version reads a journal, and continues it". The journals in testdata/golden
// were written by runs of the program: a night with a supervisor, one for each way to wait, and what came of kills,
// contradictions and decisions; those that begin with "unnumbered" by versions whose journals had no number. After
// each of their records the file .next has the effects of flow.Next: on a board with a task, on a board that is
// over, and in a run that begins there. To add a journal, put it here; KANBAN_TEST_UPDATE=1 writes the .next that it
// lacks. A journal or a .next that exists is never changed: if this test fails, the program has to be mended.
func TestGoldenJournals(t *testing.T) {
	paths, err := filepath.Glob(golden + "/*.jsonl")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d journals, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			got := effectsOf(t, path)
			next := strings.TrimSuffix(path, "jsonl") + "next"
			want, err := os.ReadFile(next)
			if errors.Is(err, fs.ErrNotExist) && os.Getenv("KANBAN_TEST_UPDATE") != "" {
				want, err = got, os.WriteFile(next, got, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			was, now := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
			for i := range min(len(was), len(now)) {
				if was[i] != now[i] {
					t.Fatalf("after this record every version does\n%s\nand this one does\n%s\n%s is never written anew: mend the program", was[i], now[i], next)
				}
			}
			if len(was) != len(now) {
				t.Errorf("%d lines, want %d", len(now), len(was))
			}
		})
	}
}

// effectsOf returns a line for each record of a journal.
func effectsOf(t *testing.T, path string) []byte {
	t.Helper()
	var h flow.History
	var all bytes.Buffer
	last := ""
	_, err := journal.Read(path, func(r journal.Record) error {
		e, err := decode(r)
		if err != nil {
			return err
		}
		h.Add(e)
		if line := effectsAfter(h); line == last {
			fmt.Fprintf(&all, "%d %s: the same\n", r.Seq, r.Type)
		} else {
			fmt.Fprintf(&all, "%d %s: %s\n", r.Seq, r.Type, line)
			last = line
		}
		return nil
	})
	if err != nil || h.Newer != nil {
		t.Fatalf("%v, %v", err, h.Newer)
	}
	return all.Bytes()
}

func effectsAfter(h flow.History) string {
	if h.Standstill() != "" {
		return fmt.Sprintf("stands still (%s)", h.StandstillOutcome())
	}
	s := h.State
	open := flow.Board{Task: cmp.Or(s.Last.Next, "tasks/next.md"), Role: "Implementor", SHA: "5"}
	over := flow.Board{Terminal: true, SHA: s.Last.BoardSHA}
	var all []string
	add := func(when string, b flow.Board) {
		if text := inWords(flow.Next(&s, b)); len(all) == 0 || !strings.HasSuffix(all[len(all)-1], text) {
			all = append(all, when+text) // mostly all of them are the same
		}
	}
	add("", open)
	add("over: ", over)
	run := s.Again()
	run.Manager, run.Told, run.KeepGoing, run.ByNeeds, run.Git = s.Manager, s.ManagerIsTold, s.KeepGoing, s.ByNeeds, s.Git
	if err := s.Apply(run); err != nil {
		return err.Error()
	}
	if _, err := flow.CloseAttempt(&s, s.Apply); err != nil {
		return err.Error()
	}
	add("run again: ", open)
	add("run again, over: ", over)
	return strings.Join(all, " | ")
}

// inWords returns the type of an effect and its fields, but not what is said to people, which may get better.
func inWords(e flow.Effect) string {
	data, err := json.Marshal(e)
	if err != nil {
		return err.Error()
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return err.Error()
	}
	data, err = json.Marshal(withoutZero(fields))
	if err != nil {
		return err.Error()
	}
	return reflect.TypeOf(e).Name() + string(data)
}

// withoutZero removes the fields with a zero value, so that a later version can add a field. It also removes texts
// for people, and the pace at which a provider is asked again.
func withoutZero(fields map[string]any) map[string]any {
	for name, value := range fields {
		if below, ok := value.(map[string]any); ok {
			value = withoutZero(below)
			if len(below) == 0 {
				value = nil
			}
		}
		list, _ := value.([]any)
		isFree := slices.Contains([]string{"Text", "Reason", "By", "Remarked", "Undone", "Quotes", "text", "reason", "recommend_reason", "at"}, name)
		if isFree || value == nil || value == "" || value == false || value == 0.0 || list != nil && len(list) == 0 {
			delete(fields, name)
		}
	}
	return fields
}

// TestGoldenKinds: the journals kinds-*.jsonl have a record of every kind, with every field set. A field is read as
// it was written for ever, unless event/testdata/form.txt says that it is gone. KANBAN_TEST_UPDATE=1 adds a journal
// with the kinds and the fields that no such journal has.
func TestGoldenKinds(t *testing.T) {
	paths, err := filepath.Glob(golden + "/kinds-*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	gone, err := os.ReadFile("../event/testdata/form.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, path := range paths {
		_, err := journal.Read(path, func(r journal.Record) error {
			e, err := decode(r)
			if err != nil {
				return err
			}
			again, err := json.Marshal(e.Event)
			if err != nil {
				return err
			}
			was, now := leaves(t, r.Data), leaves(t, again)
			for field, value := range was {
				known[r.Type+field] = true
				_, isRead := now[field]
				if now[field] != value && (isRead || !bytes.Contains(gone, []byte(r.Type+" "+field+" "))) {
					t.Errorf("%s, record %d: %s%s was %v, and is read as %v", path, r.Seq, r.Type, field, value, now[field])
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	var lacks []event.Event
	for _, kind := range event.Kinds() {
		e := filled(t, kind)
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		for field := range leaves(t, data) {
			if !known[kind+field] {
				lacks = append(lacks, e)
				break
			}
		}
	}
	if len(lacks) > 0 && os.Getenv("KANBAN_TEST_UPDATE") != "" {
		writeKinds(t, fmt.Sprintf("%s/kinds-%d.jsonl", golden, len(paths)+1), lacks)
	} else if len(lacks) > 0 {
		t.Errorf("no golden journal has all fields of these %d kinds; KANBAN_TEST_UPDATE=1 adds one: %T", len(lacks), lacks)
	}
}

func filled(t *testing.T, kind string) event.Event {
	t.Helper()
	zero, err := event.Decode(kind, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	full := reflect.New(reflect.TypeOf(zero))
	eventtest.Fill(full.Interface())
	return full.Elem().Interface().(event.Event)
}

// leaves returns the values of a JSON object that are no objects, by their paths.
func leaves(t *testing.T, data []byte) map[string]string {
	t.Helper()
	all := map[string]string{}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, below := range value {
				walk(path+"."+name, below)
			}
		default:
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			all[path] = string(text)
		}
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	walk("", value)
	return all
}

func writeKinds(t *testing.T, path string, events []event.Event) {
	t.Helper()
	j, err := journal.Open(path, func() time.Time { return time.Unix(0, 0) }, func(journal.Record) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.BeginEpoch(); err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		draft := journal.Draft{Type: e.Kind(), TaskID: e.Subject(), Rev: uint64(i + 1), Actor: event.Actor(e), Data: data}
		if _, err := j.Append(draft); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(j.Commit(), j.Close(), os.Remove(path+".head")); err != nil {
		t.Fatal(err)
	}
}

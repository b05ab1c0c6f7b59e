package event_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/eventtest"
)

// TestEveryKindDecodes finds the kinds of events in the source, so that a new one
// cannot be forgotten in Decode.
func TestEveryKindDecodes(t *testing.T) {
	kinds := 0
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			kinds += decodeKinds(t, name)
		}
	}
	if kinds < 60 {
		t.Errorf("found %d kinds of events, want all of them", kinds)
	}
	if _, err := event.Decode("COFFEE", nil); !errors.Is(err, event.ErrUnknownKind) {
		t.Errorf("Decode of an unknown kind = %v, want ErrUnknownKind", err)
	}
}

func decodeKinds(t *testing.T, name string) (kinds int) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		f, ok := n.(*ast.FuncDecl)
		if !ok || f.Name.Name != "Kind" {
			return true
		}
		literal, ok := f.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.BasicLit)
		if !ok { // an Unknown has the kind that a later version gave it
			return true
		}
		kinds++
		value := literal.Value
		kind := strings.Trim(value, `"`)
		e, err := event.Decode(kind, []byte(`{}`))
		if err != nil || e.Kind() != kind {
			t.Errorf("Decode(%s) = %v, %v", kind, e, err)
		}
		return true
	})
	return kinds
}

// TestEveryFieldSurvivesTheJournal: what an event says is read as it was written, in
// every field of every kind; the attempt that it is about stands first.
func TestEveryFieldSurvivesTheJournal(t *testing.T) {
	about := 0
	for _, kind := range event.Kinds() {
		zero, err := event.Decode(kind, []byte(`{}`))
		if err != nil || zero.Kind() != kind {
			t.Fatalf("%s: %v, %v", kind, zero, err)
		}
		p := reflect.New(reflect.TypeOf(zero))
		eventtest.Fill(p.Interface())
		v := p.Elem()
		e := v.Interface().(event.Event)
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := event.Decode(kind, data)
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%s: %v; -written +read\n%s", kind, err, cmp.Diff(e, got))
		}
		if f, ok := v.Type().FieldByName("AttemptRef"); ok {
			about++
			r := v.FieldByIndex(f.Index).Interface().(event.AttemptRef)
			want := fmt.Sprintf(`{"step":%d,"call":%q,"task":%q,"role":%q,"attempt":%d,"round":%d,`, r.Step, r.Call, r.Task, r.Role, r.Attempt, r.Round)
			if !strings.HasPrefix(string(data), want) || e.Subject() != r.Task {
				t.Errorf("%s is about %s: %s, want it to begin with %s", kind, e.Subject(), data, want)
			}
		} else if s := e.Subject(); s != field(v, "Task") && s != field(v, "Board") || s == "" {
			t.Errorf("%s is about %q, want its task or its board", kind, s)
		}
		if _, err := event.Decode(kind, []byte(`{"step":`)); err == nil || !strings.Contains(err.Error(), kind) {
			t.Errorf("half a record is decoded: %v, want an error that names %s", err, kind)
		}
	}
	if about != 24 {
		t.Errorf("%d kinds of events are about an attempt", about)
	}
}

func field(v reflect.Value, name string) string {
	if f := v.FieldByName(name); f.IsValid() {
		return f.String()
	}
	return ""
}

// TestEveryKindHasASentence: whatever an event says, a person can read it, in one line and with a
// weight.
func TestEveryKindHasASentence(t *testing.T) {
	for _, kind := range event.Kinds() {
		zero, err := event.Decode(kind, []byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		p := reflect.New(reflect.TypeOf(zero))
		eventtest.Fill(p.Interface())
		for _, e := range []event.Event{zero, p.Elem().Interface().(event.Event)} {
			s := e.Sentence()
			for _, s := range append([]event.Sentence{s}, s.More...) {
				if s.Weight < event.Trace || s.Weight > event.Critical || strings.Contains(s.String(), "%!") || strings.Contains(s.String(), "\n") {
					t.Errorf("%s: weight %d, %q", kind, s.Weight, s)
				}
			}
		}
		if full := p.Elem().Interface().(event.Event); full.Sentence().Text == "" {
			t.Errorf("%s says nothing", kind)
		}
	}
}

package flow

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fillAll puts a value into every field, however deep, and no two of them alike.
func fillAll(v reflect.Value, n *int64) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillAll(v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillAll(v.Elem(), n)
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(*n)
	case reflect.Float64:
		v.SetFloat(float64(*n))
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes(fmt.Appendf(nil, `{"n":%d}`, *n))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fillAll(v.Index(0), n)
		fillAll(v.Index(1), n)
	default:
		panic("no value for " + v.Type().String())
	}
}

// TestEveryFieldSurvivesTheJournal: what an event says is read as it was written, in
// every field of every kind; the attempt that it is about stands first.
func TestEveryFieldSurvivesTheJournal(t *testing.T) {
	about := 0
	for kind := range decoders {
		zero, err := Decode(kind, []byte(`{}`))
		if err != nil || zero.Kind() != kind {
			t.Fatalf("%s: %v, %v", kind, zero, err)
		}
		v, n := reflect.New(reflect.TypeOf(zero)).Elem(), int64(0)
		fillAll(v, &n)
		e := v.Interface().(Event)
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(kind, data)
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%s: %v; -written +read\n%s", kind, err, cmp.Diff(e, got))
		}
		if f, ok := v.Type().FieldByName("AttemptRef"); ok {
			about++
			r := v.FieldByIndex(f.Index).Interface().(AttemptRef)
			want := fmt.Sprintf(`{"step":%d,"call":%q,"task":%q,"role":%q,"attempt":%d,"round":%d,`, r.Step, r.Call, r.Task, r.Role, r.Attempt, r.Round)
			if !strings.HasPrefix(string(data), want) || e.Subject() != r.Task {
				t.Errorf("%s is about %s: %s, want it to begin with %s", kind, e.Subject(), data, want)
			}
		} else if s := e.Subject(); s != field(v, "Task") && s != field(v, "Board") || s == "" {
			t.Errorf("%s is about %q, want its task or its board", kind, s)
		}
		if _, err := Decode(kind, []byte(`{"step":`)); err == nil || !strings.Contains(err.Error(), kind) {
			t.Errorf("half a record is decoded: %v, want an error that names %s", err, kind)
		}
	}
	if about != 23 {
		t.Errorf("%d kinds of events are about an attempt", about)
	}
}

func field(v reflect.Value, name string) string {
	if f := v.FieldByName(name); f.IsValid() {
		return f.String()
	}
	return ""
}

// TestEveryStateSurvivesItsSnapshot: a state whose every field is set is the
// one that its snapshot holds.
func TestEveryStateSurvivesItsSnapshot(t *testing.T) {
	var s State
	n := int64(0)
	fillAll(reflect.ValueOf(&s).Elem(), &n)
	data := encodeState(s)
	if got, err := decodeState(data, hashOf(data)); err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%v; -state +snapshot\n%s", err, cmp.Diff(s, got))
	}
	if _, err := decodeState(data, hashOf(nil)); err == nil {
		t.Error("a state was read that has another hash")
	}
	unknown := json.RawMessage(`{"coffee":1}`)
	if _, err := decodeState(unknown, hashOf(unknown)); err == nil {
		t.Error("a state was read that says what this version does not know")
	}
}

package flow

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// events has a zero value of every kind.
func events(t testing.TB) []Event {
	t.Helper()
	var all []Event
	for _, kind := range slices.Sorted(maps.Keys(decoders)) {
		e, err := Decode(kind, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// filled returns e with something in every field.
func filled(e Event, text string, number int64) Event {
	v := reflect.New(reflect.TypeOf(e)).Elem()
	complete(v, text, number)
	return v.Interface().(Event)
}

func complete(v reflect.Value, text string, number int64) {
	switch x := v.Addr().Interface().(type) {
	case *json.RawMessage:
		*x, _ = json.Marshal(map[string]any{"a": []any{text, number, nil, map[string]any{}}})
		return
	case *[]string:
		*x = []string{text, "", text + "x"}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			complete(v.Field(i), text, number)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		complete(v.Index(0), text, number)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		complete(v.Elem(), text, number)
	case reflect.String:
		v.SetString(text)
	case reflect.Int, reflect.Int64:
		v.SetInt(number)
	case reflect.Uint64:
		v.SetUint(uint64(number))
	case reflect.Bool:
		v.SetBool(true)
	}
}

func quick(e Event, data []byte) (Event, bool) {
	v := reflect.New(reflect.TypeOf(e)).Elem()
	ok := formOf(v.Type()).decode(data, v)
	return v.Interface().(Event), ok
}

func plainly(e Event, data []byte) (Event, error) {
	v := reflect.New(reflect.TypeOf(e))
	err := json.Unmarshal(data, v.Interface())
	return v.Elem().Interface().(Event), err
}

// Every kind of event is read without encoding/json, as encoding/json reads it.
func TestFormOfEveryKind(t *testing.T) {
	texts := []string{"", "tasks/a.md", `"quoted" <b> & \`, "日本\n\u2028", strings.Repeat("long", 1000)}
	for _, zero := range events(t) {
		for i, text := range texts {
			e := filled(zero, text, int64(i)*123_456_789_012_345)
			if i == 0 {
				e = zero
			}
			data, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			want, err := plainly(e, data)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := quick(e, data)
			null := strings.Contains(string(data), `"state":null`)
			if ok == null || ok && !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %.200s read as %+v, %v, want %+v", e.Kind(), data, got, ok, want)
			}
		}
	}
}

func FuzzForm(f *testing.F) {
	all := events(f)
	for i, zero := range all {
		for _, e := range []Event{zero, filled(zero, "t", 7), filled(zero, "é\"\n", -1)} {
			data, err := json.Marshal(e)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), data)
		}
	}
	for _, data := range []string{`{`, `{}`, `{} `, `{"step":1}`, `{"step":01}`, `{"step":1,}`, `{"step":1,"step":2}`, `{"Step":1}`, `{"board":"a","owners":["a",],"text":""}`,
		`{"board":"a","owners":[,"a"],"text":""}`, `{"board":"a","owners":null,"text":"` + "\xff" + `"}`, `{"board":"\ud800","owners":[],"text":"\u00e9"}`} {
		for i := range all {
			f.Add(uint8(i), []byte(data))
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		e := all[int(kind)%len(all)]
		got, ok := quick(e, data)
		if !ok {
			return
		}
		if want, err := plainly(e, data); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s read as %+v, want %+v, %v", e.Kind(), data, got, want, err)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, tasks := range []int{10, 1000} {
		var list []string
		for i := range tasks {
			list = append(list, fmt.Sprintf("tasks/%06d-implement-thing.md", i))
		}
		input, err := json.Marshal(map[string]any{"kanban_file": "kanban.yaml", "done_task": list[0], "tasks": list})
		if err != nil {
			b.Fatal(err)
		}
		sha := strings.Repeat("0a", 32)
		for _, e := range []Event{
			StepStarted{Step: 1, Task: list[0], Role: "Implementor", BoardSHA: sha, Index: 1, Of: 10, Mark: "4000a654b71c032c"},
			AttemptStarted{Step: 1, Call: ManagerCall, Task: list[0], Role: ManagerRole, Attempt: 1, Adapter: "claude", Command: "claude -p", Digest: sha,
				Input: input, Before: &Baseline{BoardSHA: sha, Current: list[0]}},
			ReplyAccepted{Step: 1, Call: ManagerCall, Task: list[0], Role: ManagerRole, Attempt: 1, Status: "ok", Message: "on with it", NextTask: &list[1], SameTasks: true},
		} {
			data, err := json.Marshal(e)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s, %d tasks", e.Kind(), tasks), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Decode(e.Kind(), data); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("%s, %d tasks, library", e.Kind(), tasks), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := plainly(e, data); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

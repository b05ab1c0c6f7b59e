package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func longList(n int) (paths []string, text []byte) {
	for i := range n {
		paths = append(paths, fmt.Sprintf("tasks/%06d-implement-thing.md", i))
	}
	text, _ = json.Marshal(paths)
	return paths, text
}

// FuzzRepeating: a reply that repeats the list that its Manager was given is judged as any other.
func FuzzRepeating(f *testing.F) {
	for _, seed := range []string{
		`{"status":"ok","message":"m","next_task":"tasks/000002-implement-thing.md","tasks":@}`, `{"tasks":@,"next_task":null,"status":"ok","message":""}`,
		`{"status":"ok","message":"m","next_task":null,"list":@,"tasks":[]}`, `{"status":"ok","message":"m","next_task":null,"tasks":[],"more":{"tasks":@}}`,
		`{"status":"ok","message":"m","next_task":null,"tasks":@,"tasks":@}`, `{"status":"ok","message":"m","next_task":null,"tasks":@]}`, `@`, `@@`, ``,
		`{"status":"ok","message":"@","next_task":null,"tasks":[]}`, `{"status":"ok","message":"m","next_task":null,"tasks":@`, `{"status":"no","message":"m","next_task":null,"tasks":@}`,
		`{"status":"ok","message":"m","next_task":null,"tasks": @ }x`, "{\"status\":\"ok\",\"message\":\"\xff\",\"next_task\":null,\"tasks\":@}", `{"status":"ok","message":"m","next_task":null,"Tasks":@}`,
	} {
		f.Add([]byte(seed), byte(0))
		f.Add([]byte(seed), byte(1))
	}
	paths, given := longList(60)
	f.Fuzz(func(t *testing.T, raw []byte, c byte) {
		raw = bytes.ReplaceAll(raw, []byte("@"), given)
		want, refused := Parse(Kind(c%3), string(raw), nil)
		got, failure := Parse(Kind(c%3), string(raw), NewTaskList(paths))
		if (failure == nil) != (refused == nil) || failure != nil && *failure != *refused {
			t.Fatalf("%q: failure %v, want %v", raw, failure, refused)
		}
		if failure != nil {
			return
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: reply %+v, want %+v", raw, got, want)
		}
	})
}

// TestRepeatedListIsShared: a list that comes back as it was given takes no memory of its own, also
// when it stands first.
func TestRepeatedListIsShared(t *testing.T) {
	paths, given := longList(60)
	for _, reply := range []string{`{"status":"ok","message":"m","next_task":null,"tasks":@}`, ` {"tasks":@ , "status":"ok","message":"m","next_task":null}`} {
		got, failure := Parse(Manager, strings.ReplaceAll(reply, "@", string(given)), NewTaskList(paths))
		if failure != nil || len(got.Tasks) != 60 || &got.Tasks[0] != &paths[0] {
			t.Errorf("%s: %+v, %v, want the given list", reply, got, failure)
		}
	}
}

func BenchmarkRepeating(b *testing.B) {
	paths, given := longList(100_000)
	raw := strings.ReplaceAll(`{"status":"ok","message":"m","next_task":null,"tasks":@}`, "@", string(given))
	for name, list := range map[string]*TaskList{"same": NewTaskList(paths), "plain": nil} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, failure := Parse(Manager, raw, list); failure != nil {
					b.Fatal(failure)
				}
			}
		})
	}
}

package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
)

func longList(n int) (paths []string, text []byte) {
	for i := range n {
		paths = append(paths, fmt.Sprintf("tasks/%06d-implement-thing.md", i))
	}
	text, _ = json.Marshal(paths)
	return paths, text
}

// FuzzRepeating: a reply that repeats the list is judged as ParseReply judges it.
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
		contract := Contract(c % 3)
		raw = bytes.ReplaceAll(raw, []byte("@"), given)
		want, refused := ParseReply(contract, raw)
		got, failure := parseRepeating(contract, raw, given)
		if (failure == nil) != (refused == nil) || failure != nil && *failure != *refused {
			t.Fatalf("%q: failure %v, want %v", raw, failure, refused)
		}
		if failure != nil {
			return
		}
		if got.SameTasks {
			if contract != ManagerContract || got.Tasks != nil {
				t.Fatalf("SameTasks of contract %v with %d tasks", contract, len(got.Tasks))
			}
			got.SameTasks, got.Tasks = false, slices.Clone(paths)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: reply %+v, want %+v", raw, got, want)
		}
	})
}

// TestRepeatedListIsNotRead: the fast path is taken, also when the list stands first.
func TestRepeatedListIsNotRead(t *testing.T) {
	_, given := longList(60)
	for _, reply := range []string{`{"status":"ok","message":"m","next_task":null,"tasks":@}`, ` {"tasks":@ , "status":"ok","message":"m","next_task":null}`} {
		got, failure := parseRepeating(ManagerContract, bytes.ReplaceAll([]byte(reply), []byte("@"), given), given)
		if failure != nil || !got.SameTasks || got.Tasks != nil {
			t.Errorf("%s: %+v, %v, want SameTasks", reply, got, failure)
		}
	}
}

func BenchmarkRepeating(b *testing.B) {
	_, given := longList(100_000)
	raw := bytes.ReplaceAll([]byte(`{"status":"ok","message":"m","next_task":null,"tasks":@}`), []byte("@"), given)
	for name, list := range map[string][]byte{"same": given, "plain": nil} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, failure := parseRepeating(ManagerContract, raw, list); failure != nil {
					b.Fatal(failure)
				}
			}
		})
	}
}

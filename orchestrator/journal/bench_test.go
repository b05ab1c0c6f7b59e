package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"
)

// stepData returns the drafts of a step, as a run writes them.
func stepData(tasks int) []Draft {
	var list []string
	for i := range tasks {
		list = append(list, fmt.Sprintf("tasks/%06d-implement-thing.md", i))
	}
	input, _ := json.Marshal(map[string]any{"kanban_file": "kanban.yaml", "done_task": list[0], "tasks": list})
	const sha = "d0874cf832c480ac1e36251f46031f22fd71796a35d49244d5197a9e08c2f717"
	draft := func(kind, fields string) Draft {
		data := `{"step":1,"task":"tasks/000000-implement-thing.md",` + fields + `}`
		return Draft{Type: kind, TaskID: list[0], Rev: 1, Actor: "kanban-run", Data: []byte(data)}
	}
	return []Draft{
		draft("STEP_STARTED",
			`"role":"Implementor","board_sha256":"`+sha+`","index":1,"of":10,"mark":"4000a654b71c032c"`),
		draft("REPLY_ACCEPTED",
			`"call":"task","role":"Implementor","attempt":1,"status":"ok","message":"done","millis":1`),
		draft("ATTEMPT_STARTED",
			`"call":"manager","role":"Manager","attempt":1,"digest":"`+sha+`","input":`+string(input)),
		draft("STEP_FINISHED", `"role":"Implementor","board_sha256":"`+sha+`","millis":7`),
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, tasks := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprintf("%d tasks", tasks), func(b *testing.B) {
			j := &Journal{now: time.Now, began: true}
			drafts := stepData(tasks)
			b.ReportAllocs()
			for b.Loop() {
				for _, d := range drafts {
					if _, err := j.Append(d); err != nil {
						b.Fatal(err)
					}
				}
				if j.pending = j.pending[:0]; cap(j.pending) > 1<<20 {
					j.pending = nil // as Commit does
				}
			}
		})
	}
}

func BenchmarkWalk(b *testing.B) {
	j := &Journal{now: time.Now, began: true}
	for range 10_000 {
		for _, d := range stepData(10) {
			if _, err := j.Append(d); err != nil {
				b.Fatal(err)
			}
		}
	}
	records := j.end.seq
	in := io.NewSectionReader(bytes.NewReader(j.pending), 0, int64(len(j.pending)))
	b.ReportAllocs()
	b.SetBytes(int64(len(j.pending)))
	for b.Loop() {
		end, err := walk(in, position{}, int64(len(j.pending)), ignoreAll)
		if err != nil || end.seq != records {
			b.Fatal(end.seq, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(records), "ns/record")
}

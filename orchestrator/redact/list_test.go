package redact

import (
	"fmt"
	"strings"
	"testing"
)

// taskList is the input of a Manager on a board of 100,000 tasks.
func taskList() string {
	var b strings.Builder
	b.WriteString(`{"kanban_file":"kanban.yaml","done_task":"tasks/000001-implement-thing.md","tasks":[`)
	for i := range 100_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"tasks/%06d-implement-thing.md"`, i)
	}
	b.WriteString("]}")
	return b.String()
}

func BenchmarkTaskList(b *testing.B) {
	text := taskList()
	for _, values := range []int{0, 20} {
		r := New(benchValues(values))
		b.Run(fmt.Sprintf("Changes, %d values", values), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if r.Changes(text) {
					b.Fatal("there is no secret")
				}
			}
		})
	}
}

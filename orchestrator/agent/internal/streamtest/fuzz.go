package streamtest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// FuzzReader passes any stream to a reader, beginning with the recordings in testdata. It checks
// three rules: the reader never panics, the size of the chunks makes no difference, and a report is
// a success only if the exit status is 0 and the stream contains the tool's word for success. The
// parameter "end" is this word.
func FuzzReader(f *testing.F, a agent.Adapter, end string) {
	f.Helper()
	all, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(all) == 0 {
		f.Fatalf("no recordings: %v", err)
	}
	for _, path := range all {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, 7, 0)
	}
	f.Fuzz(func(t *testing.T, stream []byte, size, code int) {
		exit := proc.Exit{Code: code}
		whole := Read(a, contract.Task, stream, len(stream)+1, exit)
		// A line may hold the word in the form of JSON escapes.
		hasEnd := bytes.Contains(stream, []byte(end)) || bytes.Contains(stream, []byte(`\u`))
		if r := whole.Report; r.Failure == nil && (code != 0 || !hasEnd) {
			t.Errorf("End = %+v of %q", r, stream)
		}
		if got := Read(a, contract.Task, stream, max(1, size), exit); got.String() != whole.String() {
			t.Errorf("in pieces of %d bytes:\n%s\nin one:\n%s", size, got, whole)
		}
	})
}

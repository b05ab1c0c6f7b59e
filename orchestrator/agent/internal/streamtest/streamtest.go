// Package streamtest checks readers with recordings of tools. A reader has to report the same
// events for pieces of every size. It also has to do this if a newer tool adds fields or events.
package streamtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// Transcript holds all that a reader reported about a stream.
type Transcript struct {
	Report agent.Report
	Events []agent.Event
	GaveUp []error
}

// String returns one item a line, so that a comparison shows the difference.
func (h Transcript) String() string {
	var b strings.Builder
	for _, e := range h.Events {
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("%s [%s] %s", e, e.ID, e.Class)))
	}
	for _, err := range h.GaveUp {
		fmt.Fprintf(&b, "given up: %s\n", DescribeError(err))
	}
	r := h.Report
	fmt.Fprintf(&b, "session %s\nreply %s\n", r.Session, r.Reply)
	if r.Failure != nil {
		fmt.Fprintf(&b, "failure: %s\n", r.Failure.Reason)
	}
	if r.Err != nil {
		fmt.Fprintf(&b, "error: %s\n", DescribeError(r.Err))
	}
	if s := r.Spent; s != nil {
		fmt.Fprintf(&b, "spent %d %d %d, cumulative %t", s.Input, s.Cached, s.Output, r.Cumulative)
		if s.Cost != nil {
			fmt.Fprintf(&b, ", cost %d", *s.Cost)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// DescribeError returns an error with its type.
func DescribeError(err error) string { return fmt.Sprintf("%T: %v", err, err) }

// Read passes a stream to a reader in pieces of the given size.
func Read(a agent.Adapter, c contract.Kind, stream []byte, size int, exit proc.Exit) Transcript {
	var h Transcript
	r := a.Reader(c, agent.Host{
		Emit:   func(e agent.Event) { h.Events = append(h.Events, e) },
		GiveUp: func(err error) { h.GaveUp = append(h.GaveUp, err) },
	})
	for part := range chunks(stream, size) {
		if n, err := r.Write(part); n != len(part) || err != nil {
			panic(fmt.Sprintf("Write of %d bytes = %d, %v", len(part), n, err))
		}
	}
	h.Report = r.End(exit)
	return h
}

func chunks(stream []byte, size int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(stream) > 0 {
			n := min(size, len(stream))
			part := bytes.Clone(stream[:n])
			if stream = stream[n:]; !yield(part) {
				return
			}
			clear(part) // a reader that keeps this slice fails the comparison
		}
	}
}

// CheckRecording reads a recording and compares the transcript with the .golden file of the same
// name. It repeats this with pieces of several sizes, with the line ends of a terminal, and with
// unknown events and fields. KANBAN_TEST_GOLDEN=1 writes the .golden file.
func CheckRecording(t *testing.T, a agent.Adapter, c contract.Kind, path string, exit proc.Exit) {
	t.Helper()
	stream, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole := Read(a, c, stream, len(stream), exit)
	CheckGolden(t, strings.TrimSuffix(path, filepath.Ext(path))+".golden", whole.String())
	for size := 1; size <= min(len(stream), 4096); size = size + 1 + size/16 {
		if got := Read(a, c, stream, size, exit); got.String() != whole.String() {
			t.Fatalf("in pieces of %d bytes:\n%swant\n%s", size, got, whole)
		}
	}
	for name, greased := range Grease(stream) {
		if got := Read(a, c, greased, 1000, exit); got.String() != whole.String() {
			t.Errorf("%s:\n%swant\n%s", name, got, whole)
		}
	}
}

// CheckGolden compares a text with a file.
func CheckGolden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("KANBAN_TEST_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("%s:\n%swant\n%s", path, got, want)
	}
}

// Grease returns variants of a stream, by name. For each variant a reader has to report the same
// events as for the stream.
func Grease(stream []byte) map[string][]byte {
	var crlf, events, fields []byte
	for line := range bytes.Lines(stream) {
		line = bytes.TrimRight(line, "\r\n")
		crlf = fmt.Appendf(crlf, "%s\r\n", line)
		events = fmt.Appendf(events, "%s\n%s\n\n", greaseLine, line)
		fields = fmt.Appendf(fields, "%s\n", withFields(line))
	}
	return map[string][]byte{"CRLF": crlf, "unknown events": events, "unknown fields": fields,
		"no line end": bytes.TrimRight(stream, "\n")}
}

const greaseLine = `{"type":"grease.event","message":{"role":"grease","content":[1,null]},` +
	`"item":{"type":"grease","id":"g1","text":"x"},"part":{"type":"grease"}}`

// withFields adds unknown fields to every object of a line.
func withFields(line []byte) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return line
	}
	addFields(v)
	greased, err := json.Marshal(v)
	if err != nil {
		return line
	}
	return greased
}

func addFields(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			addFields(inner)
		}
		v["grease_number"], v["grease_object"] = 1.5, map[string]any{"type": "error", "text": []any{nil, "x"}}
	case []any:
		for _, inner := range v {
			addFields(inner)
		}
	}
}

package attempt

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/redact"
)

func TestExcerpt(t *testing.T) {
	key := "hunter2 " + strings.Repeat("k", 3000)
	for _, tt := range []struct{ name, raw, want string }{
		{"short", "abc", "abc"},
		{"invalid UTF-8", "a\xffb", "a\uFFFDb"},
		{"just as long", strings.Repeat("x", maxReceived), strings.Repeat("x", maxReceived)},
		{"a secret", "is " + key, "is " + redact.Mark},
		{"longer than is shown", strings.Repeat("x", maxReceived+1), strings.Repeat("x", maxReceived)},
		{"half a secret at the end of what was kept", strings.Repeat("x ", 2000) + key + " " + key[:1000], strings.Repeat("x ", 2000) + redact.Mark + " " + redact.Mark},
		{"one word", strings.Repeat("é", maxReceived), strings.Repeat("é", maxReceived/2)},
	} {
		got, err := Sinks{Redactor: redact.New([]string{key})}.excerpt(tt.raw)
		if err != nil || got != tt.want {
			t.Errorf("excerpt(%s) = %d bytes, %.20q, want %d", tt.name, len(got), got, len(tt.want))
		}
	}
}

func TestTail(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	for _, tt := range []struct {
		name   string
		writes []string
		want   string
	}{
		{"nothing", nil, ""},
		{"little", []string{"a\n", "b"}, "a\nb"},
		{"all that fits", []string{strings.Repeat("x", maxStderr)}, strings.Repeat("x", maxStderr)},
		{"whole lines", []string{strings.Repeat(line, 1000)}, strings.Repeat(line, 20)},
		{"whole lines, one by one", strings.SplitAfter(strings.Repeat(line, 1000), "\n"), strings.Repeat(line, 20)},
		{"one line of words", []string{strings.Repeat("12345678 ", 1000)}, strings.Repeat("12345678 ", 227)},
		{"one long line and its end", []string{strings.Repeat("x", 5000) + "\n"}, strings.Repeat("x", maxStderr-1) + "\n"},
		{"half a character", []string{strings.Repeat("é", 5000) + "x"}, "\uFFFD" + strings.Repeat("é", maxStderr/2-1) + "x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &tail{max: maxStderr}
			for _, text := range tt.writes {
				if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
					t.Fatalf("Write = %d, %v", n, err)
				}
			}
			if got := w.String(); got != tt.want {
				t.Errorf("String() = %d bytes, %.20q, want %d, %.20q", len(got), got, len(tt.want), tt.want)
			}
			if cap(w.buf) > 4*maxStderr {
				t.Errorf("%d bytes are kept, want 8 KiB at most", cap(w.buf))
			}
		})
	}
}

// TestLines: a line is emitted whole or not at all, since a part of one may hold a part of a
// secret.
func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name   string
		writes []string
		want   []string
	}{
		{"whole ones", []string{"one\ntwo\nthr"}, []string{"one", "two"}},
		{"the last of a write", []string{strings.Repeat("one\n", 50) + "two\n"}, slices.Concat([]string{"… 31 more lines"}, slices.Repeat([]string{"one"}, maxLines-1), []string{"two"})},
		{"over writes", []string{"on", "e", "\n"}, []string{"one"}},
		{"empty ones are not told of", []string{"one\n\n \r\n", "\n"}, []string{"one"}},
		{"the longest", []string{strings.Repeat("x", maxLine) + "\n"}, []string{strings.Repeat("x", maxLine)}},
		{"too long", []string{strings.Repeat("x", maxLine+1) + "\n", "short\n"}, []string{"short"}},
		{"too long over writes", []string{strings.Repeat("x", maxLine), "y", "z\n", "short\n"}, []string{"short"}},
		{"never ends", []string{"abc"}, nil},
		{"invalid UTF-8", []string{"a\xffb\n"}, []string{"a\uFFFDb"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			w := &lines{emit: func(e agent.Event) { got = append(got, e.Text) }}
			for _, text := range tt.writes {
				if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
					t.Fatalf("Write = %d, %v", n, err)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events differ (-want +got):\n%s", diff)
			}
			if len(w.partial) > maxLine {
				t.Errorf("%d bytes of a line are kept, want 1 KiB at most", len(w.partial))
			}
		})
	}
}

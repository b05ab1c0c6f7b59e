package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/redact"
)

// TestObjectReader writes in pieces of every size: a pipe cuts where it likes.
func TestObjectReader(t *testing.T) {
	long := strings.Repeat("é", maxJunk)
	for _, tt := range []struct {
		name, text, want string
		exit             proc.Exit
		reason           string
	}{
		{name: "an object", text: ` {"a":1}`, want: ` {"a":1}`},
		{name: "nothing", reason: "stdout is empty"},
		{name: "white space", text: " \n\t", want: " \n\t", reason: "stdout is empty"},
		{name: "text", text: "hello", want: "hello"},
		{name: "long text", text: long, want: long[:maxJunk-2]},
		{name: "text after much white space", text: strings.Repeat(" ", maxJunk) + "x", want: strings.Repeat(" ", maxJunk) + "x"},
		{name: "a bad end", text: `{"a":1}`, want: `{"a":1}`, exit: proc.Exit{Code: 3}, reason: "exit status 3"},
		{name: "a timeout", text: `{"a":1}`, want: `{"a":1}`, exit: proc.Exit{TimedOut: true, Timeout: 1}, reason: "timed out after 1ns (exit status 0)"},
		{name: "a signal", exit: proc.Exit{Code: -1, Signal: "hangup"}, reason: "killed by signal: hangup"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 3, 1000, 1 << 20} {
				r := Exec().Reader(TaskContract, Host{})
				for rest := tt.text; rest != ""; {
					n := min(size, len(rest))
					if got, err := r.Write([]byte(rest[:n])); got != n || err != nil {
						t.Fatalf("Write = %d, %v", got, err)
					}
					rest = rest[n:]
				}
				report := r.End(tt.exit)
				raw, failure := report.Reply, report.Failure
				if string(raw) != tt.want {
					t.Errorf("Reply in pieces of %d = %d bytes %.20q, want %d, %.20q", size, len(raw), raw, len(tt.want), tt.want)
				}
				if got := fmt.Sprint(failure); got != tt.reason && (failure != nil || tt.reason != "") {
					t.Errorf("Reply in pieces of %d fails with %q, want %q", size, got, tt.reason)
				}
			}
		})
	}
}

func TestObjectReaderLimit(t *testing.T) {
	block := []byte("{" + strings.Repeat(" ", 1<<20-1))
	r := &objectReader{}
	for i := range 17 {
		if _, err := r.Write(block); err != nil {
			t.Fatal(err)
		}
		if i == 15 {
			if raw, failure := replyOf(r); failure != nil || len(raw) != maxReply || cap(r.buf) > maxReply {
				t.Errorf("Reply(16 MiB) = %d bytes (of %d), %v, want them all", len(raw), cap(r.buf), failure)
			}
		}
	}
	if raw, failure := replyOf(r); failure == nil || failure.Reason != "stdout is larger than 16 MiB" || len(raw) != maxJunk || cap(r.buf) > 2*maxJunk {
		t.Errorf("Reply(17 MiB) = %d bytes (of %d), %v, want 8 KiB and a failure", len(raw), cap(r.buf), failure)
	}
}

func TestExcerpt(t *testing.T) {
	key := "hunter2 " + strings.Repeat("k", 3000)
	for _, tt := range []struct{ name, raw, want string }{
		{"short", "abc", "abc"},
		{"invalid UTF-8", "a\xffb", "a\uFFFDb"},
		{"just as long", strings.Repeat("x", maxReceived), strings.Repeat("x", maxReceived)},
		{"a secret", "is " + key, "is " + redact.Mark},
		{"longer than is shown", strings.Repeat("x", maxReceived+1), strings.Repeat("x", maxReceived)},
		{"half a secret at the end of what was kept", strings.Repeat("x ", 2000) + key + " " + key[:1000], strings.Repeat("x ", 2000) + redact.Mark + " " + redact.Mark},
		{"one word", strings.Repeat("é", maxReceived), strings.Repeat("é", maxReceived/2-1)},
	} {
		got, err := Sinks{Redactor: redact.New([]string{key})}.excerpt([]byte(tt.raw))
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
			w := &tail{}
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

// TestLines: a line is told of whole or not at all, since half of one may hold half a secret.
func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name   string
		writes []string
		want   []string
	}{
		{"whole ones", []string{"one\ntwo\nthr"}, []string{"one", "two"}},
		{"the last of a write", []string{strings.Repeat("one\n", 50) + "two\n"}, append(slices.Repeat([]string{"one"}, maxTold-1), "two")},
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
			w := &lines{emit: func(e Event) { got = append(got, e.Text) }}
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

func TestWholeRunes(t *testing.T) {
	for _, text := range []string{"", "a", "é", "aé", "€", "a€", "😀", "a😀", "😀a"} {
		for cut := range len(text) + 1 {
			got := wholeRunes([]byte(text[:cut]))
			if !utf8.Valid(got) || cut-len(got) > 3 {
				t.Errorf("wholeRunes(%q) = %q, want whole characters", text[:cut], got)
			}
		}
	}
}

func replyOf(r Reader) ([]byte, *Failure) {
	report := r.End(proc.Exit{})
	return report.Reply, report.Failure
}

package agent

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
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
				r := Exec().Reader(contract.Task, Host{})
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
			if raw, failure := replyOf(r); failure != nil || len(raw) != contract.MaxReply || cap(r.buf) > contract.MaxReply {
				t.Errorf("Reply(16 MiB) = %d bytes (of %d), %v, want them all", len(raw), cap(r.buf), failure)
			}
		}
	}
	if raw, failure := replyOf(r); failure == nil || failure.Reason != "stdout is larger than 16 MiB" || len(raw) != maxJunk || cap(r.buf) > 2*maxJunk {
		t.Errorf("Reply(17 MiB) = %d bytes (of %d), %v, want 8 KiB and a failure", len(raw), cap(r.buf), failure)
	}
}

func TestWholeRunes(t *testing.T) {
	for _, text := range []string{"", "a", "é", "aé", "€", "a€", "😀", "a😀", "😀a"} {
		for cut := range len(text) + 1 {
			got := WholeRunes([]byte(text[:cut]))
			if !utf8.Valid(got) || cut-len(got) > 3 {
				t.Errorf("WholeRunes(%q) = %q, want whole characters", text[:cut], got)
			}
		}
	}
}

func replyOf(r Reader) ([]byte, *contract.Failure) {
	report := r.End(proc.Exit{})
	return report.Reply, report.Failure
}

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
		{name: "an object", text: ` {"a":1}`, want: `{"a":1}`},
		{name: "a byte order mark", text: "\uFEFF{\"a\":1}\n", want: `{"a":1}`},
		{name: "colours", text: "\x1b(B\x1b[m\x1b[1;32m{\"a\":1}\x1b[0m\n\x1b[?25h", want: `{"a":1}`},
		{name: "NULs", text: "\x00\x00{\"a\":1}\x00", want: `{"a":1}`},
		{name: "marks within an object", text: "{\"a\":\"\uFEFF\x1b[0m\x00\"}", want: "{\"a\":\"\uFEFF\x1b[0m\x00\"}"},
		{name: "a mark between two objects", text: "{\"a\":1}\uFEFF{\"b\":1}", want: "{\"a\":1}\uFEFF{\"b\":1}"},
		{name: "text in colour", text: "\x1b[31mhello\x1b[0m", want: "\x1b[31mhello\x1b[0m"},
		{name: "a colour that does not end", text: "\x1b[" + strings.Repeat("1;", maxEscape) + "m{}", want: "\x1b[" + strings.Repeat("1;", maxEscape) + "m{}"},
		{name: "another escape", text: "\x1bc{}", want: "\x1bc{}"},
		{name: "marks alone", text: "\uFEFF\x1b[0m", want: "\uFEFF\x1b[0m", reason: "stdout is empty"},
		{name: "nothing", reason: "stdout is empty"},
		{name: "white space", text: " \n\t", want: " \n\t", reason: "stdout is empty"},
		{name: "text", text: "hello", want: "hello"},
		{name: "long text", text: long, want: long},
		{name: "longer text", text: long + "x\nthe end", want: long[:maxJunk] + omitted + "the end"},
		{name: "a longer line", text: long + long, want: long[:maxJunk] + omitted + long[:maxJunk]},
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

// TestObjectReaderLimit: a reply of 16 MiB is kept whole, of a longer output only the beginning and
// the end, and never more memory than that.
func TestObjectReaderLimit(t *testing.T) {
	block := []byte("{" + strings.Repeat(" ", 1<<20-1))
	for _, tt := range []struct {
		blocks, kept, most int
		reason             string
	}{{16, contract.MaxReply, contract.MaxReply, ""}, {17, 2*maxJunk + len(omitted), 2 * maxJunk, "stdout is larger than 16 MiB"}} {
		r := &objectReader{}
		for range tt.blocks {
			if _, err := r.Write(block); err != nil {
				t.Fatal(err)
			}
		}
		took := cap(*r.buf)
		report := r.End(proc.Exit{})
		reason := ""
		if report.Failure != nil {
			reason = report.Failure.Reason
		}
		if len(report.Reply) != tt.kept || took > tt.most || reason != tt.reason {
			t.Errorf("Reply(%d MiB) = %d bytes (of %d), %q, want %d and %q", tt.blocks, len(report.Reply), took, reason, tt.kept, tt.reason)
		}
	}
}

// TestWholeRunes: a character that is cut off goes, and a whole one stays.
func TestWholeRunes(t *testing.T) {
	for _, text := range []string{"", "a", "é", "aé", "€", "a€", "😀", "a😀", "😀a"} {
		for cut := range len(text) + 1 {
			got := WholeRunes([]byte(text[:cut]))
			if !utf8.Valid(got) || cut-len(got) > 3 || utf8.ValidString(text[:cut]) && len(got) != cut {
				t.Errorf("WholeRunes(%q) = %q, want all whole characters", text[:cut], got)
			}
		}
	}
}

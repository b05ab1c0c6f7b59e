package agent

import (
	"fmt"
	"strings"
	"testing"

	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// TestAnswerReader: the first line that is not empty is the answer, or a failure at once. It
// writes in pieces of every size.
func TestAnswerReader(t *testing.T) {
	object := `{"a":"é"}`
	for _, tt := range []struct {
		name, text, want string
		exit             proc.Exit
		reason           string
		gaveUp           bool
	}{
		{name: "an object", text: object + "\n", want: object},
		{name: "with spaces around it", text: "\n \r\n\t" + object + " \r\n", want: object},
		{name: "with marks around it", text: "\x1b[0m\n\uFEFF\x1b[1m" + object + "\x1b[0m\x00\n", want: object},
		{name: "a bad end behind it", text: object + "\n", want: object, exit: proc.Exit{Code: 3}},
		{name: "more lines behind it", text: object + "\n{}\nhello\n{\n", want: object},
		{name: "text", text: "hello\n" + object + "\n", want: "hello", reason: `it printed a line that is not a JSON object: "hello"; ` + onlyTheReply, gaveUp: true},
		{name: "an array", text: "[]\n", want: "[]", reason: `it printed a line that is not a JSON object: "[]"; ` + onlyTheReply, gaveUp: true},
		{name: "two objects", text: "{}{}\n", want: "{}{}", reason: `it printed a line that is not a JSON object: "{}{}"; ` + onlyTheReply, gaveUp: true},
		{name: "an object of two lines", text: "{\n}\n", want: "{", reason: `it printed a line that is not a JSON object: "{"; ` + onlyTheReply, gaveUp: true},
		{name: "long text", text: strings.Repeat("é", maxJunk) + "\n", want: strings.Repeat("é", maxJunk/2), reason: `it printed a line that is not a JSON object: "…"; ` + onlyTheReply, gaveUp: true},
		{name: "no end of the line", text: object, want: object, reason: "it ended without an answer"},
		{name: "nothing", reason: "it ended without an answer"},
		{name: "a bad end", text: `{"a`, want: `{"a`, exit: proc.Exit{Code: 3}, reason: "exit status 3"},
		{name: "a signal", exit: proc.Exit{Code: -1, Signal: "hangup"}, reason: "killed by signal: hangup"},
		{name: "a timeout", exit: proc.Exit{TimedOut: true, Timeout: 1}, reason: "timed out after 1ns (exit status 0)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 3, 1000, 1 << 20} {
				var results, gaveUp int
				r := Exec().(Resident).Turn(contract.Task, Host{Emit: func(e Event) {
					if e.Kind == Result {
						results++
					}
				}, GiveUp: func(error) { gaveUp++ }})
				for rest := tt.text; rest != ""; {
					n := min(size, len(rest))
					if got, err := r.Write([]byte(rest[:n])); got != n || err != nil {
						t.Fatalf("Write = %d, %v", got, err)
					}
					rest = rest[n:]
				}
				answered := results == 1 && gaveUp == 0
				if answered != (tt.reason == "") || (gaveUp == 1) != tt.gaveUp || results > 1 {
					t.Errorf("in pieces of %d: %d results, given up %d times", size, results, gaveUp)
				}
				report := r.End(tt.exit)
				reason := ""
				if report.Failure != nil {
					reason = report.Failure.Reason
				}
				if report.Reply != tt.want || reason != tt.reason {
					t.Errorf("in pieces of %d: End = %.40q, %q, want %.40q, %q", size, report.Reply, reason, tt.want, tt.reason)
				}
			}
		})
	}
}

// TestAnswerReaderLimit: an answer of 16 MiB is taken, a longer line refused before
// its end, in bounded memory.
func TestAnswerReaderLimit(t *testing.T) {
	for _, more := range []int{0, 1} {
		results, reason := 0, error(nil)
		r := NewAnswerReader(Host{Emit: func(Event) { results++ }, GiveUp: func(err error) { reason = err }}).(*answerReader)
		line := []byte(`{"a":"` + strings.Repeat("x", contract.MaxReply-8+more) + `"}`)
		for rest := line; len(rest) > 0; rest = rest[min(len(rest), 1<<20):] {
			_, _ = r.Write(rest[:min(len(rest), 1<<20)]) // it never fails
			if cap(r.partial) > contract.MaxReply {
				t.Fatalf("%d bytes are kept", cap(r.partial))
			}
		}
		if (reason != nil) != (more > 0) {
			t.Errorf("a line of 16 MiB and %d: given up with %v", more, reason)
		}
		_, _ = r.Write([]byte("\n"))
		report := r.End(proc.Exit{})
		if more == 0 && (results != 1 || len(report.Reply) != contract.MaxReply || report.Failure != nil) {
			t.Errorf("a line of 16 MiB: %d bytes, %v, want all", len(report.Reply), report.Failure)
		}
		if more > 0 && (results != 0 || len(report.Reply) != maxJunk || fmt.Sprint(report.Failure) != "it printed a line that is longer than 16 MiB") {
			t.Errorf("a longer line: %d bytes, %v, want a failure", len(report.Reply), report.Failure)
		}
	}
}

// TestStay: the message is the input in one line; all else is as for a program that does not stay.
func TestStay(t *testing.T) {
	a := Assignment{Command: []string{"/bin/cat"}, Args: []string{"-u"}, Input: []byte("{\n  \"a\": \"x\\ny <é>\"\n}\n"), Env: []string{"A=1"}, Dir: "/"}
	plain, err := Exec().Invoke(a)
	if err != nil {
		t.Fatal(err)
	}
	inv, err := Exec().(Resident).Stay(a)
	if want := `{"a":"x\ny <é>"}` + "\n"; err != nil || string(inv.Stdin) != want {
		t.Errorf("Stdin = %q, %v, want %q", inv.Stdin, err, want)
	}
	if inv.Stdin = plain.Stdin; inv.Digest() != plain.Digest() {
		t.Errorf("Stay = %+v, want %+v", inv, plain)
	}
	a.Input = []byte("{")
	if inv, err := Exec().(Resident).Stay(a); err == nil {
		t.Errorf("Stay(half an object) = %q, want an error", inv.Stdin)
	}
	a.Command = nil
	if _, err := Exec().(Resident).Stay(a); err == nil || !strings.Contains(err.Error(), "no command is set") {
		t.Errorf("Stay without a command = %v, want that of Invoke", err)
	}
}

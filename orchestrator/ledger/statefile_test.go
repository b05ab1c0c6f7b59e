//go:build unix

package ledger

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/rundir"
)

// silent is an observer that only keeps warnings, if it is given a list for them.
type silent struct{ warnings *[]string }

func (silent) Entry(string, event.Entry) {}
func (silent) Agent(string, agent.Sign)  {}
func (s silent) Notice(board, text string) {
	if s.warnings != nil {
		*s.warnings = append(*s.warnings, text)
	}
}

// TestDrawThatFails: a state.md that could not be written is the old one, or still missing. That is
// no edit by hand: the divergence of seed 002, "Detection", is a change from outside.
func TestDrawThatFails(t *testing.T) {
	if os.Getenv(limited) == "" { // a limit of this process would break the log of go test
		again := exec.Command(os.Args[0], "-test.run=^TestDrawThatFails$")
		again.Env = append(os.Environ(), limited+"=1")
		if said, err := again.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		return
	}
	for _, before := range []string{"missing", "drawn"} {
		t.Run(before, func(t *testing.T) {
			dir := rundir.Dir{Path: t.TempDir()}
			var warnings []string
			l := New("kanban.yaml", dir, silent{&warnings}, redact.New(nil), time.Now)
			if err := l.Open(func(event.Entry) {}); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			if before == "drawn" {
				if err := l.tryDraw(); err != nil {
					t.Fatal(err)
				}
			}
			l.logbook.remember(event.Entry{Event: event.RunInterrupted{}})
			if err := inSmallFiles(t, l.tryDraw); err == nil {
				t.Fatal("state.md was written beyond the limit of a file")
			}
			if edit, err := l.findEdit(); err != nil || edit.what != "" {
				t.Errorf("state.md counts as %q, %v, want no edit", edit.what, err)
			}
			// It is made from the journal, so it decides nothing: one warning.
			err := inSmallFiles(t, func() error {
				l.draw()
				l.draw()
				return l.reconcileState()
			})
			if err != nil || len(warnings) != 1 {
				t.Errorf("a state.md that cannot be written gives %v and the warnings %q, want one warning", err, warnings)
			}
		})
	}
}

// limited is set in the process whose files are limited.
const limited = "KANBAN_TEST_SMALL_FILES"

// inSmallFiles calls do while no file of this process can grow beyond 300 bytes: that is enough for
// the head of a journal, and too little for state.md.
func inSmallFiles(t *testing.T, do func() error) error {
	t.Helper()
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 300, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	failed := do()
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	return failed
}

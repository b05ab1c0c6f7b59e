//go:build linux

package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// TestReconcileIsResumed: a run that dies while it reconciles an edited state.md leaves a board
// that goes on, and the edit is in the journal and kept, whenever that was.
func TestReconcileIsResumed(t *testing.T) {
	t.Parallel()
	binary := built(t, buildFailpoints)
	for _, name := range []string{"journal-torn", "journal-written", "journal-synced", "log-behind", "ownership-taken"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; dieReconciling(t, binary, fmt.Sprintf("%s@%d=both", name, n)) && exhaustive(); n++ {
			}
		})
	}
}

// dieReconciling says whether the failpoint killed the run.
func dieReconciling(t *testing.T, binary, failpoint string) (killed bool) {
	t.Helper()
	s := newSite(t, binary, 1)
	defer endBearers(t, s.marker)
	if code := s.start(nil).wait(); code != exitComplete {
		t.Fatalf("exit code %d\n%s", code, s.story())
	}
	state := strings.TrimSuffix(journalFile, "journal.jsonl") + "state.md"
	s.write(state, s.read(state)+"hello\n")
	run := s.start([]string{"KANBAN_TEST_FAILPOINT=" + failpoint})
	killed = run.wait() != exitComplete
	if code := s.start(nil).wait(); code != exitComplete {
		t.Errorf("%s: the same command ended with exit code %d\n%s", failpoint, code, s.story())
	}
	if !strings.Contains(s.read(journalFile), `"type":"STATE_DIVERGENCE"`) {
		t.Errorf("%s: the edit is not in the journal", failpoint)
	}
	if text := s.read(state + ".edited-1"); !strings.HasSuffix(text, "hello\n") {
		t.Errorf("%s: the edit was not kept: %q", failpoint, text)
	}
	if syscall.Access(s.path(state), 0) != nil {
		t.Errorf("%s: there is no state.md", failpoint)
	}
	return killed
}

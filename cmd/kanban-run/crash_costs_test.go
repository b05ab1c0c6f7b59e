//go:build linux

package main

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
)

// TestLimitsOutliveEveryKill: "Attempts and limits survive an interruption", wherever it comes:
// each of four calls costs a cent, the limit is three, and no kill makes a run spend a fourth.
func TestLimitsOutliveEveryKill(t *testing.T) {
	t.Parallel()
	binary := built(t, buildFailpoints)
	for _, name := range []string{"ownership-taken", "intent-durable", "agent-gone", "reply-noted", "journal-written", "journal-synced", "log-behind",
		"board-intent", "board-written", "snapshot-taken", "run-end"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n <= mostOccurrences; n++ {
				s := newSite(t, binary, failpointTasks)
				s.write("tell.yaml", "- tell: {input: 100, output: 10, cost: 0.01, session: s1}\n")
				s.args = []string{"--agent", "stub", "--stub", "tell.yaml", "--max-cost", "0.03"}
				s.shield = true
				failpoint := fmt.Sprintf("%s@%d=self", name, n)
				killed := s.start([]string{"KANBAN_TEST_FAILPOINT=" + failpoint}).wait() == 128+int(syscall.SIGKILL)
				spendsTheRest(s, failpoint)
				if n == 1 && !killed {
					t.Fatal("the place was never reached")
				}
				if !killed || !exhaustive() {
					return
				}
			}
		})
	}
}

// spendsTheRest goes on after a kill, up to the limit that the killed run had, unless
// that one had come to its end.
func spendsTheRest(s *site, failpoint string) {
	s.t.Helper()
	before, finished := costOf(s)
	code := s.start(nil).wait()
	after, _ := costOf(s)
	wantCode, wantCost := exitLimit, int64(30_000)
	if finished {
		wantCode, wantCost = exitComplete, 40_000
	}
	if code != wantCode || after.Cost != wantCost || after.Cost < before.Cost {
		s.t.Errorf("%s: exit code %d with %+v used, %+v before, want %d and a cost of %d\n%s", failpoint, code, after, before, wantCode, wantCost, s.story())
	}
	if lost := after.Attempts - after.Priced; lost > 1 {
		s.t.Errorf("%s: %d attempts have no price, want at most the one that was lost", failpoint, lost)
	}
}

// costOf is what the journal says that all attempts came to, and whether it
// says that a run finished.
func costOf(s *site) (used event.Used, finished bool) {
	s.t.Helper()
	h, _, err := inspect.History(s.path("kanban.yaml"), func(e event.Entry) error {
		_, is := e.Event.(event.RunFinished)
		finished = finished || is
		return nil
	})
	var never *ledger.NoRunError
	if err != nil && !errors.As(err, &never) {
		s.t.Fatal(err)
	}
	return h.State.Total, finished
}

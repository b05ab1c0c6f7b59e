package watch

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/inbox"
)

// TestJudgeSpends: what all tries of a judge spent counts, and it is known to be partial if one did not tell.
func TestJudgeSpends(t *testing.T) {
	silentTry := &attempt.Ended{Failure: contract.Failed("no JSON")}
	tellingTry := &attempt.Ended{Failure: contract.Failed("no JSON"), Spent: &agent.Spending{Input: 5}}
	for name, tt := range map[string]struct {
		first *attempt.Ended
		want  agent.Spending
	}{
		"both tell": {tellingTry, agent.Spending{Input: 10}},
		"one tells": {silentTry, agent.Spending{Input: 5, Partial: true}},
	} {
		replies := []*attempt.Ended{tt.first, answered(true, true, false, false, true)}
		run := func(context.Context, context.Context, attempt.Spec) (*attempt.Ended, error) {
			next := replies[0]
			replies = replies[1:]
			return next, nil
		}
		v := askForAnswers(t.Context(), t.Context(), run, attempt.Spec{}, 1)
		if v.spent == nil || *v.spent != tt.want || v.tries != 2 {
			t.Errorf("%s: spent %+v in %d tries, want %+v in 2", name, v.spent, v.tries, tt.want)
		}
	}
}

// TestReleaseOfOneTask: the Lead may name the task, in any spelling of its path.
func TestReleaseOfOneTask(t *testing.T) {
	r := newRig(t, policy)
	r.journal.state.Quarantine = []flow.Quarantine{{Task: "a.md"}, {Task: "b.md"}}
	r.post(t, inbox.Message{Step: 2, Choice: "release", Task: "./b.md"})
	r.want(t, "QUARANTINE_ENDED")
	if left := r.journal.state.Quarantine; len(left) != 1 || left[0].Task != "a.md" {
		t.Errorf("in quarantine after the release of b.md: %+v, want a.md", left)
	}
}

// TestAnswerThatAsksForHelp: seed 000, "ASSIST": an answer is journaled, and a call for help in it as an anomaly.
// What the agent was only told, and has heard, is no answer.
func TestAnswerThatAsksForHelp(t *testing.T) {
	for name, tt := range map[string]struct {
		kind  agent.Kind
		text  string
		kinds string
	}{
		"it needs help": {agent.Answered, "I need help with the schema", "MESSAGE_HEARD ANOMALY_FOUND"},
		"all is well":   {agent.Answered, "still at work", "MESSAGE_HEARD"},
		"only heard":    {agent.Heard, "I need help", "MESSAGE_HEARD"},
	} {
		r := newRig(t, policy)
		r.post(t, inbox.Message{Step: 2, Text: "how is it?"})
		r.want(t, "MESSAGE_SENT", "tell ")
		id := r.undelivered[0].ID
		if err := r.OnSign(&agent.Event{Kind: tt.kind, ID: id, Text: tt.text}); err != nil {
			t.Fatal(err)
		}
		t.Log(name)
		r.want(t, tt.kinds)
	}
}

// TestClose: a closed watch checks nothing, and its clock stands; one that never checked may be closed, too.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, policy)
		ticks := r.C
		r.Close()
		r.Close()
		time.Sleep(2 * policy.Frequency)
		if r.C != nil || len(ticks) > 0 {
			t.Error("the clock of a closed watch goes on")
		}
		newRig(t, health.Policy{}).Close()
	})
}

// TestActOfFinding: the finding that is acted on tells the act; others, and one whose agent is ended for its busy
// provider instead, tell none.
func TestActOfFinding(t *testing.T) {
	other := health.Finding{Check: health.ProgressStale, Severity: health.Warning, Details: "no progress for 5m"}
	for name, tt := range map[string]struct {
		told    health.Finding
		action  health.Action
		refusal string
		want    string
	}{
		"it is acted on":       {silent, health.Test, "", "the reboot test"},
		"another is acted on":  {other, health.Test, "", ""},
		"the provider refuses": {silent, health.Test, "529 overloaded", ""},
		"ended otherwise":      {silent, health.EndOver, "529 overloaded", "it is ended, and its result counts"},
	} {
		r := newRig(t, policy)
		r.program.refusal = tt.refusal
		if err := r.recordFindings(health.Report{Action: tt.action, On: silent, Told: []health.Finding{tt.told}}); err != nil {
			t.Fatal(err)
		}
		if got := r.journal.last.(event.AnomalyFound).Action; got != tt.want {
			t.Errorf("%s: the act is %q, want %q", name, got, tt.want)
		}
	}
}

// TestHealthFile: a check writes what it found, and a late one, which has found nothing, leaves that as it is.
func TestHealthFile(t *testing.T) {
	r := newRig(t, policy)
	r.check(t, health.Report{Status: "working", Last: time.Now()})
	r.check(t, health.Report{})
	text, err := os.ReadFile(r.Folder.Health())
	if err != nil || !strings.Contains(string(text), "status: working\n") {
		t.Errorf("the file of the health is %q, %v", text, err)
	}
}

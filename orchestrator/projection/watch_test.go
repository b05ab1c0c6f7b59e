package projection

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
)

// TestSigns: what the watch saw and did is with the attempt, in the order of time, and a
// note of the step: seed 000.
func TestSigns(t *testing.T) {
	idle := event.Anomaly{Check: "idle", Details: "silent for 20m", Advice: "restart"}
	late := event.Overdue{Severity: "WARN", Action: "PING", Text: "no sign for 30m"}
	for _, tt := range []struct {
		event event.Event
		kind  event.Sign // "": it is none
		note  string
	}{
		{event.AnomalyFound{AttemptRef: work, Anomaly: idle}, event.Noticed, "Implementor: idle: silent for 20m"},
		{event.IdleBreach{AttemptRef: work, Overdue: late}, event.Noticed, "Implementor: no sign for 30m"},
		{event.ReviewBreach{AttemptRef: work, Overdue: late}, event.Noticed, "Implementor: no sign for 30m"},
		{event.ConsentAsked{AttemptRef: work, Anomaly: idle, Decision: event.Restart}, event.Asked, "Implementor waits for your consent to restart it: silent for 20m (kanban-run inbox)"},
		{event.JudgeAsked{AttemptRef: work, Anomaly: idle, Judge: "Judge"}, event.Asked, "Judge judges Implementor: silent for 20m"},
		{event.MessageSent{AttemptRef: work, Type: event.HealthCheck, Content: event.Content{Question: "Are you at work?"}}, event.Asked,
			"Implementor is asked: Are you at work?"},
		{event.MessageSent{AttemptRef: work, Type: event.AssistOffer, Content: event.Content{Details: "Try the mirror."}}, event.Said,
			"Implementor is offered help: Try the mirror."},
		{event.MessageHeard{AttemptRef: work, Answer: "yes"}, event.Answered, "Implementor answers: yes"},
		{event.MessageHeard{AttemptRef: work}, "", "Implementor has the message"},
		{event.MessageLost{AttemptRef: work, Type: event.HealthCheck, Reason: "its work ended before"}, event.Answered, "Implementor has not answered: its work ended before"},
		{event.MessageLost{AttemptRef: work, Type: event.AssistOffer, Reason: "its work ended before"}, "", "Implementor has not got the message: its work ended before"},
		{event.ConsentGiven{AttemptRef: work, Choice: event.ConsentContinue}, event.Answered, "you left Implementor alone"},
		{event.JudgeAnswered{AttemptRef: work, Judge: "Judge", Reason: "too late"}, event.Answered, "Judge has not judged: too late"},
		{event.Recovered{AttemptRef: work}, event.Moving, "Implementor is moving again"},
		{event.RebootTested{AttemptRef: work, Anomaly: idle, Decision: event.Restart}, event.Ended, "Implementor is ended and started again: silent for 20m"},
		{event.ToolUnavailable{AttemptRef: work, Tool: "gh", Agent: "claude", Reason: "command not found"}, event.Missed, "the tool gh is not there for Implementor (claude): command not found; the agent goes on"},
		{event.Reassigned{Step: 1, Role: "Implementor", To: "codex", Reason: "4 attempts"}, "", "codex takes the work of Implementor over, with the same input: 4 attempts"},
	} {
		f := working()
		fold(f, tt.event)
		s, want := f.Steps[0], []Sign(nil)
		if tt.kind != "" {
			want = []Sign{{Time: start.Add(2 * time.Second), Kind: tt.kind, Text: tt.note}}
		}
		if diff := cmp.Diff(want, s.Attempts[0].Watched); diff != "" {
			t.Errorf("%s: signs (-want +got):\n%s", tt.event.Kind(), diff)
		}
		if got := strings.Join(s.Notes, "\n"); got != tt.note {
			t.Errorf("%s: the step notes %q, want %q", tt.event.Kind(), got, tt.note)
		}
	}
}

// TestSignsAreBounded: an agent that is noticed without end does not fill the report.
func TestSignsAreBounded(t *testing.T) {
	f := working()
	for range 150 {
		fold(f, event.Recovered{AttemptRef: work})
	}
	if n := len(f.Steps[0].Attempts[0].Watched); n != 100 {
		t.Errorf("%d signs are kept, want 100", n)
	}
}

// TestJudges: a judge is an attempt of its own, before the one that it was about. One that
// was never started is none.
func TestJudges(t *testing.T) {
	f := working()
	spent := &event.Spending{Input: 3}
	judged := event.JudgeAnswered{AttemptRef: work, Judge: "Judge", Adapter: "claude", Command: "claude -p", Answers: []event.Answer{{Yes: true}}, Try: 2, Millis: 1500, Spent: spent}
	void := judged
	void.Reason = "the agent that it judges has ended"
	odd := judged
	odd.Invalid, odd.Reason, odd.Spent = true, "no JSON", nil
	never := event.JudgeAnswered{AttemptRef: work, Judge: "Judge", Reason: "it is not there"}
	fold(f, judged, void, odd, never)
	attempt := Attempt{Call: event.JudgeCall, Role: "Judge", Attempt: 2, Adapter: "claude", Command: "claude -p", Began: start.Add(500 * time.Millisecond), Millis: 1500,
		Result: Accepted, Status: "ok", Message: "says Q1 yes", Spent: spent, Said: judged.Sentence().Text}
	voided := attempt
	voided.Began, voided.Result, voided.Status, voided.Message, voided.Reason, voided.Said = attempt.Began.Add(time.Second), Stopped, "", "", void.Reason, void.Sentence().Text
	rejected := voided
	rejected.Began, rejected.Result, rejected.Reason, rejected.Said, rejected.Spent = voided.Began.Add(time.Second), Rejected, odd.Reason, odd.Sentence().Text, nil
	s := f.Steps[0]
	if diff := cmp.Diff([]Attempt{attempt, voided, rejected}, s.Attempts[:len(s.Attempts)-1]); diff != "" || s.Last().Call != event.TaskCall {
		t.Errorf("the last is the %s call; those before (-want +got):\n%s", s.Last().Call, diff)
	}
	if f.Totals.Attempts != 4 || f.LastRun.Attempts != 4 || f.Totals.Rejected != 1 || f.Totals.Used.Attempts != 3 || f.Totals.Used.Input != 6 {
		t.Errorf("%d attempts, %d rejected, %+v used; want that of the agent and of three judges, two of whom have told", f.Totals.Attempts, f.Totals.Rejected, f.Totals.Used)
	}
}

// TestMissingTools: seed 002, "Tool Unavailability", action 4: what was missing for which roles
// and tasks, and what became of the last agent.
func TestMissingTools(t *testing.T) {
	f := working()
	miss := func(tool, role, task string, then event.OnTool) {
		ref := work
		ref.Role, ref.Task = role, task
		fold(f, event.ToolUnavailable{AttemptRef: ref, Tool: tool, Reason: "gone for " + task, Then: then})
	}
	miss("gh", "Implementor", "a.md", event.ToolRetry)
	miss("gh", "Implementor", "a.md", event.ToolCaveat)
	miss("mcp:lab", "Architect", "a.md", event.ToolSkip)
	miss("gh", "Architect", "b.md", event.ToolStop)
	want := []Tool{
		{Tool: "gh", Agents: 3, Roles: []string{"Implementor", "Architect"}, Tasks: []string{"a.md", "b.md"}, Reason: "gone for b.md", Then: event.ToolStop},
		{Tool: "mcp:lab", Agents: 1, Roles: []string{"Architect"}, Tasks: []string{"a.md"}, Reason: "gone for a.md", Then: event.ToolSkip},
	}
	if diff := cmp.Diff(want, f.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	for i := range 100 {
		miss("gh", "Implementor", fmt.Sprint(i), event.ToolCaveat)
		miss(fmt.Sprint("tool ", i), "Implementor", "a.md", event.ToolCaveat)
	}
	if len(f.Tools) != 64 || len(f.Tools[0].Tasks) != 64 || f.Tools[0].Agents != 103 {
		t.Errorf("%d tools, the first with %d tasks and %d agents; want 64, 64 and 103", len(f.Tools), len(f.Tools[0].Tasks), f.Tools[0].Agents)
	}
}

// TestToldIsCut: of a long input the beginning is kept, without a broken letter.
func TestToldIsCut(t *testing.T) {
	for input, want := range map[string]string{
		strings.Repeat("x", 1600):       strings.Repeat("x", 1600),
		strings.Repeat("x", 1601):       strings.Repeat("x", 1600) + "…",
		strings.Repeat("é", 2500):       strings.Repeat("é", 800) + "…",
		"x" + strings.Repeat("é", 2500): "x" + strings.Repeat("é", 799) + "…",
	} {
		var f Fold
		fold(&f, event.StepStarted{Step: 1}, event.AttemptStarted{AttemptRef: work, Input: []byte(input)})
		if told := f.Steps[0].Attempts[0].Told; told != want {
			t.Errorf("of %d bytes %d are kept, want %d", len(input), len(told), len(want))
		}
	}
}

// TestCheckpoints: seed 001: a step of the supervisor ends with its verdict, or without one;
// what it used is told apart.
func TestCheckpoints(t *testing.T) {
	look := event.AttemptRef{Step: 2, Call: event.CheckpointCall, Task: "CHECKPOINT-001", Role: "Supervisor", Attempt: 1}
	held := event.CheckpointHeld{AttemptRef: look, Trend: "rising\nslowly", End: event.End{Millis: 40, Session: "s", Spent: &event.Spending{Input: 5}},
		Data: event.StateUpdate{ID: look.Task, Verdict: "warn", Score: 0.5, Findings: []string{"no tests", "no docs"}, Report: "r.md"}}
	for _, tt := range []struct {
		event  event.Event
		want   event.Looked
		text   string
		status string
		said   string
		used   int64
	}{
		{held, event.Looked{ID: look.Task, Verdict: "warn", Score: 0.5, Trend: held.Trend, Findings: held.Data.Findings, Report: "r.md"},
			"CHECKPOINT-001 warn (score: 0.50), rising slowly", "warn", "no tests", 5},
		{event.SupervisorFailed{AttemptRef: look, Reason: "no access", End: event.End{Spent: &event.Spending{Input: 6}}}, event.Looked{ID: look.Task, Verdict: "none", Reason: "no access"},
			"CHECKPOINT-001 no verdict", "none", "no access", 6},
		{event.ScopeViolated{AttemptRef: look, Text: "it changed a.go"}, event.Looked{ID: look.Task, Verdict: "none", Reason: "it changed a.go"},
			"CHECKPOINT-001 no verdict", "none", "it changed a.go", 0},
		{event.CheckpointMissed{Step: 2, Task: look.Task, Reason: "given up"}, event.Looked{ID: look.Task, Verdict: "none", Reason: "given up"},
			"CHECKPOINT-001 no verdict", "none", "given up", 0},
	} {
		var f Fold
		fold(&f, event.StepStarted{Step: 2, Task: look.Task, Role: "Supervisor", Call: event.CheckpointCall, Checkpoint: &event.Checkpoint{ID: look.Task}},
			event.AttemptStarted{AttemptRef: look}, tt.event)
		s := f.Steps[0]
		if diff := cmp.Diff([]event.Looked{tt.want}, f.Checkpoints); diff != "" || f.Checkpoints[0].String() != tt.text {
			t.Errorf("%s is %q, checkpoints (-want +got):\n%s", tt.event.Kind(), f.Checkpoints[0], diff)
		}
		if s.State != StepDone || s.Status != tt.status || s.Message != tt.said || f.Totals.Supervision.Input != tt.used || f.Totals.Steps != 0 {
			t.Errorf("%s: the step is %s with %q and %q, and used %d", tt.event.Kind(), s.State, s.Status, s.Message, f.Totals.Supervision.Input)
		}
		if end, ok := event.EndOf(tt.event); ok {
			if a := s.Last(); a.Result != Accepted || a.Status != tt.status || a.Millis != end.Millis || a.Session != end.Session || a.Spent != end.Spent {
				t.Errorf("%s: its attempt is %+v", tt.event.Kind(), a)
			}
		}
	}
	if got := (event.Looked{ID: "C", Verdict: "pass", Score: 1}).String(); got != "C pass (score: 1.00)" {
		t.Errorf("without a trend it is %q", got)
	}
}

// TestGettingReady: a supervisor that gets ready for a checkpoint has not held it yet. Its step is
// no task's, and is not counted as one.
func TestGettingReady(t *testing.T) {
	ready := event.AttemptRef{Step: 1, Call: event.ReadyCall, Task: "Supervisor", Role: "Supervisor", Attempt: 1}
	for _, c := range []*event.Checkpoint{nil, {ID: "CHECKPOINT-001"}} {
		var f Fold
		fold(&f, event.StepStarted{Step: 1, Task: "Supervisor", Call: event.ReadyCall, Checkpoint: c}, event.AttemptStarted{AttemptRef: ready},
			event.ReplyAccepted{AttemptRef: ready, Status: "ok", Message: "ready"})
		want := StepDone
		if c != nil {
			want = StepOpen
		}
		if s := f.Steps[0]; s.State != want || s.Status != "ready" {
			t.Errorf("with checkpoint %v the step is %s, %q", c, s.State, s.Status)
		}
		fold(&f, event.StepFinished{Step: 1, Status: "ok", Message: "done", Checkpoint: "CHECKPOINT-001"})
		if s := f.Steps[0]; f.Totals.Steps != 0 || s.Status != "ready" || s.State != StepDone {
			t.Errorf("finished it is %s, %q, and %d steps count", s.State, s.Status, f.Totals.Steps)
		}
	}
}

// TestNow: what a run at work does, as its events tell: the agent, its health, and what it waits for. An
// end of an attempt, a step or a run leaves nothing of it.
func TestNow(t *testing.T) {
	at := start.Add(2 * time.Second)
	healthy := Now{Index: 2, Of: 5, Task: "a.md", Ref: work, Adapter: "codex", Since: start.Add(time.Second), Health: "healthy"}
	with := func(change func(*Now)) Now {
		n := healthy
		change(&n)
		return n
	}
	found := event.AnomalyFound{AttemptRef: work, Anomaly: event.Anomaly{Severity: "warning"}}
	asked := event.MessageSent{AttemptRef: work, Type: event.HealthCheck}
	wait := event.ProviderWait{Step: 1, Task: "a.md", Provider: "claude", Until: start.Add(time.Hour)}
	for name, tt := range map[string]struct {
		events []event.Event
		want   Now
	}{
		"at work":             {nil, healthy},
		"an anomaly":          {[]event.Event{found}, with(func(n *Now) { n.Health = "warning" })},
		"it moves again":      {[]event.Event{found, asked, event.Recovered{AttemptRef: work}}, healthy},
		"asked":               {[]event.Event{asked}, with(func(n *Now) { n.Asked = at })},
		"it has the question": {[]event.Event{asked, event.MessageHeard{AttemptRef: work}}, with(func(n *Now) { n.Asked = at })},
		"it has answered":     {[]event.Event{asked, event.MessageHeard{AttemptRef: work, Answer: "I work"}}, healthy},
		"told":                {[]event.Event{event.MessageSent{AttemptRef: work, Type: event.AssistOffer}}, healthy},
		"a person is asked": {[]event.Event{found, event.ConsentAsked{AttemptRef: work}}, with(func(n *Now) {
			n.Health, n.Doing = "warning", Doing{ForConsent, at.Add(time.Second), "kanban-run inbox"}
		})},
		"a person answered":  {[]event.Event{found, event.ConsentAsked{AttemptRef: work}, event.ConsentGiven{AttemptRef: work}}, healthy},
		"judged":             {[]event.Event{event.JudgeAsked{AttemptRef: work, Judge: "Judge"}}, with(func(n *Now) { n.Doing = Doing{"is judged", at, "Judge"} })},
		"a judge has judged": {[]event.Event{event.JudgeAsked{AttemptRef: work, Judge: "Judge"}, event.JudgeAnswered{AttemptRef: work}}, healthy},
		"it waits":           {[]event.Event{wait}, with(func(n *Now) { n.Doing = Doing{What: wait.Waits()} })},
		"another board":      {[]event.Event{event.DuplicateTask{Task: "b.md", Owner: "o.yaml"}}, with(func(n *Now) { n.Task, n.Doing = "b.md", Doing{What: "waits for o.yaml", Since: at} })},
		"files of another":   {[]event.Event{event.ScopeOverlaps{Task: "b.md", Owner: "o.yaml", Files: []string{"x.go"}, Waits: true}}, with(func(n *Now) { n.Task, n.Doing = "b.md", Doing{"waits for o.yaml", at, "x.go"} })},
		"it goes on anyhow":  {[]event.Event{event.ScopeOverlaps{Task: "b.md", Owner: "o.yaml", Files: []string{"x.go"}}}, healthy},
		"the attempt ended": {[]event.Event{found, event.ReplyRejected{AttemptRef: work, End: event.End{Millis: 7}}},
			with(func(n *Now) { n.Health, n.Used = "", event.Used{Attempts: 1, Millis: 7} })},
		"the next step": {[]event.Event{wait, event.StepStarted{Step: 2, Task: "c.md", Index: 3, Of: 5}}, with(func(n *Now) { n.Index, n.Task = 3, "c.md" })},
		"the next run":  {[]event.Event{found, event.RunStarted{}}, Now{Since: at.Add(time.Second)}},
		"the run ended": {[]event.Event{event.RunFinished{}}, Now{}},
	} {
		f := folded(event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor", Index: 2, Of: 5}, event.AttemptStarted{AttemptRef: work, Adapter: "codex"})
		fold(f, tt.events...)
		if diff := cmp.Diff(tt.want, f.Now); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

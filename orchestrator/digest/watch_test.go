package digest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/event"
)

var work = event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "a.md", Role: "Implementor", Attempt: 1}

// working is a digest in which an agent is at work.
func working() *digest.Digest {
	d := &digest.Digest{}
	fold(d, event.StepStarted{Step: 1, Task: "a.md", Role: "Implementor"}, event.AttemptStarted{AttemptRef: work})
	return d
}

// TestSigns: what the watch saw and did is with the attempt, in the order of time, and a
// note of the step: seed 000.
func TestSigns(t *testing.T) {
	idle := event.Anomaly{Check: "idle", Details: "silent for 20m", Advice: "restart"}
	late := event.Overdue{Severity: "WARN", Action: "PING", Text: "no sign for 30m"}
	for _, tt := range []struct {
		event event.Event
		kind  digest.SignKind // "": it is none
		note  string
	}{
		{event.AnomalyFound{AttemptRef: work, Anomaly: idle}, digest.Noticed, "Implementor: idle: silent for 20m"},
		{event.IdleBreach{AttemptRef: work, Overdue: late}, digest.Noticed, "Implementor: IDLE_BREACH (PING): no sign for 30m"},
		{event.ReviewBreach{AttemptRef: work, Overdue: late}, digest.Noticed, "Implementor: REVIEW_SLA_BREACH (PING): no sign for 30m"},
		{event.ConsentAsked{AttemptRef: work, Anomaly: idle, Decision: event.Restart}, digest.Asked, "Implementor waits for your consent to restart it: silent for 20m (kanban-run inbox)"},
		{event.JudgeAsked{AttemptRef: work, Anomaly: idle, Judge: "Judge"}, digest.Asked, "Judge judges Implementor: silent for 20m"},
		{event.MessageSent{AttemptRef: work, Type: event.HealthCheck, Content: event.Content{Question: "Are you at work?"}}, digest.Asked,
			"Implementor is asked: Are you at work?"},
		{event.MessageSent{AttemptRef: work, Type: event.AssistOffer, Content: event.Content{Details: "Try the mirror."}}, digest.Said,
			"Implementor is offered help: Try the mirror."},
		{event.MessageHeard{AttemptRef: work, Answer: "yes"}, digest.Answered, "Implementor answers: yes"},
		{event.MessageHeard{AttemptRef: work}, "", "Implementor has the message"},
		{event.MessageLost{AttemptRef: work, Type: event.HealthCheck, Reason: "its work ended before"}, digest.Answered, "Implementor has not answered: its work ended before"},
		{event.MessageLost{AttemptRef: work, Type: event.AssistOffer, Reason: "its work ended before"}, "", "Implementor has not got the message: its work ended before"},
		{event.ConsentGiven{AttemptRef: work, Choice: event.ConsentContinue}, digest.Answered, "the Lead leaves Implementor alone"},
		{event.JudgeAnswered{AttemptRef: work, Judge: "Judge", Reason: "too late"}, digest.Answered, "Judge has not judged: too late"},
		{event.Recovered{AttemptRef: work}, digest.Recovered, "Implementor is moving again"},
		{event.RebootTested{AttemptRef: work, Anomaly: idle, Decision: event.Restart}, digest.Ended, "Implementor is ended and started again: silent for 20m"},
		{event.ToolUnavailable{AttemptRef: work, Tool: "gh", Agent: "claude", Reason: "command not found"}, digest.Missed, "TOOL_UNAVAILABLE: gh for Implementor (claude): command not found; the agent goes on"},
		{event.Reassigned{Step: 1, Role: "Implementor", To: "codex", Reason: "4 attempts"}, "", "codex takes the work of Implementor over, with the same input: 4 attempts"},
	} {
		d := working()
		fold(d, tt.event)
		s, want := d.Steps[0], []digest.Sign(nil)
		if tt.kind != "" {
			want = []digest.Sign{{Time: start.Add(2 * time.Second), Kind: tt.kind, Text: tt.note}}
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
	d := working()
	for range 150 {
		fold(d, event.Recovered{AttemptRef: work})
	}
	if n := len(d.Steps[0].Attempts[0].Watched); n != 100 {
		t.Errorf("%d signs are kept, want 100", n)
	}
}

// TestJudges: a judge is an attempt of its own, before the one that it was about. One that
// was never started is none.
func TestJudges(t *testing.T) {
	d := working()
	spent := &event.Spending{Input: 3}
	judged := event.JudgeAnswered{AttemptRef: work, Judge: "Judge", Adapter: "claude", Command: "claude -p", Answers: []event.Answer{{Yes: true}}, Try: 2, Millis: 1500, Spent: spent}
	void := judged
	void.Reason = "the agent that it judges has ended"
	never := event.JudgeAnswered{AttemptRef: work, Judge: "Judge", Reason: "it is not there"}
	fold(d, judged, void, never)
	attempt := digest.Attempt{Call: event.JudgeCall, Role: "Judge", Attempt: 2, Adapter: "claude", Command: "claude -p", Began: start.Add(500 * time.Millisecond), Millis: 1500,
		Result: digest.Accepted, Status: "ok", Message: "says Q1 yes", Spent: spent, Said: judged.Sentence().Text}
	voided := attempt
	voided.Began, voided.Result, voided.Status, voided.Message, voided.Reason, voided.Said = attempt.Began.Add(time.Second), digest.Stopped, "", "", void.Reason, void.Sentence().Text
	s := d.Steps[0]
	if diff := cmp.Diff([]digest.Attempt{attempt, voided}, s.Attempts[:len(s.Attempts)-1]); diff != "" || s.Last().Call != event.TaskCall {
		t.Errorf("the last is the %s call; those before (-want +got):\n%s", s.Last().Call, diff)
	}
	if d.Attempts != 3 || d.LastRun.Attempts != 3 || d.Used.Attempts != 2 || d.Used.Input != 6 {
		t.Errorf("%d attempts, %+v used; want that of the agent and of two judges, who have told", d.Attempts, d.Used)
	}
}

// TestMissingTools: seed 002, "Tool Unavailability", action 4: what was missing for which roles
// and tasks, and what became of the last agent.
func TestMissingTools(t *testing.T) {
	d := working()
	miss := func(tool, role, task string, then event.OnTool) {
		ref := work
		ref.Role, ref.Task = role, task
		fold(d, event.ToolUnavailable{AttemptRef: ref, Tool: tool, Reason: "gone for " + task, Then: then})
	}
	miss("gh", "Implementor", "a.md", event.ToolRetry)
	miss("gh", "Implementor", "a.md", event.ToolCaveat)
	miss("mcp:lab", "Architect", "a.md", event.ToolSkip)
	miss("gh", "Architect", "b.md", event.ToolStop)
	want := []digest.Tool{
		{Tool: "gh", Agents: 3, Roles: []string{"Implementor", "Architect"}, Tasks: []string{"a.md", "b.md"}, Reason: "gone for b.md", Then: event.ToolStop},
		{Tool: "mcp:lab", Agents: 1, Roles: []string{"Architect"}, Tasks: []string{"a.md"}, Reason: "gone for a.md", Then: event.ToolSkip},
	}
	if diff := cmp.Diff(want, d.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	for i := range 100 {
		miss("gh", "Implementor", fmt.Sprint(i), event.ToolCaveat)
		miss(fmt.Sprint("tool ", i), "Implementor", "a.md", event.ToolCaveat)
	}
	if len(d.Tools) != 64 || len(d.Tools[0].Tasks) != 64 || d.Tools[0].Agents != 103 {
		t.Errorf("%d tools, the first with %d tasks and %d agents; want 64, 64 and 103", len(d.Tools), len(d.Tools[0].Tasks), d.Tools[0].Agents)
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
		var d digest.Digest
		fold(&d, event.StepStarted{Step: 1}, event.AttemptStarted{AttemptRef: work, Input: []byte(input)})
		if told := d.Steps[0].Attempts[0].Told; told != want {
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
		want   digest.Checkpoint
		text   string
		status string
		said   string
		used   int64
	}{
		{held, digest.Checkpoint{ID: look.Task, Step: 2, Verdict: "warn", Score: 0.5, Trend: held.Trend, Findings: held.Data.Findings, Report: "r.md"},
			"CHECKPOINT-001 warn (score: 0.50), rising slowly", "warn", "no tests", 5},
		{event.SupervisorFailed{AttemptRef: look, Reason: "no access", End: event.End{Spent: &event.Spending{Input: 6}}}, digest.Checkpoint{ID: look.Task, Step: 2, Verdict: "none", Reason: "no access"},
			"CHECKPOINT-001 no verdict", "none", "no access", 6},
		{event.ScopeViolated{AttemptRef: look, Text: "it changed a.go"}, digest.Checkpoint{ID: look.Task, Step: 2, Verdict: "none", Reason: "it changed a.go"},
			"CHECKPOINT-001 no verdict", "none", "it changed a.go", 0},
		{event.CheckpointMissed{Step: 2, Task: look.Task, Reason: "given up"}, digest.Checkpoint{ID: look.Task, Step: 2, Verdict: "none", Reason: "given up"},
			"CHECKPOINT-001 no verdict", "none", "given up", 0},
	} {
		var d digest.Digest
		fold(&d, event.StepStarted{Step: 2, Task: look.Task, Role: "Supervisor", Call: event.CheckpointCall, Checkpoint: &event.Checkpoint{ID: look.Task}},
			event.AttemptStarted{AttemptRef: look}, tt.event)
		s := d.Steps[0]
		if diff := cmp.Diff([]digest.Checkpoint{tt.want}, d.Checkpoints); diff != "" || d.Checkpoints[0].String() != tt.text {
			t.Errorf("%s is %q, checkpoints (-want +got):\n%s", tt.event.Kind(), d.Checkpoints[0], diff)
		}
		if s.State != digest.Done || s.Status != tt.status || s.Message != tt.said || d.Supervision.Input != tt.used || d.Finished != 0 {
			t.Errorf("%s: the step is %s with %q and %q, and used %d", tt.event.Kind(), s.State, s.Status, s.Message, d.Supervision.Input)
		}
		if end, ok := event.EndOf(tt.event); ok {
			if a := s.Last(); a.Result != digest.Accepted || a.Status != tt.status || a.Millis != end.Millis || a.Session != end.Session || a.Spent != end.Spent {
				t.Errorf("%s: its attempt is %+v", tt.event.Kind(), a)
			}
		}
	}
	if got := (digest.Checkpoint{ID: "C", Verdict: "pass", Score: 1}).String(); got != "C pass (score: 1.00)" {
		t.Errorf("without a trend it is %q", got)
	}
}

// TestGettingReady: a supervisor that gets ready for a checkpoint has not held it yet. Its step is
// no task's, and is not counted as one.
func TestGettingReady(t *testing.T) {
	ready := event.AttemptRef{Step: 1, Call: event.ReadyCall, Task: "Supervisor", Role: "Supervisor", Attempt: 1}
	for _, c := range []*event.Checkpoint{nil, {ID: "CHECKPOINT-001"}} {
		var d digest.Digest
		fold(&d, event.StepStarted{Step: 1, Task: "Supervisor", Call: event.ReadyCall, Checkpoint: c}, event.AttemptStarted{AttemptRef: ready},
			event.ReplyAccepted{AttemptRef: ready, Status: "ok", Message: "ready"})
		want := digest.Done
		if c != nil {
			want = digest.Open
		}
		if s := d.Steps[0]; s.State != want || s.Status != "ready" {
			t.Errorf("with checkpoint %v the step is %s, %q", c, s.State, s.Status)
		}
		fold(&d, event.StepFinished{Step: 1, Status: "ok", Message: "done", Checkpoint: "CHECKPOINT-001"})
		if s := d.Steps[0]; d.Finished != 0 || s.Status != "ready" || s.State != digest.Done {
			t.Errorf("finished it is %s, %q, and %d steps count", s.State, s.Status, d.Finished)
		}
	}
}

// TestPause: the time in which a program was suspended is not time that a run took.
func TestPause(t *testing.T) {
	for wall, want := range map[time.Duration]time.Duration{
		time.Hour:               10 * time.Second, // of work
		11 * time.Second:        11 * time.Second,
		12 * time.Second:        12 * time.Second,
		12*time.Second + 1:      10 * time.Second,
		9 * time.Second:         9 * time.Second,
		10*time.Second + 10_000: 10*time.Second + 10_000,
	} {
		var d digest.Digest
		d.Add(event.Entry{Time: start, Event: event.StepStarted{Step: 1}})
		d.Add(event.Entry{Time: start, Event: event.AttemptStarted{AttemptRef: work}})
		d.Add(event.Entry{Time: start.Add(wall), Event: event.ReplyAccepted{AttemptRef: work, Status: "ok", End: event.End{Millis: 10_000}}})
		if d.Millis != want.Milliseconds() {
			t.Errorf("an agent that worked 10s within %v took %d ms, want %d", wall, d.Millis, want.Milliseconds())
		}
	}
	var d digest.Digest
	d.Add(event.Entry{Time: start, Event: event.StepStarted{Step: 1}})
	d.Add(event.Entry{Time: start.Add(time.Hour), Event: event.ReplyAccepted{AttemptRef: work, Status: "ok"}})
	if d.Millis != time.Hour.Milliseconds() {
		t.Errorf("an end that tells no time took %d ms, want an hour", d.Millis)
	}
}

// TestCulpritOfUndoneTasks: a board that lacks only tasks that are ok names the
// last step of one that is not.
func TestCulpritOfUndoneTasks(t *testing.T) {
	step := func(n int, status, manager string) []event.Event {
		return []event.Event{event.StepStarted{Step: n}, event.StepFinished{Step: n, Status: status, Manager: manager}}
	}
	for _, tt := range []struct {
		steps []event.Event
		want  int
	}{
		{slices.Concat(step(1, "error", "ok"), step(2, "blocked", "ok"), step(3, "ok", "ok")), 2},
		{slices.Concat(step(1, "blocked", "ok"), step(2, "", "ok"), step(3, "ok", "ok")), 1},
		{slices.Concat(step(1, "ok", "ok"), step(2, "ok", "ok")), 2},
		{slices.Concat(step(1, "error", "ok"), step(2, "ok", "blocked")), 2},
		{slices.Concat(step(1, "error", "ok"), step(2, "escalate", "ok")), 2},
	} {
		d := digest.Digest{Outcome: event.NeedsPerson}
		fold(&d, tt.steps...)
		if got := d.Culprit(); got == nil || got.Step != tt.want {
			t.Errorf("the culprit of %d events is %+v, want step %d", len(tt.steps), got, tt.want)
		}
	}
}

// TestResumedStep: a digest of one run alone has the step that an earlier run began.
func TestResumedStep(t *testing.T) {
	var d digest.Digest
	fold(&d, event.RunStarted{}, event.AttemptStarted{AttemptRef: work, Command: "x"}, event.StepFinished{Step: 1, Task: "a.md", Role: "Implementor", Status: "ok"},
		event.StepFinished{Step: 2, Task: "b.md", Role: "Architect", Status: "ok"})
	var steps []string
	for _, s := range d.Steps {
		steps = append(steps, fmt.Sprint(s.Step, s.Task, s.Role, len(s.Attempts), s.State))
	}
	if want := []string{"1a.mdImplementor1done", "2b.mdArchitect0done"}; !slices.Equal(steps, want) {
		t.Errorf("the steps are %q, want %q", steps, want)
	}
}

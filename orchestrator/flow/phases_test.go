package flow_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// play is a step with task t1 as a run does it: what Next asks for is started,
// and a test says how it ends.
type play struct {
	t *testing.T
	flow.State
	plan    *event.Plan
	board   flow.Board
	events  []event.Event
	resumes string // the adapter whose agents go on in their sessions; "": none does
}

func newPlay(t *testing.T, plan *event.Plan, limits event.Limits) *play {
	p := &play{t: t, plan: plan, board: flow.Board{Task: "t1", Role: "Implementor", SHA: "a"}}
	p.record(limited(limits))
	return p
}

func (p *play) record(events ...event.Event) {
	p.t.Helper()
	for _, e := range events {
		if err := p.Apply(e); err != nil {
			p.t.Fatal(err)
		}
		p.events = append(p.events, e)
	}
}

func (p *play) next() flow.Effect { return flow.Next(&p.State, p.board) }

// begin starts what Next asks for.
func (p *play) begin() event.AttemptRef {
	p.t.Helper()
	spawn, ok := p.next().(flow.Spawn)
	if !ok {
		p.t.Fatalf("Next = %+v, want a spawn", p.next())
	}
	if p.Step == nil {
		p.record(event.StepStarted{Step: spawn.Step, Task: spawn.Task, Role: spawn.Role, BoardSHA: p.board.SHA})
	}
	e := event.AttemptStarted{AttemptRef: spawn.AttemptRef, From: spawn.From, Fork: spawn.Fork, GoesOn: spawn.GoesOn,
		Adapter: p.resumes, Resumes: p.resumes != "" && !spawn.Call.IsReview()}
	if p.Step.Input == nil {
		e.Input = json.RawMessage(`{}`)
	}
	switch spawn.Call {
	case event.TaskCall:
		e.Plan = p.plan
	case event.ManagerCall:
		e.Before = &event.Baseline{BoardSHA: p.board.SHA, Current: p.board.Task}
	}
	p.record(e)
	return spawn.AttemptRef
}

// go on with one attempt for each outcome.
func (p *play) attempts(outcomes ...outcome) *play {
	p.t.Helper()
	for _, end := range outcomes {
		p.record(end(p.begin()))
	}
	return p
}

// nextRun ends the run as Next says, and starts another.
func (p *play) nextRun() *play {
	p.t.Helper()
	end, ok := p.next().(flow.Finish)
	if !ok {
		p.t.Fatalf("Next = %+v, want the run to end", p.next())
	}
	p.record(event.RunFinished{Outcome: end.Outcome, Text: end.Text}, event.RunStarted{Limits: p.Limits})
	return p
}

// outcome is how an attempt ends. Each names a session of its own, and attempt n
// costs n cents and n seconds.
type outcome func(event.AttemptRef) event.Event

func session(r event.AttemptRef) string { return fmt.Sprintf("%s-%d", r.Call, r.Attempt) }

func cents(r event.AttemptRef) (int64, *event.Spending) {
	return int64(r.Attempt) * 1000, spending(int64(r.Attempt) * 10_000)
}

func accepted(r event.AttemptRef) event.Event {
	millis, spent := cents(r)
	return event.ReplyAccepted{AttemptRef: r, Status: "blocked", End: event.End{Left: "a", Millis: millis, Session: session(r), Spent: spent}}
}

func rejected(r event.AttemptRef) event.Event {
	millis, spent := cents(r)
	return event.ReplyRejected{AttemptRef: r, Reason: "not JSON", End: event.End{Left: "a", Millis: millis, Session: session(r), Spent: spent}}
}

func lost(r event.AttemptRef) event.Event {
	e := rejected(r).(event.ReplyRejected)
	e.Lost, e.Reason = true, "no such session"
	return e
}

func stopped(r event.AttemptRef) event.Event {
	millis, spent := cents(r)
	return event.AttemptStopped{AttemptRef: r, Reason: "SIGINT", End: event.End{Left: "a", Millis: millis, Session: session(r), Spent: spent}}
}

func content(r event.AttemptRef) event.Event {
	millis, spent := cents(r)
	return event.ReviewHeld{AttemptRef: r, Completed: true, Feedback: "[TASK_COMPLETED]", End: event.End{Left: "a", Millis: millis, Session: session(r), Spent: spent}}
}

func notContent(r event.AttemptRef) event.Event {
	e := content(r).(event.ReviewHeld)
	e.Completed, e.Feedback = false, fmt.Sprintf("round %d: tests are missing", r.Round)
	return e
}

func times(n int, o outcome) []outcome { return slices.Repeat([]outcome{o}, n) }

func ref(call event.Call, attempt, round int) event.AttemptRef {
	role := "Implementor"
	if call == event.ManagerCall {
		role = "Manager"
	}
	return event.AttemptRef{Step: 1, Call: call, Task: "t1", Role: role, Attempt: attempt, Round: round}
}

// fresh is work, or the Manager, in a new session.
func fresh(call event.Call, attempt int) flow.Effect {
	return flow.Spawn{AttemptRef: ref(call, attempt, 0)}
}

// sentBack is work that goes on in its session with the feedback.
func sentBack(attempt, round int, from string) flow.Effect {
	return flow.Spawn{AttemptRef: ref(event.TaskCall, attempt, round), From: from}
}

// review is a supervisor in a fork of the work's session.
func review(attempt, round int, from string) flow.Effect {
	return flow.Spawn{AttemptRef: ref(event.ReviewCall, attempt, round), From: from, Fork: true}
}

// command is a program that looks at the work, in no session.
func command(attempt, round int) flow.Effect {
	return flow.Spawn{AttemptRef: ref(event.CommandCall, attempt, round)}
}

const (
	notContentAfter = "the reviewer of Implementor is not content after %s: round %d: tests are missing"
	noVerdict       = "the reviewer of Implementor gave no verdict in 4 attempts; the last: not JSON"
	noReply         = "%s gave no valid reply in 4 attempts for t1; the last was rejected: not JSON"
	noReplyLate     = "%s gave no valid reply in 4 attempts for t1; the last, attempt 6, was rejected: not JSON"
	lostTooOft      = "the session of Implementor was lost 4 times: no such session"
)

// TestPhases: the loop of seed 003, "Supervisor 主循环", between the agent and the Manager of seed
// 004, "State Machine", one outcome at a time; DESIGN's "One spawn, one effect".
func TestPhases(t *testing.T) {
	plan := func(rounds int) *event.Plan { return &event.Plan{Agent: true, Rounds: rounds} }
	byCommand, byBoth := &event.Plan{Command: true, Rounds: 2}, &event.Plan{Command: true, Agent: true, Rounds: 2}
	finish := func(o event.Outcome, format string, args ...any) flow.Effect {
		return flow.Finish{Outcome: o, Text: fmt.Sprintf(format, args...)}
	}
	tests := []struct {
		name     string
		plan     *event.Plan
		outcomes [][]outcome
		want     flow.Effect
	}{
		{"without a plan accepted work goes to the Manager", nil, [][]outcome{{accepted}}, fresh(event.ManagerCall, 1)},
		{"with one it is reviewed first, in a fork of its session", plan(2), [][]outcome{{accepted}}, review(2, 1, "task-1")},
		{"content: the Manager, whose attempts count from 1", plan(2), [][]outcome{{accepted, content}}, fresh(event.ManagerCall, 1)},
		{"not content: the work goes on in its session", plan(2), [][]outcome{{accepted, notContent}}, sentBack(3, 2, "task-1")},
		{"what it came to is reviewed in a fork of the last session", plan(2), [][]outcome{{accepted, notContent, accepted}}, review(4, 2, "task-3")},
		{"content in the second round", plan(2), [][]outcome{{accepted, notContent, accepted, content}}, fresh(event.ManagerCall, 1)},
		{"work is sent back as often as the plan says", plan(2), [][]outcome{{accepted, notContent, accepted, notContent}}, sentBack(5, 3, "task-3")},
		{"and then a person looks at it", plan(2), [][]outcome{{accepted, notContent, accepted, notContent, accepted, notContent}},
			finish(event.NeedsPerson, notContentAfter, "3 rounds", 3)},
		{"with no rounds at the first verdict", plan(0), [][]outcome{{accepted, notContent}}, finish(event.NeedsPerson, notContentAfter, "1 round", 1)},
		{"with no rounds content is content", plan(0), [][]outcome{{accepted, content}}, fresh(event.ManagerCall, 1)},

		{"a review without a verdict is held again, the same", plan(2), [][]outcome{{accepted, rejected}}, review(3, 1, "task-1")},
		{"as often as MAX_RETRIES says", plan(2), [][]outcome{{accepted}, times(3, rejected)}, review(5, 1, "task-1")},
		{"and then a person looks at the work", plan(2), [][]outcome{{accepted}, times(4, rejected)}, finish(event.NeedsPerson, noVerdict)},
		{"a continuation without a valid reply is asked for again, in the same session", plan(2), [][]outcome{{accepted, notContent, rejected}}, sentBack(4, 2, "task-1")},
		{"as often as a first reply", plan(2), [][]outcome{{accepted, notContent}, times(3, rejected)}, sentBack(6, 2, "task-1")},
		{"and no oftener", plan(2), [][]outcome{{accepted, notContent}, times(4, rejected)}, finish(event.Exhausted, noReplyLate, "Implementor")},
		{"retries are fresh for the review", plan(2), [][]outcome{times(3, rejected), {accepted}, times(3, rejected)}, review(8, 1, "task-4")},
		{"and for the continuation", plan(2), [][]outcome{{accepted}, times(3, rejected), {notContent}, times(3, rejected)}, sentBack(9, 2, "task-1")},
		{"and for the Manager", plan(2), [][]outcome{{accepted}, times(3, rejected), {content}, times(3, rejected)}, fresh(event.ManagerCall, 4)},
		{"but not without end for the Manager", plan(2), [][]outcome{{accepted, content}, times(4, rejected)}, finish(event.Exhausted, noReply, "Manager")},

		{"a session lost in the review: the task from its beginning", plan(2), [][]outcome{{accepted, lost}}, fresh(event.TaskCall, 3)},
		{"a session lost in a continuation: the same", plan(2), [][]outcome{{accepted, notContent, lost}}, fresh(event.TaskCall, 4)},
		{"its rounds begin again", plan(2), [][]outcome{{accepted, notContent, lost, accepted}}, review(5, 1, "task-4")},
		{"its retries are fresh", plan(2), [][]outcome{{accepted}, times(3, rejected), {lost}, times(3, rejected)}, fresh(event.TaskCall, 9)},
		{"sessions may be lost as often as replies rejected", plan(2), [][]outcome{{accepted, lost, accepted, lost, accepted, lost}}, fresh(event.TaskCall, 7)},
		{"and no oftener", plan(2), [][]outcome{{accepted, lost, accepted, lost, accepted, lost, accepted, lost}}, finish(event.Exhausted, lostTooOft)},
		{"a first reply has no session to lose", plan(2), [][]outcome{{rejected, rejected, rejected, lost}},
			finish(event.Exhausted, "Implementor gave no valid reply in 4 attempts for t1; the last was rejected: no such session")},
		{"nor has the Manager's, after whom no work begins again", plan(2), [][]outcome{{accepted, content, lost}}, fresh(event.ManagerCall, 2)},

		{"a command looks at the work before the supervisor, in no session", byBoth, [][]outcome{{accepted}}, command(2, 1)},
		{"its content is not the last word", byBoth, [][]outcome{{accepted, content}}, review(3, 1, "task-1")},
		{"unless there is no supervisor", byCommand, [][]outcome{{accepted, content}}, fresh(event.ManagerCall, 1)},
		{"what it sends back goes on in its session", byBoth, [][]outcome{{accepted, notContent}}, sentBack(3, 2, "task-1")},
		{"and comes to the command again, also from the supervisor", byBoth, [][]outcome{{accepted, content, notContent, accepted}}, command(5, 2)},
		{"rounds count both", byBoth, [][]outcome{{accepted, notContent, accepted, content, notContent, accepted, notContent}},
			finish(event.NeedsPerson, strings.Replace(notContentAfter, "reviewer", "review command", 1), "3 rounds", 3)},
		{"a stopped command is started again", byCommand, [][]outcome{{accepted, stopped}}, command(3, 1)},

		{"stopped work is started again, and costs no retry", plan(2), [][]outcome{times(3, rejected), times(2, stopped)}, fresh(event.TaskCall, 6)},
		{"so is a review", plan(2), [][]outcome{{accepted}, times(3, rejected), times(2, stopped)}, review(7, 1, "task-1")},
		{"so is a continuation", plan(2), [][]outcome{{accepted, notContent}, times(3, rejected), times(2, stopped)}, sentBack(8, 2, "task-1")},
		{"so is the Manager", plan(2), [][]outcome{{accepted, content}, times(3, rejected), times(2, stopped)}, fresh(event.ManagerCall, 6)},
		{"an accepted reply of the Manager is written", plan(2), [][]outcome{{accepted, content, accepted}}, flow.WriteBoard{Step: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlay(t, tt.plan, event.Limits{}).attempts(slices.Concat(tt.outcomes...)...)
			if diff := cmp.Diff(tt.want, p.next(), anyBy); diff != "" {
				t.Errorf("Next: -want +got\n%s", diff)
			}
		})
	}
}

// TestCommandHasNoReply: its verdict is all that it ends with, beside being stopped.
func TestCommandHasNoReply(t *testing.T) {
	for name, end := range map[string]outcome{"a reply": accepted, "a rejected one": rejected} {
		p := newPlay(t, &event.Plan{Command: true, Rounds: 2}, event.Limits{}).attempts(accepted)
		e := end(p.begin())
		if err := p.Apply(e); err == nil {
			t.Errorf("%s of a command is applied: %+v", name, p.Step)
		}
	}
}

// TestWorkWithoutASession: what is sent back is started in a new session, in its round.
func TestWorkWithoutASession(t *testing.T) {
	noSession := func(r event.AttemptRef) event.Event {
		e := accepted(r).(event.ReplyAccepted)
		e.Session = ""
		return e
	}
	p := newPlay(t, &event.Plan{Command: true, Rounds: 2}, event.Limits{}).attempts(noSession, notContent)
	if diff := cmp.Diff(sentBack(3, 2, ""), p.next(), anyBy); diff != "" || p.Step.Feedback == "" {
		t.Errorf("Next: -want +got\n%s, feedback %q", diff, p.Step.Feedback)
	}
}

// TestNextRunOfAStep: "After any Finish a new run has fresh ones", and goes on
// at the phase that it finds.
func TestNextRunOfAStep(t *testing.T) {
	unsettled := []outcome{accepted, notContent, accepted, notContent}
	tests := []struct {
		name     string
		outcomes []outcome
		goesOn   bool // of a board that needs a person
		then     []outcome
		want     flow.Effect
	}{
		{"work that was never accepted by its reviews begins again", unsettled, true, nil, fresh(event.TaskCall, 5)},
		{"with rounds of its own", unsettled, true, []outcome{accepted, notContent}, sentBack(7, 2, "task-5")},
		{"a review without a verdict is held again", append([]outcome{accepted}, times(4, rejected)...), true, nil, review(6, 1, "task-1")},
		{"with fresh retries", append([]outcome{accepted}, times(4, rejected)...), true, times(3, rejected), review(9, 1, "task-1")},
		{"a continuation is asked for again, with fresh retries", append([]outcome{accepted, notContent}, times(4, rejected)...), false,
			times(3, rejected), sentBack(10, 2, "task-1")},
		{"sessions may be lost again", []outcome{accepted, lost, accepted, lost, accepted, lost, accepted, lost}, false, []outcome{accepted, lost}, fresh(event.TaskCall, 11)},
		{"the Manager is asked again", append([]outcome{accepted, content}, times(4, rejected)...), false, times(3, rejected), fresh(event.ManagerCall, 8)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlay(t, &event.Plan{Agent: true, Rounds: 1}, event.Limits{}).attempts(tt.outcomes...)
			p.record(event.RunInterrupted{Outcome: event.Interrupted}, event.RunStarted{Limits: p.Limits})
			p.nextRun().attempts(tt.then...)
			if diff := cmp.Diff(tt.want, p.next(), anyBy); diff != "" {
				t.Errorf("Next: -want +got\n%s", diff)
			}
		})
	}
	p := newPlay(t, &event.Plan{Agent: true, Rounds: 1}, event.Limits{}).attempts(unsettled...).nextRun()
	if s := p.Step; s.Work != nil || s.Round != 0 || s.Feedback != "" || s.Unsettled != "" || s.Input != nil {
		t.Errorf("step = %+v, want work as of a new step", s)
	}
}

// TestReviewIsAboutTheWork: seed 003, "Supervisor Phase → Agent Phase": the feedback becomes the
// next message, and the Manager hears what the work's reply said.
func TestReviewIsAboutTheWork(t *testing.T) {
	p := newPlay(t, &event.Plan{Agent: true, Rounds: 1}, event.Limits{}).attempts(accepted)
	if s := p.Step; s.Work == nil || s.Work.Session != "task-1" || s.TaskStatus != "" {
		t.Errorf("step = %+v, want the work under review, and no status before its verdict", s)
	}
	p.attempts(rejected, notContent)
	if s := p.Step; s.Feedback != "round 1: tests are missing" || s.Round != 2 || s.LastReason != "" {
		t.Errorf("step = %+v, want the feedback of round 1 in round 2", s)
	}
	p.attempts(accepted, content)
	if s := p.Step; s.TaskStatus != "blocked" || s.CallRole() != "Manager" {
		t.Errorf("step = %+v, want the status of the work for the Manager", s)
	}
}

// TestInputOfACall: "Reschedule the SAME agent with EXACT same parameters" (seed 004, "Retry
// Rule"): the input of a call is known until its end, and the next call names its own.
func TestInputOfACall(t *testing.T) {
	p := newPlay(t, &event.Plan{Agent: true, Rounds: 1}, event.Limits{})
	for _, tt := range []struct {
		again outcome
		end   outcome
	}{{rejected, accepted}, {stopped, notContent}, {rejected, accepted}, {stopped, content}, {rejected, stopped}} {
		r := p.begin()
		p.record(tt.again(r))
		if p.Step.Input == nil {
			t.Errorf("after %s %d: the input is forgotten", r.Call, r.Attempt)
		}
		p.attempts(tt.end)
		if p.Step.Call == r.Call {
			continue
		}
		nameless := event.AttemptStarted{AttemptRef: p.next().(flow.Spawn).AttemptRef}
		if p.Step.Input != nil || p.Apply(nameless) == nil {
			t.Errorf("after %s %d the next call has an input that it did not name", r.Call, r.Attempt)
		}
	}
	p = newPlay(t, &event.Plan{Agent: true}, event.Limits{})
	stored := event.AttemptStarted{AttemptRef: ref(event.TaskCall, 1, 0), Input: json.RawMessage(`{"tasks":[]}`), Plan: p.plan, Stored: "5a"}
	p.record(one, stored)
	if p.Step.Stored != "5a" {
		t.Errorf("step = %+v, want the file of its input", p.Step)
	}
	restarted := p.State
	apply(t, &restarted, stopped(stored.AttemptRef), event.CallRestarted{Step: 1, Task: "t1", BoardSHA: "b"})
	p.record(accepted(stored.AttemptRef))
	for _, s := range []*flow.Step{p.Step, restarted.Step} {
		if s.Stored != "" || s.Input != nil {
			t.Errorf("step = %+v, want nothing of another call's input", s)
		}
	}
}

// TestTaskOfTheManager: DESIGN, "The contract": when the role is Manager, the
// step is one Manager call.
func TestTaskOfTheManager(t *testing.T) {
	p := newPlay(t, nil, event.Limits{})
	p.board.Role = "Manager"
	for n, end := range []outcome{rejected, stopped, accepted} {
		if diff := cmp.Diff(fresh(event.ManagerCall, n+1), p.next(), anyBy); diff != "" {
			t.Errorf("Next: -want +got\n%s", diff)
		}
		p.attempts(end)
	}
	if diff := cmp.Diff(flow.Effect(flow.WriteBoard{Step: 1}), p.next(), anyBy); diff != "" {
		t.Errorf("Next: -want +got\n%s", diff)
	}
}

// TestSessionOfTheWork: seed 003, "Supervisor Phase → 结束": a person goes on in the original
// session, never in a review's.
func TestSessionOfTheWork(t *testing.T) {
	p := newPlay(t, &event.Plan{Agent: true, Rounds: 2}, event.Limits{})
	for i, tt := range []struct {
		end  outcome
		want string
	}{{rejected, "task-1"}, {accepted, "task-2"}, {rejected, "task-2"}, {stopped, "task-2"}, {notContent, "task-2"}, {stopped, "task-6"},
		{accepted, "task-7"}, {lost, "task-7"}, {accepted, "task-9"}, {content, "task-9"}, {accepted, "manager-1"}} {
		if p.attempts(tt.end); p.Session != tt.want {
			t.Errorf("after outcome %d the session is %q, want %q", i+1, p.Session, tt.want)
		}
	}
}

// TestEachSpawnIsCountedOnce: DESIGN, "One spawn, one effect": the journal
// shows each with its cost.
func TestEachSpawnIsCountedOnce(t *testing.T) {
	p := newPlay(t, &event.Plan{Agent: true, Rounds: 2}, event.Limits{})
	var n, used int64
	for i, end := range []outcome{rejected, stopped, accepted, rejected, stopped, notContent, stopped, accepted, lost, accepted, content, rejected, stopped, accepted} {
		r := p.begin()
		if before, _ := p.Known(); before.Attempts != i+1 || before.Cost != used*10_000 {
			t.Errorf("while attempt %d runs: %+v, want it counted, and no cost of it", i+1, before)
		}
		p.record(end(r))
		n, used = n+1, used+int64(r.Attempt)
		want := event.Used{Attempts: int(n), Told: int(n), Priced: int(n), Input: n * 1000, Cached: n * 500, Output: n * 100, Cost: used * 10_000, Millis: used * 1000}
		if known, _ := p.Known(); p.Used != want || p.Total != want || known != want || len(p.Tasks) != 1 || p.Tasks[0].Used != want {
			t.Fatalf("after %s %d: used %+v, in all %+v, tasks %+v, want %+v", r.Call, r.Attempt, p.Used, p.Total, p.Tasks, want)
		}
	}
}

// TestLimitsBeforeEverySpawn: DESIGN, "limits are looked at in one place": before each spawn of
// each phase, and the next run goes on at that phase with limits of its own.
func TestLimitsBeforeEverySpawn(t *testing.T) {
	phases := map[string]struct {
		outcomes []outcome
		want     flow.Effect
	}{
		"a retry":      {[]outcome{rejected}, fresh(event.TaskCall, 2)},
		"a review":     {[]outcome{accepted}, review(2, 1, "task-1")},
		"the same":     {[]outcome{accepted, stopped}, review(3, 1, "task-1")},
		"sent back":    {[]outcome{accepted, notContent}, sentBack(3, 2, "task-1")},
		"second round": {[]outcome{accepted, notContent, accepted}, review(4, 2, "task-3")},
		"lost":         {[]outcome{accepted, lost}, fresh(event.TaskCall, 3)},
		"the Manager":  {[]outcome{accepted, content}, fresh(event.ManagerCall, 1)},
		"its retry":    {[]outcome{accepted, content, rejected}, fresh(event.ManagerCall, 2)},
	}
	limits := map[string]func(used event.Used) event.Limits{
		"max_cost":          func(u event.Used) event.Limits { return event.Limits{MaxCost: u.Cost} },
		"max_duration":      func(u event.Used) event.Limits { return event.Limits{MaxMillis: u.Millis} },
		"max_task_cost":     func(u event.Used) event.Limits { return event.Limits{MaxTaskCost: u.Cost} },
		"max_task_duration": func(u event.Used) event.Limits { return event.Limits{MaxTaskMillis: u.Millis} },
	}
	for phase, tt := range phases {
		for limit, of := range limits {
			t.Run(phase+" under "+limit, func(t *testing.T) {
				p := newPlay(t, &event.Plan{Agent: true, Rounds: 2}, event.Limits{}).attempts(tt.outcomes...)
				if diff := cmp.Diff(tt.want, p.next(), anyBy); diff != "" {
					t.Errorf("without a limit: -want +got\n%s", diff)
				}
				p.record(event.RunInterrupted{Outcome: event.Interrupted}, limited(of(p.Used)))
				if end, _ := p.next().(flow.Finish); end.Outcome != event.LimitReached {
					t.Fatalf("Next = %+v, want the limit", p.next())
				}
				if p.nextRun(); !cmp.Equal(tt.want, p.next()) {
					t.Errorf("the next run: Next = %+v, want %+v", p.next(), tt.want)
				}
			})
		}
	}
	for name, l := range map[string]event.Limits{"max_steps": {MaxSteps: 1}, "max_task_steps": {MaxTaskSteps: 1}} {
		p := newPlay(t, &event.Plan{Agent: true, Rounds: 2}, l).attempts(accepted, notContent, accepted, content, accepted)
		if p.record(event.StepFinished{Step: 1, Manager: "ok"}); p.next().(flow.Finish).Outcome != event.LimitReached {
			t.Errorf("%s: Next = %+v, want the limit before the second step, and in no phase of the first", name, p.next())
		}
	}
}

// TestForeignOutcomes: an outcome is that of the attempt which is running,
// and a review's is a verdict.
func TestForeignOutcomes(t *testing.T) {
	phases := map[string][]outcome{"work": nil, "review": {accepted}, "continuation": {accepted, notContent}, "Manager": {accepted, content}}
	kinds := map[string]outcome{"accepted": accepted, "rejected": rejected, "stopped": stopped, "held": content}
	for phase, outcomes := range phases {
		p := newPlay(t, &event.Plan{Agent: true, Rounds: 2}, event.Limits{}).attempts(outcomes...)
		r := p.begin()
		refs := map[string]event.AttemptRef{}
		for name, change := range map[string]func(*event.AttemptRef){
			"another step": func(r *event.AttemptRef) { r.Step++ }, "no attempt": func(r *event.AttemptRef) { r.Attempt = 0 },
			"another attempt": func(r *event.AttemptRef) { r.Attempt++ }, "another call": func(r *event.AttemptRef) { r.Call = "other" },
		} {
			other := r
			change(&other)
			refs[name] = other
		}
		for name, other := range refs {
			for _, kind := range slices.Sorted(maps.Keys(kinds)) {
				refused(t, fmt.Sprintf("%s of %s, %s", kind, phase, name), p.State, kinds[kind](other))
			}
		}
		if phase == "review" {
			refused(t, "a reply for a verdict", p.State, accepted(r))
		}
	}
}

// refused checks that e is no transition from s, and changes nothing.
func refused(t *testing.T, name string, s flow.State, e event.Event) {
	t.Helper()
	was := encode(t, s)
	var transition *flow.TransitionError
	if err := s.Apply(e); !errors.As(err, &transition) || transition.Kind != e.Kind() {
		t.Errorf("%s: %s was applied: %v", name, e.Kind(), err)
	}
	if now := encode(t, s); now != was {
		t.Errorf("%s: a refused %s left\n%s, was\n%s", name, e.Kind(), now, was)
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

package call

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/roster"
)

// TestPrepare: what each kind of call is told, and what its intent says besides.
func TestPrepare(t *testing.T) {
	for name, tt := range map[string]struct {
		call event.Call
		set  func(*rig)
		want string // the beginning of the input, or the text in its place
		has  string // what is in it
	}{
		"work":                {event.TaskCall, nil, `{"task_file":"a.md","kanban_file":"k.yaml"}`, ""},
		"with feedback":       {event.TaskCall, func(r *rig) { r.journal.state.Step.Advice = "it was hung: hunter2hunter2" }, `{"task_file":"a.md"`, `it was hung: [REDACTED`},
		"of an earlier round": {event.TaskCall, func(r *rig) { sendBack(r, ""); r.journal.state.Step.Round = 0 }, `{"task_file":"a.md","kanban_file":"k.yaml"}`, ""},
		"sent back":           {event.TaskCall, func(r *rig) { sendBack(r, "s") }, "", "tests are missing"},
		"without a session":   {event.TaskCall, func(r *rig) { sendBack(r, "") }, `{"task_file":"a.md"`, `"feedback":"tests are missing"`},
		"a command":           {event.CommandCall, nil, `{"task_file":"a.md","kanban_file":"k.yaml"}`, ""},
		"a review":            {event.ReviewCall, nil, "", "a.md is now:\n\n---\nrole: Implementor\n---\nDo it."},
		"the Manager":         {event.ManagerCall, nil, `{"kanban_file":"k.yaml","done_task":"a.md","tasks":["a.md","b.md"]}`, ""},
		"with an anomaly":     {event.ManagerCall, func(r *rig) { r.journal.state.Step.Anomaly = &event.Anomaly{Type: "idle", Details: "silent"} }, `{"kanban_file":"k.yaml"`, `"anomalies":[{"type":"anomaly_report"`},
		"ready":               {event.ReadyCall, nil, "{", `"requirement"`},
		"a checkpoint":        {event.CheckpointCall, nil, "{", `CHECKPOINT-001`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.open(tt.call)
			if tt.set != nil {
				tt.set(r)
			}
			a := r.start(t)
			told := string(a.Input.JSON) + a.Input.Text
			if !strings.HasPrefix(told, tt.want) || !strings.Contains(told, tt.has) || strings.Contains(told, "hunter2") {
				t.Errorf("told %s, want %s with %s", told, tt.want, tt.has)
			}
			if (a.Intent.Before != nil) != (tt.call == event.ManagerCall) || a.Intent.Input == nil {
				t.Errorf("the intent is %+v", a.Intent)
			}
			if as := *r.players.tool.asked; as.Contract != contract.Of(tt.call) || (as.Follow != nil) != (a.Input.Text != "") {
				t.Errorf("the adapter was asked %+v", as)
			}
			if f := r.players.tool.asked.Follow; f != nil && f.Fork != (tt.call == event.ReviewCall) {
				t.Errorf("it goes on in %+v", f)
			}
			if reviews := tt.call.IsReview() || tt.call.IsSupervision(); (a.Duty == roster.Reviewing) != reviews {
				t.Errorf("its duty is %d", a.Duty)
			}
			if (len(r.players.readOnly) > 0) != tt.call.IsSupervision() {
				t.Errorf("%q only read", r.players.readOnly)
			}
			again, err := r.Prepare(r.journal.state.Afresh(), a.Player, r.board)
			if err != nil || string(again.Input.JSON)+again.Input.Text != told || again.Intent.Input != nil {
				t.Errorf("a second attempt is told %s%s, %v", again.Input.JSON, again.Input.Text, err)
			}
		})
	}
}

// sendBack has the reviewer send the work back, which was done in a session.
func sendBack(r *rig, session string) {
	step := r.journal.state.Step
	step.Round, step.Feedback, step.Work = 1, "tests are missing", &event.ReplyAccepted{End: event.End{Session: session}}
}

// TestPlayer: who plays: the role's agent, one that takes its work over, or the one that reviews it.
func TestPlayer(t *testing.T) {
	r := newRig(t)
	ref := event.AttemptRef{Step: 1, Task: "a.md", Role: "Implementor"}
	player := func(c event.Call, role string) (string, error) {
		ref.Call, ref.Role = c, role
		p, err := r.Player(flow.Spawn{AttemptRef: ref})
		if err != nil {
			return "", err
		}
		return p.Role.Name + p.Shown, nil
	}
	for _, c := range []event.Call{event.ReviewCall, event.CommandCall} {
		if _, err := player(c, "Implementor"); !errors.As(err, new(*failure.Invalid)) || !strings.Contains(err.Error(), "the role asks for none any more") {
			t.Errorf("%s that the role does not ask for: %v", c, err)
		}
	}
	r.players.reviewed = true
	if got, err := player(event.CommandCall, "Implementor"); got != "Implementormake test" || err != nil {
		t.Errorf("the command is %q, %v", got, err)
	}
	if _, err := player(event.TaskCall, "Nobody"); !errors.As(err, new(*failure.Invalid)) {
		t.Errorf("a role that is not there: %v", err)
	}
	s := r.journal.state.Afresh()
	p, _ := r.Player(s)
	p.Assignment.Role = "Unfit"
	if _, err := r.Prepare(s, p, r.board); !errors.As(err, new(*failure.Invalid)) {
		t.Errorf("an agent that cannot be started: %v", err)
	}
}

// TestEnd: what the end of an attempt means that broke no rule, for all kinds. What the run or this
// machine did to it comes before what it replied.
func TestEnd(t *testing.T) {
	stopped := errors.New("SIGTERM")
	stop, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	whole := replied("done")
	for name, tt := range map[string]struct {
		end    func(attempt.Ended) attempt.Ended
		failed error
		reason string
		err    error
	}{
		"a fault of this machine": {func(e attempt.Ended) attempt.Ended { e.Cut = attempt.ByWatch; return e }, os.ErrPermission, "permission denied", os.ErrPermission},
		"by the watch":            {func(e attempt.Ended) attempt.Ended { e.Cut = attempt.ByWatch; return e }, nil, "the watch ended it", nil},
		"the limit of time":       {func(e attempt.Ended) attempt.Ended { e.Cut = attempt.ByTime; return e }, nil, "the limit of time is reached", nil},
		"by the run":              {func(e attempt.Ended) attempt.Ended { e.Cut = attempt.ByRun; return e }, nil, "the run was stopped", stopped},
	} {
		for _, c := range []event.Call{event.TaskCall, event.CommandCall, event.ReviewCall, event.ManagerCall, event.ReadyCall, event.CheckpointCall} {
			r := newRig(t)
			r.Stop = stop
			r.open(c)
			a := r.start(t)
			e := tt.end(whole)
			if err := r.settle(a, &e, tt.failed); !errors.Is(err, tt.err) {
				t.Errorf("%s, %s: %v, want %v", name, c, err, tt.err)
			}
			if got, ok := r.journal.events[0].(event.AttemptStopped); !ok || got.Reason != tt.reason || got.Session != "s" || r.journal.committed != 1 {
				t.Errorf("%s, %s: journaled %+v, %d on disk", name, c, r.journal.events[0], r.journal.committed)
			}
		}
	}
	for _, c := range []event.Call{event.TaskCall, event.ReviewCall, event.ManagerCall, event.ReadyCall, event.CheckpointCall} {
		r := newRig(t)
		r.open(c)
		a := r.start(t)
		e := r.end(t, a, attempt.Ended{Failure: &contract.Failure{Reason: "no JSON", Lost: true}, Received: "x", Stderr: "y", Exit: proc.Exit{Code: 1}})
		got, ok := e.(event.ReplyRejected)
		if !ok || got.Reason != "no JSON" || got.Received != "x" || got.Stderr != "y" || got.Of != 3 || got.Lost != (a.Intent.From != "") || r.journal.committed != 1 {
			t.Errorf("%s without a reply: %+v", c, e)
		}
	}
}

// TestOwnLimit: an agent that reached a limit of its role is set aside where the board goes on without it. Elsewhere
// a person has to mend the limit, as for any fault of an agent.
func TestOwnLimit(t *testing.T) {
	limit := errors.New("it took 30 turns (max_turns)")
	for name, tt := range map[string]struct {
		class event.Class
		keeps bool
		mends bool // a person
	}{
		"the board goes on": {event.ClassOwnLimit, true, false},
		"it does not":       {event.ClassOwnLimit, false, true},
		"another fault":     {event.ClassRefused, true, true},
	} {
		r := newRig(t)
		r.open(event.TaskCall)
		r.journal.state.KeepGoing, r.journal.state.Manager = tt.keeps, "walk"
		a := r.start(t)
		e := attempt.Ended{Class: tt.class}
		err := r.settle(a, &e, limit)
		got, ok := r.journal.events[0].(event.AttemptStopped)
		if !ok || got.Reason != limit.Error() || got.Class != tt.class || (err != nil) != tt.mends {
			t.Errorf("%s: %v, journaled %+v", name, err, r.journal.events[0])
		}
	}
}

// TestAcceptedHasNoClass: the class of an accepted reply is not journaled, since the event says it.
func TestAcceptedHasNoClass(t *testing.T) {
	r := newRig(t)
	r.open(event.TaskCall)
	e := replied("done")
	e.Class = event.ClassAccepted
	if got, ok := r.end(t, r.start(t), e).(event.ReplyAccepted); !ok || got.Class != "" {
		t.Errorf("accepted with the class %q", got.Class)
	}
}

// TestGoesOn: work that was cut short goes on in its session, unless another tool is to do it.
func TestGoesOn(t *testing.T) {
	for adapter, goesOn := range map[string]bool{"tool": true, "another": false} {
		r := newRig(t)
		a := r.start(t)
		if err := r.journal.Record(event.SessionNamed{AttemptRef: a.Ref(), Session: "s"}); err != nil {
			t.Fatal(err)
		}
		if err := r.settle(a, &attempt.Ended{Session: "s", Cut: attempt.ByWatch}, nil); err != nil {
			t.Fatal(err)
		}
		step := r.journal.state.Step
		if step.GoesOn == nil {
			t.Fatal("nothing goes on")
		}
		step.GoesOn.Adapter, step.Advice = adapter, "It was hung."
		s := flow.Next(&r.journal.state, flow.Board{SHA: r.board.SHA}).(flow.Spawn)
		p, _ := r.Player(s)
		again, err := r.Prepare(s, p, r.board)
		if err != nil || again.Intent.GoesOn != goesOn || (again.Intent.From == "s") != goesOn {
			t.Errorf("by %s: %+v, %v", adapter, again.Intent, err)
		}
		if f := r.players.tool.asked.Follow; (f != nil) != goesOn || goesOn && !strings.Contains(f.Text, "cut short. It was hung. Go on") {
			t.Errorf("by %s it is told %+v", adapter, f)
		}
	}
}

// TestIntent: a run asks for the reviews of the role, a dry run too, with stubs; only the first attempt of the
// Manager has the board as it found it; in a phase of review an Architect may take its time.
func TestIntent(t *testing.T) {
	for _, dry := range []bool{false, true} {
		r := newRig(t)
		r.players.reviewed, r.Run.DryRun = true, dry
		if a := r.start(t); a.Intent.Plan == nil || !a.Intent.Plan.Command {
			t.Errorf("in a dry run %t the plan is %+v", dry, a.Intent.Plan)
		}
	}
	r := newRig(t)
	r.open(event.ManagerCall)
	if a := r.start(t); a.Intent.Before.BoardSHA != r.board.SHA || a.Intent.Before.Current != "a.md" {
		t.Errorf("the Manager finds %+v", a.Intent.Before)
	}
	if err := r.settle(&Attempt{Intent: event.AttemptStarted{AttemptRef: event.AttemptRef{Step: 1, Call: event.ManagerCall, Task: "a.md", Role: "Manager", Attempt: 1}}}, &attempt.Ended{Cut: attempt.ByWatch}, nil); err != nil {
		t.Fatal(err)
	}
	if a := r.start(t); a.Intent.Before != nil {
		t.Errorf("at its second attempt it finds %+v", a.Intent.Before)
	}
	r = newRig(t)
	r.write(t, "k.yaml", "phase: validate\ncurrent: a.md\ntasks: [a.md, b.md]\n")
	r.Workspace.Forget()
	var err error
	if r.board, err = r.Workspace.Look(); err != nil {
		t.Fatal(err)
	}
	if a := r.start(t); a.Duty != roster.ReviewPhase {
		t.Errorf("in a phase of review the duty is %d", a.Duty)
	}
}

// TestSettle: the board is looked at before the end of an attempt counts, also that of a supervisor that
// broke its scope.
func TestSettle(t *testing.T) {
	stopped := errors.New("SIGTERM")
	for name, tt := range map[string]struct {
		argv  []string
		call  event.Call
		stop  bool
		kinds string
		err   error
	}{
		"a violation":              {[]string{"sh", "-c", "echo x > c.go"}, event.CheckpointCall, false, "SUPERVISOR_SCOPE_VIOLATION", nil},
		"a violation, stopped":     {[]string{"sh", "-c", "echo x > c.go; sleep 60"}, event.CheckpointCall, true, "SUPERVISOR_SCOPE_VIOLATION", stopped},
		"none":                     {[]string{"sh", "-c", "true"}, event.CheckpointCall, false, "REPLY_REJECTED", nil},
		"a violation, and a fault": {[]string{"sh", "-c", "echo x > c.go"}, event.CheckpointCall, false, "ATTEMPT_STOPPED", nil},
		"one that cannot start":    {[]string{"/nonexistent"}, event.CheckpointCall, false, "ATTEMPT_STOPPED", nil},
		"a change by other roles":  {[]string{"sh", "-c", "echo x > c.go"}, event.TaskCall, false, "REPLY_REJECTED", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.players.tool.silent = true
			if strings.HasSuffix(name, "fault") {
				r.players.tool.fault = &agent.ConfigError{Text: "please log in"}
			}
			stop, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			r.Stop = stop
			r.open(tt.call)
			a := r.start(t)
			a.Spec.Invocation.Argv, a.Spec.Invocation.Dir, a.Spec.Invocation.Env = tt.argv, r.dir, os.Environ()
			if path, err := exec.LookPath(tt.argv[0]); err == nil {
				a.Spec.Invocation.Argv[0] = path
			}
			if strings.HasPrefix(name, "a violation") {
				a.wrote = []string{"c.go"} // as its own events say
			}
			p := r.Start(a)
			if tt.stop {
				for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
					if _, err := os.Stat(filepath.Join(r.dir, "c.go")); err == nil {
						break
					}
				}
				cancel(stopped)
				p.Stop()
			}
			turns := 0
			err := r.Settle(a, p, func([]string) error {
				turns++
				if len(r.journal.events) > 0 {
					t.Errorf("%d events before the look at the board", len(r.journal.events))
				}
				return nil
			})
			if tt.kinds == "ATTEMPT_STOPPED" {
				if !errors.As(err, new(*failure.Invalid)) {
					t.Errorf("settled with %v, want what to mend", err)
				}
			} else if !errors.Is(err, tt.err) {
				t.Errorf("settled with %v, want %v", err, tt.err)
			}
			if len(r.journal.events) != 1 || r.journal.events[0].Kind() != tt.kinds || turns != 1 || r.journal.committed != 1 {
				t.Errorf("journaled %+v, %d on disk, %d looks at the board; want %s and 1", r.journal.events, r.journal.committed, turns, tt.kinds)
			}
		})
	}
}

// TestBriefCommits: a supervisor that is asked knows nothing that is not on disk.
func TestBriefCommits(t *testing.T) {
	r := newRig(t)
	r.open(event.ReadyCall)
	if err := r.journal.Append(event.MarkerMissing{}); err != nil {
		t.Fatal(err)
	}
	s := r.journal.state.Afresh()
	p, _ := r.Player(s)
	if _, err := r.Prepare(s, p, r.board); err != nil || r.journal.committed != 1 {
		t.Errorf("%d of 1 events are on disk, %v", r.journal.committed, err)
	}
}

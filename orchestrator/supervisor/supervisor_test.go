package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/briefing"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
	"kanban-run/roles"
)

// journal keeps what is recorded, and applies it as the ledger does.
type journal struct {
	flow.Journal // nil: what a test does not need
	t            *testing.T
	state        flow.State
	said         []string // kinds, with the state of a teardown
	last         event.Event
	gates        []ledger.Gate
	seen         func() // is called before an event counts
}

func (j *journal) State() *flow.State { return &j.state }

func (j *journal) Record(e event.Event) error {
	if j.seen != nil {
		j.seen()
	}
	if err := j.state.Apply(e); err != nil {
		j.t.Errorf("the journal refuses %s: %v", e.Kind(), err)
	}
	said := e.Kind()
	if moved, ok := e.(event.TeardownMoved); ok {
		said = string(moved.To)
	}
	j.said, j.last = append(j.said, said), e
	return nil
}

func (j *journal) ReportTeardown(g ledger.Gate) { j.gates = append(j.gates, g) }

// program is a supervisor's program that answers as it is told.
type program struct {
	runs    bool
	exited  chan struct{}
	answers []string // to each request; ID stands for the request's, "wait" for none
	asked   int
	closed  bool
	fault   error // of the first request
}

func (p *program) Runs() bool              { return p.runs }
func (p *program) Exited() <-chan struct{} { return p.exited }

func (p *program) Close(context.Context) error {
	p.closed, p.runs = true, false
	return nil
}

func (p *program) Ask(stop context.Context, message []byte, wait time.Duration, _ attempt.Sinks) (string, error) {
	var request shutdown
	if err := json.Unmarshal(message, &request); err != nil || request.Type != "shutdown_request" || request.ID == "" {
		return "", errors.New("no request to shut down: " + string(message))
	}
	p.asked++
	answer := "wait"
	if p.asked <= len(p.answers) {
		answer = p.answers[p.asked-1]
	}
	if answer != "wait" {
		return strings.ReplaceAll(answer, "ID", request.ID), p.fault
	}
	select {
	case <-stop.Done():
	case <-time.After(wait):
	}
	return "", nil
}

// adapter is one whose program stays between calls, where resident is set.
type adapter struct{ agent.Adapter }

func (adapter) Name() string     { return "tool" }
func (adapter) Tool() agent.Tool { return agent.Tool{} }

type residentAdapter struct{ agent.Resident }

func (residentAdapter) Name() string     { return "tool" }
func (residentAdapter) Tool() agent.Tool { return agent.Tool{} }

type players struct{ adapter agent.Adapter }

func (p players) ReadOnlyPlayer(role string) (*roster.Player, error) {
	if p.adapter == nil {
		return nil, errors.New("there is no role " + role)
	}
	return &roster.Player{Role: roles.Role{Name: "Supervisor"}, Adapter: p.adapter}, nil
}

// rig is the supervisor of a board of a.md and b.md.
type rig struct {
	*Supervisor
	journal *journal
	program *program
	notices []string
	path    string
	stop    context.CancelFunc
}

const open = "current: a.md\ntasks: [a.md, b.md]\n"

func newRig(t *testing.T, text string) *rig {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "k.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := board.Parse(path, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	place, err := board.OpenPlace(dir, path)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{journal: &journal{t: t}, program: &program{runs: true, exited: make(chan struct{})}, path: path}
	r.journal.state.Supervisor = &flow.Supervisor{Plan: event.Supervision{Role: "Supervisor", OnBlock: event.BlockPerson}, Memory: event.InProcess, Ready: true}
	stop, cancel := context.WithCancel(t.Context())
	r.stop = cancel
	made := redact.New(nil)
	r.Supervisor = New(Turn{Board: "k.yaml", Settings: &event.Supervision{Role: "supervisor"}, AckTimeout: time.Minute, Journal: r.journal, ReportTeardown: r.journal.ReportTeardown,
		Place: place, Workspace: workspace.New(path, path, place, b, made), Folder: rundir.Of(path), Roster: players{residentAdapter{}},
		Notice: func(text string) { r.notices = append(r.notices, text) }, Redactor: made, Stop: stop, Kill: t.Context()})
	r.Supervisor.program = r.program
	return r
}

func (r *rig) want(t *testing.T, said string) {
	t.Helper()
	if got := strings.Join(r.journal.said, " "); got != said {
		t.Errorf("journaled %q, want %q", got, said)
	}
}

// TestPlan: seed 001, "Checkpoint Configuration": the plan names tasks as agents see them, each once.
func TestPlan(t *testing.T) {
	r := newRig(t, open)
	r.Settings = &event.Supervision{Role: "supervisor", At: []event.CheckpointAt{{ID: "C1", After: "./a.md", Scope: []string{"a.md", "./a.md", "b.md"}}}}
	plan, p, err := r.Plan()
	if err != nil || p.Role.Name != "Supervisor" || plan.Role != "Supervisor" {
		t.Fatalf("plan %+v, %v", plan, err)
	}
	if at := plan.At[0]; at.After != "a.md" || !slices.Equal(at.Scope, []string{"a.md", "b.md"}) {
		t.Errorf("the checkpoint is %+v", at)
	}
	if r.Settings.At[0].After != "./a.md" || r.Resident() == nil {
		t.Errorf("the settings are %+v, and the program that stays is %v", r.Settings, r.Resident())
	}

	r = newRig(t, open)
	if r.Roster = (players{adapter{}}); r.Resident() != nil {
		t.Error("a program stays before there is a plan")
	}
	if _, _, err := r.Plan(); err != nil || r.Resident() != nil {
		t.Errorf("%v; a program that does not stay is %v", err, r.Resident())
	}
	r.Roster = players{}
	if _, _, err := r.Plan(); !errors.As(err, new(*failure.Invalid)) {
		t.Errorf("a role that is not there is %v", err)
	}
	if plan, p, err := New(Turn{}).Plan(); plan != nil || p != nil || err != nil {
		t.Errorf("without a supervisor there is %+v, %v, %v", plan, p, err)
	}
}

// TestRecordLoss: the death of a program that remembered something is journaled, once.
func TestRecordLoss(t *testing.T) {
	for name, tt := range map[string]struct {
		set  func(*rig)
		said string
	}{
		"it runs":                 {func(r *rig) { r.program.runs = true }, ""},
		"it has died":             {func(*rig) {}, "SUPERVISOR_LOST"},
		"it remembers nothing":    {func(r *rig) { r.journal.state.Supervisor.Ready = false }, ""},
		"its memory is a session": {func(r *rig) { r.journal.state.Supervisor.Memory = event.InSession }, ""},
		"there is none":           {func(r *rig) { r.journal.state.Supervisor = nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, open)
			r.program.runs = false
			tt.set(r)
			if err := errors.Join(r.RecordLoss(), r.RecordLoss()); err != nil {
				t.Fatal(err)
			}
			r.want(t, tt.said)
		})
	}
}

// TestExited: the end of the program is told while others work; its own calls see it themselves.
func TestExited(t *testing.T) {
	r := newRig(t, open)
	if r.Exited(event.TaskCall) != (<-chan struct{})(r.program.exited) || r.Exited(event.CheckpointCall) != nil || r.Exited(event.ReadyCall) != nil {
		t.Error("not told while others work, or in calls of its own")
	}
	if none := New(Turn{}); none.Exited(event.TaskCall) != nil || none.Close() != nil || none.Dismiss() != nil {
		t.Error("without a program something is to be told or closed")
	}
}

// TestGiveUp: seed 001, "Decision Rules": what follows where no verdict comes. The Manager can mend
// only what it was about to be asked of.
func TestGiveUp(t *testing.T) {
	at := &flow.Step{Number: 3, Call: event.CheckpointCall, Task: "CHECKPOINT-001", Role: "Supervisor", Checkpoint: &event.Checkpoint{ID: "CHECKPOINT-001"}}
	ready := &flow.Step{Number: 3, Call: event.ReadyCall, Role: "Supervisor"}
	for name, tt := range map[string]struct {
		step    *flow.Step
		onBlock event.OnBlock
		want    event.CheckpointMissed
	}{
		"a checkpoint":          {at, event.BlockPerson, event.CheckpointMissed{Step: 3, Task: "CHECKPOINT-001", Then: event.BlockPerson}},
		"and the Manager plans": {at, event.BlockRevise, event.CheckpointMissed{Step: 3, Task: "CHECKPOINT-001", Then: event.BlockRevise}},
		"it gets not ready":     {ready, event.BlockRevise, event.CheckpointMissed{Step: 3, Then: event.BlockPerson}},
		"between two steps":     {nil, event.BlockRevise, event.CheckpointMissed{Task: "Supervisor", Then: event.BlockPerson}},
		"and the run goes on":   {nil, event.BlockOverride, event.CheckpointMissed{Task: "Supervisor", Then: event.BlockOverride}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, open)
			r.journal.state.Step, r.journal.state.Supervisor.Plan.OnBlock = tt.step, tt.onBlock
			if err := r.GiveUp("no reply"); err != nil {
				t.Fatal(err)
			}
			tt.want.Reason, tt.want.BoardSHA = "no reply", r.Workspace.SHA()
			if r.journal.last != tt.want {
				t.Errorf("missed as %+v, want %+v", r.journal.last, tt.want)
			}
		})
	}
}

// TestEndBoard: the end by a checkpoint is journaled before it is written.
func TestEndBoard(t *testing.T) {
	r := newRig(t, open)
	r.journal.state.Supervisor.Block = &flow.Block{Text: "it is not safe", Ends: true, Checkpoint: event.Checkpoint{ID: "CHECKPOINT-001"}}
	b, err := r.Workspace.Look()
	if err != nil {
		t.Fatal(err)
	}
	r.journal.seen = func() {
		if now, err := os.ReadFile(r.path); err != nil || string(now) != open {
			t.Errorf("before the intent is journaled the board is %s, %v", now, err)
		}
	}
	if err := r.EndBoard(b); err != nil {
		t.Fatal(err)
	}
	e := r.journal.last.(event.BoardEnded)
	after, err := r.Workspace.Look()
	if err != nil || !after.Terminal() || e.Before != b.SHA || e.BoardSHA != after.SHA || e.Current != "a.md" || e.Task != "CHECKPOINT-001" {
		t.Errorf("journaled %+v; the board is %s, %v", e, after.Source, err)
	}
}

// TestWarnOfUnheld: a complete board names the checkpoints that were declared and never held.
func TestWarnOfUnheld(t *testing.T) {
	r := newRig(t, open)
	r.journal.state.Supervisor.Plan.At = []event.CheckpointAt{{ID: "C1", After: "a.md"}, {ID: "C2", After: "b.md"}}
	r.journal.state.Supervisor.Held = []flow.Held{{ID: "C1", Verdict: "pass"}}
	r.WarnOfUnheld(flow.Finish{Outcome: event.NeedsPerson})
	if r.notices != nil {
		t.Errorf("an incomplete board says %q", r.notices)
	}
	if r.WarnOfUnheld(flow.Finish{Outcome: event.Complete}); len(r.notices) != 1 || !strings.HasSuffix(r.notices[0], "finished their tasks: C2") {
		t.Errorf("told %q", r.notices)
	}
}

// TestDismiss: seed 001, "Shutdown Protocol", and on a board that is over seed 002, "Deterministic
// teardown protocol": one request, and three rounds more for one that does not answer.
func TestDismiss(t *testing.T) {
	const (
		over     = "phase: complete\ncurrent: null\ntasks: [a.md, b.md]\n"
		approves = `{"type":"shutdown_response","request_id":"ID","approve":true}`
		begins   = "TEARDOWN_INIT SHUTDOWN_REQUESTED WAITING_ACKS"
		fails    = "FORCED_FINALIZE_CANDIDATE TEARDOWN_BLOCKED TEARDOWN_FAILED_SAFE SUPERVISOR_DISMISSED"
	)
	for name, tt := range map[string]struct {
		board   string
		answers []string
		set     func(*rig)
		said    string
		asked   int
	}{
		"it has died":               {over, nil, func(r *rig) { r.program.runs = false }, "", 0},
		"the run is stopped":        {over, []string{approves}, func(r *rig) { r.stop() }, "", 0},
		"the board is frozen":       {over, []string{approves}, func(r *rig) { r.journal.state.Frozen = &flow.Freeze{} }, "", 0},
		"the board is not over":     {open, []string{approves}, nil, "SUPERVISOR_DISMISSED", 1},
		"and it does not answer":    {open, nil, nil, "SUPERVISOR_DISMISSED", 1},
		"a step is open":            {over, []string{approves}, func(r *rig) { r.journal.state.Step = &flow.Step{} }, "SUPERVISOR_DISMISSED", 1},
		"the board is over":         {over, []string{approves}, nil, begins + " READY_TO_DELETE SUPERVISOR_DISMISSED", 1},
		"it answers late":           {over, []string{"wait", "", approves}, nil, begins + " RETRYING RETRYING READY_TO_DELETE SUPERVISOR_DISMISSED", 3},
		"it never answers":          {over, nil, nil, begins + " RETRYING RETRYING RETRYING " + fails, 4},
		"it refuses":                {over, slices.Repeat([]string{`{"type":"shutdown_response","request_id":"ID","approve":false}`}, 4), nil, begins + " RETRYING RETRYING RETRYING " + fails, 4},
		"it means another request":  {over, slices.Repeat([]string{strings.Replace(approves, "ID", "other", 1)}, 4), nil, begins + " RETRYING RETRYING RETRYING " + fails, 4},
		"it says something else":    {over, slices.Repeat([]string{strings.Replace(approves, "shutdown_response", "pong", 1)}, 4), nil, begins + " RETRYING RETRYING RETRYING " + fails, 4},
		"what it says is no answer": {over, slices.Repeat([]string{"bye"}, 4), nil, begins + " RETRYING RETRYING RETRYING " + fails, 4},
		"Ctrl-C meanwhile":          {over, []string{"wait"}, func(r *rig) { time.AfterFunc(10*time.Second, r.stop) }, begins + " SUPERVISOR_DISMISSED", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, tt.board)
				r.program.answers = tt.answers
				if tt.set != nil {
					tt.set(r)
				}
				died := !r.program.runs
				if err := r.Dismiss(); err != nil {
					t.Fatal(err)
				}
				r.want(t, tt.said)
				if r.program.asked != tt.asked || r.program.closed == died {
					t.Errorf("asked %d times, closed %t; want %d, and the program closed", r.program.asked, r.program.closed, tt.asked)
				}
				approved := strings.Contains(tt.said, "READY_TO_DELETE") || name == "the board is not over" || name == "a step is open"
				if e, ok := r.journal.last.(event.SupervisorDismissed); ok && (e.Approved != approved || e.Task != "Supervisor" || e.Request == "") {
					t.Errorf("dismissed as %+v, want approved %t", e, approved)
				}
				gate := ledger.Gate{State: event.ReadyToDelete}
				if strings.Contains(tt.said, "FAILED_SAFE") {
					gate = ledger.Gate{State: event.FailedSafe, Reason: "Supervisor has not answered the request to shut down"}
				}
				if reported := strings.HasPrefix(tt.said, begins) && !strings.HasSuffix(tt.said, "WAITING_ACKS SUPERVISOR_DISMISSED"); reported != slices.Equal(r.journal.gates, []ledger.Gate{gate}) {
					t.Errorf("reported %+v", r.journal.gates)
				}
			})
		})
	}
}

// TestDismissFault: what the program's end was wrong with is told, and it is closed all the same.
func TestDismissFault(t *testing.T) {
	r := newRig(t, "phase: complete\ncurrent: null\ntasks: [a.md, b.md]\n")
	r.program.answers, r.program.fault = []string{"x"}, errors.New("a process is left")
	if err := r.Dismiss(); !errors.Is(err, r.program.fault) || !r.program.closed || r.program.asked != 1 {
		t.Errorf("%v, closed %t, asked %d times", err, r.program.closed, r.program.asked)
	}
	r.want(t, "TEARDOWN_INIT SHUTDOWN_REQUESTED WAITING_ACKS SUPERVISOR_DISMISSED")
}

// TestNote: a supervisor is briefed with each event; without one there is no briefing to fill.
func TestNote(t *testing.T) {
	r := newRig(t, open)
	r.Note(event.Entry{Seq: 1, Event: event.StepAbandoned{Step: 1, Task: "a.md", Reason: "it was edited"}})
	about := briefing.About{Board: "k.yaml", Supervisor: r.journal.state.Supervisor}
	due := event.Checkpoint{ID: "C1"}
	if in := r.Briefing().Checkpoint(about, due); len(in.Messages) != 1 || !strings.Contains(in.Messages[0], "it was edited") {
		t.Errorf("it is told %q", in.Messages)
	}
	none := New(Turn{})
	if none.Note(event.Entry{Event: event.StepAbandoned{}}); none.Briefing() != nil {
		t.Error("without a supervisor there is a briefing")
	}
}

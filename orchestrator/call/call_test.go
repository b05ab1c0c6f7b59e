package call

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/briefing"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/guard"
	journals "kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
	"kanban-run/roles"
)

// journal applies events as the ledger does, and says which of them are on disk.
type journal struct {
	flow.Journal // nil: what a test does not need
	t            *testing.T
	state        flow.State
	events       []event.Event
	committed    int
	full         error // of each append
}

func (j *journal) State() *flow.State { return &j.state }

func (j *journal) Append(e event.Event) error {
	if j.full != nil {
		return j.full
	}
	if err := j.state.Apply(e); err != nil {
		j.t.Errorf("the journal refuses %+v: %v", e, err)
	}
	j.events = append(j.events, e)
	return nil
}

func (j *journal) Commit() error {
	j.committed = len(j.events)
	return nil
}

func (j *journal) Record(e event.Event) error { return errors.Join(j.Append(e), j.Commit()) }

func (j *journal) FinishStep(e event.StepFinished) error { return j.Append(e) }

// tool is an adapter that keeps what it is asked to do.
type tool struct {
	agent.Adapter
	asked   *agent.Assignment
	session bool  // its output tells of its session
	silent  bool  // it gives no reply
	fault   error // that its output tells of
}

// staying is a tool whose program can stay between calls.
type staying struct{ tool }

func (staying) Stay(agent.Assignment) (agent.Invocation, error) {
	return agent.Invocation{Stdin: []byte("a message\n")}, nil
}

func (staying) Turn(contract.Kind, agent.Host) agent.Reader { return nil }

func (tool) Name() string { return "tool" }
func (t tool) Tool() agent.Tool {
	return agent.Tool{Resumes: true, Signals: agent.Signals{Session: t.session}}
}

// Reader reads what the tool prints: a reply, with signs of its work before.
func (t tool) Reader(_ contract.Kind, h agent.Host) agent.Reader {
	return &reader{host: h, silent: t.silent, fault: t.fault}
}

type reader struct {
	host   agent.Host
	silent bool
	fault  error
}

func (r *reader) Write(p []byte) (int, error) {
	for _, e := range []agent.Event{{Kind: agent.Session, ID: "s"}, {Kind: agent.ToolStarted, Tool: "Bash", ID: "1"}, {Kind: agent.Text, Text: "looking at\nthe task"}, {Kind: agent.Heartbeat},
		{Kind: agent.Warning, Text: "an unknown event"}, {Kind: agent.ToolEnded, Tool: "Bash", ID: "1", Missing: "gh", Text: "gh: not found"}, {Kind: agent.Heard, ID: "m"}} {
		r.host.Emit(e)
	}
	return len(p), nil
}

func (r *reader) End(proc.Exit) agent.Report {
	if r.silent {
		return agent.Report{Failure: contract.Failed("no reply"), Err: r.fault}
	}
	return agent.Report{Reply: `{"status": "ok", "message": "done"}`, Session: "s", Spent: &agent.Spending{Input: 5}}
}

func (t tool) Invoke(a agent.Assignment) (agent.Invocation, error) {
	*t.asked = a
	if a.Role == "Unfit" {
		return agent.Invocation{}, errors.New("unfit")
	}
	return agent.Invocation{Argv: []string{"echo", "hello"}, Dir: a.Dir, Grace: time.Second}, nil
}

// players plays every role but Nobody with the tool.
type players struct {
	tool     tool
	reviewed bool // by a command and a supervisor
	readOnly []string
}

func (p *players) Player(role string) (*roster.Player, error) {
	if role == "Nobody" {
		return nil, &roles.UnknownError{Name: role}
	}
	player := &roster.Player{Role: roles.Role{Name: role, Feedback: true}, Adapter: p.tool, Resumes: true, Assignment: agent.Assignment{Role: role}}
	if p.reviewed {
		player.Supervisor = &roster.Player{Role: player.Role, Adapter: p.tool}
		player.Command = &roster.Player{Role: player.Role, Adapter: p.tool, Shown: "make test"}
	}
	return player, nil
}

func (p *players) ReadOnlyPlayer(role string) (*roster.Player, error) {
	p.readOnly = append(p.readOnly, role)
	return p.Player(role)
}

func (p *players) Substitute(_, to string) (*roster.Player, error) { return p.Player(to) }

type supervisor struct {
	briefing *briefing.Briefing
	resident *attempt.Resident
}

func (s *supervisor) Briefing() *briefing.Briefing { return s.briefing }
func (s *supervisor) Resident() *attempt.Resident  { return s.resident }

// notices keeps what is told.
type notices struct {
	ledger.Silent
	told  []string
	signs []agent.Kind
}

func (n *notices) Notice(_, text string)        { n.told = append(n.told, text) }
func (n *notices) Agent(_ string, s agent.Sign) { n.signs = append(n.signs, s.Kind) }

// rig is a run of a board of a.md and b.md whose first task is at work.
type rig struct {
	*Caller
	journal *journal
	players *players
	notices *notices
	dir     string
	board   *board.Board
	used    event.Used
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{dir: t.TempDir(), journal: &journal{t: t}, players: &players{tool: tool{asked: &agent.Assignment{}}}, notices: &notices{}}
	r.write(t, "k.yaml", "current: a.md\ntasks: [a.md, b.md]\n")
	r.write(t, "a.md", "---\nrole: Implementor\n---\nDo it.\n")
	r.write(t, "b.md", "---\nrole: Implementor\n---\nThen this.\n")
	path := filepath.Join(r.dir, "k.yaml")
	place, err := board.OpenPlace(r.dir, path)
	if err != nil {
		t.Fatal(err)
	}
	made := redact.New([]string{"hunter2hunter2"})
	w := workspace.New(path, path, place, nil, made)
	if r.board, err = w.Look(); err != nil {
		t.Fatal(err)
	}
	folder := rundir.Of(path)
	if err := errors.Join(folder.Ensure(), folder.MakeSupervision()); err != nil {
		t.Fatal(err)
	}
	r.journal.state = flow.State{Limits: event.Limits{MaxRetries: 3}, Step: &flow.Step{Number: 1, Call: event.TaskCall, Task: "a.md", Role: "Implementor", BoardSHA: r.board.SHA}}
	r.Caller = NewCaller(Turn{Board: "k.yaml", Journal: r.journal, Workspace: w, Folder: folder, Roster: r.players,
		Supervisor: &supervisor{briefing: briefing.New(folder, place, made)}, Trust: changed(""), Observer: r.notices, Redactor: made, Used: &r.used, Now: time.Now, Stop: t.Context()})
	r.emptied = nil
	return r
}

// changed is what agents have changed of the command that reviews the work.
type changed string

func (c changed) ReviewedBy(string) string { return string(c) }

func (r *rig) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// open makes a call due.
func (r *rig) open(c event.Call) {
	step := r.journal.state.Step
	step.Call = c
	switch c {
	case event.ReviewCall, event.CommandCall:
		r.players.reviewed = true
		step.Plan = &event.Plan{Agent: true, Command: true, Rounds: 3}
		step.Work, step.Round = &event.ReplyAccepted{End: event.End{Session: "s"}}, 1
	case event.ReadyCall, event.CheckpointCall:
		r.journal.state.Supervisor = &flow.Supervisor{Plan: event.Supervision{Role: "Supervisor", OnBlock: event.BlockPerson}, Memory: event.InReports}
		step.Role, step.Task = "Supervisor", ""
		if c == event.CheckpointCall {
			step.Task, step.Checkpoint = "CHECKPOINT-001", &event.Checkpoint{ID: "CHECKPOINT-001", Scope: []string{"a.md"}}
			r.journal.state.Supervisor.Ready = true
		}
	}
}

// start prepares the due call and journals its intent.
func (r *rig) start(t *testing.T) *Attempt {
	t.Helper()
	s := r.journal.state.Afresh()
	p, err := r.Player(s)
	if err != nil {
		t.Fatal(err)
	}
	a, err := r.Prepare(s, p, r.board)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.journal.Record(a.Intent); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Scope().Begin(r.turnOf(a)); err != nil {
		t.Fatal(err)
	}
	r.journal.events, r.journal.committed = nil, 0
	return a
}

func (r *rig) turnOf(a *Attempt) *guard.Turn {
	return &guard.Turn{Turn: guard.Of(r.journal.state.Step, r.Board, ""), Ref: a.Ref(), Player: a.Player}
}

// end ends the attempt, and returns what is journaled of it.
func (r *rig) end(t *testing.T, a *Attempt, e attempt.Ended) event.Event {
	t.Helper()
	if err := r.settle(a, &e, nil); err != nil {
		t.Fatal(err)
	}
	if len(r.journal.events) != 1 {
		t.Fatalf("journaled %+v, want one event", r.journal.events)
	}
	return r.journal.events[0]
}

func replied(message string) attempt.Ended {
	return attempt.Ended{Session: "s", Reply: &contract.Reply{Status: contract.OK, Message: message}}
}

// TestRestartUpgraded: seed 004, "Retry Rule (CRITICAL)", identical parameters: where another version of the program
// gives the agent other bytes, the series of retries begins anew, and says so. It goes on where the bytes are the
// same, where only the surroundings are others, and where nothing was rejected yet. Of an older journal, whose digest
// has the surroundings, too, a series goes on where the command and the input are all that the agent gets.
func TestRestartUpgraded(t *testing.T) {
	const other = "in other words"
	intent := event.AttemptStarted{AttemptRef: event.AttemptRef{Role: "Implementor"}, Given: "new", Digest: "digest"}
	step := flow.Step{Number: 1, Task: "a.md", Rejected: 2, Input: []byte("{}"), Given: "old", GivenBy: "v1"}
	for name, tt := range map[string]struct {
		change func(*flow.Step, *event.AttemptStarted)
		reason string // "": the series goes on
	}{
		"other bytes":                    {func(*flow.Step, *event.AttemptStarted) {}, other},
		"of a program without a version": {func(s *flow.Step, _ *event.AttemptStarted) { s.GivenBy = "" }, other},
		"the same bytes":                 {func(s *flow.Step, _ *event.AttemptStarted) { s.Given = "new" }, ""},
		"the same, of an older journal":  {func(s *flow.Step, _ *event.AttemptStarted) { s.Given = "digest" }, ""},
		"an older journal, another environment": {func(s *flow.Step, e *event.AttemptStarted) {
			s.Command, e.Command, e.Adapter = "sh a.sh", "sh a.sh", "exec"
		}, ""},
		"an older journal, another command": {func(s *flow.Step, e *event.AttemptStarted) {
			s.Command, e.Command, e.Adapter = "sh a.sh", "sh b.sh", "exec"
		}, other},
		"an older journal, and an agent with a prompt": {func(s *flow.Step, e *event.AttemptStarted) {
			s.Command, e.Command, e.Adapter = "claude", "claude", "claude"
		}, "does not know"},
		"the same version":                {func(s *flow.Step, _ *event.AttemptStarted) { s.GivenBy = "v2" }, ""},
		"nothing was rejected":            {func(s *flow.Step, _ *event.AttemptStarted) { s.Rejected = 0 }, ""},
		"a new input is due":              {func(s *flow.Step, _ *event.AttemptStarted) { s.Input = nil }, ""},
		"work goes on in another session": {func(_ *flow.Step, e *event.AttemptStarted) { e.GoesOn = true }, ""},
	} {
		r, s, e := newRig(t), step, intent
		tt.change(&s, &e)
		r.journal.state.Step, r.journal.state.Version = &s, "v2"
		anew, err := r.RestartUpgraded(&Attempt{Intent: e}, r.board)
		said := ""
		if len(r.journal.events) > 0 {
			said = r.journal.events[0].(event.CallRestarted).Reason
		}
		if err != nil || anew != (tt.reason != "") || (said != "") != anew || !strings.Contains(said, tt.reason) {
			t.Errorf("%s: anew %t, %v, says %q", name, anew, err, said)
		}
	}
}

// TestUpgradeBehindAKill: a run of an older version, whose journal has no digest without the environment, was killed
// when two retries were spent. Its series goes on, whatever the environment is now.
func TestUpgradeBehindAKill(t *testing.T) {
	r := newRig(t)
	r.journal.state = flow.State{}
	state := &r.journal.state
	_, err := journals.Read("../ledger/testdata/golden/unnumbered-retries-killed.jsonl", func(record journals.Record) error {
		e, err := event.Decode(record.Type, record.Data)
		return errors.Join(err, state.Apply(e))
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := flow.CloseAttempt(state, state.Apply); err != nil {
		t.Fatal(err)
	}
	if err := state.Apply(state.Again()); err != nil {
		t.Fatal(err)
	}
	state.Version = "v9"
	intent := event.AttemptStarted{AttemptRef: event.AttemptRef{Role: "Implementor"}, Adapter: "exec", Command: "sh agent.sh", Given: "g", Digest: "d"}
	if anew, err := r.RestartUpgraded(&Attempt{Intent: intent}, r.board); anew || err != nil || state.Step.Rejected != 2 {
		t.Errorf("anew %t, %v, with %d retries spent; want the series with 2", anew, err, state.Step.Rejected)
	}
	intent.Command = "sh other.sh"
	if anew, err := r.RestartUpgraded(&Attempt{Intent: intent}, r.board); !anew || err != nil {
		t.Errorf("another command: anew %t, %v", anew, err)
	}
}

// Package supervisor is the resident supervisor of one board's run (seed 001): what it is told,
// what its verdicts come to, and how its program leaves with the run.
package supervisor

import (
	"fmt"
	"slices"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/briefing"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/run"
	"kanban-run/orchestrator/workspace"
)

// Supervisor looks in on a run. Where the settings name no supervisor, it does nothing.
type Supervisor struct {
	run      *run.Run
	briefing *briefing.Briefing // nil: there is no supervisor
	program  *attempt.Resident  // nil: it does not stay between calls
	crowded  bool               // other boards are worked on in the same folder

	tree   workspace.Tree // of the files before the supervisor looked at them, in its step
	treeOf int            // that step
}

// New returns the supervisor that the settings of a run name, if any. crowded says that other
// boards are worked on in the same folder.
func New(r *run.Run, crowded bool) *Supervisor {
	s := &Supervisor{run: r, crowded: crowded}
	if r.Supervision != nil {
		s.briefing = briefing.New(r.Folder, r.Workspace.Place, r.Redactor)
	}
	return s
}

// Listen has the supervisor's briefing learn of each event that is committed, before o does.
func (s *Supervisor) Listen(o ledger.Observer) ledger.Observer {
	if s.briefing == nil {
		return o
	}
	return ledger.Tap(o, func(_ string, e event.Entry) { s.briefing.Add(e) })
}

// Restore takes over what an earlier run has journaled.
func (s *Supervisor) Restore(e event.Entry) {
	if s.briefing != nil {
		s.briefing.Add(e)
	}
}

// Plan is how the supervisor looks in, with the paths of tasks as agents see them, and its
// program; nil: there is none.
func (s *Supervisor) Plan() (*event.Supervision, *roster.Player, error) {
	if s.run.Supervision == nil {
		return nil, nil, nil
	}
	p, err := s.run.Looker(s.run.Supervision.Role)
	if err != nil {
		return nil, nil, &failure.Invalid{Err: err}
	}
	if p.Memory() == event.InProcess {
		s.program = attempt.NewResident(p.Assignment.Grace)
	}
	plan := *s.run.Supervision
	plan.Role, plan.At = p.Role.Name, slices.Clone(plan.At)
	for i, at := range plan.At {
		plan.At[i].After, plan.At[i].Scope = s.run.Workspace.Seen(at.After), nil
		for _, task := range at.Scope {
			if seen := s.run.Workspace.Seen(task); !slices.Contains(plan.At[i].Scope, seen) {
				plan.At[i].Scope = append(plan.At[i].Scope, seen)
			}
		}
	}
	return &plan, p, nil
}

// Program is the supervisor's program, if that stays between calls.
func (s *Supervisor) Program() *attempt.Resident { return s.program }

// NoteLoss journals that the supervisor's program has died since its last call.
func (s *Supervisor) NoteLoss() error {
	v := s.run.State().Supervisor
	if v == nil || v.Memory != event.InProcess || !v.Ready || s.program.Runs() {
		return nil
	}
	return s.run.Ledger.Record(event.SupervisorLost{Task: v.Plan.Role, Reason: "it ended between two checkpoints"})
}

// Gone is closed when the supervisor's program dies while another agent is at work. Its own
// calls notice that themselves.
func (s *Supervisor) Gone(c event.Call) <-chan struct{} {
	if s.program == nil || c.IsSupervision() {
		return nil
	}
	return s.program.Gone()
}

// Close ends the supervisor's program, if a fault of the run has left it.
func (s *Supervisor) Close() error {
	if s.program == nil {
		return nil
	}
	return s.program.Close(s.run.Kill)
}

// about is what the supervisor is told of its surroundings.
func (s *Supervisor) about(e flow.Spawn, b *board.Board) (briefing.About, error) {
	p, err := s.run.Looker(e.Role)
	if err != nil {
		return briefing.About{}, err
	}
	v := s.run.State().Supervisor
	done := make([]bool, b.Len())
	for i := range done {
		done[i] = b.Entry(i).Done()
	}
	a := briefing.About{Board: s.run.Board, Done: done, RoleSpec: p.Role.File, Requirement: v.Plan.Requirement, Tasks: s.run.Workspace.Tasks(b), Supervisor: v}
	if a.Requirement == "" && len(a.Tasks) > 0 {
		a.Requirement = a.Tasks[0]
	}
	return a, nil
}

// Input is what the supervisor is told by a call. All that has happened is on disk before.
func (s *Supervisor) Input(e flow.Spawn, b *board.Board) (contract.Input, error) {
	if err := s.run.Ledger.Commit(); err != nil {
		return contract.Input{}, err
	}
	a, err := s.about(e, b)
	if err != nil {
		return contract.Input{}, err
	}
	if err := s.briefing.SaveSession(a, false); err != nil {
		return contract.Input{}, err
	}
	var in contract.Input
	if e.Call == event.ReadyCall {
		in, err = contract.ForReady(s.briefing.Ready(a))
	} else {
		in, err = contract.ForCheckpoint(s.briefing.Checkpoint(a, *s.run.State().Step.Checkpoint), s.readsText(e))
	}
	if err != nil {
		return in, err
	}
	if in.Text = s.run.Redactor.String(in.Text); in.JSON != nil { // a retry gets the same bytes, and they are journaled
		in.JSON = []byte(s.run.Redactor.String(string(in.JSON)))
	}
	return in, nil
}

// readsText says whether the supervisor is a model that goes on in a conversation: it gets
// text. A program gets JSON.
func (s *Supervisor) readsText(e flow.Spawn) bool {
	p, err := s.run.Looker(e.Role)
	return e.From != "" || err == nil && s.program != nil && p.Adapter.Tool().Signals.Session
}

// CheckReady says what is wrong with the supervisor's reply that it is ready; "": nothing is.
func (s *Supervisor) CheckReady(reply *contract.CheckpointReply, session string) string {
	switch {
	case reply.Failed():
		return "it reports an error: " + reply.Message
	case s.run.State().Supervisor.Memory == event.InSession && session == "":
		return "it named no session, in which it could remember"
	default:
		return ""
	}
}

// Greeting is how a supervisor that is ready is announced.
func (s *Supervisor) Greeting() string { return s.briefing.Greeting(s.run.State().Supervisor) }

// CheckID says what is wrong with the name of the checkpoint in a reply; "": nothing is.
// A late line is no answer.
func (s *Supervisor) CheckID(e flow.Spawn, reply *contract.CheckpointReply) string {
	v, c := s.run.State().Supervisor, s.run.State().Step.Checkpoint
	if reply.ID == c.ID || reply.ID == "" && (s.readsText(e) || v.Memory != event.InProcess) {
		return ""
	}
	return fmt.Sprintf("task_id is %q, want %s", reply.ID, c.ID)
}

// SaveReport writes the report of a verdict, which an event names later.
func (s *Supervisor) SaveReport(reply *contract.CheckpointReply) error {
	c := *s.run.State().Step.Checkpoint
	return s.briefing.SaveReport(c, reply, s.run.Workspace.Tree().Written(s.tree, briefing.ReportName(c.ID)))
}

// Verdict is the event of a verdict.
func (s *Supervisor) Verdict(reply *contract.CheckpointReply) event.CheckpointHeld {
	held := s.briefing.Verdict(*s.run.State().Step.Checkpoint, reply)
	if reply.Verdict == "block" {
		held.Then = s.run.State().Supervisor.Plan.OnBlock
	}
	return held
}

// SaveSession notes in team-session.json what the supervisor knows by now.
func (s *Supervisor) SaveSession(e flow.Spawn) error {
	b, err := s.run.Workspace.Look()
	if err != nil {
		return nil // the next round says so
	}
	a, err := s.about(e, b)
	if err == nil {
		err = s.briefing.SaveSession(a, true)
	}
	return err
}

// GiveUp journals that the supervisor came to no verdict.
func (s *Supervisor) GiveUp(reason string) error {
	v := s.run.State().Supervisor
	missed := event.CheckpointMissed{Task: v.Plan.Role, Reason: reason, Then: v.Plan.OnBlock, BoardSHA: s.run.Workspace.SHA()}
	step := s.run.State().Step
	if step != nil {
		missed.Step, missed.Task = step.Number, step.Task
	}
	if missed.Then == event.BlockRevise && (step == nil || step.Checkpoint == nil) {
		missed.Then = event.BlockPerson // the Manager could not mend that
	}
	return s.run.Ledger.Record(missed)
}

// EndBoard writes onto the board that a checkpoint has ended it.
func (s *Supervisor) EndBoard(b *board.Board) error {
	after, err := s.run.Workspace.End(b)
	if err != nil {
		return err
	}
	task := s.run.State().Supervisor.Subject()
	if err := s.run.Ledger.Record(event.BoardEnded{Task: task, Before: b.SHA, BoardSHA: after.SHA, Current: b.Current.Path}); err != nil {
		return err
	}
	return s.run.Workspace.Save(after)
}

// WarnOfUnheld names the declared checkpoints that a complete board has not come to.
func (s *Supervisor) WarnOfUnheld(end flow.Finish) {
	if ids := s.run.State().Supervisor.NeverHeld(); len(ids) > 0 && end.Outcome == event.Complete {
		s.run.Observer.Notice(s.run.Board, fmt.Sprintf("checkpoints that were never held, since no run has finished their tasks: %s", names(ids)))
	}
}

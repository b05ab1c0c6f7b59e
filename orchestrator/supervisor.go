package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/briefing"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/roster"
)

// briefed has the briefing of the supervisor learn of each event that is committed.
type briefed struct {
	ledger.Observer
	briefing *briefing.Briefing
}

// Entry passes an event to both.
func (o briefed) Entry(board string, e flow.Entry) {
	o.briefing.Add(e)
	o.Observer.Entry(board, e)
}

// supervision is how the supervisor looks in, with the paths of tasks as agents see them, and how it remembers;
// nil: there is none.
func (r *run) supervision() (*flow.Supervision, *roster.Player, error) {
	if r.Supervision == nil {
		return nil, nil, nil
	}
	p, err := r.Looker(r.Supervision.Role)
	if err != nil {
		return nil, nil, &failure.Invalid{Err: err}
	}
	if p.Memory() == flow.InProcess {
		r.resident = attempt.NewResident(p.Assignment.Grace)
	}
	s := *r.Supervision
	s.Role, s.At = p.Role.Name, slices.Clone(s.At)
	for i, at := range s.At {
		s.At[i].After, s.At[i].Scope = r.Workspace.Seen(at.After), nil
		for _, task := range at.Scope {
			if seen := r.Workspace.Seen(task); !slices.Contains(s.At[i].Scope, seen) {
				s.At[i].Scope = append(s.At[i].Scope, seen)
			}
		}
	}
	return &s, p, nil
}

// noteLoss journals that the supervisor's program has died since its last call.
func (r *run) noteLoss() error {
	v := r.ledger.State().Supervisor
	if v == nil || v.Memory != flow.InProcess || !v.Ready || r.resident.Runs() {
		return nil
	}
	return r.ledger.Record(flow.SupervisorLost{Task: v.Plan.Role, Reason: "it ended between two checkpoints"})
}

// supervisorGone is closed when the supervisor's program dies while another agent is at work. Its own calls notice
// that themselves.
func (r *run) supervisorGone(c *call) <-chan struct{} {
	if r.resident == nil || c.Call.IsSupervision() {
		return nil
	}
	return r.resident.Gone()
}

// endResident ends the supervisor's program, if a fault of the run has left it.
func (r *run) endResident() error {
	if r.resident == nil {
		return nil
	}
	return r.resident.Close(r.kill)
}

// about is what the supervisor is told of its surroundings.
func (r *run) about(e flow.Spawn, b *board.Board) (briefing.About, error) {
	p, err := r.Looker(e.Role)
	if err != nil {
		return briefing.About{}, err
	}
	v := r.ledger.State().Supervisor
	done := make([]bool, b.Len())
	for i := range done {
		done[i] = b.Entry(i).Done()
	}
	a := briefing.About{Board: r.Board, Done: done, RoleSpec: p.Role.File, Requirement: v.Plan.Requirement, Tasks: r.Workspace.Tasks(b).Paths, Supervisor: v}
	if a.Requirement == "" && len(a.Tasks) > 0 {
		a.Requirement = a.Tasks[0]
	}
	return a, nil
}

// supervisorInput is what the supervisor is told by a call. All that has happened is on disk before.
func (r *run) supervisorInput(e flow.Spawn, b *board.Board) (contract.Input, error) {
	if err := r.ledger.Commit(); err != nil {
		return contract.Input{}, err
	}
	a, err := r.about(e, b)
	if err != nil {
		return contract.Input{}, err
	}
	if err := r.briefing.SaveSession(a, false); err != nil {
		return contract.Input{}, err
	}
	var in contract.Input
	if e.Call == flow.ReadyCall {
		in, err = contract.ForReady(r.briefing.Ready(a))
	} else {
		in, err = contract.ForCheckpoint(r.briefing.Checkpoint(a, *r.ledger.State().Step.Checkpoint), r.readsText(e))
	}
	if err != nil {
		return in, err
	}
	if in.Text = r.Redactor.String(in.Text); in.JSON != nil { // a retry gets the same bytes, and they are journaled
		in.JSON = []byte(r.Redactor.String(string(in.JSON)))
	}
	return in, nil
}

// readsText says whether the supervisor is a model that goes on in a conversation: it gets text. A program gets JSON.
func (r *run) readsText(e flow.Spawn) bool {
	p, err := r.Looker(e.Role)
	return e.From != "" || err == nil && r.resident != nil && p.Adapter.Tool().Signals.Session
}

// recordReady journals that the supervisor is ready.
func (r *run) recordReady(e ending) error {
	v, reply := r.ledger.State().Supervisor, e.out.Reply.Checkpoint
	switch {
	case reply.Failed():
		return r.recordRejection(e, contract.Failure{Reason: "it reports an error: " + reply.Message}, false)
	case v.Memory == flow.InSession && e.out.Session == "":
		return r.recordRejection(e, contract.Failure{Reason: "it named no session, in which it could remember"}, false)
	}
	accepted := r.replyAccepted(e)
	accepted.Message = r.briefing.Greeting(v)
	if err := r.appendAcceptance(e, accepted); err != nil {
		return err
	}
	return r.saveTold(e)
}

// recordCheckpoint journals the verdict of the supervisor. Its report is written before: what the journal names is
// there.
func (r *run) recordCheckpoint(e ending) error {
	c, v, reply := *r.ledger.State().Step.Checkpoint, r.ledger.State().Supervisor, e.out.Reply.Checkpoint
	if reply.Failed() {
		failed := flow.SupervisorFailed{AttemptRef: e.AttemptRef, Reason: flow.Clip(r.Redactor.String(reply.Message)), Errors: v.Errors + 1, Then: v.Plan.OnBlock,
			Left: r.boardLeft(), Millis: e.millis, Session: e.out.Session, Spent: e.spent}
		return errors.Join(r.appendAcceptance(e, failed), r.saveTold(e))
	}
	if reply.ID != c.ID && (reply.ID != "" || !r.readsText(e.Spawn) && v.Memory == flow.InProcess) { // a late line is no answer
		return r.recordRejection(e, contract.Failure{Reason: fmt.Sprintf("task_id is %q, want %s", reply.ID, c.ID)}, false)
	}
	if err := r.briefing.SaveReport(c, reply, r.Workspace.Tree().Written(r.tree, briefing.ReportName(c.ID))); err != nil {
		return errors.Join(r.recordStop(e, err.Error()), err)
	}
	failpoint.At("report-written")
	held := r.briefing.Verdict(c, reply)
	held.AttemptRef, held.Left, held.Millis, held.Session, held.Spent = e.AttemptRef, r.boardLeft(), e.millis, e.out.Session, e.spent
	if reply.Verdict == "block" {
		held.Then = v.Plan.OnBlock
	}
	if err := r.appendAcceptance(e, held); err != nil {
		return err
	}
	return r.saveTold(e)
}

// saveTold notes in team-session.json what the supervisor knows by now.
func (r *run) saveTold(e ending) error {
	b, err := r.Workspace.Look()
	if err != nil {
		return nil // the next round says so
	}
	a, err := r.about(e.Spawn, b)
	if err == nil {
		err = r.briefing.SaveSession(a, true)
	}
	return err
}

// violations are the files that have changed, and the processes that were left running, since a supervisor was
// first told to look, which may only read: seed 001, "Role Isolation Rules". Where its tool keeps it from writing,
// or a run of another board may have changed the tree, that accuses it of nothing, and is told.
func (r *run) violations(e ending) []string {
	if !e.Call.IsSupervision() || r.DryRun {
		return nil
	}
	report := ""
	if c := r.ledger.State().Step.Checkpoint; c != nil {
		report = briefing.ReportName(c.ID)
	}
	now := r.Workspace.Tree()
	files, sure := now.Changes(r.tree, r.briefing.Folder(), report)
	board := func(name string) bool { return name == r.Workspace.KanbanFile() }
	var doubtful []string
	switch {
	case e.player.IsConfined():
		sure, doubtful = nil, append(files, sure...)
	case !r.crowded && !now.HasNeighbours(r.tree):
		sure = append(files, sure...)
	default:
		if slices.ContainsFunc(files, board) {
			sure = append(sure, r.Workspace.KanbanFile())
		}
		doubtful = slices.DeleteFunc(files, board)
	}
	if !r.readsText(e.Spawn) { // a model's own tool starts what it needs
		for _, name := range e.out.Spawned {
			sure = append(sure, "process "+name)
		}
	}
	if len(doubtful) > 0 && len(sure) == 0 {
		r.Observer.Notice(r.Board, fmt.Sprintf("files changed while %s, most likely by a person or another run: %s", looking(e), names(doubtful)))
	}
	return sure
}

// lookAround notes what the files are before the first attempt of a supervisor's step.
func (r *run) lookAround(c *call) {
	if c.Call.IsSupervision() && !r.DryRun && r.treeOf != c.Step {
		r.tree, r.treeOf = r.Workspace.Tree(), c.Step
	}
}

// looking is what a supervisor did.
func looking(e ending) string {
	if e.Call == flow.ReadyCall {
		return e.Role + " got ready"
	}
	return e.Role + " looked at " + e.Task
}

// maxFiles bounds the changed files that are journaled.
const maxFiles = 50

// recordViolation journals that a verdict does not count. The board gets its bytes back.
func (r *run) recordViolation(e ending, files []string) error {
	step := r.ledger.State().Step
	text := fmt.Sprintf("SUPERVISOR_SCOPE_VIOLATION: %s changed or began while %s, and it may only read: its verdict does not count", names(files), looking(e))
	if r.boardLeft() != step.BoardSHA {
		if err := r.Workspace.PutBack(step.BoardSHA); err == nil {
			text += "; the board got its earlier bytes back"
		}
	}
	violated := flow.ScopeViolated{AttemptRef: e.AttemptRef, Files: files[:min(len(files), maxFiles)], Text: text, Left: r.boardLeft(),
		Millis: e.millis, Session: e.out.Session, Spent: e.spent}
	err := errors.Join(r.ledger.Record(violated), e.streamErr, r.keepStreams(e.AttemptRef))
	if e.out.Stopped && !e.out.OutOfTime {
		err = errors.Join(err, context.Cause(r.stop))
	}
	return err
}

// names lists some files.
func names(files []string) string {
	const most = 5
	text := strings.Join(files[:min(len(files), most)], ", ")
	if more := len(files) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// giveUpCheckpoint journals that the supervisor came to no verdict.
func (r *run) giveUpCheckpoint(reason string) error {
	v := r.ledger.State().Supervisor
	missed := flow.CheckpointMissed{Task: v.Plan.Role, Reason: reason, Then: v.Plan.OnBlock, BoardSHA: r.Workspace.SHA()}
	if step := r.ledger.State().Step; step != nil {
		missed.Step, missed.Task = step.Number, step.Task
	}
	if step := r.ledger.State().Step; missed.Then == flow.BlockRevise && (step == nil || step.Checkpoint == nil) {
		missed.Then = flow.BlockPerson // the Manager could not mend that
	}
	return r.ledger.Record(missed)
}

// endBoard writes onto the board that a checkpoint has ended it.
func (r *run) endBoard(b *board.Board) error {
	data, err := r.Workspace.End(b)
	if err != nil {
		return err
	}
	task := r.ledger.State().Supervisor.Subject()
	if err := r.ledger.Record(flow.BoardEnded{Task: task, Before: b.SHA, BoardSHA: board.SHA(data), Current: b.Current.Path}); err != nil {
		return err
	}
	return r.Workspace.Save(data)
}

// warnOfUnheld names the declared checkpoints that a complete board has not come to.
func (r *run) warnOfUnheld(end flow.Finish) {
	if ids := r.ledger.State().Supervisor.NeverHeld(); len(ids) > 0 && end.Outcome == flow.Complete {
		r.Observer.Notice(r.Board, fmt.Sprintf("checkpoints that were never held, since no run has finished their tasks: %s", names(ids)))
	}
}

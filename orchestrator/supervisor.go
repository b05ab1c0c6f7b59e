package orchestrator

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/briefing"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/ledger"
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

// supervision is how the supervisor looks in, with the paths of tasks as agents see them, and how it remembers; nil: there is none.
func (r *run) supervision() (*flow.Supervision, flow.Memory, error) {
	if r.Supervision == nil {
		return nil, "", nil
	}
	p, err := r.Player(r.Supervision.Role)
	if err != nil {
		return nil, "", &failure.Invalid{Err: err}
	}
	if p.Memory() == flow.InProcess {
		r.resident = attempt.NewResident(p.Assignment.Grace)
	}
	s := *r.Supervision
	s.Role, s.At = p.Role.Name, slices.Clone(s.At)
	for i, at := range s.At {
		s.At[i].After, s.At[i].Scope = r.Workspace.Seen(at.After), nil
		for _, task := range at.Scope {
			s.At[i].Scope = append(s.At[i].Scope, r.Workspace.Seen(task))
		}
	}
	return &s, p.Memory(), nil
}

// noteLoss journals that the supervisor's program has died since its last call.
func (r *run) noteLoss() error {
	v := r.ledger.State().Supervisor
	if v == nil || v.Memory != flow.InProcess || !v.Ready || r.resident.Runs() {
		return nil
	}
	return r.ledger.Record(flow.SupervisorLost{Task: v.Plan.Role, Reason: "it ended by itself"})
}

// supervisorGone is closed when the supervisor's program dies while another agent is at work. Its own calls notice that themselves.
func (r *run) supervisorGone(c *call) <-chan struct{} {
	if r.resident == nil || c.Call.IsSupervision() {
		return nil
	}
	return r.resident.Gone()
}

// dismissSupervisor ends the supervisor's program with the run: seed 001, "Shutdown Protocol". A run that is interrupted does not wait
// for its answer.
func (r *run) dismissSupervisor() error {
	if r.resident == nil || !r.resident.Runs() {
		return nil
	}
	var goodbye []byte
	request := shutdown{Type: "shutdown_request", ID: agent.NewMessageID()}
	if r.stop.Err() == nil {
		goodbye, _ = json.Marshal(request) // two strings have a form
	}
	r.slots.release()
	said, err := r.resident.Close(r.kill, goodbye, attempt.Sinks{Redactor: r.Redactor})
	r.slots.acquire()
	if goodbye == nil || r.ledger.State().Frozen != nil {
		return err
	}
	var answer shutdown
	approved := json.Unmarshal([]byte(said), &answer) == nil && answer.Type == "shutdown_response" && answer.ID == request.ID && answer.Approve
	v := r.ledger.State().Supervisor
	return errors.Join(err, r.ledger.Record(flow.SupervisorDismissed{Task: v.Plan.Role, Request: request.ID, Approved: approved}))
}

// endResident ends the supervisor's program, if a fault of the run has left it.
func (r *run) endResident() error {
	if r.resident == nil {
		return nil
	}
	_, err := r.resident.Close(r.kill, nil, attempt.Sinks{Redactor: r.Redactor})
	return err
}

// shutdown is what the supervisor is told at the end, and what it answers.
type shutdown struct {
	Type    string `json:"type"`
	ID      string `json:"request_id"`
	Approve bool   `json:"approve,omitempty"`
}

// about is what the supervisor is told of its surroundings.
func (r *run) about(e flow.Spawn, b *board.Board) (briefing.About, error) {
	p, err := r.Player(e.Role)
	if err != nil {
		return briefing.About{}, err
	}
	v := r.ledger.State().Supervisor
	a := briefing.About{Board: r.Board, RoleSpec: p.Role.File, Requirement: v.Plan.Requirement, Tasks: r.Workspace.Tasks(b).Paths, Supervisor: v}
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
	p, err := r.Player(e.Role)
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
	if violated := r.violations(e); violated != nil {
		return r.recordViolation(e, violated)
	}
	accepted := r.replyAccepted(e)
	accepted.Message = readyText(r.dir.BoardFile(), v, r.briefing.Reports(v))
	if err := r.appendAcceptance(e, accepted); err != nil {
		return err
	}
	return r.saveTold(e)
}

// readyText is what a supervisor says at its start: seed 001, "Step 3: Report Ready" and "Crash Recovery".
func readyText(session string, v *flow.Supervisor, reports int) string {
	if v.Started {
		return fmt.Sprintf("Recovered. Rebuilt context from %d previous checkpoint reports.", reports)
	}
	return fmt.Sprintf("Resident supervisor ready. Baseline loaded for session %s. Awaiting checkpoint assignments.", session)
}

// recordCheckpoint journals the verdict of the supervisor. Its report is written before: what the journal names is there.
func (r *run) recordCheckpoint(e ending) error {
	c, reply := *r.ledger.State().Step.Checkpoint, e.out.Reply.Checkpoint
	if violated := r.violations(e); violated != nil {
		return r.recordViolation(e, violated)
	}
	if reply.Failed() {
		failed := flow.SupervisorFailed{AttemptRef: e.AttemptRef, Reason: clip(r.Redactor.String(reply.Message)), Errors: r.ledger.State().Supervisor.Errors + 1,
			Left: r.boardLeft(), Millis: e.millis, Session: e.out.Session, Spent: e.spent}
		return r.appendAcceptance(e, failed)
	}
	if reply.ID != "" && reply.ID != c.ID {
		return r.recordRejection(e, contract.Failure{Reason: fmt.Sprintf("task_id is %s, want %s", reply.ID, c.ID)}, false)
	}
	if err := r.briefing.SaveReport(c, reply); err != nil {
		return errors.Join(r.recordStop(e, err.Error()), err)
	}
	failpoint.At("report-written")
	held := flow.CheckpointHeld{AttemptRef: e.AttemptRef, Risks: reply.Risks, Trend: clip(reply.Trend), Read: reply.Read, Left: r.boardLeft(),
		Millis: e.millis, Session: e.out.Session, Spent: e.spent,
		Data: flow.StateUpdate{Status: "task_complete", ID: c.ID, Report: r.briefing.ReportPath(c.ID), Findings: clipAll(reply.Findings),
			Decisions: decisions(reply), Verification: "self-validated", Verdict: reply.Verdict, Score: reply.Score}}
	if err := r.appendAcceptance(e, held); err != nil {
		return err
	}
	return r.saveTold(e)
}

// decisions are the supervisor's own, or what its verdict says: seed 001, "Step 7: Publish State".
func decisions(r *contract.CheckpointReply) []string {
	switch {
	case len(r.Decisions) > 0:
		return clipAll(r.Decisions)
	case r.Verdict == "block" && len(r.Findings) > 0:
		return []string{"Block: " + clip(r.Findings[0])}
	case r.Verdict == "block":
		return []string{"Block"}
	default:
		return []string{"Proceed"}
	}
}

// maxListed bounds the findings of a checkpoint that are journaled; its report has all.
const maxListed = 50

func clipAll(texts []string) []string {
	var all []string
	for _, t := range texts[:min(len(texts), maxListed)] {
		all = append(all, clip(t))
	}
	return all
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

// violations are the files that have changed while a supervisor looked, which may only read: seed 001, "Role Isolation Rules". Where its tool
// keeps it from writing, or a run of another board may have changed the tree, that accuses it of nothing, and is told.
func (r *run) violations(e ending) []string {
	if r.DryRun {
		return nil
	}
	own := ""
	if c := r.ledger.State().Step.Checkpoint; c != nil {
		own = briefing.ReportName(c.ID)
	}
	sure := r.Workspace.Tree().Changes(e.tree, own)
	var doubtful []string
	switch {
	case e.player.IsConfined():
		sure, doubtful = nil, sure
	case r.crowded || r.Workspace.HasNeighbours():
		sure, doubtful = r.ownFiles(sure)
	}
	if len(doubtful) > 0 {
		r.Observer.Notice(r.Board, fmt.Sprintf("files changed while %s looked at %s, most likely by a person or another run: %s", e.Role, e.Task, names(doubtful)))
	}
	return sure
}

// ownFiles are those that no run of another board changes, and the others.
func (r *run) ownFiles(files []string) (own, others []string) {
	for _, name := range files {
		if name == r.Workspace.KanbanFile() || strings.HasPrefix(name, "wisdom/") || strings.HasPrefix(name, "artifacts/") {
			own = append(own, name)
		} else {
			others = append(others, name)
		}
	}
	return own, others
}

// recordViolation journals that a verdict does not count. The board gets its bytes back.
func (r *run) recordViolation(e ending, files []string) error {
	step := r.ledger.State().Step
	text := fmt.Sprintf("SUPERVISOR_SCOPE_VIOLATION: %s changed while %s looked at %s, and it may only read: its verdict does not count", names(files), e.Role, e.Task)
	if r.boardLeft() != step.BoardSHA {
		if err := r.Workspace.PutBack(step.BoardSHA); err == nil {
			text += "; the board got its earlier bytes back"
		}
	}
	violated := flow.ScopeViolated{AttemptRef: e.AttemptRef, Files: files[:min(len(files), maxListed)], Text: text, Left: r.boardLeft(),
		Millis: e.millis, Session: e.out.Session, Spent: e.spent}
	return errors.Join(r.ledger.Record(violated), e.streamErr, r.keepStreams(e.AttemptRef))
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
	missed := flow.CheckpointMissed{Task: r.ledger.State().Supervisor.Plan.Role, Reason: reason}
	if step := r.ledger.State().Step; step != nil {
		missed.Step, missed.Task = step.Number, step.Task
	}
	return r.ledger.Record(missed)
}

// endBoard writes onto the board that a checkpoint has ended it.
func (r *run) endBoard(b *board.Board) error {
	data, err := r.Workspace.End(b)
	if err != nil {
		return err
	}
	v := r.ledger.State().Supervisor
	task := v.Block.ID
	if task == "" {
		task = v.Plan.Role
	}
	if err := r.ledger.Record(flow.BoardEnded{Task: task, Before: b.SHA, BoardSHA: board.SHA(data)}); err != nil {
		return err
	}
	return r.Workspace.Save(data)
}

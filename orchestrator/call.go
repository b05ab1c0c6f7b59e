package orchestrator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/review"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// call is one attempt: the effect that asks for it, and what its program is started with.
type call struct {
	flow.Spawn
	player  *roster.Player
	input   contract.Input
	intent  flow.AttemptStarted
	spec    attempt.Call
	streams []*rundir.Stream
	events  *rundir.Events
	signs   chan agent.Event // of the agent that are journaled: its session, and what becomes of messages
	duty    roster.Duty
	began   time.Time
}

// The signs of an agent that wait to be journaled are bounded; those beyond are dropped. One that can be told something has more.
const (
	fewSigns = 8
	maxSigns = 64
)

// prepareCall makes an attempt ready to start. It journals nothing but the beginning of a step.
func (r *run) prepareCall(e flow.Spawn, b *board.Board) (*call, error) {
	player, err := r.playerOf(e)
	if err != nil {
		return nil, &failure.Invalid{Err: err}
	}
	plan := player.Plan()
	if player = player.For(e.Call); player == nil {
		return nil, &failure.Invalid{Err: fmt.Errorf("the work of %s on %s waits for a review, and the role asks for none any more", e.Role, e.Task),
			Fix: "put review back into the role file, or give the step up: name another task as current"}
	}
	if r.ledger.State().Step == nil {
		if err := r.openStep(e, b); err != nil {
			return nil, err
		}
	}
	step := r.ledger.State().Step
	if step.Before == nil {
		if err := r.Workspace.KeepBefore(b); err != nil {
			return nil, err
		}
	}
	if e.GoesOn && (!player.Resumes || step.GoesOn.Adapter != player.Adapter.Name()) {
		e = r.ledger.State().Afresh()
	}
	c := &call{Spawn: e, player: player}
	switch {
	case e.Call.IsSupervision():
		c.duty = roster.Reviewing
	case e.Call.IsReview():
		c.duty = roster.Reviewing
	case b.InReview():
		c.duty = roster.ReviewPhase
	}
	c.intent = flow.AttemptStarted{AttemptRef: e.AttemptRef, Adapter: player.Adapter.Name(), Command: player.Shown, From: e.From, Fork: e.Fork,
		Resumes: player.Resumes, GoesOn: e.GoesOn}
	if e.Call == flow.TaskCall && !r.DryRun {
		c.intent.Plan = plan
	}
	if e.Call == flow.ManagerCall && step.Before == nil {
		c.intent.Before = &flow.Baseline{BoardSHA: b.SHA}
		if !b.Current.Null && b.Current.Set { // else the board is over
			c.intent.Before.Current = r.Workspace.Seen(b.Current.Path)
		}
	}
	if err := r.setInput(c, b); err != nil {
		return nil, err
	}
	return c, r.setSpec(c)
}

// playerOf is the program of a call.
func (r *run) playerOf(e flow.Spawn) (*roster.Player, error) {
	if e.Call.IsSupervision() {
		return r.Looker(e.Role)
	}
	if to := r.ledger.State().Substitute(); to != "" {
		return r.Roster.Substitute(e.Role, to, r.Dir())
	}
	return r.Player(e.Role)
}

// reassign gives the open call to the next agent of the settings: seed 002, "Reassignment Readiness".
func (r *run) reassign(e flow.Reassign) error {
	step := r.ledger.State().Step
	return r.ledger.Record(flow.Reassigned{Step: step.Number, Task: step.Task, Role: step.CallRole(), Call: step.Call, Number: e.Number, To: e.To, Reason: e.Reason})
}

func (r *run) openStep(e flow.Spawn, b *board.Board) error {
	r.opened, r.paused, r.said = r.Now(), 0, ""
	r.accounts = attempt.Accounts{} // no session but the supervisor's outlives its step
	index, of := r.Workspace.Position(b, e.Task)
	started := flow.StepStarted{Step: e.Step, Task: e.Task, Role: e.Role, BoardSHA: b.SHA, Index: index, Of: of, Mark: agent.NewMark()}
	if r.claimed.isOf(e) {
		started.Mark = r.claimed.mark
	}
	if clean := path.Clean(e.Task); clean != e.Task {
		started.Path = clean
	}
	if e.Call.IsSupervision() {
		started.Call, started.Checkpoint = e.Call, e.Checkpoint
	}
	return r.ledger.Append(started)
}

// setInput gives the first attempt of a call a new input, which the intent records, and each later
// attempt the same bytes: seed 004, "Retry Rule (CRITICAL)".
func (r *run) setInput(c *call, b *board.Board) (err error) {
	step := r.ledger.State().Step
	if step.Input != nil {
		c.input, err = r.restoreInput(step)
		return err
	}
	if c.input, err = r.newInput(c.Spawn, b); err != nil {
		return err
	}
	inline, rest, err := c.input.Journaled()
	if err != nil {
		return err
	}
	c.intent.Input = inline
	switch {
	case rest == nil:
	case c.input.Tasks != nil:
		c.intent.Stored, err = r.storeTasks(c.input.Tasks)
	default:
		c.intent.Stored, err = r.dir.Store(rest)
	}
	if err != nil {
		return err
	}
	if rest != nil {
		failpoint.At("input-stored")
	}
	r.input, r.inputOf = c.input, inputKey(step)
	return nil
}

// storedTasks is a list of tasks that is stored under its SHA-256.
type storedTasks struct {
	tasks *contract.TaskList
	sha   string
}

// storeTasks stores a list once for as long as it stays the same: a long one takes longer than the rest of a
// step.
func (r *run) storeTasks(tasks *contract.TaskList) (sha string, err error) {
	if r.stored.tasks != tasks {
		if sha, err = r.dir.Store(tasks.JSON()); err != nil {
			return "", err
		}
		r.stored = storedTasks{tasks, sha}
	}
	return r.stored.sha, nil
}

// newInput is the input of a call's first attempt, on the board as it is. It holds no secret: it is
// journaled, and a redacted retry would get other bytes.
func (r *run) newInput(e flow.Spawn, b *board.Board) (contract.Input, error) {
	kanban := r.Workspace.KanbanFile()
	if err := workspace.CheckSecrets(r.Redactor, e.Task, kanban); err != nil {
		return contract.Input{}, err
	}
	switch {
	case e.Call.IsSupervision():
		return r.supervisorInput(e, b)
	case e.Call == flow.ReviewCall:
		return r.reviewInput(e.Task, kanban)
	case e.From != "":
		return contract.Input{Text: r.Redactor.String(review.FormatFeedback(r.ledger.State().Step.Feedback))}, nil
	case e.Call == flow.CommandCall:
		return contract.ForTask(e.Task, kanban, "")
	case e.Call == flow.TaskCall:
		return contract.ForTask(e.Task, kanban, r.feedbackFor(e))
	}
	tasks := r.Workspace.Tasks(b)
	if secret := tasks.FindSecret(r.Redactor.Changes); secret != "" {
		return contract.Input{}, workspace.CheckSecrets(r.Redactor, secret)
	}
	var anomalies []contract.AnomalyReport
	if step := r.ledger.State().Step; step.Anomaly != nil {
		anomalies = []contract.AnomalyReport{contract.Report(cmp.Or(step.Anomaly.Executor, step.Role), *step.Anomaly)}
	}
	return contract.ForManager(kanban, e.Task, anomalies, tasks)
}

// feedbackFor is why the work of a task was sent back or its agent was ended, for an agent that does
// not go on in its session.
func (r *run) feedbackFor(e flow.Spawn) string {
	player, err := r.playerOf(e)
	step := r.ledger.State().Step
	if err != nil || !player.Role.Feedback {
		return ""
	}
	text := step.Advice
	if e.Round > 0 {
		text = strings.TrimSpace(step.Feedback + "\n\n" + text)
	}
	return r.Redactor.String(text)
}

// reviewInput tells a supervisor what the agent was asked for: its input, and the text of the task
// as it is now. Without a readable task the supervisor still has the session.
func (r *run) reviewInput(task, kanban string) (contract.Input, error) {
	in, err := contract.ForTask(task, kanban, "")
	if err != nil {
		return in, err
	}
	asked := []string{string(in.JSON)}
	if text, err := r.Workspace.Place.ReadText(task); err == nil {
		asked = append(asked, task+" is now:\n\n"+text)
	}
	return contract.Input{Text: r.Redactor.String(review.FormatRequest(asked))}, nil
}

// inputKey names the open call of a step, to which its input belongs.
func inputKey(s *flow.Step) flow.AttemptRef {
	return flow.AttemptRef{Step: s.Number, Call: s.Call, Round: s.Round}
}

// restoreInput is the input that earlier attempts of the open call got, from memory or from disk.
// Errors: [rundir.ErrNotStored].
func (r *run) restoreInput(step *flow.Step) (contract.Input, error) {
	if r.inputOf == inputKey(step) {
		return r.input, nil
	}
	in, err := r.readInput(step.Input, step.Stored)
	if err == nil {
		r.input, r.inputOf = in, inputKey(step)
	}
	return in, err
}

func (r *run) readInput(inline json.RawMessage, stored string) (contract.Input, error) {
	if stored == "" {
		return contract.Restore(inline, nil)
	}
	rest, err := r.dir.Stored(stored)
	if err != nil {
		return contract.Input{}, err
	}
	return contract.Restore(inline, rest)
}

// setSpec builds the invocation of the attempt, with its streams and its limit of time.
func (r *run) setSpec(c *call) error {
	a := c.player.Assignment
	a.Contract, a.Input, a.Scratch = contract.Of(c.Call), c.input.JSON, r.dir.Scratch()
	switch {
	case c.GoesOn:
		a.Follow = &agent.Follow{Session: c.From, Text: c.input.GoOn(r.ledger.State().Step.Advice)}
	case c.input.Text != "":
		a.Follow = &agent.Follow{Session: c.From, Fork: c.Fork, Text: c.input.Text}
	}
	if c.Call == flow.ManagerCall {
		a.Status = r.ledger.State().Step.TaskStatus
	}
	inv, err := r.invoke(c, a)
	if err != nil {
		return &failure.Invalid{Err: err}
	}
	c.intent.Digest = inv.Digest()
	c.signs = make(chan agent.Event, fewSigns)
	if inv.Listens {
		c.signs = make(chan agent.Event, maxSigns)
	}
	inv.Mark, inv.MaxOutput = agent.ParseMark(r.ledger.State().Step.Mark), r.MaxOutput
	stdout, stderr := r.dir.NewStream(string(c.Call), rundir.Stdout), r.dir.NewStream(string(c.Call), rundir.Stderr)
	c.streams = []*rundir.Stream{stdout, stderr}
	c.events = r.dir.NewEvents(c.Step)
	left, _ := r.ledger.State().TimeLeft()
	c.spec = attempt.Call{Adapter: c.player.Adapter, Invocation: inv, Contract: a.Contract, Tasks: c.input.Tasks,
		Sinks: attempt.Sinks{Stdout: stdout, Stderr: stderr, Redactor: r.Redactor}, Emit: r.emitterOf(c), Show: r.shower(c), TimeLimit: left}
	if c.Call.IsSupervision() {
		c.spec.Resident = r.resident
	}
	return nil
}

// invoke is how the program of a call is started, or what the supervisor's program that stays is told.
func (r *run) invoke(c *call, a agent.Assignment) (agent.Invocation, error) {
	if stays, ok := c.player.Adapter.(agent.Resident); ok && r.resident != nil && c.Call.IsSupervision() {
		return stays.Stay(a)
	}
	return c.player.Adapter.Invoke(a)
}

// emitterOf passes on what an agent does: what is journaled to the run, all of it to the observer and to
// the file of the step. A warning is a notice, which is shown also where agents are not: seed 003,
// "解析错误处理".
func (r *run) emitterOf(c *call) func(agent.Event) {
	return func(ev agent.Event) {
		if ev.Kind == agent.Session && attempt.IsSession(ev.ID) || isAboutMessage(ev) || ev.Missing != "" {
			select {
			case c.signs <- ev:
			default:
			}
		}
		if ev.Kind == agent.Warning {
			r.Observer.Notice(r.Board, strings.TrimPrefix(ev.String(), ev.Kind.String()+": "))
			return
		}
		sign := agent.Sign{AttemptRef: c.AttemptRef, Event: ev}
		r.Observer.Agent(r.Board, sign)
		c.keepSign(sign)
	}
}

func isAboutMessage(e agent.Event) bool {
	return e.Kind == agent.Heard || e.Kind == agent.Answered || e.Kind == agent.Dropped
}

// shower writes what the agent does for other programs. That it cannot be written changes nothing for the run.
func (r *run) shower(c *call) func(health.Live) {
	if r.DryRun {
		return nil
	}
	var mu sync.Mutex
	return func(l health.Live) {
		mu.Lock()
		defer mu.Unlock()
		if c.Call.IsReview() {
			l.WaitReason = "waiting_review"
		}
		if data, err := json.Marshal(health.LiveAttempt{AttemptRef: c.AttemptRef, Live: l}); err == nil {
			_ = rundir.ReplaceFile(r.dir.Live(), append(data, '\n'))
		}
	}
}

// keepSign keeps what the agent did for `kanban-run log --events`.
func (c *call) keepSign(s agent.Sign) {
	switch s.Kind {
	case agent.ToolStarted, agent.ToolEnded, agent.Retry, agent.Text, agent.Result:
		s.Text = agent.OneLine(s.Text)
		if data, err := json.Marshal(s); err == nil {
			c.events.Append(data)
		}
	}
}

// sweep removes what this attempt does not need any more: the streams of replies that are on disk
// by now and, with a Manager's first attempt, stored inputs.
func (r *run) sweep(c *call) {
	r.emptyStreams()
	if c.Call == flow.ManagerCall && c.intent.Input != nil {
		r.dir.SweepStored(c.intent.Stored)
	}
}

// emptyStreams forgets the streams of accepted replies.
func (r *run) emptyStreams() {
	for _, call := range r.accepted {
		r.dir.EmptyStreams(string(call))
	}
	r.accepted = nil
}

// keepStreams keeps what an attempt has printed.
func (r *run) keepStreams(ref flow.AttemptRef) error {
	return r.dir.KeepStreams(ref.Step, string(ref.Call), ref.Attempt)
}

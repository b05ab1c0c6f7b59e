package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
)

// startTurn is the beginning of StartAgent: one attempt of one call. The intent is on disk before the agent starts.
func (r *run) startTurn(e flow.StartAgent, b *board.Board) (*attempt, error) {
	if r.history.State.Step == nil {
		if err := r.openStep(e, b); err != nil {
			return nil, err
		}
	}
	role := e.Role
	if e.Call == flow.ManagerCall {
		role = flow.ManagerRole
	}
	player, err := r.player(role)
	if err != nil {
		return nil, &InvalidError{Err: err}
	}
	inv, err := r.intend(e, b, player)
	if err != nil {
		return nil, err
	}
	a := r.newAttempt(e, player)
	a.stop, a.done = r.timed()
	r.desk.leave()
	a.talk = r.talk(a.stop, player, inv, contractOf(e.Call), a.stdout, a.stderr)
	r.rest()
	return a, nil
}

// endTurn is the rest: the agent has ended, or has to be. The outcome is on disk before anything follows from it.
func (r *run) endTurn(a *attempt) error {
	defer a.done()
	out, err := r.work(a)
	a.out, a.took = out, r.job.Now().Sub(a.began) // before it waits for the others
	r.desk.take()
	r.fresh = nil
	return r.heard(a, err)
}

func (r *run) openStep(e flow.StartAgent, b *board.Board) error {
	r.opened = r.job.Now()
	r.accounts = nil // no session outlives its step
	index, of := r.position(b, e.Task)
	return r.note(flow.StepStarted{Step: e.Step, Task: e.Task, Role: e.Role, BoardSHA: b.SHA, Index: index, Of: of, Mark: agent.NewMark()})
}

// intend journals the intent and returns exactly what will be started.
func (r *run) intend(e flow.StartAgent, b *board.Board, player *Player) (*agent.Invocation, error) {
	intent := flow.AttemptStarted{Step: e.Step, Call: e.Call, Task: e.Task, Role: player.Role.Name, Attempt: e.Attempt,
		Adapter: player.Adapter.Name(), Command: player.Shown}
	input, err := r.callInput(e, b, &intent)
	if err != nil {
		return nil, err
	}
	if e.Call == flow.ManagerCall && r.history.State.Step.Before == nil {
		intent.Before = &flow.Baseline{BoardSHA: b.SHA, Current: r.seen(b.Current.Path)}
	}
	if r.history.State.Step.Before == nil {
		if err := r.keepBefore(b); err != nil {
			return nil, err
		}
	}
	inv, err := player.invoke(contractOf(e.Call), input, r.files.scratch())
	if err != nil {
		return nil, &InvalidError{Err: err}
	}
	intent.Digest, inv.Mark = inv.Digest(), agent.ParseMark(r.history.State.Step.Mark)
	inv.MaxOutput = r.setup.MaxOutput
	if input.list != nil {
		inv.Tasks = input.list.encode()
		inv.Room = r.roomFor(len(inv.Tasks))
	}
	if err := r.record(intent); err != nil {
		return nil, err
	}
	failpoint.At("intent-durable")
	return &inv, r.tidy(nil)
}

// roomFor is memory for a reply that most likely repeats a long list of so many bytes: the same for every step. What stands in it is
// kept or dropped before the next agent starts.
func (r *run) roomFor(list int) []byte {
	if list < isLong {
		return nil
	}
	if need := list + maxMessage; cap(r.room) < need {
		r.room = make([]byte, 0, need)
	}
	return r.room
}

func contractOf(c flow.Call) agent.Contract {
	if c == flow.ManagerCall {
		return agent.ManagerContract
	}
	return agent.TaskContract
}

// attempt is an attempt under way.
type attempt struct {
	flow.StartAgent
	player         *Player
	stop           context.Context // of the run, or when its time is over
	done           context.CancelFunc
	talk           *agent.Conversation
	began          time.Time
	took           time.Duration
	stdout, stderr *spool
	more           []*spool       // of the phases of a review
	limit          string         // the limit that ended it between two phases; ""
	failed         *agent.Failure // the attempt has nothing left of its time or its money; nil
	refused        string         // why a supervisor was not content in the end; "" when it was, or nobody looked
	out            *agent.Outcome
}

func (a *attempt) streams() []*spool { return append([]*spool{a.stdout, a.stderr}, a.more...) }

// timed is stop, which also ends when a limit of time is reached.
func (r *run) timed() (stop context.Context, done context.CancelFunc) {
	left, limited := r.history.State.TimeLeft()
	if !limited {
		return r.stop, func() {}
	}
	return context.WithTimeout(r.stop, left)
}

func (r *run) newAttempt(e flow.StartAgent, player *Player) *attempt {
	a := &attempt{StartAgent: e, player: player, began: r.job.Now()}
	a.stdout, a.stderr = r.newSpools(a, "")
	return a
}

// newSpools are for the streams of one program. phase tells those of a review apart.
func (r *run) newSpools(a *attempt, phase string) (stdout, stderr *spool) {
	name := filepath.Join("steps", stepName(a.Step), fmt.Sprintf("%s-%d%s", a.Call, r.history.State.Step.Running, phase))
	return newSpool(r.files.dir, name+".stdout"), newSpool(r.files.dir, name+".stderr")
}

// heard journals how a conversation ended.
func (r *run) heard(a *attempt, err error) error {
	failpoint.At("agent-gone")
	if err != nil {
		return r.broken(a, err)
	}
	return r.outcome(a)
}

// broken journals an attempt that ended with an error, which ends the run.
func (r *run) broken(a *attempt, err error) error {
	return errors.Join(r.stopped(a, err.Error()), keepAll(a.streams()), configError(a.player, err))
}

// configError marks what no retry can mend as invalid input: a command that does not exist, a login that expired. Where the agent lacks a
// variable that it was not given, that is what to do something about.
func configError(p *Player, err error) error {
	var c *agent.ConfigError
	if !errors.As(err, &c) {
		return err
	}
	for _, name := range p.Withheld {
		if strings.Contains(c.Text, name) {
			return &InvalidError{Err: err, Fix: fmt.Sprintf("kanban-run withholds %s from agents; env: {pass: [%s]} in .kanban-run.yaml passes it", name, name)}
		}
	}
	return &InvalidError{Err: err}
}

func (r *run) outcome(a *attempt) error {
	if a.out.Stopped {
		return r.halted(a)
	}
	if a.limit != "" {
		return errors.Join(r.stopped(a, a.limit), keepAll(a.streams()))
	}
	if a.refused != "" {
		return r.unsettled(a)
	}
	failure, disagreed := a.out.Failure, false
	var accepted flow.ReplyAccepted
	if failure == nil {
		var err error
		if accepted, failure, disagreed, err = r.judge(a.StartAgent, a.out.Reply); err != nil {
			return r.broken(a, err)
		}
	}
	if failure == nil {
		accepted.Role, accepted.Millis = a.player.Role.Name, a.took.Milliseconds()
		accepted.Session, accepted.Spent = a.out.Session, r.charge(a)
		if a.Call == flow.TaskCall {
			accepted.Left = r.left()
		}
		r.loose = append(r.loose, a.streams()...)
		err := r.note(accepted)
		failpoint.At("reply-noted")
		return err
	}
	return r.rejected(a, *failure, disagreed)
}

// unsettled journals work that its supervisor does not accept.
func (r *run) unsettled(a *attempt) error {
	if err := keepAll(a.streams()); err != nil {
		return err
	}
	return r.record(flow.ReviewFailed{Step: a.Step, Call: a.Call, Task: a.Task, Role: a.player.Role.Name, Attempt: a.Attempt, Rounds: a.player.rounds(),
		Reason: a.refused, Left: r.left(), Millis: a.took.Milliseconds(), Session: a.out.Session, Spent: r.charge(a)})
}

// halted journals an attempt that was ended from here. Where the runner itself goes on, it was a limit: the state says so now, and
// the run comes to its end by it.
func (r *run) halted(a *attempt) error {
	reason := "the run was stopped"
	if r.stop.Err() == nil && r.kill.Err() == nil {
		left, _ := r.history.State.TimeLeft()
		left += time.Duration(r.history.State.Step.Worked) * time.Millisecond // which is counted
		a.took = max(a.took, left)                                            // never a moment less than what the limit has left, by whatever clock
		reason = "the limit of time is reached"
	}
	return errors.Join(r.stopped(a, reason), keepAll(a.streams()), context.Cause(r.stop))
}

func (r *run) rejected(a *attempt, f agent.Failure, disagreed bool) error {
	if err := keepAll(a.streams()); err != nil {
		return err
	}
	out := a.out
	return r.record(flow.ReplyRejected{Step: a.Step, Call: a.Call, Task: a.Task, Role: a.player.Role.Name, Attempt: a.Attempt,
		Reason: f.Reason, Exit: out.Exit.String(), Left: r.left(), Received: out.Received, Stderr: out.Stderr,
		Output: r.files.output(a.Step), Disagreed: disagreed, Retries: r.history.State.Step.Rejected, Of: r.setup.Limits.MaxRetries,
		Millis: a.took.Milliseconds(), Session: out.Session, Spent: r.charge(a)})
}

func (r *run) stopped(a *attempt, reason string) error {
	return r.record(flow.AttemptStopped{Step: a.Step, Call: a.Call, Task: a.Task, Role: a.player.Role.Name, Attempt: a.Attempt,
		Reason: reason, Left: r.left(), Millis: a.took.Milliseconds(), Session: a.out.Session, Spent: r.charge(a)})
}

// left names the board's bytes as an attempt left them: what a person does to them later is not taken for the agent's doing. What a
// Manager left unreadable is put back now: nobody may be there to do it later.
func (r *run) left() string {
	if b, err := r.current(); err == nil {
		return b.SHA
	}
	return r.sha() // why the board cannot be read is said when it is needed
}

// activity shows what an agent does. What it warns of is said to everybody, also where no activity is shown: seed 003, "解析错误处理".
func (r *run) activity(ev agent.Event) {
	if ev.Kind == agent.Warning {
		r.job.Observer.Notice(r.job.Board, strings.TrimPrefix(ev.String(), ev.Kind.String()+": "))
		return
	}
	r.job.Observer.Activity(r.job.Board, ev.String())
}

// keepBefore puts the board's bytes aside before an agent may touch them. They need no sync: they are for an agent that breaks
// the board, not for a power cut.
func (r *run) keepBefore(b *board.Board) error {
	if r.kept == b.SHA {
		return nil
	}
	r.kept = b.SHA
	if err := overwritePrivate(r.files.before(), b.Source); err != nil {
		return fmt.Errorf("keep the board's bytes: %w", err)
	}
	return nil
}

// putBack replaces a board that the Manager left unreadable by the bytes that it had before the Manager's turn.
func (r *run) putBack() error {
	r.fresh = nil
	source, err := r.files.kept(r.history.State.Step.Before.BoardSHA)
	if err != nil {
		return err
	}
	// What the Manager put in the board's place may be a link: it is replaced, not followed.
	for _, path := range []string{r.path, r.job.Board} {
		if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() && !r.wasLink(path) {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return durable.WriteFile(r.path, source, 0o644)
}

// wasLink says whether the user named the board by a link and it still leads to the board.
func (r *run) wasLink(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	return path == r.job.Board && err == nil && real == r.path && path != r.path
}

func keepAll(streams []*spool) error { return each(streams, (*spool).keep) }
func dropAll(streams []*spool) error { return each(streams, (*spool).drop) }

func each(streams []*spool, do func(*spool) error) error {
	var errs []error
	for _, s := range streams {
		errs = append(errs, do(s))
	}
	return errors.Join(errs...)
}

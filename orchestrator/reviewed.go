package orchestrator

import (
	"context"
	"fmt"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/review"
)

// defaultRounds is how often a supervisor may send work back unless the role says otherwise.
const defaultRounds = 5

// reviewing is a supervisor's part in one attempt: seed 003, "Supervisor 主循环", without a person. Every phase is a program of its own: the
// agent's goes on in its session, the supervisor's in a fork of it.
type reviewing struct {
	*run
	a        *attempt
	stop     context.Context
	accounts agent.Accounts
	spent    *agent.Spending // by all phases so far, as far as they tell
	untold   bool            // one did not
	began    time.Time       // of the phase
}

// work ends the agent's part of a call, and has a supervisor look at it where the role says so, until it is content. The outcome is that
// of the agent's last phase.
func (r *run) work(a *attempt) (*agent.Outcome, error) {
	out, err := hear(a.talk, a.stdout)
	if err != nil || out.Reply == nil || a.Call != flow.TaskCall || !a.player.Role.Review || r.job.DryRun {
		return out, err
	}
	v := &reviewing{run: r, a: a, stop: a.stop, accounts: agent.Accounts{}, began: a.began}
	v.charge(out, "")
	out, err = v.review(out)
	out.Spent, out.Cumulative = v.spent, false
	return out, err
}

// review goes on until the supervisor is content, or has sent the work back too often.
func (v *reviewing) review(out *agent.Outcome) (*agent.Outcome, error) {
	most := v.a.player.rounds()
	for round := 1; ; round++ {
		if err := v.finished(round, out); err != nil {
			return out, err
		}
		verdict, err := v.supervise(round, out)
		if err != nil || verdict.Reply == nil {
			return v.unreviewed(out, verdict), err
		}
		said := verdict.Reply.Message
		completed := review.IsCompleted(said)
		if err := v.held(round, completed, verdict); err != nil || completed {
			return out, err
		}
		if v.a.limit = v.history.State.Reached(); v.a.limit != "" {
			return out, nil
		}
		if round > most {
			v.a.refused = fmt.Sprintf("the supervisor of %s is not content after %s: %s (the next run starts the task afresh; review_rounds of the role "+
				"says how often work may be sent back)", v.a.player.Role.Name, flow.Count(round, "round"), clip(said))
			return out, nil
		}
		if out, err = v.goOn(round, out.Session, said); err != nil || out.Reply == nil {
			if v.a.failed != nil {
				out.Failure = v.a.failed
			}
			return out, err
		}
	}
}

// supervise is a supervisor phase: seed 003, "Fork session 调用 Supervisor". One without a verdict is repeated, in a fork of its own: the
// agent's work need not be done again because of it.
func (v *reviewing) supervise(round int, out *agent.Outcome) (*agent.Outcome, error) {
	if out.Session == "" {
		return &agent.Outcome{Failure: agent.Failed("the agent named no session")}, nil
	}
	a := v.a.player.template
	a.Prompt, a.Contract = v.a.player.Supervisor, agent.ReviewContract
	a.Follow = &agent.Follow{Session: out.Session, Fork: true, Text: review.Ask(v.asked())}
	for try := 1; ; try++ {
		verdict, err := v.phase(fmt.Sprintf("review-%d.%d", round, try), a, out.Session)
		if err != nil || verdict.Failure == nil || v.a.failed != nil {
			return verdict, err
		}
		if err := v.missed(round, try, verdict); err != nil {
			return verdict, err
		}
		if try > v.setup.Limits.MaxRetries {
			v.a.refused = fmt.Sprintf("the supervisor of %s gave no verdict in %s; the last: %s", v.a.player.Role.Name, flow.Count(try, "attempt"), verdict.Failure.Reason)
			return verdict, nil
		}
		if v.a.limit = v.history.State.Reached(); v.a.limit != "" {
			return verdict, nil
		}
	}
}

// goOn is an agent phase that follows a verdict: seed 003, "Supervisor Phase → Agent Phase".
func (v *reviewing) goOn(round int, session, verdict string) (*agent.Outcome, error) {
	a := v.a.player.template
	a.Contract = contractOf(v.a.Call)
	a.Follow = &agent.Follow{Session: session, Text: review.Feedback(verdict)}
	return v.phase(fmt.Sprintf("work-%d", round+1), a, session)
}

// phase starts one program, in the session or in a fork of it. What it prints is kept, or dropped, with the rest of the attempt's streams.
// Time and money are those that the attempt has left: when they are used up, the attempt has failed.
func (v *reviewing) phase(name string, a agent.Assignment, session string) (*agent.Outcome, error) {
	if v.a.failed = v.ration(&a); v.a.failed != nil {
		return &agent.Outcome{Failure: v.a.failed}, nil
	}
	if a.MaxCost < 0 {
		return &agent.Outcome{}, &agent.LimitError{Text: "the attempt reached max_cost, reviews included"}
	}
	a.Scratch = v.files.scratch()
	inv, err := v.a.player.Adapter.Invoke(a)
	if err != nil {
		return &agent.Outcome{}, &InvalidError{Err: err}
	}
	inv.Mark, inv.MaxOutput = agent.ParseMark(v.history.State.Step.Mark), v.setup.MaxOutput
	stdout, stderr := v.newSpools(v.a, "-"+name)
	v.a.more = append(v.a.more, stdout, stderr)
	v.began = v.job.Now()
	talk := v.talk(v.stop, v.a.player, &inv, a.Contract, stdout, stderr)
	talk.Wait()
	out, err := hear(talk, stdout)
	v.charge(out, session)
	if out.Exit.TimedOut {
		v.a.failed = v.ration(&a)
	}
	return out, err
}

// ration gives a phase what the attempt may still use: MaxCost is below zero where there is no money. It fails when there is no time.
func (v *reviewing) ration(a *agent.Assignment) *agent.Failure {
	whole := v.a.player.template
	if whole.Timeout > 0 {
		if a.Timeout = whole.Timeout - v.job.Now().Sub(v.a.began); a.Timeout <= 0 {
			return agent.Failed("timed out after %v, reviews included", whole.Timeout)
		}
	}
	if whole.MaxCost > 0 && v.spent != nil && v.spent.Cost != nil {
		if a.MaxCost = whole.MaxCost - *v.spent.Cost; a.MaxCost == 0 {
			a.MaxCost = -1
		}
	}
	return nil
}

// talk starts one program and has its streams kept.
func (r *run) talk(stop context.Context, p *Player, inv *agent.Invocation, c agent.Contract, stdout, stderr *spool) *agent.Conversation {
	return agent.Begin(stop, r.kill, p.Adapter, inv, c, agent.Sinks{Stdout: stdout, Stderr: stderr, Redactor: r.setup.Redactor}, r.activity)
}

// hear ends what talk began.
func hear(talk *agent.Conversation, stdout *spool) (*agent.Outcome, error) {
	out, err := talk.End()
	stdout.rest = out.Rest
	return out, err
}

// finished journals the end of an agent phase: should the run die, nobody can tell later what it came to.
func (v *reviewing) finished(round int, out *agent.Outcome) error {
	return v.journal(flow.WorkFinished{Step: v.a.Step, Call: v.a.Call, Task: v.a.Task, Role: v.a.player.Role.Name, Attempt: v.a.Attempt, Round: round,
		Session: out.Session, Millis: v.job.Now().Sub(v.began).Milliseconds(), Spent: spendingOf(v.spent), Worked: v.worked()})
}

// worked is how long the attempt has been at work, in milliseconds.
func (v *reviewing) worked() int64 { return v.job.Now().Sub(v.a.began).Milliseconds() }

func (v *reviewing) journal(e flow.Event) error {
	v.desk.take()
	defer v.desk.leave()
	return v.record(e)
}

// held journals a verdict, with what it took to get there.
func (v *reviewing) held(round int, completed bool, verdict *agent.Outcome) error {
	e := flow.ReviewHeld{Step: v.a.Step, Call: v.a.Call, Task: v.a.Task, Role: v.a.player.Role.Name, Attempt: v.a.Attempt, Round: round, Completed: completed,
		Feedback: clip(verdict.Reply.Message), Session: verdict.Session, Millis: v.job.Now().Sub(v.began).Milliseconds(), Spent: spendingOf(v.spent), Worked: v.worked()}
	return v.journal(e)
}

// missed journals that a supervisor gave no verdict, with what it took all the same: seed 003's loop may go on for long without one.
func (v *reviewing) missed(round, try int, verdict *agent.Outcome) error {
	return v.journal(flow.VerdictMissed{Step: v.a.Step, Call: v.a.Call, Task: v.a.Task, Role: v.a.player.Role.Name, Attempt: v.a.Attempt, Round: round,
		Try: try, Of: v.setup.Limits.MaxRetries + 1, Reason: verdict.Failure.Reason, Session: verdict.Session,
		Millis: v.job.Now().Sub(v.began).Milliseconds(), Spent: spendingOf(v.spent), Worked: v.worked()})
}

// unreviewed is the outcome of an attempt whose work nobody could look at: there is no verdict, so there is no reply either.
func (v *reviewing) unreviewed(out, verdict *agent.Outcome) *agent.Outcome {
	last := *verdict
	last.Session = out.Session
	switch {
	case v.a.failed != nil:
		last.Failure = v.a.failed
	case verdict.Failure != nil:
		last.Failure = agent.Failed("the supervisor gave no verdict: %s", verdict.Failure.Reason)
	}
	return &last
}

// charge counts what a phase came to.
func (v *reviewing) charge(out *agent.Outcome, parent string) {
	own := v.accounts.Charge(out, parent)
	v.untold = v.untold || own == nil || own.Cost == nil
	var sum agent.Spending
	switch {
	case own == nil && v.spent == nil:
		return
	case own == nil:
		sum = *v.spent
	case v.spent == nil:
		sum = *own
	default:
		sum = *v.spent
		sum.Add(*own)
	}
	sum.Partial = sum.Partial || v.untold
	v.spent = &sum
}

// asked is what the agent was asked for: its input, and the task in it as it stands now.
func (v *reviewing) asked() []string {
	asked := []string{string(v.history.State.Step.Input)}
	text, err := v.place.ReadText(v.a.Task)
	if err != nil {
		return asked // the supervisor has the session, and will find out
	}
	return append(asked, v.a.Task+" is now:\n\n"+text)
}

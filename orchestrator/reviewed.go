package orchestrator

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	began    time.Time       // of the phase
}

// work has the agent do its part of a call, and a supervisor look at it where the role says so, until it is content. The outcome is that
// of the agent's last phase.
func (r *run) work(stop context.Context, a *attempt, inv *agent.Invocation) (*agent.Outcome, error) {
	out, err := r.talk(stop, a.player, inv, contractOf(a.Call), a.stdout, a.stderr)
	if err != nil || out.Reply == nil || a.Call != flow.TaskCall || !a.player.Role.Review || r.job.DryRun {
		return out, err
	}
	v := &reviewing{run: r, a: a, stop: stop, accounts: agent.Accounts{}}
	v.charge(out, "")
	out, err = v.review(out)
	out.Spent, out.Cumulative = v.spent, false
	return out, err
}

// review goes on until the supervisor is content, or has sent the work back too often.
func (v *reviewing) review(out *agent.Outcome) (*agent.Outcome, error) {
	most := v.a.player.rounds()
	for round := 1; ; round++ {
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
			v.a.refused = fmt.Sprintf("the supervisor of %s sent the work back %s and is still not content: %s", v.a.Task, times(most), clip(said))
			return out, nil
		}
		if out, err = v.goOn(round, out.Session, said); err != nil || out.Reply == nil {
			return out, err
		}
	}
}

// supervise is a supervisor phase: seed 003, "Fork session 调用 Supervisor".
func (v *reviewing) supervise(round int, out *agent.Outcome) (*agent.Outcome, error) {
	if out.Session == "" {
		return &agent.Outcome{Failure: agent.Failed("the agent named no session")}, nil
	}
	a := v.a.player.template
	a.Prompt, a.Contract = v.a.player.Supervisor, agent.ReviewContract
	a.Follow = &agent.Follow{Session: out.Session, Fork: true, Text: review.Ask(v.asked())}
	verdict, err := v.phase(fmt.Sprintf("review-%d", round), a)
	v.charge(verdict, out.Session)
	return verdict, err
}

// goOn is an agent phase that follows a verdict: seed 003, "Supervisor Phase → Agent Phase".
func (v *reviewing) goOn(round int, session, verdict string) (*agent.Outcome, error) {
	a := v.a.player.template
	a.Contract = contractOf(v.a.Call)
	a.Follow = &agent.Follow{Session: session, Text: review.Feedback(verdict)}
	out, err := v.phase(fmt.Sprintf("work-%d", round+1), a)
	v.charge(out, session)
	return out, err
}

// phase starts one program. What it prints is kept, or dropped, with the rest of the attempt's streams.
func (v *reviewing) phase(name string, a agent.Assignment) (*agent.Outcome, error) {
	a.Scratch = v.files.scratch()
	inv, err := v.a.player.Adapter.Invoke(a)
	if err != nil {
		return &agent.Outcome{}, &InvalidError{Err: err}
	}
	inv.Mark, inv.MaxOutput = agent.ParseMark(v.history.State.Step.Mark), v.setup.MaxOutput
	stdout, stderr := v.newSpools(v.a, "-"+name)
	v.a.more = append(v.a.more, stdout, stderr)
	v.began = v.job.Now()
	return v.talk(v.stop, v.a.player, &inv, a.Contract, stdout, stderr)
}

// talk starts one program and has its streams kept.
func (r *run) talk(stop context.Context, p *Player, inv *agent.Invocation, c agent.Contract, stdout, stderr *spool) (*agent.Outcome, error) {
	out, err := agent.Converse(stop, r.kill, p.Adapter, inv, c, agent.Sinks{Stdout: stdout, Stderr: stderr, Redactor: r.setup.Redactor}, r.activity)
	stdout.rest = out.Rest
	return out, err
}

// held journals a verdict, with what it took to get there.
func (v *reviewing) held(round int, completed bool, verdict *agent.Outcome) error {
	e := flow.ReviewHeld{Step: v.a.Step, Call: v.a.Call, Task: v.a.Task, Role: v.a.player.Role.Name, Attempt: v.a.Attempt, Round: round, Completed: completed,
		Feedback: clip(verdict.Reply.Message), Session: verdict.Session, Millis: v.job.Now().Sub(v.began).Milliseconds(), Spent: spendingOf(v.spent)}
	v.desk.take()
	defer v.desk.leave()
	return v.record(e)
}

// unreviewed is the outcome of an attempt whose work nobody could look at: there is no verdict, so there is no reply either.
func (v *reviewing) unreviewed(out, verdict *agent.Outcome) *agent.Outcome {
	last := *verdict
	last.Session = out.Session
	if verdict.Failure != nil {
		last.Failure = agent.Failed("the supervisor gave no verdict: %s", verdict.Failure.Reason)
	}
	return &last
}

// charge counts what a phase came to.
func (v *reviewing) charge(out *agent.Outcome, parent string) {
	own := v.accounts.Charge(out, parent)
	if own == nil {
		return
	}
	if v.spent == nil {
		v.spent = &agent.Spending{}
	}
	v.spent.Add(*own)
}

// asked is what the agent was asked for: its input, and the task in it as it stands now.
func (v *reviewing) asked() []string {
	asked := []string{string(v.history.State.Step.Input)}
	f, err := os.Open(filepath.Join(v.place.Dir(), filepath.FromSlash(v.a.Task)))
	if err != nil {
		return asked // the supervisor has the session, and will find out
	}
	defer f.Close()
	if text, err := io.ReadAll(io.LimitReader(f, maxTask)); err == nil {
		asked = append(asked, v.a.Task+" is now:\n\n"+string(text))
	}
	return asked
}

// maxTask is how much of a task file the supervisor is told, in bytes: it can read the rest.
const maxTask = 64 << 10

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/roster"
)

// judge is an agent that answers the questions of the reboot test about a hung agent. Both agents
// run at the same time, because the judge may decide to leave the hung agent alone.
type judge struct {
	player     *roster.Player
	invocation agent.Invocation
	anomaly    event.Anomaly // anomaly of the hung agent
	accounts   attempt.Accounts

	attempt int       // number of the attempt at work
	began   time.Time // start of that attempt
	asked   time.Time // start of the first attempt
	void    string    // reason why the judge's answers do not count; "": they count

	stopped context.Context // when it is done, the judge is asked to end
	end     context.CancelCauseFunc
	limit   *proc.Timer // timer that ends a slow judge; nil: only the role's timeout ends it
}

// Judgement is the end of one attempt of a judge.
type Judgement struct {
	ended *attempt.Ended
	err   error
}

// verdict has the answers of a judge for the next check.
type verdict struct {
	answers []event.Answer // nil: the judge gave no answer
	advice  string
	at      time.Time
}

// makeTest makes the reboot test of a hung agent. If the settings name a judge, the judge answers
// the questions of the test. If there is no judge or no answer, the evidence of the watch decides.
func (w *Watch) makeTest(f health.Finding) error {
	e := w.reboot(f)
	switch {
	case w.judge != nil:
		return nil
	case w.policy.Judge != "" && w.verdict == nil && w.asked.IsZero():
		return w.askJudge(e)
	default:
		return w.decide(e)
	}
}

// askJudge starts a judge. If the judge cannot be started, the evidence decides.
func (w *Watch) askJudge(e event.RebootTested) error {
	player, inv, err := w.prepareJudge(e)
	if err != nil {
		return errors.Join(w.goOnWithoutJudge(err.Error()), w.decide(e))
	}
	j := &judge{player: player, invocation: inv, anomaly: e.Anomaly, accounts: attempt.Accounts{}, asked: w.Now()}
	if j.stopped, j.end = context.WithCancelCause(w.Stop); w.policy.Consent > 0 {
		j.limit = proc.AfterFunc(w.policy.Consent,
			func() { j.end(fmt.Errorf("it has not answered within %s", w.policy.Consent)) })
	}
	return w.startJudge(j)
}

// goOnWithoutJudge journals the reason why no attempt of a judge is started.
func (w *Watch) goOnWithoutJudge(reason string) error {
	w.verdict = &verdict{at: w.Now()}
	return w.Journal.Record(event.JudgeAnswered{AttemptRef: w.agent.AttemptRef, Judge: w.policy.Judge, Reason: reason})
}

// startJudge starts the next attempt of a judge. Each attempt gets the same input: seed 004, "Retry
// Rule (CRITICAL)".
func (w *Watch) startJudge(j *judge) error {
	j.attempt++
	j.began = w.Now()
	mark := agent.NewMark()
	asked := event.JudgeAsked{AttemptRef: w.agent.AttemptRef, Anomaly: j.anomaly, Judge: j.player.Role.Name,
		Adapter: j.player.Adapter.Name(), Command: j.player.Shown, Try: j.attempt, Mark: mark}
	if err := w.Journal.Record(asked); err != nil {
		j.stop(nil)
		return err
	}
	spec := attempt.Spec{Adapter: j.player.Adapter, Invocation: j.invocation, Contract: contract.Judge,
		Sinks: attempt.Sinks{Redactor: w.Redactor}}
	spec.Invocation.Mark, spec.Invocation.MaxOutput = agent.ParseMark(mark), w.Run.MaxOutput
	judged := make(chan Judgement, 1)
	w.judge, w.Judged = j, judged
	go func() {
		ended, err := w.Ask(j.stopped, w.Kill, spec)
		judged <- Judgement{ended, err}
	}()
	return nil
}

func (j *judge) stop(why error) {
	j.end(why)
	if j.limit != nil {
		j.limit.Stop()
	}
}

// prepareJudge finds the judge's program, and builds the invocation of the program.
func (w *Watch) prepareJudge(e event.RebootTested) (*roster.Player, agent.Invocation, error) {
	if limit := w.limit(); limit != "" {
		return nil, agent.Invocation{}, errors.New(limit)
	}
	player, err := w.Roster.ReadOnlyPlayer(w.policy.Judge)
	if err == nil {
		err = w.Trust.RefuseInTurn(player)
	}
	if err != nil {
		return nil, agent.Invocation{}, err
	}
	e = event.Redacted(e, w.Redactor.String)
	in, err := contract.ForJudge(w.agent.AttemptRef, w.Kanban, e.Anomaly, e.Answers)
	if err != nil {
		return nil, agent.Invocation{}, err
	}
	a := player.Assignment
	a.Contract, a.Input, a.Scratch = contract.Judge, in.JSON, w.Folder.Scratch()
	inv, err := player.Adapter.Invoke(a)
	return player, inv, err
}

func answersOf(r *contract.JudgeReply) (all []event.Answer) {
	for i, a := range r.Answers() {
		all = append(all, event.Answer{Question: health.Questions[i], Yes: a.Yes, Evidence: a.Evidence})
	}
	return all
}

// OnJudgement journals the end of an attempt of the judge. After an invalid reply the next attempt
// follows, if a retry is left. If the judge wants to leave the agent alone, the agent goes on and
// gets the judge's advice. This is possible only once in an attempt of the agent, and only if the
// agent takes messages. In all other cases the answers decide at the next check. Void answers have
// no effect.
func (w *Watch) OnJudgement(g Judgement) error {
	j := w.judge
	w.judge, w.Judged = nil, nil
	e := w.answerOf(j, g)
	if e.Invalid && j.void == "" && j.attempt <= w.Journal.State().Limits.MaxRetries {
		return w.askAgain(j, e)
	}
	j.stop(nil)
	if e.Reason == "" && !w.spared && w.agent.Listens {
		e.Decision = health.Spare(e.Answers)
	}
	err := w.Journal.Record(e)
	switch {
	case j.void != "":
	case e.Decision == "":
		w.verdict = &verdict{answers: e.Answers, advice: e.Advice, at: w.Now()}
	default:
		w.spared = true
		w.monitor.Restart(w.Now())
		err = errors.Join(err, w.send(event.MessageSent{ID: agent.NewMessageID(), Type: event.AssistOffer,
			Content: event.Content{Assistance: health.AssistanceOf(e.Answers), Details: e.Advice}}))
	}
	return err
}

// askAgain journals the end of an attempt without a valid reply, and starts the next attempt. No
// attempt is started if the time of the judge is over, or if a limit is reached.
func (w *Watch) askAgain(j *judge, e event.JudgeAnswered) error {
	if err := w.Journal.Record(e); err != nil {
		j.stop(nil)
		return err
	}
	reason := w.limit()
	if j.stopped.Err() != nil {
		reason = context.Cause(j.stopped).Error()
	}
	if reason != "" {
		j.stop(nil)
		return w.goOnWithoutJudge(reason)
	}
	return w.startJudge(j)
}

// limit returns in words a limit that is reached, so that no judge is started, or "".
func (w *Watch) limit() string {
	return cmp.Or(w.Journal.State().Reached(w.agent.Task), w.Bound())
}

// answerOf returns the event for the end of an attempt of the judge, and adds the attempt's use to
// that of the run.
func (w *Watch) answerOf(j *judge, g Judgement) event.JudgeAnswered {
	took := w.Now().Sub(j.began)
	if g.ended != nil {
		took -= g.ended.Paused + g.ended.Frozen
	}
	e := event.JudgeAnswered{AttemptRef: w.agent.AttemptRef, Judge: j.player.Role.Name,
		Adapter: j.player.Adapter.Name(), Command: j.player.Shown, Try: j.attempt,
		Millis: event.Millis(took), Spent: j.accounts.Charge(g.ended, "").Journaled()}
	if j.player.Adapter.Tool().Free {
		e.Spent = &event.Spending{Free: true}
	}
	w.Used.Add(e.Millis, e.Spent)
	switch {
	case g.err != nil:
		e.Reason = g.err.Error()
	case g.ended.IsStopped():
		e.Reason = context.Cause(j.stopped).Error()
	case g.ended.Failure == nil:
		e.Answers, e.Advice, e.Reason = answersOf(g.ended.Reply.Judge), g.ended.Reply.Message, j.void
		e.Warning = g.ended.Warning
	default:
		// What is declined, or too long, would be so again.
		c := g.ended.Class
		e.Reason, e.Invalid = g.ended.Failure.Reason, c != event.ClassDeclined && c != event.ClassTooLong
	}
	return event.Redacted(e, func(text string) string { return event.Clip(w.Redactor.String(text)) })
}

// Dismiss ends the judge because the hung agent has ended, and waits for the judge's end.
// [Watch.End] journals that end.
func (w *Watch) Dismiss() {
	if w.judge == nil {
		return
	}
	w.judge.void = "the agent that it judges has ended"
	w.judge.stop(errors.New(w.judge.void))
	g := <-w.Judged
	w.Judged <- g
}

package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/roster"
)

// judge is an agent that answers the questions of the reboot test about a hung agent. Both agents
// run at the same time, because the judge may decide to leave the hung agent alone.
type judge struct {
	player *roster.Player
	mark   string
	began  time.Time
	void   string // reason why the judge's answers do not count; "": they count
	end    context.CancelCauseFunc
	limit  *time.Timer // timer that ends a slow judge; nil: only the role's timeout ends it
}

// Verdict has the answers of a judge, or the reason for their absence.
type Verdict struct {
	answers []event.Answer // nil: the judge gave no answer
	advice  string
	reason  string // reason why the judge gave no answer
	at      time.Time
	tries   int
	spent   *agent.Spending // spending of all tries; nil: the judge's tool does not report it
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
		w.verdict = &Verdict{at: w.Now()}
		none := event.JudgeAnswered{AttemptRef: w.agent.AttemptRef, Judge: w.policy.Judge, Reason: err.Error()}
		return errors.Join(w.Journal.Record(none), w.decide(e))
	}
	j := &judge{player: player, mark: agent.NewMark(), began: w.Now()}
	asked := event.JudgeAsked{AttemptRef: w.agent.AttemptRef, Anomaly: e.Anomaly, Judge: player.Role.Name,
		Adapter: player.Adapter.Name(), Command: player.Shown, Mark: j.mark}
	if err := w.Journal.Record(asked); err != nil {
		return err
	}
	inv.Mark, inv.MaxOutput = agent.ParseMark(j.mark), w.MaxOutput
	stop, end := context.WithCancelCause(w.Stop)
	if j.end = end; w.policy.Consent > 0 {
		j.limit = time.AfterFunc(w.policy.Consent,
			func() { end(fmt.Errorf("it has not answered within %s", w.policy.Consent)) })
	}
	w.judge, w.Judged = j, make(chan *Verdict, 1)
	spec := attempt.Spec{Adapter: player.Adapter, Invocation: inv, Contract: contract.Judge,
		Sinks: attempt.Sinks{Redactor: w.Redactor}}
	go func(done chan<- *Verdict, retries int) { done <- askForAnswers(stop, w.Kill, w.Run, spec, retries) }(w.Judged,
		w.Journal.State().Limits.MaxRetries)
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
	if limit := w.Journal.State().Reached(w.agent.Task); limit != "" {
		return nil, agent.Invocation{}, errors.New(limit)
	}
	player, err := w.Roster.ReadOnlyPlayer(w.policy.Judge)
	if err != nil {
		return nil, agent.Invocation{}, err
	}
	e = event.Redacted(e, w.Redactor.String).(event.RebootTested)
	in, err := contract.ForJudge(w.agent.AttemptRef, w.Kanban, e.Anomaly, e.Answers)
	if err != nil {
		return nil, agent.Invocation{}, err
	}
	a := player.Assignment
	a.Contract, a.Input, a.Scratch = contract.Judge, in.JSON, w.Folder.Scratch()
	inv, err := player.Adapter.Invoke(a)
	return player, inv, err
}

// askForAnswers runs a judge until a reply is valid, but at most 1+retries times: seed 004, "Retry
// Rule (CRITICAL)".
func askForAnswers(stop, kill context.Context, run Run, s attempt.Spec, retries int) *Verdict {
	v, accounts, told := &Verdict{}, attempt.Accounts{}, 0
	for v.tries = 1; ; v.tries++ {
		out, err := run(stop, kill, s)
		if spent := accounts.Charge(out, ""); spent != nil {
			if v.spent == nil {
				v.spent = &agent.Spending{}
			}
			v.spent.Add(*spent)
			told++
		}
		if v.spent != nil && told < v.tries {
			v.spent.Partial = true
		}
		switch {
		case err != nil:
			v.reason = err.Error()
		case out.Stopped:
			v.reason = context.Cause(stop).Error()
		case out.Failure == nil:
			v.answers, v.advice = answersOf(out.Reply.Judge), out.Reply.Message
		case v.tries <= retries:
			continue
		default:
			v.reason = fmt.Sprintf("no valid reply in %s; the last: %s", event.Count(v.tries, "attempt"),
				out.Failure.Reason)
		}
		return v
	}
}

func answersOf(r *contract.JudgeReply) (all []event.Answer) {
	for i, a := range r.Answers() {
		all = append(all, event.Answer{Question: health.Questions[i], Yes: a.Yes, Evidence: a.Evidence})
	}
	return all
}

// OnVerdict journals the verdict of the judge. If the judge wants to leave the agent alone, the
// agent goes on and gets the judge's advice. This is possible only once in an attempt, and only if
// the agent takes messages. In all other cases the answers decide at the next check. Void answers
// have no effect.
func (w *Watch) OnVerdict(v *Verdict) error {
	j := w.judge
	w.judge, w.Judged = nil, nil
	j.stop(nil)
	e := event.JudgeAnswered{AttemptRef: w.agent.AttemptRef, Judge: j.player.Role.Name,
		Adapter: j.player.Adapter.Name(), Command: j.player.Shown, Answers: v.answers,
		Advice: v.advice, Reason: v.reason, Tries: v.tries, Millis: w.Now().Sub(j.began).Milliseconds(),
		Spent: v.spent.Journaled()}
	if j.player.Adapter.Tool().Free {
		e.Spent = &event.Spending{Free: true}
	}
	w.Used.Add(e.Millis, e.Spent)
	e = event.Redacted(e, func(text string) string { return event.Clip(w.Redactor.String(text)) }).(event.JudgeAnswered)
	if v.answers != nil {
		e.Reason = j.void
	}
	if e.Reason == "" && !w.spared && w.agent.Listens {
		e.Decision = health.Spare(e.Answers)
	}
	err := w.Journal.Record(e)
	switch {
	case j.void != "":
	case e.Decision == "":
		w.verdict = &Verdict{answers: e.Answers, advice: e.Advice, at: w.Now()}
	default:
		w.spared = true
		w.monitor.Restart(w.Now())
		err = errors.Join(err, w.send(event.MessageSent{ID: agent.NewMessageID(), Type: event.AssistOffer,
			Content: event.Content{Assistance: "guidance", Details: e.Advice}}))
	}
	return err
}

// Dismiss ends the judge because the hung agent has ended, and waits for the judge's end.
// [Watch.End] journals the verdict.
func (w *Watch) Dismiss() {
	if w.judge == nil {
		return
	}
	w.judge.void = "the agent that it judges has ended"
	w.judge.stop(errors.New(w.judge.void))
	v := <-w.Judged
	w.Judged <- v
}

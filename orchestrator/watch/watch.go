// Package watch watches one running agent. Package health judges the signs of the agent. This
// package journals the findings and decisions, and acts on them. It also delivers messages to the
// agent.
package watch

import (
	"errors"
	"fmt"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/inbox"
	"kanban-run/orchestrator/rundir"
)

// Watch looks at one running agent at regular intervals: seed 000, "检查流程". Only the goroutine of
// the run may use it.
type Watch struct {
	Turn
	agent Agent

	began    time.Time
	expected time.Duration // time that the task should take, for tellLate; 0: no check

	policy  health.Policy
	tuned   bool // the settings in the task's header have been read
	monitor *health.Monitor
	ticker  *time.Ticker // nil: nothing is watched

	// C fires when Check is due. It is nil if nothing is watched, or the agent is about to end.
	C <-chan time.Time
	// Judged gets the end of each attempt of a judge, for OnJudgement. It is nil if no judge is at
	// work.
	Judged chan Judgement

	asked time.Time           // when a person was asked for consent; zero: no question is open
	test  *event.RebootTested // decision for which the person's consent was asked

	frozen    time.Duration // time in which nothing could run, so far
	signs     string        // what the last check has seen, in words; "": nothing
	unwritten bool          // health.yaml could not be written, which was said

	judge   *judge   // the judge at work; nil: no judge is at work
	verdict *verdict // a judge's answers for the next check; nil: the evidence decides
	spared  bool     // a judge has left the agent alone in this attempt already

	undelivered []event.MessageSent // messages without a receipt or an answer so far
	taken       int                 // number of messages taken from the inbox in this attempt
	flooded     bool                // it is journaled that the inbox had too many messages
}

// Close stops the checks. It may be called twice.
func (w *Watch) Close() {
	if w.ticker != nil {
		w.ticker.Stop()
	}
	w.C = nil
}

// Start watches an agent. In a dry run, or if the policy is off, the watch only delivers messages.
func Start(t Turn, a Agent) *Watch {
	w := &Watch{Turn: t, agent: a, began: t.Now()}
	p := a.Player.Policy(a.Duty)
	if p.Off() || t.Run.DryRun {
		return w
	}
	w.policy = p
	w.monitor = health.NewMonitor(t.Now(), p, a.Player.Adapter.Tool().Signals)
	w.ticker = time.NewTicker(p.Frequency)
	w.C = w.ticker.C
	return w
}

// tune applies the settings in the task's header. The first check calls it, so that no file is read
// for an agent that replies before that check.
func (w *Watch) tune() {
	if w.tuned {
		return
	}
	w.tuned = true
	brief := w.Tasks.ReadBrief(w.agent.Task)
	values := brief.Watch
	if w.worksOnTask() {
		w.expected = brief.Expected
	}
	if len(values) == 0 {
		return
	}
	p, err := w.agent.Player.PolicyFor(w.agent.Duty, w.agent.Task, values)
	if err != nil {
		w.Notice(err.Error() + "; it is left out")
		return
	}
	if p.Judge != w.policy.Judge && p.Judge != "" {
		if _, err := w.Roster.ReadOnlyPlayer(p.Judge); err != nil {
			w.Notice(fmt.Sprintf("the judge of %s (watch.judge): %v; the evidence decides", w.agent.Task, err))
			p.Judge = ""
		}
	}
	w.policy = p
	w.monitor.SetPolicy(p)
	if p.Off() {
		w.Close()
		return
	}
	w.ticker.Reset(p.Frequency)
}

// Check looks at the agent, journals the findings, and acts on them. Each decision is on disk
// before Check acts on it.
func (w *Watch) Check() error {
	if w.tune(); w.C == nil {
		return nil
	}
	if w.noteFrozen() {
		w.monitor.Restart(w.Now())
	}
	report := w.agent.Program.Check(w.Now(), w.monitor)
	w.signs = report.Signs
	w.writeHealth(report)
	return errors.Join(w.Deliver(), w.recordFindings(report), w.recordStage(report.Stage), w.tellLate(), w.act(report))
}

// noteFrozen says for how long nothing could run since it was last called, and reports whether that was so.
func (w *Watch) noteFrozen() bool {
	before := w.frozen
	if w.frozen = w.agent.Program.Frozen(); w.frozen == before {
		return false
	}
	w.Notice(fmt.Sprintf("nothing could run for %s: the machine, its container or all processes were stopped; "+
		"this time counts for no timeout and for no limit of a task", event.Took((w.frozen - before).Milliseconds())))
	return true
}

// Signs returns the role of the agent and the signs that the last check has seen, in words. It
// returns "" if no check has seen any.
func (w *Watch) Signs() string {
	if w.signs == "" {
		return ""
	}
	return w.agent.Role + ": " + w.signs
}

// writeHealth writes the report of a check to a file. People and other programs read this file. If
// the report is empty because the check came too late, writeHealth leaves the file as it is. A file
// that cannot be written is a warning, once for each agent.
func (w *Watch) writeHealth(r health.Report) {
	if r.Status == "" || w.unwritten {
		return
	}
	if err := rundir.ReplaceFile(w.Folder.Health(), r.YAML(w.Now(), w.agent.Role)); err != nil {
		w.unwritten = true
		w.Notice("what the watch sees is not in " + w.Folder.Health() + ": " + err.Error())
	}
}

// worksOnTask reports whether the agent does the work of a task.
func (w *Watch) worksOnTask() bool { return w.agent.Call == event.TaskCall }

// tellLate journals once that the agent has worked for more than twice the expected time.
func (w *Watch) tellLate() error {
	late := health.LateWork(w.Now().Sub(w.began)-w.frozen, w.expected)
	if late == nil {
		return nil
	}
	w.expected = 0
	return w.Journal.Record(event.AnomalyFound{AttemptRef: w.agent.AttemptRef, Anomaly: *late})
}

// recordFindings journals a recovery, and the findings that a person has to know now.
func (w *Watch) recordFindings(report health.Report) error {
	var errs []error
	if report.Recovered {
		errs = append(errs, w.Journal.Record(event.Recovered{AttemptRef: w.agent.AttemptRef,
			Text: health.Recovery(w.agent.Task)}))
	}
	for _, f := range report.Told {
		found := event.AnomalyFound{AttemptRef: w.agent.AttemptRef, Anomaly: health.Describe(f)}
		if f.Deaf {
			w.Crowd.Note(w.Board, w.deafness(), w.Now())
		}
		if found.Tool != "" && w.Crowd.Note(w.Board, found.Key(), w.Now()) {
			found.Advice, found.Details = "replan", found.Details+"; an agent of another board has the same"
		}
		if tests := report.Action == health.Test; report.On.Key() == f.Key() && !(tests && w.agent.Program.Refusal() != "") {
			found.Action = report.Action.String()
		}
		errs = append(errs, w.Journal.Record(found))
		if f.Check == health.Errors {
			errs = append(errs, w.testErrors(f))
		}
	}
	return errors.Join(errs...)
}

// recordStage journals that an agent without progress has reached a stage of [health.Stages].
func (w *Watch) recordStage(s health.Stage) error {
	if s.Number == 0 {
		return nil
	}
	b := s.Describe(w.agent.Task, w.agent.Call.IsReview())
	if w.agent.Call.IsReview() {
		return w.Journal.Record(event.ReviewBreach{AttemptRef: w.agent.AttemptRef, Overdue: b})
	}
	return w.Journal.Record(event.IdleBreach{AttemptRef: w.agent.AttemptRef, Overdue: b})
}

// act carries out the action of a check. A question for consent, the work of a judge and a verdict
// become void if the agent has given a sign since they began.
func (w *Watch) act(report health.Report) (err error) {
	if !w.asked.IsZero() && report.Last.After(w.asked) {
		w.asked = time.Time{}
		err = w.Journal.Record(event.ConsentGiven{AttemptRef: w.agent.AttemptRef, Choice: event.ConsentVoid})
	}
	if w.verdict != nil && report.Last.After(w.verdict.at) {
		w.verdict = nil
	}
	if w.judge != nil && report.Last.After(w.judge.asked) {
		w.judge.void = "the agent goes on by itself"
	}
	switch report.Action {
	case health.Ask, health.AskAgain:
		err = errors.Join(err, w.ask(report.On, report.Action == health.AskAgain))
	case health.EndCall:
		w.agent.Program.EndCall(report.On.Call.Tool)
	case health.Resume:
		w.agent.Program.Continue()
	case health.TermCall, health.KillCall:
		w.agent.Program.EndCalls(report.Action == health.KillCall)
	case health.EndOver:
		w.Close()
		w.agent.Program.End(w.policy.Graceful, w.policy.Kill)
	case health.Test:
		if why := w.refusal(report.On); why != "" { // the provider is busy; the agent does not hang
			w.Close()
			w.agent.Program.EndRefused(why, w.policy.Graceful, w.policy.Kill)
			return err
		}
		err = errors.Join(err, w.makeTest(report.On))
	}
	return err
}

// refusal returns the reason why a silent agent waits for its provider, or "" if the agent hangs. A
// deaf agent answers no questions. If the agents of two boards are deaf at the same time, refusal
// assumes that their provider is the cause.
func (w *Watch) refusal(f health.Finding) string {
	if why := w.agent.Program.Refusal(); why != "" {
		return why
	}
	if f.Deaf && w.Crowd.Note(w.Board, w.deafness(), w.Now()) {
		return f.Details + ", nor has the agent of another board"
	}
	return ""
}

// deafness returns the key of this agent's deafness for [health.Crowd.Note]. Agents of the same
// provider share the key.
func (w *Watch) deafness() string { return "deaf\x00" + w.agent.Player.Provider() }

// decide ends a hung agent. If the settings require the consent of a person, the first call only
// asks for the consent. If no person answers in time, a later call ends the agent as stuck.
func (w *Watch) decide(e event.RebootTested) error {
	if !w.policy.Person {
		return w.endHung(e)
	}
	if w.asked.IsZero() {
		w.asked, w.test = w.Now(), &e
		err := w.Journal.Record(event.ConsentAsked{AttemptRef: w.agent.AttemptRef, Anomaly: e.Anomaly,
			Decision: e.Decision, Text: e.Why()})
		failpoint.At("consent-asked")
		return err
	}
	if limit := w.policy.Consent; limit == 0 || w.Now().Sub(w.asked) < limit {
		return nil
	}
	e.Decision, e.Text = event.Stuck, fmt.Sprintf("%s, and no person has consented to end it within %s", e.Details,
		w.policy.Consent)
	return w.endHung(e)
}

// endHung journals the decision, and ends the agent.
func (w *Watch) endHung(e event.RebootTested) error {
	w.Close()
	if err := w.Journal.Record(e); err != nil {
		return err
	}
	failpoint.At("hung-decided")
	err := w.offerSuccessor(e)
	w.agent.Program.End(w.policy.Graceful, w.policy.Kill)
	return err
}

// offerSuccessor tells an agent that is given up which agent takes its work over.
func (w *Watch) offerSuccessor(e event.RebootTested) error {
	to := w.Journal.State().Successor()
	if e.Decision != event.Stuck || to == "" || !w.agent.Listens {
		return nil
	}
	return w.send(event.MessageSent{ID: agent.NewMessageID(), Type: event.AssistOffer,
		Content: health.OfferSuccessor(to, w.agent.Task)})
}

// answerConsent carries out the decision of a person about the agent.
func (w *Watch) answerConsent(m inbox.Message) error {
	choice := event.ConsentChoice(m.Choice)
	if w.asked.IsZero() || choice != event.ConsentRestart && choice != event.ConsentContinue {
		return w.Journal.Record(event.MessageLost{AttemptRef: w.agent.AttemptRef, ID: m.ID,
			Reason: "no such decision about this agent waits"})
	}
	w.asked = time.Time{}
	err := w.Journal.Record(event.ConsentGiven{AttemptRef: w.agent.AttemptRef, ID: m.ID, Choice: choice})
	if choice == event.ConsentContinue {
		w.monitor.Restart(w.Now())
		w.verdict = nil
		return err
	}
	e := *w.test
	if e.Decision == event.Stuck { // the consent of a person overrules the test
		e.Decision, e.Text = event.Restart, "The watch ended your program: "+e.Details+"."
	}
	return errors.Join(err, w.endHung(e))
}

// reboot makes the reboot test of a hung agent: seed 000, "5-Question Reboot Test".
func (w *Watch) reboot(f health.Finding) event.RebootTested {
	e := health.Reboot(f, w.caseOf())
	e.AttemptRef = w.agent.AttemptRef
	return e
}

// testErrors makes the reboot test of an agent that fails again and again, and offers it help: seed
// 000, "使用时机". The evidence answers the questions, and never a judge. The agent is left alone.
func (w *Watch) testErrors(f health.Finding) error {
	c := w.caseOf()
	c.Judged, c.Advice = nil, ""
	e, offer := health.Diagnose(f, c)
	e.AttemptRef = w.agent.AttemptRef
	err := w.Journal.Record(e)
	if offer.Details == "" || !w.agent.Listens {
		return err
	}
	return errors.Join(err, w.send(event.MessageSent{ID: agent.NewMessageID(), Type: event.AssistOffer, Content: offer}))
}

// replanLate asks the Manager for another plan of a task if the timeout has ended a second attempt
// of the work: seed 000, "REPLAN" (timeout and progress below half). Progress cannot be measured,
// but a second full time was not enough. The Manager has to be an agent, since package walk has no
// other plan.
func (w *Watch) replanLate() error {
	state, limit := w.Journal.State(), w.agent.Program.TimedOut()
	if limit == 0 || w.policy.Off() || !w.worksOnTask() || state.Step.TimedOut == 0 ||
		state.Manager == event.Walker || !w.replans() ||
		state.ReplannedTimes(w.agent.Task) >= max(1, w.policy.MaxRestarts) {
		return nil
	}
	return w.Journal.Record(health.ReplanLate(w.agent.AttemptRef, limit, state.Step.TimedOut+1))
}

// caseOf returns the evidence about the agent for the reboot test.
func (w *Watch) caseOf() health.Case {
	step := w.Journal.State().Step
	brief := w.Tasks.ReadBrief(w.agent.Task)
	c := health.Case{
		Task: w.agent.Task, HasText: brief.HasText, Missing: brief.Missing, Expected: brief.Expected,
		Obstacle: w.agent.Program.Obstacle(), Took: w.agent.Program.Took(),
		NoPlan: !w.worksOnTask(), Replans: w.replans(), Replanned: w.Journal.State().ReplannedTimes(w.agent.Task),
		Restarts: step.Restarts, MaxRestarts: w.policy.MaxRestarts, LastHung: step.LastHung,
	}
	if w.verdict != nil {
		c.Judged, c.Advice = w.verdict.answers, w.verdict.advice
	}
	return c
}

// replans reports whether the Manager can be asked for another plan.
func (w *Watch) replans() bool {
	p, err := w.Roster.Player(event.ManagerRole)
	return err == nil && p.Role.Anomalies
}

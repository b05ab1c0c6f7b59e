package attempt

import (
	"errors"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/proc"
)

// Ended is the end of an attempt. It has a Reply or a Failure, except after a review command
// without a failure, after a stop, and if [Attempt.Wait] returned an error. All texts are redacted
// except those of Reply, Warning and Spawned.
type Ended struct {
	Class    event.Class // "" if the attempt was stopped
	Reply    *contract.Reply
	Failure  *contract.Failure
	Warning  string // faults of an attempt whose reply counts nevertheless; "": none
	Worked   bool   // the model did something: it wrote, or called a tool
	Exit     proc.Exit
	Received string // beginning of the rejected reply's text, at most 4 KiB; "" without a Failure
	Stdout   string // last lines of a review command's standard output, at most 8 KiB
	Stderr   string // last lines of standard error, at most 2 KiB; for a review command at most 8 KiB
	Cut      Cut    // who ended the attempt before the agent did

	Spawned []string // names and PIDs of the processes that a resident started in its turn and left running

	Paused time.Duration // time for which a person has paused the agent together with this program
	Frozen time.Duration // time in which neither the agent nor this program could run

	Session    string
	Spent      *agent.Spending // spending of the attempt or, with Cumulative, of its session; nil: not reported
	Cumulative bool            // see [agent.Report.Cumulative]

	SessionCost *int64 // see [agent.Report.SessionCost]
}

// Cut says who ended an attempt. If several did, the first of these counts, since a later one changes
// nothing any more. What the agent printed then is no reply.
type Cut string

const (
	ByItself Cut = ""      // the agent has ended
	ByRun    Cut = "run"   // [Attempt.Stop] or [Attempt.Kill]
	ByWatch  Cut = "watch" // [Attempt.End], before the agent's final event
	ByTime   Cut = "time"  // one of the TimeLimits
)

// IsStopped reports whether the run or a limit of time ended the attempt.
func (e *Ended) IsStopped() bool { return e.Cut == ByRun || e.Cut == ByTime }

// conclude closes the streams and returns the end of the attempt. err is the result of runProcess.
func (a *Attempt) conclude(exit proc.Exit, err error) (*Ended, error) {
	excess := a.meter.exceeded()
	if excess == nil { // not after an excess: Close could print the beginning of a secret
		err = errors.Join(err, a.stdout.Close(), a.stderr.Close())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	out := &Ended{Exit: exit, Stderr: a.tail.String(), Paused: proc.Paused() - a.paused, Frozen: a.Frozen(), Spawned: a.spawned}
	if a.out != nil {
		out.Stdout = a.out.String()
	}
	ended := exit
	exit, out.Cut = a.cutOf(exit, out.Paused+out.Frozen)
	out.Exit = exit
	var start *proc.StartError
	if errors.As(err, &start) {
		return out, &agent.ConfigError{Text: start.Error(), Fix: start.Hint(), Missing: start.IsGone()}
	}
	if err != nil {
		return out, err
	}
	if r, ok := a.reader.(agent.StderrReader); ok {
		r.ReadStderr(out.Stderr)
	}
	if gone := a.call.Adapter.Tool().Unstarted(a.call.Adapter.Name(), exit, out.Stderr); gone != nil && !a.heard.Load() && out.Cut == ByItself {
		out.Class = event.ClassRefused
		return out, gone
	}
	report := a.reader.End(exit)
	if out.Cut == ByItself {
		applyReason(&report, a.reason)
	}
	out.recordSession(report, a.call.Sinks)
	out.Worked = a.watch.worked()
	if out.Cut == ByWatch && a.refused != "" {
		out.Cut, out.Class = ByItself, event.ClassBusy
		return out, &agent.LaterError{Text: a.call.Sinks.Redact(a.call.Adapter.Name() + ": " + a.refused), Busy: true}
	}
	if out.Cut != ByItself {
		return out, nil
	}
	if excess != nil {
		report.Failure = excess
	}
	out.Class = report.Class(a.call.Adapter.Tool(), exit, a.watch.isFinished())
	err = a.judge(out, report)
	if a.interrupted && ended.Stopped && !a.stopped && err == nil && out.Reply == nil {
		out.Exit, out.Failure, out.Received, out.Cut, out.Class = ended, nil, "", ByWatch, ""
	}
	return out, err
}

// cutOf returns who ended the program, and its exit without our own signal if the agent had ended its turn by
// then. In the time of paused nothing could run.
func (a *Attempt) cutOf(exit proc.Exit, paused time.Duration) (proc.Exit, Cut) {
	isHung := exit.Stopped && a.ended && !a.stopped
	within := time.Duration(0) // stays 0 if the watch ended the agent: a final event then came afterwards
	if exit.TimedOut {
		within = exit.Timeout + paused
	}
	if (isHung || exit.TimedOut) && a.watch.endedItself(within) {
		return proc.Exit{Duration: exit.Duration}, ByItself // our own signal is not a failure of the agent
	}
	switch {
	case isHung:
		return exit, ByWatch
	case exit.Stopped && a.stopped:
		return exit, ByRun
	case exit.Stopped && a.outOfTime:
		return exit, ByTime
	default:
		return exit, ByItself
	}
}

// applyReason adds to the report the reason for which the reader gave up.
func applyReason(r *agent.Report, reason error) {
	var failure *contract.Failure
	switch {
	case reason == nil:
	case errors.As(reason, &failure):
		copied := *failure
		r.Failure = &copied
	case !errors.Is(reason, errOutputLimit):
		r.Err = reason
	}
}

// judge sets the reply, or the failure if the report has no valid reply. Errors: the error in the
// report, and errors of Sinks.excerpt.
func (a *Attempt) judge(out *Ended, report agent.Report) (err error) {
	if report.Err != nil {
		return a.call.Sinks.redactError(report.Err)
	}
	failure := report.Failure
	if failure == nil && a.call.Contract == contract.Command {
		return nil
	}
	if failure == nil {
		out.Worked = out.Worked || report.Reply != "" // any reply is work of the model
		out.Reply, failure = a.call.Sinks.parseReply(a.call.Contract, report.Reply)
		if failure != nil && failure.Prose && report.Advice != "" {
			failure.Reason += "; " + report.Advice
		}
	}
	if failure == nil {
		out.Warning = joinWarnings(report.Warning, out.Reply.Warning)
	}
	if exit := out.Exit; failure != nil && exit.TimedOut {
		if open := a.watch.openAt(exit.Asked); open != "" {
			failure.Reason += "; it was waiting for " + open
		}
	}
	if failure != nil {
		failure.Reason = a.call.Sinks.Redact(failure.Reason)
		if out.Failure = failure; out.Class == event.ClassAccepted {
			out.Class = event.ClassFormat
		}
		out.Received, err = a.call.Sinks.excerpt(report.Reply)
	}
	return err
}

func joinWarnings(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(w string) bool { return w == "" }), "; ")
}

// recordSession sets the session and its spending. It drops a session ID that could be an option,
// since the ID becomes part of a command line.
func (o *Ended) recordSession(r agent.Report, s Sinks) {
	o.Session, o.Spent, o.Cumulative = s.Redact(r.Session), r.Spent, r.Cumulative
	o.SessionCost = r.SessionCost
	if !IsSession(o.Session) {
		o.Session = ""
	}
}

// IsSession reports whether a text can be the ID of a session and cannot be an option of a command
// line.
func IsSession(id string) bool {
	return id != "" && !strings.HasPrefix(id, "-") && !strings.ContainsFunc(id, func(c rune) bool {
		return c <= ' ' || c == 0x7F
	})
}

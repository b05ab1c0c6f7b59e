package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"kanban-run/orchestrator/event"
)

// mark is how a line is shown: its sign and colour.
type mark int

const (
	calm mark = iota
	good
	warn
	bad
	begun // left out where a live line shows it
)

// line is one line about an event.
type line struct {
	mark mark
	text string
}

// describe renders an event for a person. What needs no attention gives no line.
func describe(e event.Event) []line {
	switch e := e.(type) {
	case event.RunStarted:
		return describeRun(e)
	case event.StepStarted:
		return []line{{begun, describeStep(e)}}
	case event.AttemptStarted:
		return []line{{begun, describeAttempt(e)}}
	case event.ReplyAccepted:
		return describeAcceptance(e)
	case event.ManagerWalked:
		return describeWalk(e)
	case event.ReplyRejected:
		return describeRejection(e)
	case event.AttemptStopped:
		return []line{{warn, fmt.Sprintf("step %d: %s stopped%s: %s", e.Step, attemptName(e.AttemptRef), spentSuffix(e.Spent), e.Reason)}}
	case event.ReviewHeld:
		return describeReview(e)
	case event.StateDiverged:
		return []line{{warn, e.Text + divergedSuffix(e)}}
	case event.CallRestarted:
		return []line{{warn, fmt.Sprintf("step %d: %s; the call starts afresh", e.Step, e.Reason)}}
	case event.StepFinished:
		return describeStepEnd(e)
	case event.StepAbandoned:
		return []line{{warn, fmt.Sprintf("step %d: given up, %s", e.Step, e.Reason)}}
	case event.BoardWriteStarted, event.BoardWritten, event.RunInterrupted, event.RunFinished, event.SessionNamed, event.ToolsUsed:
		return nil
	case event.Acknowledged:
		return []line{{calm, cmp.Or(e.Text, "acknowledged by the Lead") + noteSuffix(e.Note)}}
	default:
		return slices.Concat(describeWatch(e), describeSupervision(e), describePlaybook(e), describeCustody(e))
	}
}

func describeStep(e event.StepStarted) string {
	if e.Call.IsSupervision() {
		return describeOpening(e)
	}
	return fmt.Sprintf("step %d: %s to %s%s", e.Step, e.Task, e.Role, placeSuffix(e.Index, e.Of))
}

// describeWatch is of what was found of a running agent, said to it and decided about it.
func describeWatch(e event.Event) []line {
	switch e := e.(type) {
	case event.AnomalyFound:
		return describeAnomaly(e)
	case event.RebootTested:
		return describeReboot(e)
	case event.Recovered:
		return []line{{calm, fmt.Sprintf("step %d: %s is moving again", e.Step, Player(e.AttemptRef))}}
	case event.IdleBreach:
		return describeOverdue(e.AttemptRef, e.Overdue, e.Kind())
	case event.ReviewBreach:
		return describeOverdue(e.AttemptRef, e.Overdue, e.Kind())
	case event.JudgeAsked:
		return []line{{warn, fmt.Sprintf("step %d: %s judges %s: %s", e.Step, e.Judge, Player(e.AttemptRef), e.Details)}}
	case event.JudgeAnswered:
		return []line{{calm, fmt.Sprintf("step %d: %s %s%s", e.Step, e.Judge, e.Verdict(), spentSuffix(e.Spent))}}
	case event.ConsentAsked:
		return []line{{bad, fmt.Sprintf("step %d: %s waits for your consent to %s it: %s (kanban-run inbox)", e.Step, Player(e.AttemptRef), e.Advice, e.Details)}}
	case event.ConsentGiven:
		return []line{{calm, fmt.Sprintf("step %d: %s", e.Step, Consent(e))}}
	case event.MessageSent:
		return []line{{calm, fmt.Sprintf("step %d: %s", e.Step, messageText(e))}}
	case event.MessageHeard:
		return []line{{calm, fmt.Sprintf("step %d: %s %s", e.Step, Player(e.AttemptRef), heardText(e))}}
	case event.MessageLost:
		return []line{{warn, fmt.Sprintf("step %d: %s", e.Step, lostText(e))}}
	default:
		return nil
	}
}

func describeRun(e event.RunStarted) []line {
	lines := []line{{calm, fmt.Sprintf("%s in %s", event.Count(e.Tasks, "task"), e.Workdir)}}
	if len(e.Withheld) > 0 {
		lines = append(lines, line{calm, event.WithheldText(e.Withheld, ".kanban-run.yaml or in a role")})
	}
	return lines
}

func describeAttempt(e event.AttemptStarted) string {
	switch {
	case e.Call == event.CommandCall:
		return fmt.Sprintf("step %d: %s checks the work of %s (round %d)", e.Step, e.Command, e.Role, e.Round)
	case e.Call == event.ReviewCall:
		return fmt.Sprintf("step %d: the reviewer of %s looks at the work (round %d)", e.Step, e.Role, e.Round)
	case e.Call == event.CheckpointCall && !e.GoesOn:
		return fmt.Sprintf("step %d: %s is woken%s", e.Step, e.Role, attemptSuffix(e.Attempt))
	case e.GoesOn:
		return fmt.Sprintf("step %d: %s goes on in its session with the work that was cut short%s", e.Step, e.Role, attemptSuffix(e.Attempt))
	case e.Round > 0:
		return fmt.Sprintf("step %d: %s goes on with the work (round %d)", e.Step, e.Role, e.Round)
	default:
		return fmt.Sprintf("step %d: %s started%s", e.Step, e.Role, attemptSuffix(e.Attempt))
	}
}

func describeAnomaly(e event.AnomalyFound) []line {
	m := warn
	if e.Severity == "critical" {
		m = bad
	}
	then := ""
	if e.Action != "" {
		then = "; " + e.Action
	}
	return []line{{m, fmt.Sprintf("step %d: %s: %s: %s%s", e.Step, Player(e.AttemptRef), e.Check, e.Details, then)}}
}

func describeOverdue(r event.AttemptRef, b event.Overdue, kind string) []line {
	m := map[string]mark{"INFO": calm, "WARN": warn, "CRITICAL": bad}[b.Severity]
	return []line{{m, fmt.Sprintf("step %d: %s: %s (%s): %s", r.Step, Player(r), kind, b.Action, b.Text)}}
}

func describeReboot(e event.RebootTested) []line {
	if e.Decision == event.Stuck {
		return []line{{bad, fmt.Sprintf("step %d: %s is ended: %s", e.Step, Player(e.AttemptRef), e.Text)}}
	}
	if e.Decision == event.Replan {
		return []line{{warn, fmt.Sprintf("step %d: %s is ended, and the Manager plans anew: %s", e.Step, Player(e.AttemptRef), e.Text)}}
	}
	return []line{{warn, fmt.Sprintf("step %d: %s is ended and started again: %s", e.Step, Player(e.AttemptRef), e.Details)}}
}

// Player is the program of an attempt, as a person would call it.
func Player(r event.AttemptRef) string {
	switch r.Call {
	case event.CommandCall:
		return "the review command of " + r.Role
	case event.ReviewCall:
		return "the reviewer of " + r.Role
	default:
		return r.Role
	}
}

// attemptName names an attempt at the beginning of a sentence about it.
func attemptName(r event.AttemptRef) string {
	if r.Call.IsReview() {
		return fmt.Sprintf("%s, attempt %d,", Player(r), r.Attempt)
	}
	return fmt.Sprintf("%s attempt %d", r.Role, r.Attempt)
}

func describeAcceptance(e event.ReplyAccepted) []line {
	m := good
	if e.Call == event.ReadyCall {
		return []line{{m, tag + brief(e.Message)}}
	}
	if e.Status != "ok" {
		m = warn
	}
	text := fmt.Sprintf("step %d: %s %s in %s%s", e.Step, e.Role, e.Status, Took(e.Millis), spentSuffix(e.Spent))
	if e.Message != "" {
		text += ": " + brief(e.Message)
	}
	return []line{{m, text}}
}

func describeWalk(e event.ManagerWalked) []line {
	m := good
	if e.Status != "ok" {
		m = warn
	}
	return []line{{m, fmt.Sprintf("step %d: %s %s: %s", e.Step, event.ManagerRole, e.Status, brief(e.Message))}}
}

func describeReview(e event.ReviewHeld) []line {
	spent := spentSuffix(e.Spent)
	if e.Completed {
		return []line{{good, fmt.Sprintf("step %d: %s accepts the work (round %d, %s)%s", e.Step, Player(e.AttemptRef), e.Round, Took(e.Millis), spent)}}
	}
	return []line{{warn, fmt.Sprintf("step %d: %s is not content (round %d, %s)%s: %s", e.Step, Player(e.AttemptRef), e.Round, Took(e.Millis), spent, excerpt(e))}}
}

// excerpt is what an agent is told of its work, for a terminal: of a command how it ended, and the
// last line that it printed.
func excerpt(e event.ReviewHeld) string {
	if e.Call != event.CommandCall {
		return brief(e.Feedback)
	}
	end, printed, _ := strings.Cut(e.Feedback, "\n")
	if last := lastLine(printed); last != "" {
		end += ": " + last
	}
	return brief(end)
}

// spentSuffix is what an attempt came to, "" where its tool does not tell.
func spentSuffix(s *event.Spending) string {
	if s == nil || s.Free {
		return ""
	}
	return " (" + s.String() + ")"
}

// session names the session in which the agent's tool would go on, "" where it does not tell.
func session(e event.Event) string {
	switch e := e.(type) {
	case event.ReplyAccepted:
		return e.Session
	case event.ReplyRejected:
		return e.Session
	case event.AttemptStopped:
		return e.Session
	default:
		return ""
	}
}

func describeRejection(e event.ReplyRejected) []line {
	then := "no retry is left"
	switch {
	case e.Died:
		then = "it is started again, and told what it said"
	case e.Lost && e.Call.IsSupervision():
		then = "it begins a new one, and is told what it said"
	case e.Lost:
		then = "the task starts from its beginning"
	case e.Retries < e.Of:
		then = fmt.Sprintf("retry %d of %d", e.Retries+1, e.Of)
	}
	exit, what := "", "rejected"
	if !strings.Contains(e.Reason, e.Exit) {
		exit = " (" + e.Exit + ")"
	}
	if e.Call == event.ReviewCall {
		what = "gave no verdict"
	}
	lines := []line{{bad, fmt.Sprintf("step %d: %s %s%s: %s%s; %s", e.Step, attemptName(e.AttemptRef), what, spentSuffix(e.Spent), e.Reason, exit, then)}}
	if said := lastLine(e.Stderr); said != "" {
		lines = append(lines, line{bad, "it said on stderr: " + said})
	}
	if e.Retries >= e.Of && e.Output != "" {
		lines = append(lines, line{bad, "its output: " + e.Output})
	}
	return lines
}

// brief cuts a message to a few lines of a terminal; the journal has it whole.
func brief(message string) string {
	const most = 400
	if utf8.RuneCountInString(message) <= most {
		return message
	}
	return string([]rune(message)[:most]) + "…"
}

// lastLine is the line in which programs say why they ended: the last one with a word in it, and
// not the end of a structure.
func lastLine(text string) string {
	for _, line := range slices.Backward(strings.Split(text, "\n")) {
		if strings.ContainsFunc(line, unicode.IsLetter) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func describeStepEnd(e event.StepFinished) []line {
	next := "the board is complete"
	switch {
	case e.NextTask != nil:
		next = "next " + *e.NextTask
	case e.Manager != "" && e.Manager != "ok":
		next = "nothing is next"
	}
	lines := []line{{begun, fmt.Sprintf("step %d: done, %s", e.Step, next)}}
	if e.Warning != "" {
		lines = append(lines, line{warn, fmt.Sprintf("step %d: %s", e.Step, e.Warning)})
	}
	return lines
}

func divergedSuffix(e event.StateDiverged) string {
	switch {
	case e.Source != event.SourceBoard, e.Before == e.After, e.Policy == event.PolicyRestore, e.Policy == event.PolicyAsk: // which the text explains
		return ""
	case e.Policy == event.PolicyFreeze:
		return "; the board is frozen"
	default:
		return "; the file stands"
	}
}

// describeCustody renders the events of seed 002 about the owner of a board and the soundness of
// its journal. What goes as it should gives no line.
func describeCustody(e event.Event) []line {
	switch e := e.(type) {
	case event.HandoffDuplicate:
		return []line{{warn, fmt.Sprintf("HANDOFF_DUPLICATE: epoch %d was handed over again to %s, which changed nothing", e.Epoch, e.Owner)}}
	case event.HandoffMissing:
		return []line{{bad, e.Text}}
	case event.SplitBrain:
		return []line{{bad, e.Text}}
	case event.SnapshotNotFound:
		return []line{{bad, e.Text}}
	case event.SnapshotConflict:
		return []line{{bad, e.Text}}
	case event.ReconcileConflict:
		return []line{{bad, e.Text}}
	case event.LockExited:
		return []line{{calm, fmt.Sprintf("reconciled with the state at record %d: %s", e.ReplayIndex, e.Decision)}}
	default:
		return nil
	}
}

func noteSuffix(note string) string {
	if note == "" {
		return ""
	}
	return ": " + note
}

func placeSuffix(index, of int) string {
	if index == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d of %d)", index, of)
}

func attemptSuffix(attempt int) string {
	if attempt == 1 {
		return ""
	}
	return fmt.Sprintf(" (attempt %d)", attempt)
}

// Took renders milliseconds as a person would say them: 26ms, 2.5s, 12s, 3m05s, 2h00m.
func Took(millis int64) string {
	d := time.Duration(millis) * time.Millisecond
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", millis)
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	default:
		return elapsed(d)
	}
}

// elapsed renders a time that is still running, in whole seconds: 2s, 3m05s, 2h00m.
func elapsed(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}

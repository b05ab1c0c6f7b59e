package claude

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// The API's status codes. They are not taken from net/http, because that package would add a fifth
// to the program's size and to the time of its start.
const (
	unauthorized    = 401
	paymentRequired = 402
	forbidden       = 403
	notFound        = 404
	tooManyRequests = 429
)

// conclude sets the reply of a report. If there is no valid reply, it sets the text so far, with a
// failure or an error. The last valid reply counts, whatever results follow it. A result with an
// error has no valid reply. After a denial, only a review can have a valid reply. The subtype
// "success" and the exit status 0 do not suffice: claude reports "success" also when the API
// refuses, and exits with 0 also after a denial or an interrupt. After a whole result, an exit status
// above 0 causes only a warning.
func (r *reader) conclude(report *agent.Report, exit proc.Exit) {
	if r.last == nil {
		report.Reply, report.Failure = r.text, r.describeEnd(exit)
		return
	}
	if r.reply != nil && r.reply != r.last {
		report.Warning = "another result follows it, without a reply: " + r.describeError() + "; the reply counts"
		r.last, r.subtype = r.reply, ""
	}
	report.Reply = r.replyOf(r.last)
	switch {
	case r.last.IsError || strings.HasPrefix(r.subtype, "error_"):
		r.classify(report)
	case exit.Signal != "" || exit.TimedOut:
		report.Failure = contract.Failed("%s", exit)
	case len(r.denials) > 0 && r.kind != contract.Review: // except in a review, which needs no tool
		report.Err = &agent.ConfigError{Text: "claude: permission denied: " + r.listDenials(),
			Fix: remedyFor(r.denials[0].tool) + ", or permission: full, or take the tool away from the role"}
	case r.last.StopReason == "tool_use" && r.last.Result == "" && !r.last.isStructured():
		report.Failure, report.Cut = contract.Failed("it ended in the middle of its turn (stop_reason tool_use)"), true
	}
	if report.Failure == nil && report.Err == nil && exit.Code != 0 && report.Warning == "" {
		report.Warning = "its program ended with " + exit.String() + " after a whole result; the reply counts"
	}
}

func (l *result) isStructured() bool { return len(l.Structured) > 0 && string(l.Structured) != "null" }

// replyOf returns the reply in a result, or the text that has none. A review is the whole message,
// because an object in it may be a quotation.
func (r *reader) replyOf(l *result) string {
	switch {
	case l.isStructured():
		return string(l.Structured)
	case r.kind == contract.Review:
		return l.Result
	default:
		return contract.FindReply(l.Result)
	}
}

// hasReply reports whether the last result is a success with a valid reply.
func (r *reader) hasReply() bool {
	if r.last.IsError || strings.HasPrefix(r.subtype, "error_") {
		return false
	}
	_, failure := contract.Parse(r.kind, r.replyOf(r.last))
	return failure == nil
}

func succeeded(e proc.Exit) bool { return e.Code == 0 && e.Signal == "" && !e.TimedOut }

// describeEnd returns the failure of an attempt that printed no result.
func (r *reader) describeEnd(exit proc.Exit) *contract.Failure {
	reason := exit.String()
	if succeeded(exit) {
		reason = "it ended without a result"
	}
	if r.waiting != "" {
		reason += "; it was waiting for the API: " + r.waiting
	}
	if r.Dropped > 0 {
		reason += "; a line of its output was too long to be read"
	}
	if r.broken > 0 {
		reason += fmt.Sprintf("; lines of its output that could not be read: %d", r.broken)
	}
	return &contract.Failure{Reason: reason, Lost: r.lost && exit.Code == 1}
}

// remedyFor returns a change of the role that allows a denied tool, and little else.
func remedyFor(tool string) string {
	switch {
	case isServer(tool):
		return "name it in tools of the role"
	case tool == "Bash" || tool == "PowerShell":
		return "allow its commands in tools of the role, such as Bash(go test:*), with permission: edit"
	case slices.Contains([]string{"Read", "Glob", "Grep", "LS"}, tool):
		return "give the role args: [--add-dir, FOLDER] for a folder outside of the work directory"
	case changesFiles(tool):
		return "give the role permission: edit, and args: [--add-dir, FOLDER] for a folder outside of the " +
			"work directory"
	default:
		return "name it in tools of the role"
	}
}

func (r *reader) listDenials() string {
	var all []string
	for _, d := range r.denials {
		what := d.tool
		if d.about != "" {
			what += " (" + d.about + ")"
		}
		all = append(all, what)
	}
	return strings.Join(all, ", ")
}

// classify judges a result that reports an error. It sets Failure if an immediate retry might
// succeed. Otherwise it sets Err.
func (r *reader) classify(report *agent.Report) {
	said, status := r.describeError(), r.last.APIErrorStatus
	theirs := said // the part that may be the provider's words
	if r.subtype == "error_max_structured_output_retries" || r.subtype == "error_during_execution" {
		theirs = "" // the words may be those of the agent's own work
	}
	switch later := words.Later("claude", status, theirs, time.Now()); {
	case r.subtype == "error_max_turns" || r.subtype == "error_max_budget_usd":
		report.Err = &agent.LimitError{Text: "claude: " + said}
	case r.fault == "authentication_failed" || r.fault == "oauth_org_not_allowed",
		status == unauthorized || status == forbidden && (later == nil || later.Busy):
		report.Err = loginError(said)
	case r.fault == "billing_error" || status == paymentRequired || words.IsOutOfMoney(theirs):
		report.Err = &agent.ConfigError{Text: "claude: " + said,
			Fix: "look at the account's billing page at the provider"}
	case r.fault == "model_not_found" || status == notFound:
		report.Err = &agent.ConfigError{Text: "claude: " + said,
			Fix: "name another model in the role file, or none; ANTHROPIC_BASE_URL says whose models they are"}
	case r.last.APIError == "usage_limit_reached" || !r.resets.IsZero() && (r.fault == "rate_limit" || status == tooManyRequests):
		report.Err = r.limitError(said)
	case r.last.TerminalReason == "prompt_too_long" || words.IsTooLong(theirs) || strings.HasPrefix(r.last.Result, "Prompt is too long"):
		report.Failure, report.TooLong = contract.Failed("%s", said), true
	case r.last.StopReason == "refusal" || words.IsDeclined(theirs):
		report.Failure, report.Declined = contract.Failed("%s", said), true
	case later != nil && !r.resets.IsZero() && !later.Busy:
		report.Err = r.limitError(said)
	case later != nil:
		if report.Err = later; theirs == "" {
			later.Text = "claude: " + said
		}
	case r.fault == "rate_limit" || r.fault == "overloaded" || r.fault == "server_error":
		report.Err = &agent.LaterError{Text: "claude: " + said, Busy: true}
	default:
		report.Failure = &contract.Failure{Reason: said, Lost: r.lostSession()}
	}
}

// unknownSession is the beginning of claude's message that it does not know the session to resume.
// Claude writes it in the errors of its result and on standard error, and exits with 1. Source:
// claude 2.1.328.
const unknownSession = "No conversation found with session ID: "

func (r *reader) lostSession() bool {
	return r.subtype == "error_during_execution" && strings.Contains(strings.Join(r.last.Errors, "\n"), unknownSession)
}

// ReadStderr notes that claude does not know the session, in case no result reports it.
func (r *reader) ReadStderr(tail string) { r.lost = strings.Contains(tail, unknownSession) }

// describeError returns the meaning of the result's subtype, followed by claude's own words.
func (r *reader) describeError() string {
	said := r.last.Result
	if said == "" {
		said = strings.Join(r.last.Errors, "; ")
	}
	said = agent.Clip(strings.TrimSpace(said), maxText)
	var meaning string
	switch r.subtype {
	case "success":
	case "error_max_turns":
		meaning = "it reached max_turns"
	case "error_max_budget_usd":
		meaning = "it reached max_cost"
	case "error_max_structured_output_retries":
		meaning = "its reply did not fit the schema, however often it was told"
	case "error_during_execution":
		meaning = "it broke off"
	default:
		meaning = r.subtype
	}
	switch {
	case meaning == "" && said == "":
		return "it reports an error and does not say which"
	case meaning == "" || said == "":
		return meaning + said
	default:
		return meaning + ": " + said
	}
}

func loginError(words string) *agent.ConfigError {
	return &agent.ConfigError{Text: "claude: " + words,
		Fix: "log in with claude /login as the user who runs this, or set ANTHROPIC_API_KEY; " +
			"where env.only lists what agents get, it has to name HOME or the key"}
}

// limitError returns the error of a limit. If claude's event of the limit names no end, the end in
// its words counts.
func (r *reader) limitError(said string) *agent.LaterError {
	reset := r.resets
	if reset.IsZero() {
		reset = agent.ParseReset(said, time.Now())
	}
	return &agent.LaterError{Text: "claude: " + said, Reset: reset, Model: r.ofModel || words.IsOfOneModel(said)}
}

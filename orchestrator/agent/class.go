package agent

import (
	"errors"
	"fmt"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/proc"
)

// LaterError reports that the provider does not serve a call for now: a usage limit is reached, or
// the provider is busy or cannot be reached.
type LaterError struct {
	Text  string    // in the provider's words
	Reset time.Time // the end of the limit; zero if it is unknown
	Busy  bool      // the provider is busy or cannot be reached; no limit is reached
	// Lacks has the environment variables that the agent does not get, and that may be why it could
	// not connect.
	Lacks []string
	Model bool // the limit is the allowance of one model, and other models are served
}

func (e *LaterError) Error() string {
	if e.Reset.IsZero() {
		return e.Text
	}
	return fmt.Sprintf("%s (until %s)", e.Text, e.Reset.UTC().Format(time.RFC3339))
}

// Hint returns the remedy: to start the same command again later.
func (e *LaterError) Hint() string {
	if len(e.Lacks) > 0 {
		return event.PassText(e.Lacks) + "; then the same command goes on"
	}
	if e.Busy {
		return "the same command goes on once the provider answers; --patience has a run wait for it"
	}
	if e.Model {
		return "the same command goes on once the limit is over; --patience has a run wait for it; or name another " +
			"model in the role, or an agent for it in reassign"
	}
	return "the same command goes on once the limit is over; --patience has a run wait for it"
}

// Class returns how an attempt ended. If several classes fit, the first case below counts. The
// parameter finished is true if the tool sent its final event. ClassAccepted does not mean that the
// reply is valid; [contract.Parse] checks that.
func (r *Report) Class(t Tool, exit proc.Exit, finished bool) event.Class {
	var later *LaterError
	switch {
	case errors.As(r.Err, new(*ConfigError)):
		return event.ClassRefused
	case errors.As(r.Err, new(*LimitError)):
		return event.ClassOwnLimit
	case errors.As(r.Err, &later) && later.Busy:
		return event.ClassBusy
	case later != nil:
		return event.ClassLimit
	case r.Failure == nil:
		return event.ClassAccepted
	case r.TooLong:
		return event.ClassTooLong
	case r.Declined:
		return event.ClassDeclined
	case t.Resumes && (r.Cut || exit.Signal != "" || exit.TimedOut || !finished):
		return event.ClassCut
	default:
		return event.ClassFormat
	}
}

// Denied returns the error of an attempt that was denied a tool. It is a *ConfigError, because a
// retry would be denied the tool, too.
func Denied(tool, what string) *ConfigError {
	return &ConfigError{Text: tool + ": permission denied: " + what,
		Fix: "give the role permission: edit or full, or say in it that it has to do without"}
}

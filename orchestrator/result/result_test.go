package result

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"syscall"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/claim"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/gitstore"
)

// TestOf: each fault has its outcome, also where it is wrapped and joined; a lack of files
// or memory wins over the faults that follow from it, and a limit over the lack.
func TestOf(t *testing.T) {
	invalid := &failure.Invalid{Err: errors.New("no such role")}
	for want, errs := range map[event.Outcome][]error{
		event.LimitReached: {&agent.LimitError{}, errors.Join(syscall.EMFILE, &agent.LimitError{})},
		event.Failed:       {errors.New("any other"), syscall.ENOSPC, errors.Join(invalid, syscall.EMFILE), errors.Join(invalid, syscall.ENOMEM)},
		event.NeedsPerson:  {&gitstore.SecretError{}},
		event.Invalid:      {invalid, &gitstore.UnfitError{}},
		event.Owned:        {&durable.HeldError{}, &claim.TakenError{}, &gitstore.AheadError{}},
		event.Frozen:       {&failure.Frozen{}},
		event.Later:        {&agent.LaterError{}},
	} {
		for _, err := range errs {
			for _, wrapped := range []error{err, fmt.Errorf("start: %w", err), errors.Join(errors.New("and another"), err)} {
				if got := Of(context.Background(), wrapped).Outcome; got != want {
					t.Errorf("%T (%v): %s, want %s", err, wrapped, got, want)
				}
			}
		}
	}
}

// TestExplain: the cause of stop makes an interruption, any other error is said once with what mends it, and a
// limit of a provider says until when.
func TestExplain(t *testing.T) {
	stopped, stop := context.WithCancelCause(context.Background())
	cause := signal(143)
	stop(cause)
	reset := time.Date(2026, 11, 25, 4, 0, 0, 0, time.UTC)
	full, hint := errors.New("write journal: disk full"), (&agent.LaterError{}).Hint()
	later := event.RunInterrupted{Outcome: event.Later, Reason: "quota", Hint: hint}
	until := event.RunInterrupted{Outcome: event.Later, Reason: "quota (until 2026-11-25T04:00:00Z)", Until: "2026-11-25T04:00:00Z", Hint: hint}
	failed := event.RunInterrupted{Outcome: event.Failed, Reason: full.Error(), Hint: "mend that; then the same command goes on"}
	was := event.RunInterrupted{Outcome: event.Complete, Reason: "as it was"}
	for _, c := range []struct {
		stop  context.Context
		err   error
		want  event.RunInterrupted
		fails bool
	}{
		{context.Background(), nil, was, false},
		{stopped, errors.Join(cause, &agent.LaterError{Reset: reset}), event.RunInterrupted{Outcome: event.Interrupted, Reason: cause.Error(), Exit: 143}, false},
		{stopped, full, failed, true},
		{context.Background(), &agent.LaterError{Text: "quota", Reset: reset.In(time.FixedZone("", 3600))}, until, true},
		{context.Background(), &agent.LaterError{Text: "quota"}, later, true},
		{context.Background(), errors.Join(full, full), failed, true},
	} {
		got := Result{End: was}
		got.Explain(c.stop, c.err)
		if !reflect.DeepEqual(got.End, c.want) || (got.Err != nil) != c.fails {
			t.Errorf("%v: %+v, want %+v", c.err, got, c.want)
		}
	}
}

// signal is a signal with its exit code.
type signal int

func (s signal) Error() string   { return "SIGTERM" }
func (s signal) SignalExit() int { return int(s) }

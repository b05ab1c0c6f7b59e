package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/converter"

	"kanban-run/cmd/kanban-run-temporal/fleet"
)

// progress is the state of a board's workflow on the server.
type progress struct {
	closed        bool
	status        enums.WorkflowExecutionStatus
	outcome, text string
	hint          string
	runs          int    // number of runs that have ended
	trouble       string // reason why the last try to run the board on a worker failed, or ""
}

func look(stop context.Context, c *server, j fleet.Job) (progress, error) {
	d, err := c.DescribeWorkflowExecution(stop, j.ID(), "")
	if err != nil {
		if errors.As(err, new(*serviceerror.NotFound)) {
			return progress{}, fmt.Errorf("it was never handed in: %s", j.ID())
		}
		return progress{}, err
	}
	info := d.GetWorkflowExecutionInfo()
	s := progress{status: info.GetStatus(), closed: info.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING}
	decoder := c.options.DataConverter
	if decoder == nil {
		decoder = converter.GetDefaultDataConverter()
	}
	for name, value := range map[string]any{
		fleet.OutcomeMemo: &s.outcome,
		fleet.TextMemo:    &s.text,
		fleet.HintMemo:    &s.hint,
		fleet.RunsMemo:    &s.runs,
	} {
		if p := info.GetMemo().GetFields()[name]; p != nil {
			if err := decoder.FromPayload(p, value); err != nil {
				return s, err
			}
		}
	}
	ended := s.status == enums.WORKFLOW_EXECUTION_STATUS_TERMINATED ||
		s.status == enums.WORKFLOW_EXECUTION_STATUS_CANCELED
	// A workflow that was ended from outside had no time to note its end.
	if ended || s.closed && (s.outcome == "" || s.outcome == fleet.Running) {
		s.outcome, s.hint, s.text = fleet.Stopped, "", "the workflow is "+strings.ToLower(s.status.String())
	}
	s.text, s.hint = plain(s.text), plain(s.hint)
	for _, a := range d.GetPendingActivities() {
		if f := a.GetLastFailure(); f != nil {
			s.trouble = plain(f.GetMessage())
		}
	}
	return s, nil
}

// plain replaces each unprintable character with a space. Agents or other users of the server have
// written the text, and such a character could control a terminal.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}

// decide sends a decision to a board that waits for one, and waits until the workflow has taken the
// decision. It returns an error if the board waits for no decision or ends meanwhile.
func decide(stop context.Context, c *server, j fleet.Job, d fleet.Decision) error {
	s, err := look(stop, c, j)
	if err != nil {
		return err
	}
	if s.closed || !fleet.AsksPerson(s.outcome) {
		return fmt.Errorf("it waits for no decision: %s (%s)", s.outcome, s.text)
	}
	if err := c.SignalWorkflow(stop, j.ID(), "", fleet.AckSignal, d); err != nil {
		return err
	}
	for runs := s.runs; fleet.AsksPerson(s.outcome) && s.runs == runs && !s.closed; {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-stop.Done():
			return errors.New("the decision is sent, and no worker has taken it yet")
		}
		if s, err = look(stop, c, j); err != nil {
			return err
		}
	}
	if s.closed {
		return fmt.Errorf("it has ended meanwhile: %s (%s)", s.outcome, s.text)
	}
	fmt.Printf("%s gets the decision\n", j.Board)
	return nil
}

// waitPause is the time between two polls of the server.
const waitPause = 3 * time.Second

// awaitAll waits until each board has ended or needs a person, prints the result of each, and
// returns the worst exit code. It returns 130 if its context is cancelled between two polls.
func awaitAll(stop context.Context, c *server, jobs []fleet.Job) (code int, err error) {
	open := slices.Clone(jobs)
	told := map[string]string{} // last printed trouble, keyed by board
	for {
		var left []fleet.Job
		for _, j := range open {
			s, err := look(stop, c, j)
			switch {
			case err != nil:
				return 1, err
			case !s.closed && !fleet.AsksPerson(s.outcome):
				if left = append(left, j); s.trouble != "" && s.trouble != told[j.Board] {
					fmt.Fprintf(os.Stderr, "%s: %s; it is tried again\n", j.Board, s.trouble)
					told[j.Board] = s.trouble
				}
				continue
			}
			fmt.Printf("%s: %s: %s\n", j.Board, s.outcome, s.text)
			if s.hint != "" {
				fmt.Printf("hint: %s\n", s.hint)
			}
			if own := exitCode(s.outcome); rank(own) > rank(code) {
				code = own
			}
		}
		if open = left; len(open) == 0 {
			return code, nil
		}
		select {
		case <-time.After(waitPause):
		case <-stop.Done():
			return 130, fmt.Errorf("stopped to wait; %d boards go on", len(open))
		}
	}
}

// exitCode returns kanban-run's exit code for an outcome, or 1 for an unknown outcome.
func exitCode(outcome string) int {
	codes := map[string]int{
		fleet.Complete:    0,
		fleet.Failed:      1,
		fleet.Invalid:     2,
		fleet.NeedsPerson: 3,
		fleet.Incomplete:  3,
		fleet.Exhausted:   4,
		fleet.Frozen:      5,
		fleet.Owned:       6,
		fleet.Limited:     7,
		fleet.Killed:      137,
		fleet.Stopped:     143,
	}
	if code, known := codes[outcome]; known {
		return code
	}
	return 1
}

// rank returns the severity of an exit code: the worst code has the highest rank. The order is the
// one that kanban-run uses for several boards.
func rank(code int) int {
	return slices.Index([]int{0, 7, 6, 4, 3, 5, 2, 1, 137, 143}, code)
}

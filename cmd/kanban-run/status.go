package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/report"
)

func statusCommand() command {
	return command{
		name: "status", args: "BOARD", summary: "where a board's run stands, from its journal",
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			asJSON := flags.Bool("json", false, "print one JSON object")
			return func(t *terminal, args []string) (int, error) {
				if err := boardArgs("status", args, true); err != nil {
					return 0, err
				}
				status, err := statusOf(args[0])
				if err != nil {
					return 0, err
				}
				if *asJSON {
					return exitComplete, status.WriteJSON(t.stdout)
				}
				return exitComplete, status.WriteText(t.stdout, redact.Inert)
			}
		},
	}
}

func statusOf(board string) (report.Status, error) {
	s, sum, err := orchestrator.Inspect(board, nil)
	if err != nil {
		return report.Status{}, err
	}
	running, err := orchestrator.Owned(board)
	if err != nil {
		return report.Status{}, err
	}
	status := report.NewStatus(board, s, running)
	status.Records = sum.Records
	status.Journal, err = orchestrator.JournalPath(board)
	return status, err
}

func logCommand() command {
	return command{
		name: "log", args: "BOARD", summary: "what happened to a board, from its journal",
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			asJSON := flags.Bool("json", false, "print one JSON event a line, as run --json does")
			follow := flags.BoolP("follow", "f", false, "go on with what happens next, until interrupted")
			return func(t *terminal, args []string) (int, error) {
				if err := boardArgs("log", args, true); err != nil {
					return 0, err
				}
				show := report.NewLog(t.stdout, redact.Inert).Entry
				if *asJSON {
					show = report.NewJSON(t.stdout).Entry
				}
				return exitComplete, printLog(t, args[0], show, *follow)
			}
		},
	}
}

// pollEvery is how often log --follow looks for news.
const pollEvery = 300 * time.Millisecond

// printLog shows the journal, and with follow also what is added to it until a signal comes.
func printLog(t *terminal, board string, show func(string, flow.Entry), follow bool) error {
	stop, _, release := contexts(func(bool) {})
	defer release()
	var seen uint64
	for {
		_, _, err := orchestrator.Inspect(board, func(e flow.Entry) error {
			if e.Seq > seen {
				seen = e.Seq
				show(board, e)
			}
			return stop.Err()
		})
		var never *orchestrator.NoRunError
		if err != nil && !(follow && errors.As(err, &never)) && stop.Err() == nil {
			return err
		}
		if !follow {
			return nil
		}
		select {
		case <-stop.Done():
			return nil
		case <-time.After(pollEvery):
		}
	}
}

func ackCommand() command {
	return command{
		name: "ack", args: "BOARD", summary: "say that you have seen why a board stopped, and that it may go on as it stands",
		long: `
A frozen board (exit code 5) stays frozen until you have looked at it, mended it if need be, and acknowledged it. A board
that the Manager ended with blocked, error or escalate (exit code 3) is complete once you acknowledge it or edit it.`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			note := flags.StringP("message", "m", "", "a note for the journal")
			return func(t *terminal, args []string) (int, error) {
				if err := boardArgs("ack", args, true); err != nil {
					return 0, err
				}
				clean := redact.New(orchestrator.Secrets(os.Environ())).String(*note)
				waited, err := orchestrator.Acknowledge(args[0], clean, time.Now)
				if err != nil {
					return 0, err
				}
				if waited == "" {
					_, err = fmt.Fprintf(t.stdout, "%s waits for nobody\n", redact.Inert(args[0]))
					return exitComplete, err
				}
				_, err = fmt.Fprintf(t.stdout, "acknowledged: %s\n", redact.Inert(waited))
				return exitComplete, err
			}
		},
	}
}

// printJSON writes v as indented JSON.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

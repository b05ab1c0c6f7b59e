package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/plainfile"
	"kanban-run/orchestrator/report"
	"kanban-run/orchestrator/rundir"
)

func statusCommand() command {
	return command{
		name: "status", args: "BOARD", summary: "where a board's run stands, from its journal",
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir")
			asJSON := flags.Bool("json", false, "print one JSON object")
			return func(t *terminal, args []string) (int, error) {
				if err := boardArgs("status", args, true); err != nil {
					return 0, err
				}
				u, err := s.load(t)
				if err != nil {
					return 0, err
				}
				status, err := u.status(args[0])
				if err != nil {
					return 0, err
				}
				if *asJSON {
					return exitComplete, t.stdout.JSON(status, "  ")
				}
				return exitComplete, status.WriteText(t.stdout)
			}
		},
	}
}

func (u *setup) status(board string) (report.Status, error) {
	var tasks report.Tasks
	h, sum, err := inspect.History(board, func(e flow.Entry) error {
		tasks.Add(e.Event)
		return nil
	})
	if err != nil {
		return report.Status{}, err
	}
	running, err := inspect.IsOwned(board)
	if err != nil {
		return report.Status{}, err
	}
	next, refused := inspect.Foresee(board, u.workdir, u.dir, h)
	status := report.NewStatus(board, h, running, next, refused)
	status.Records = sum.Records
	status.Tasks = listTasks(board, &tasks, h)
	dir, err := inspect.Locate(board)
	status.Journal = dir.Journal()
	status.Agent = readLive(dir, h.State.Step, running)
	return status, err
}

// readLive is what the agent at work does; nil where that is not known.
func readLive(dir rundir.Dir, step *flow.Step, running bool) *health.Live {
	if !running || step == nil || step.Running == 0 {
		return nil
	}
	var live health.LiveAttempt
	data, err := plainfile.Read(dir.Live(), 1<<20)
	if err != nil || json.Unmarshal(data, &live) != nil || live.Step != step.Number || live.Call != step.Call || live.Attempt != step.Running {
		return nil
	}
	return &live.Live
}

// listTasks is where the tasks of a board stand; of one that cannot be read, none.
func listTasks(name string, tasks *report.Tasks, h flow.History) []report.Task {
	b, _, err := inspect.ReadBoard(name, true, func(string) {})
	if err != nil {
		return []report.Task{}
	}
	current := ""
	switch {
	case h.State.Step != nil:
		current = h.State.Step.Task
	case !b.Terminal():
		current = b.Current.Path
	}
	return tasks.List(b.TaskPaths(), current, func(i int) bool { return b.Entry(i).Done() }, b.Finder())
}

func logCommand() command {
	return command{
		name: "log", args: "BOARD", summary: "what happened to a board, from its journal",
		long: `
--verify reads the whole journal, changes nothing, and says what it found: exit code 0 when it is sound, 1 when it is damaged
(with the byte where the damage begins), 5 when the board is frozen and waits for kanban-run ack, for whatever reason.

-f goes on with what happens next, and ends with the run. What kanban-run notes for itself, such as owners, snapshots and
writes of the board, is shown with --verbose; --json has everything. --events shows also what the agents did: the tools that
they used, what they said, and the retries of their providers.`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir")
			asJSON := flags.Bool("json", false, "print one JSON event a line, as run --json does")
			follow := flags.BoolP("follow", "f", false, "go on with what happens next, until the run ends")
			verbose := flags.BoolP("verbose", "v", false, "show also owners, snapshots and writes of the board")
			failed := flags.Bool("failed", false, "show only what went wrong")
			events := flags.Bool("events", false, "show also what the agents did")
			step := flags.Int("step", 0, "show only step `N`")
			verify := flags.Bool("verify", false, "check the journal instead, and say what was found")
			return func(t *terminal, args []string) (int, error) {
				if err := boardArgs("log", args, true); err != nil {
					return 0, err
				}
				if *verify && *follow {
					return 0, &usageError{text: "--verify looks once, --follow does not end", hint: "use one of them"}
				}
				if _, err := s.load(t); err != nil {
					return 0, err
				}
				if *verify {
					return verifyJournal(t, args[0], *asJSON)
				}
				if err := checkStep(args[0], *step, *follow); err != nil {
					return 0, err
				}
				log := report.NewLog(t.stdout)
				log.Verbose, log.Failed, log.Step = *verbose, *failed, *step
				var show report.Watcher = log
				if *asJSON {
					show = report.NewJSON(t.stdout, true)
				}
				if *events {
					show = &withEvents{Watcher: show, file: args[0]}
				}
				return exitComplete, printLog(t, args[0], show, *follow)
			}
		},
	}
}

// checkStep refuses a step that the board has not, unless it may still come.
func checkStep(board string, step int, follow bool) error {
	if step == 0 || step > 0 && follow {
		return nil
	}
	h, _, err := inspect.History(board, func(flow.Entry) error { return nil })
	if err == nil && (step < 0 || step > h.State.LastStep) {
		err = &usageError{text: fmt.Sprintf("log: %s has no step %d; the last one is step %d", board, step, h.State.LastStep), hint: "kanban-run log " + report.Quote(board) + " shows all"}
	}
	return err
}

// pollInterval is the time between two looks of log --follow.
const pollInterval = 300 * time.Millisecond

// printLog shows the journal, and with follow also what is appended until a signal comes.
func printLog(t *terminal, board string, show report.Watcher, follow bool) error {
	stop := context.Background() // a signal ends the process, also while it reads a long journal
	if follow {
		asked, _, release := t.contexts(func(bool) {})
		defer release()
		stop = asked
	}
	var seen uint64
	var ran bool // a run was seen at work
	for {
		owned, err := inspect.IsOwned(board)
		if err != nil {
			return err
		}
		_, sum, err := inspect.History(board, func(e flow.Entry) error {
			if e.Seq > seen {
				seen = e.Seq
				show.Entry(board, e)
			}
			return stop.Err()
		})
		var never *ledger.NoRunError
		if err != nil && !(follow && seen == 0 && errors.As(err, &never)) && stop.Err() == nil {
			return err
		}
		if err == nil && sum.Records < seen {
			return fmt.Errorf("the journal of %s was replaced by another, of %s", board, flow.Count(int(sum.Records), "record"))
		}
		if events, ok := show.(*withEvents); ok {
			if err := events.showUntil(time.Now()); err != nil {
				return err
			}
		}
		if !follow || !owned && (ran || err == nil) {
			return nil
		}
		ran = owned
		select {
		case <-stop.Done():
			return nil
		case <-time.After(pollInterval):
		}
	}
}

func ackCommand() command {
	return command{
		name: "ack", args: "BOARD [retry|accept|restart|continue]", summary: "decide about a board that stopped and waits for a person",
		long: `
A frozen board (exit code 5) stays frozen until you have looked at it, mended it if need be, and acknowledged it. That is so
when the board and the Manager, or the board and the journal, disagree, when the records of the journal contradict each other,
and when two runs took one board. -n shows what changed and what your decision would change, and writes nothing.

A board that the Manager ended with blocked, error or escalate (exit code 3), or that is complete with tasks that are not ok,
needs a choice: ack BOARD retry makes the task current again, so that the next run goes on with it; ack BOARD accept ends the
board as it stands. Without a choice, ack shows it. Both take the field ended off the board.

With watch: {coordinator: person} a hung agent is ended only with your consent: ack BOARD restart gives it, while the run works;
ack BOARD continue leaves the agent alone. kanban-run inbox shows what waits.

What changed, or what your decision changes, is shown as a diff; the decision is journaled.`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir")
			note := flags.StringP("message", "m", "", "a note for the journal")
			ask := flags.BoolP("dry-run", "n", false, "only show what waits for your decision and what it would change")
			return func(t *terminal, args []string) (int, error) {
				choice, args, err := choiceOf(args)
				if err != nil {
					return 0, err
				}
				if _, err := s.load(t); err != nil {
					return 0, err
				}
				if consent := flow.ConsentChoice(choice); consent == flow.ConsentRestart || consent == flow.ConsentContinue {
					return exitComplete, t.consent(args[0], consent)
				}
				dir, err := inspect.Locate(args[0])
				if err != nil {
					return 0, err
				}
				answer := ledger.Answer{Choice: choice, Note: *note, Ask: *ask}
				q, err := ledger.Acknowledge(args[0], dir, answer, t.redactor(), time.Now)
				if err != nil {
					return 0, err
				}
				if !q.Open {
					return exitComplete, printDecision(t, args[0], q, answer)
				}
				code := exitNeedsPerson
				if *ask {
					code = exitComplete
				}
				return code, printChoice(t, args[0], q)
			}
		},
	}
}

// choiceOf takes the choice off the arguments of ack.
func choiceOf(args []string) (choice flow.Choice, board []string, err error) {
	if len(args) == 2 {
		choice, args = flow.Choice(args[1]), args[:1]
	}
	if err := boardArgs("ack", args, true); err != nil {
		return "", nil, err
	}
	switch string(choice) {
	case "", string(flow.Retry), string(flow.Accept), string(flow.ConsentRestart), string(flow.ConsentContinue):
		return choice, args, nil
	}
	return "", nil, &usageError{text: fmt.Sprintf("ack: %s is no choice", choice), hint: "kanban-run inbox BOARD shows what waits, and the choices"}
}

// printChoice shows what the Lead can choose for a board that ended.
func printChoice(t *terminal, board string, q ledger.Question) error {
	name := report.Quote(board)
	errs := []error{t.stdout.Printf("%s waits for your decision: %s\n", board, q.Text)}
	if q.Undone != "" {
		errs = append(errs, t.stdout.Printf("%s\n", q.Undone))
	}
	if q.Task != "" {
		errs = append(errs, t.stdout.Printf("  kanban-run ack %s retry   makes %s current again; the next run goes on with it\n", name, q.Task))
	}
	return errors.Join(append(errs, t.stdout.Printf("  kanban-run ack %s accept  ends the board as it stands\n", name))...)
}

// printDecision shows what was decided: seed 002, "concise diff summary".
func printDecision(t *terminal, board string, q ledger.Question, answer ledger.Answer) error {
	text, ask := "acknowledged: ", answer.Ask
	switch {
	case q.Text == "":
		return t.stdout.Printf("%s waits for no decision\n", board)
	case answer.Choice == flow.Retry && q.Task == "": // of a checkpoint
		text = fmt.Sprintf("to be looked at anew; kanban-run %s does: ", report.Quote(board))
	case answer.Choice == flow.Retry:
		text = fmt.Sprintf("%s is current again; kanban-run %s goes on with it: ", q.Task, report.Quote(board))
	case answer.Choice == flow.Accept && q.Undone != "":
		text = "accepted with " + q.Undone + ": "
	case ask && q.Look:
		text = fmt.Sprintf("%[1]s waits for your decision (kanban-run ack %[1]s retry has it looked at anew, kanban-run ack %[1]s goes on in spite of it): ", report.Quote(board))
	case ask && q.GoesOn:
		text = "may go on without your decision: "
	case ask:
		text = "waits for your decision: "
	}
	return t.stdout.Printf("%s%s\n", console.Lines(q.Diff), text+q.Text)
}

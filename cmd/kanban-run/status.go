package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/report"
)

func statusCommand() command {
	return command{
		name: "status", args: "[BOARD...]", summary: "where boards stand", many: always,
		long: `
How a board stands, what it cost, what an agent does now, what a run would do next, and where each task stands. Of
several boards it is a table, those that need you first; without a board it is about all boards below this folder.

--watch draws it anew every second until no run is at work, or until q, also of runs that another person started.`,
		examples: `
  kanban-run status               all boards below this folder
  kanban-run status -w            the same, as it goes on`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir")
			asJSON := flags.Bool("json", false, "print the boards as JSON")
			verbose := flags.BoolP("verbose", "v", false,
				"show also the session, the owner, the journal and the rollback point")
			watch := flags.BoolP("watch", "w", false, "draw it anew every second, until no run is at work")
			return func(t *terminal, args []string) (int, error) {
				if err := boardArgs("status", args, false); err != nil {
					return 0, err
				}
				if *watch && (*asJSON || !term.IsTerminal(int(t.screen.Fd()))) {
					return 0, &usageError{
						text: "status --watch draws on a terminal",
						hint: "kanban-run log -f follows a run in a pipe",
					}
				}
				u, err := s.load(t)
				if err != nil {
					return 0, err
				}
				boards, err := lookAt(u.looker(keepRecent), args)
				if *asJSON {
					return exitComplete, errors.Join(t.printJSON(withoutSteps(boards), workdirs(u.dir, boards)), err)
				}
				if !isShown(err) {
					return 0, err
				}
				if *watch {
					boards, err = u.watchStatus(t, args, boards)
				}
				return exitComplete, errors.Join(t.printStatus(boards, *verbose), t.printAsked(t.stdout, workdirs(u.dir, boards)), err)
			}
		},
	}
}

// always is the value of command.many for a command that, without a board, is always about all
// boards below the current folder.
func always(*pflag.FlagSet) bool { return true }

// printStatus prints how a board stands, or a table of several.
func (t *terminal) printStatus(boards []*projection.Board, verbose bool) error {
	if len(boards) == 1 {
		return t.printLines(t.screenOf().Status(boards[0], verbose))
	}
	s := t.screenOf()
	return t.printLines(append(s.Table(boards, 0), s.Again(boards)...))
}

func logCommand() command {
	return command{
		name: "log", args: "[BOARD]", summary: "what happened to a board",
		many: func(flags *pflag.FlagSet) bool { return flags.Changed("failed") },
		long: `
A line has its time, the number of its step where a new one begins, a sign (✓ good, ! look at it, ✗ bad), and what
came of it.

-f goes on with what happens next, and ends with the run. --failed takes several boards; without a board it is about
all below this folder. --events shows also what the agents did: their tools, what they said, and the retries of their
providers. --verbose shows also what kanban-run notes for itself; --json has everything.

--verify reads the whole journal, changes nothing, and says what it found: exit code 0 when it is sound, 1 when it is
damaged (with the byte where the damage begins), 5 when the board is frozen. It also says if only a later version of
kanban-run may run the journal.`,
		examples: `
  kanban-run log -f kanban.yaml     what happens now
  kanban-run log --failed           what went wrong, on all boards below this folder`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir")
			asJSON := flags.Bool("json", false, "print one JSON event a line, as run --json does")
			follow := flags.BoolP("follow", "f", false, "go on with what happens next, until the run ends")
			verbose := flags.BoolP("verbose", "v", false, "show every record, with its number, epoch and kind")
			failed := flags.Bool("failed", false, "show only what went wrong")
			events := flags.Bool("events", false, "show also what the agents did")
			step := flags.Int("step", 0, "show only step `N`")
			verify := flags.Bool("verify", false, "check the journal instead, and say what was found")
			return func(t *terminal, args []string) (int, error) {
				if err := cmp.Or(boardArgs("log", args, !*failed), checkLogFlags(len(args), *verify, *follow, *step)); err != nil {
					return 0, err
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
				parts := func(board string, all report.Watcher) report.Watcher {
					all = &report.Filter{Watcher: all, Failed: *failed, Step: *step}
					if *events {
						all = &withEvents{Watcher: all, file: board}
					}
					return all
				}
				switch {
				case *asJSON && len(args) > 1:
					return exitComplete, printLogs(t, args, parts)
				case *asJSON:
					return exitComplete, printLog(t, args[0], parts(args[0], report.NewJSON(t.stdout, true)), *follow)
				case *failed && !*follow:
					return exitComplete, t.printFailures(args, parts, *verbose)
				default:
					return exitComplete, printLog(t, args[0], parts(args[0], t.newLog(args[0], *verbose, false)), *follow)
				}
			}
		},
	}
}

// checkLogFlags returns an error for flags that exclude one another.
func checkLogFlags(boards int, verify, follow bool, step int) error {
	switch {
	case boards > 1 && (verify || follow || step != 0):
		return &usageError{text: "log --failed of several boards takes no --verify, --follow or --step", hint: "use them on one board"}
	case verify && follow:
		return &usageError{text: "--verify looks once, --follow does not end", hint: "use one of them"}
	default:
		return nil
	}
}

// newLog returns a log that prints lines for a person. If titled is true, the board's name stands
// before the first line.
func (t *terminal) newLog(board string, verbose, titled bool) *report.Log {
	log := report.NewLog(t.stdout)
	log.Verbose = verbose
	if titled {
		log.Title = board
	}
	if term.IsTerminal(int(t.screen.Fd())) {
		log.Color = colored(t)
		log.Width, _ = sizeOf(t.screen)
	}
	return log
}

// printLogs prints what went wrong on several boards, for a program. It skips a board that was never run.
// An error about a board goes to stderr.
func printLogs(t *terminal, boards []string, parts func(board string, all report.Watcher) report.Watcher) error {
	var errs []error
	for _, board := range boards {
		err := printLog(t, board, parts(board, report.NewJSON(t.stdout, true)), false)
		if err != nil && !errors.As(err, new(*ledger.NoRunError)) {
			errs = append(errs, t.stderr.Printf("%s: %v\n", board, err))
		}
	}
	return errors.Join(errs...)
}

// printFailures prints what went wrong on boards, and how they stand now. It skips the boards that are
// complete or were never run, unless there is only one.
func (t *terminal) printFailures(boards []string, parts func(board string, all report.Watcher) report.Watcher, verbose bool) error {
	for _, name := range boards {
		b, err := inspect.Looker{Keep: keepLast}.Look(name)
		if len(boards) == 1 && err != nil && !isShown(err) {
			return err
		}
		if len(boards) > 1 && (b.IsOK() || b.Who == projection.Nobody && b.State == projection.NeverRun) {
			continue
		}
		log := t.newLog(name, verbose, len(boards) > 1)
		if err := printLog(t, name, parts(name, log), false); len(boards) == 1 && err != nil {
			return err
		}
		log.Now(&b.Board)
	}
	return nil
}

// checkStep returns a *usageError if the board does not have the step. If follow is true, it
// accepts every positive step number, because a step with this number might begin later.
func checkStep(board string, step int, follow bool) error {
	if step == 0 || step > 0 && follow {
		return nil
	}
	h, _, err := inspect.History(board, func(event.Entry) error { return nil })
	if err == nil && (step < 0 || step > h.State.LastStep) {
		err = &usageError{
			text: fmt.Sprintf("log: %s has no step %d; the last one is step %d", board, step, h.State.LastStep),
			hint: "kanban-run log " + failure.Quote(board) + " shows all",
		}
	}
	return err
}

// pollInterval is the time between two reads of the journal by log --follow.
const pollInterval = 300 * time.Millisecond

// printLog prints the journal. If follow is true, it also prints further entries until a signal
// comes or the run ends.
func printLog(t *terminal, board string, show report.Watcher, follow bool) (err error) {
	stop := context.Background() // without follow, a signal ends the process
	if follow {
		asked, _, release := t.contexts(func(bool) {})
		defer release()
		stop = asked
	}
	journal := inspect.Looker{}.Reader(board)
	var seen uint64
	var ran bool // true if a run was at work in the last round
	var newer *flow.Newer
	defer func() {
		if newer != nil && err == nil {
			err = t.stderr.Printf("kanban-run: %v; what it does not know is not shown\n", newer)
		}
	}()
	for {
		owned, err := inspect.IsOwned(board)
		if err != nil {
			return err
		}
		h, sum, err := journal.History(func(e event.Entry) error {
			if e.Seq > seen {
				seen = e.Seq
				show.Entry(board, e)
			}
			return stop.Err()
		})
		newer = h.Newer
		var never *ledger.NoRunError
		if err != nil && !(follow && seen == 0 && errors.As(err, &never)) && stop.Err() == nil {
			return err
		}
		if err == nil && sum.Records < seen {
			return fmt.Errorf("the journal of %s was replaced by another, of %s", board,
				event.Count(int(sum.Records), "record"))
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

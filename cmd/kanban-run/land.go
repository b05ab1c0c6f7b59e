package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/land"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/projection"
)

func landCommand() command {
	return command{
		name: "land", args: "[BOARD...]", summary: "bring the work of complete boards into your branch", many: always,
		long: `
The work of a board with a clone is on a branch of its own (kanban/NAME). land merges it into the branch that is checked
out, and puts the files that differ into the checkout: whole, or not at all. A conflict, or a change of yours in the way,
is named, and nothing has moved (3). Nothing is pushed.

Without a board it shows how the work of all boards stands. Exit code 3 says that something is to decide, 0 that nothing is.`,
		examples: `
  kanban-run land                           what has not landed
  kanban-run land kanban.yaml               bring it in
  kanban-run land --onto next kanban.yaml   into another branch`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir")
			onto := flags.String("onto", "", "land on this branch, and not on the one that is checked out")
			return func(t *terminal, args []string) (int, error) {
				if err := boardArgs("land", args, false); err != nil {
					return 0, err
				}
				u, err := s.load(t)
				if err != nil {
					return 0, err
				}
				if err := refuseAgents(false); err != nil {
					return 0, err
				}
				if flags.NArg() == 0 { // the boards are those below the folder
					boards, err := lookAt(u.looker(keepLast), args)
					return t.printLandings(boards, err)
				}
				stop, kill, release := t.contexts(func(bool) {})
				defer release()
				return u.land(stop, kill, args, *onto)
			}
		},
	}
}

// land brings the work of boards in, one after the other, and returns the worst exit code.
func (u *setup) land(stop, kill context.Context, boards []string, onto string) (int, error) {
	var codes []int
	for _, name := range boards {
		code, err := u.landOne(stop, kill, name, onto)
		if err != nil && len(boards) == 1 {
			return 0, err
		}
		if err != nil {
			code = u.term.explain(fmt.Errorf("%s: %w", name, err))
		}
		if codes = append(codes, code); stop.Err() != nil {
			break
		}
	}
	return worst(codes), nil
}

func (u *setup) landOne(stop, kill context.Context, name, onto string) (int, error) {
	t := u.term
	dir, err := inspect.Locate(name)
	if err != nil {
		return 0, err
	}
	by, err := u.configuration(u.dir, "", "", false)
	if err != nil {
		return 0, err
	}
	var before, after *flow.Landing
	say := func(text string) { _ = t.stderr.Printf("%s: %s\n", name, text) }
	err = ledger.OnComplete(name, dir, by.Redactor, time.Now, func(l *ledger.Ledger) error {
		before = l.State().Landing
		err := land.Board(stop, kill, land.Options{Board: name, Path: name, Folder: dir, Journal: l, Onto: onto,
			Verify: by.Run.LandVerify, Setup: by.Run.ClonesSetup, Env: by.Roster.AgentEnviron(), Redactor: by.Redactor,
			Notice: say, Says: say})
		after = l.State().Landing
		return err
	})
	if incomplete := (*ledger.NotCompleteError)(nil); errors.As(err, &incomplete) {
		return exitNeedsPerson, errors.Join(t.stdout.Printf("%s: %s\n", name, incomplete.Words), t.stderr.Printf("hint: %s\n", incomplete.Hint()))
	}
	if err != nil {
		return 0, err
	}
	if after == nil {
		return exitComplete, t.stdout.Printf("%s: nothing is to land\n", name)
	}
	err = t.stdout.Printf("%s: %s\n", name, after.Said())
	if after.Fix != "" && !after.IsOut() && (after.State != flow.Landed || after != before) {
		err = errors.Join(err, t.stderr.Printf("hint: %s\n", after.Fix))
	}
	if after.IsLandable() && !after.IsOut() {
		err = errors.Join(err, t.stderr.Printf("hint: kanban-run ack %s accept lands it as it is, skip leaves it out\n", failure.Quote(name)))
	}
	if after.State != flow.Landed && !after.IsOut() {
		return exitNeedsPerson, err
	}
	return exitComplete, err
}

// printLandings prints what has not landed, and what has.
func (t *terminal) printLandings(boards []*projection.Board, failed error) (int, error) {
	code, n := exitComplete, 0
	for _, b := range boards {
		state, words := b.Lands()
		if state == "" {
			continue
		}
		if n++; b.About() == event.AboutLand {
			code = exitNeedsPerson
		}
		if err := t.stdout.Printf("%-9s %s  %s\n", state, b.Board, cmp.Or(words, b.Headline())); err != nil {
			return 0, err
		}
	}
	if n == 0 {
		return code, errors.Join(failed, t.stdout.Printf("none of %s has work in a clone\n", event.Count(len(boards), "board")))
	}
	return code, failed
}

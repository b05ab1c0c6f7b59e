package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/term"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/report"
	"kanban-run/orchestrator/result"
)

// summary prints how each board stands behind the run, and returns the exit code.
func (s *screen) summary(t *terminal, results []result.Result) (int, error) {
	s.docs.ended = results
	boards := s.boards(t, results)
	codes := make([]int, len(boards))
	for i, b := range boards {
		codes[i] = *b.Exit
	}
	code := worst(codes)
	var err error
	switch {
	case s.json != nil:
		s.json.Summary(withoutSteps(boards), askedDocument(s.dirs), code)
	case len(boards) > 1 && !s.dry:
		err = s.table(t, boards)
	default:
		s.printResults(t, results, boards)
	}
	if t.job == nil {
		return code, err
	}
	if s.dry {
		for _, b := range boards {
			if *b.Exit == exitComplete {
				b.EndAs(event.RunInterrupted{Outcome: dryRun, Reason: "dry run: nothing was changed"})
			}
		}
	}
	return code, errors.Join(err, t.job.conclude(results, boards, code))
}

// boards returns how each board stands after a run, with the next action of a person.
func (s *screen) boards(t *terminal, results []result.Result) []*projection.Board {
	looker := inspect.Looker{Keep: keepLast}
	if t.job != nil {
		looker.Keep.Steps = keptSteps
	}
	readers := make([]*inspect.Reader, len(results))
	for i, r := range results {
		readers[i] = looker.Resume(r.Board, r.Folded)
	}
	boards := make([]*projection.Board, 0, len(results))
	inspect.LookAll(readers, func(b inspect.Board, err error) {
		r := results[len(boards)]
		if s.dry {
			b.Board = s.record.board(r)
		} else {
			endAs(&b, r, err)
		}
		if t.job != nil {
			b.Log = "" // it goes with the machine of the job
		}
		b.Hint = s.hint(&b.Board)
		boards = append(boards, &b.Board)
	})
	return boards
}

// endAs makes a board end as a run of this process has, where its journal does not say so. A board on which
// another run has begun since stands as that run has it, but for what this command tells of its own run: the
// exit code and the totals. err is the error of reading the board.
func endAs(b *inspect.Board, r result.Result, err error) {
	b.RunBy(r.Command) // also a board that was not begun
	switch another := r.Folded != nil && b.Runs > r.Folded.Runs; {
	case err != nil || !r.Journaled || !r.Begun && r.Err != nil: // of a run that never began no fold tells
		b.EndAs(r.End)
	case another || b.Exit == nil:
		code := r.End.Code()
		b.Exit = &code
	}
	if b.LastRun = (projection.Totals{}); r.Begun && r.Folded != nil {
		b.LastRun = r.Folded.LastRun
	}
}

// hint returns the next action of a person for a board behind the run.
func (s *screen) hint(b *projection.Board) string {
	switch advice := b.Advice(); {
	case b.Outcome == event.Complete && b.LastRun.Steps == 0 && !s.dry:
		return cmp.Or(advice, "nothing was left to do; current: with the path of a task has it done again")
	case s.dry && advice != "" && b.Outcome != event.Invalid: // the advice names a journal and a log that are removed
		return "this was a dry run: nothing was changed, and nothing of it is kept"
	default:
		return advice
	}
}

// isSettledHere reports whether a board waits for nothing but what printAsked names at the end, with the
// command that settles it.
func (s *screen) isSettledHere(b *projection.Board) bool {
	return b.WaitsHere() && len(askedIn(s.dirs)) > 0
}

// table prints how each board stands after a run of several boards, and each different hint once.
func (s *screen) table(t *terminal, boards []*projection.Board) error {
	errs := []error{t.printStatus(boards, false)}
	if t.job != nil {
		return errors.Join(errs...)
	}
	decide, said := 0, map[string]bool{}
	for _, b := range boards {
		switch {
		case s.isSettledHere(b), b.Outcome == event.Interrupted: // the lines before have the command
		case b.Who == projection.Decide: // inbox has the commands of all of them
			decide++
		case b.Hint != "" && !said[b.Hint]:
			said[b.Hint] = true
			errs = append(errs, t.stderr.Printf("hint: %s: %s\n", b.Board, indented(b.Hint)))
		}
	}
	if decide > 0 {
		errs = append(errs, t.stderr.Printf("hint: kanban-run inbox says what to decide about %s, with the commands\n", event.Count(decide, "board")))
	}
	return errors.Join(errs...)
}

// printResults prints a line about each board. The worst comes last, because a reader looks there first. A
// hint is printed below the last board that has it.
func (s *screen) printResults(t *terminal, results []result.Result, boards []*projection.Board) {
	order := make([]int, len(boards))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rank(*boards[j].Exit), rank(*boards[i].Exit)) })
	complete, used, again, last := 0, event.Used{}, false, map[string]int{}
	for _, i := range order {
		last[boards[i].Hint] = i
	}
	for _, i := range order {
		b := boards[i]
		s.printResult(t, b, results[i].Undone, last[b.Hint] == i)
		again = again || b.Runs > 1
		used = used.Plus(b.LastRun.Used.Used)
		if b.Outcome == event.Complete {
			complete++
		}
	}
	if len(boards) > 1 {
		_ = t.stdout.Printf("%d of %d boards complete%s\n", complete, len(boards), usedSuffix(used, again))
	}
}

// printResult writes a board's last line: an error to stderr, any other result to stdout. The agent's
// last words follow on stderr, and the hint, if it is wanted. The parameter undone is what a dry run leaves.
func (s *screen) printResult(t *terminal, b *projection.Board, undone string, hint bool) {
	steps := event.Count(b.LastRun.Steps, "step") + usedSuffix(b.LastRun.Used.Used, b.Runs > 1)
	code := *b.Exit
	text := fmt.Sprintf("%s, %s", b.Reason.Said, steps)
	switch {
	case code != exitComplete:
		text = fmt.Sprintf("%s (%s, exit code %d)", b.Reason.Said, steps, code)
	case s.dry:
		text = fmt.Sprintf("a run would reach the end of the board if all its agents reply well, %s (dry "+
			"run: nothing was changed)", steps)
		if undone != "" {
			text += "; " + undone
		}
	default:
		text += b.Unreviewed()
		if b.Landing != nil && b.Landing.State == flow.Landed {
			text += "; " + b.Landing.Said
		}
	}
	out, sign := t.stdout, ""
	if code == exitFailed || code == exitInvalid || code == exitOwned {
		out = t.stderr
	}
	if !s.dry && term.IsTerminal(int(t.screen.Fd())) {
		sign = report.Sign(b.Weight, colored(t)) + " "
	}
	_ = out.PrintTrusted(sign)
	_ = out.Printf("%s: %s\n", b.Board, indented(text))
	if said := b.Unquoted(); said != nil {
		_ = t.stderr.Printf("%s\n", indented(said.Role+" said: "+said.Said))
	}
	if work := b.Work(); work != "" && code == exitComplete && b.LastRun.Steps > 0 && t.job == nil {
		_ = t.stderr.Printf("hint: the work: %s\n", indented(work))
	}
	if hint && b.Hint != "" && t.job == nil && !s.isSettledHere(b) { // in a job the annotation shows the hint
		_ = t.stderr.Printf("hint: %s\n", indented(b.Hint))
	}
}

// usedSuffix returns ", " with the cost and the tokens, or "" if they are unknown. If the boards have
// had earlier runs, whose cost is not in u, the suffix says so.
func usedSuffix(u event.Used, again bool) string {
	text := u.String()
	switch {
	case text == "":
		return ""
	case again:
		return ", " + text + " in this run"
	default:
		return ", " + text
	}
}

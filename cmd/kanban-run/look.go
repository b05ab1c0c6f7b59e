package main

import (
	"errors"
	"strings"
	"time"

	"golang.org/x/term"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/report"
)

// What views keep of a board's history.
var (
	keepLast   = ledger.KeepLast
	keepRecent = projection.Keep{Steps: 1, Notices: 50}
	keepSteps  = projection.Keep{Steps: 1000}
)

// looker returns what looks at boards with the settings of a command.
func (u *setup) looker(keep projection.Keep) inspect.Looker {
	return inspect.Looker{Keep: keep, Workdir: u.workdir, StartDir: u.dir, Lookup: u.lookup}
}

// lookAt returns how boards stand. A board that cannot be located is an error, unless there are several. A
// journal that is damaged is an error beside the board.
func lookAt(l inspect.Looker, names []string) (boards []*projection.Board, err error) {
	return readAll(readersOf(l, names))
}

// readersOf returns what looks at boards again and again.
func readersOf(l inspect.Looker, names []string) (readers []*inspect.Reader) {
	for _, name := range names {
		readers = append(readers, l.Reader(name))
	}
	return readers
}

// readAll is like lookAt, for boards that are looked at again.
func readAll(readers []*inspect.Reader) (boards []*projection.Board, err error) {
	inspect.LookAll(readers, func(b inspect.Board, failed error) {
		boards = append(boards, &b.Board)
		if len(readers) == 1 && failed != nil && !errors.As(failed, new(*ledger.NoRunError)) {
			err = failed
		}
	})
	return boards, err
}

// isShown reports whether a board of which this error tells can be shown all the same.
func isShown(err error) bool {
	return err == nil || errors.As(err, new(*ledger.UnreadableError))
}

// screenOf returns what views of boards are drawn for.
func (t *terminal) screenOf() report.Screen {
	s := report.Screen{Out: t.stdout, Now: time.Now()}
	if term.IsTerminal(int(t.screen.Fd())) {
		s.Width, _ = sizeOf(t.screen)
		s.Color = colored(t)
	}
	return s
}

// printLines prints lines that a [report.Screen] has made.
func (t *terminal) printLines(lines []string) error {
	return t.stdout.PrintTrusted(strings.Join(lines, "\n") + "\n")
}

// printJSON prints boards, and what waits in their work trees, in the form of version 2.
func (t *terminal) printJSON(boards []projection.Board, dirs []string) error {
	return t.stdout.JSON(projection.Document{Version: projection.FormVersion, Boards: boards, Asked: askedDocument(dirs)}, "  ")
}

// boardsOf returns boards for JSON.
func boardsOf(boards []*projection.Board) []projection.Board {
	all := make([]projection.Board, len(boards))
	for i, b := range boards {
		all[i] = *b
	}
	return all
}

// withoutSteps returns boards for JSON, without their steps, which only a report has.
func withoutSteps(boards []*projection.Board) []projection.Board {
	all := boardsOf(boards)
	for i := range all {
		all[i].Steps, all[i].Earlier = nil, 0
	}
	return all
}

// sign returns the sign of a weight. The sign is coloured if stdout is a terminal and colours are
// allowed.
func (t *terminal) sign(w event.Weight) string {
	return report.Sign(w, term.IsTerminal(int(t.screen.Fd())) && colored(t))
}

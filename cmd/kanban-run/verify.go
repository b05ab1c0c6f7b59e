package main

import (
	"errors"
	"fmt"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/inspect"
)

// verifyJournal checks a board's journal, changes nothing, and prints its findings. It returns an
// error (exit code 1) for a damaged journal, and exit code 5 for a frozen board, for instance one
// whose journal contradicts itself.
func verifyJournal(t *terminal, board string, asJSON bool) (int, error) {
	v, err := inspect.Verify(board)
	if err != nil {
		return 0, err
	}
	code := exitComplete
	if v.Frozen != "" {
		code = exitFrozen
	}
	if asJSON {
		return code, t.stdout.JSON(v, "  ")
	}
	var errs []error
	row := func(name, format string, args ...any) {
		errs = append(errs, t.stdout.Printf("%-9s %s\n", name, fmt.Sprintf(format, args...)))
	}
	row("journal", "%s", v.Journal)
	row("records", "%d in %d bytes, none is missing or changed", v.Records, v.Bytes)
	row("head", "%s", headOf(v))
	if v.TornBytes > 0 {
		row("torn", "%d bytes after byte %d; the next run keeps them aside", v.TornBytes, v.Bytes)
	}
	row("owner", "%s, epoch %d", v.Owner, v.Epoch)
	row("rollback", "%s", rollbackOf(v))
	if v.Newer != "" {
		row("newer", "%s", v.Newer)
	}
	if v.Frozen == "" {
		row("verdict", "sound")
	} else {
		row("verdict", "%s", event.Plain(v.Frozen))
	}
	return code, errors.Join(errs...)
}

func headOf(v inspect.Verdict) string {
	if v.Head == 0 {
		return "none: a journal that was cut off cleanly would not be noticed"
	}
	return fmt.Sprintf("record %d was acknowledged, and it is there", v.Head)
}

func rollbackOf(v inspect.Verdict) string {
	if len(v.Points) == 0 {
		return "no verifiable snapshot"
	}
	var points []string
	for _, p := range v.Points {
		points = append(points, fmt.Sprintf("record %d of epoch %d, snapshot %s", p.ReplayIndex, p.Epoch, p.Hash))
	}
	return strings.Join(points, " and ")
}

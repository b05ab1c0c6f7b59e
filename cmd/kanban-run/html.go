package main

import (
	"errors"
	"strings"

	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/page"
	"kanban-run/orchestrator/report"
	"kanban-run/orchestrator/result"
	"kanban-run/orchestrator/standing"
)

// reportPage prints the HTML page of boards.
func (t *terminal) reportPage(names []string) error {
	text, err := t.renderPage(names)
	if err != nil {
		return err
	}
	return t.stdout.PrintTrusted(string(text))
}

// renderPage renders boards as one HTML page. For a damaged journal the page shows the part before
// the damage.
func (t *terminal) renderPage(names []string) ([]byte, error) {
	boards := make([]page.Board, len(names))
	quoted := make([]string, len(names))
	for i, name := range names {
		var err error
		if boards[i], err = pageOf(name); err != nil {
			return nil, err
		}
		quoted[i] = failure.Quote(name)
	}
	return page.Render(boards, page.Options{
		Command: "kanban-run report --html " + strings.Join(quoted, " "),
		Hide:    t.secrets.Hide,
	})
}

// pageOf reads a board and its journal.
func pageOf(name string) (page.Board, error) {
	b := page.Board{Digest: digest.Digest{Board: name}}
	at, err := inspect.Look(name, func(e event.Entry) {
		b.Digest.Add(e)
		b.Records++
		if run, ok := e.Event.(event.RunStarted); ok {
			b.Run = run
		}
	})
	switch {
	case errors.As(err, new(*ledger.UnreadableError)):
		b.Damage = at.Text
	case err != nil && !errors.As(err, new(*ledger.NoRunError)):
		return b, err
	}
	report.Conclude(&b.Digest, &at.Standing, at.Dir.Log())
	b.State, b.Owned, b.Tasks, b.Waits, b.Who, b.Find = at.History.State, at.Owned, at.Tasks, at.Waits, at.Who(), at.Find
	b.Records = max(b.Records, at.Records)
	// An interrupted run gets no exit code, because its code depends on the signal.
	if b.Digest.Runs > 0 && b.Digest.Outcome != event.Interrupted && b.Digest.Outcome != standing.Reopened {
		b.Code = codeOf(result.Result{Outcome: b.Digest.Outcome})
	}
	return b, nil
}

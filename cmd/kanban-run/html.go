package main

import (
	"errors"
	"strings"

	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/page"
	"kanban-run/orchestrator/report"
	"kanban-run/orchestrator/result"
)

// reportPage prints the HTML page of boards.
func (t *terminal) reportPage(names []string) error {
	text, err := t.renderPage(names)
	if err != nil {
		return err
	}
	return t.stdout.PrintTrusted(string(text))
}

// writePage writes the HTML page of boards to a file.
func (t *terminal) writePage(path string, names []string) error {
	text, err := t.renderPage(names)
	if err != nil {
		return err
	}
	return t.writeDocument(path, text)
}

// renderPage renders boards as one HTML page. Of a damaged journal it shows the part before the
// damage.
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
	b := page.Board{Digest: digest.Digest{Board: name, Outcome: "not_started", Text: "it was never run"}}
	var tasks report.Tasks
	h, sum, err := inspect.History(name, func(e event.Entry) error {
		b.Add(e)
		tasks.Add(e.Event)
		b.Records++
		if run, ok := e.Event.(event.RunStarted); ok {
			b.Run = run
		}
		return nil
	})
	var never *ledger.NoRunError
	var damage *journal.DamageError
	switch {
	case errors.As(err, &damage):
		b.Damage = damage.Error()
	case err != nil && !errors.As(err, &never):
		return b, err
	}
	b.State = h.State
	b.Records = max(b.Records, sum.Records)
	if b.Owned, err = inspect.IsOwned(name); err != nil {
		return b, err
	}
	dir, err := inspect.Locate(name)
	if err != nil {
		return b, err
	}
	if b.Runs > 0 {
		report.Conclude(&b.Digest, h, b.Owned, dir.Log())
		b.Code = codeOf(result.Result{Outcome: b.Outcome})
	}
	if b.Outcome == event.Interrupted {
		b.Code = 0 // the exit code depends on the signal, which is unknown here
	}
	if source, _, err := inspect.ReadBoard(name, true, func(string) {}); err == nil {
		b.Tasks, b.Find = listTasks(source, &tasks, h), source.Finder()
	}
	return b, nil
}

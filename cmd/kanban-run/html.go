package main

import (
	"errors"
	"strings"

	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/page"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/roster"
)

// reportPage prints the HTML page of boards.
func (t *terminal) reportPage(l inspect.Looker, names []string) error {
	text, err := t.renderPage(l.Look, names)
	if err != nil {
		return err
	}
	return t.stdout.PrintTrusted(string(text))
}

// renderPage renders boards as one HTML page. For a damaged journal the page shows the part before
// the damage.
func (t *terminal) renderPage(look lookFunc, names []string) ([]byte, error) {
	boards := make([]*projection.Board, len(names))
	quoted := make([]string, len(names))
	for i, name := range names {
		b, err := look(name)
		if !isShown(err) && !errors.As(err, new(*ledger.NoRunError)) {
			return nil, err
		}
		boards[i], quoted[i] = &b.Board, failure.Quote(name)
	}
	return page.Render(boards, page.Options{
		Command: "kanban-run report --html " + strings.Join(quoted, " "),
		Hide:    t.secrets.Hide,
		Tells:   roster.Listens,
	})
}

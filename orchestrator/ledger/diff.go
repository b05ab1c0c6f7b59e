package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// summary returns the rollback point, the findings and the affected tasks of a reconciliation, in
// words (seed 002, "concise diff summary").
func summary(r flow.Rebuilt, point flow.Snapshot) string {
	var b strings.Builder
	if point.Hash != "" {
		fmt.Fprintf(&b, "rollback point: epoch %d, record %d, snapshot %.12s\n",
			point.Epoch, point.ReplayIndex, point.Hash)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "found: %s\n", f)
	}
	if len(r.Affected) > 0 {
		fmt.Fprintf(&b, "affected: %s\n", strings.Join(r.Affected, ", "))
	}
	return b.String()
}

func stateJSON(s flow.State) []byte {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil
	}
	return append(data, '\n')
}

// boardDiff returns the diff from a run's last copy of the board to the board's present bytes. It
// returns "" if the two are equal, or if the copy cannot be read.
func (a *arbitration) boardDiff() string {
	before, err := board.ReadFile(a.dir.Before())
	if err != nil || bytes.Equal(before, a.before.Source) {
		return ""
	}
	return Unified("before", before, a.board, a.before.Source)
}

// maxDiff bounds a shown diff, in lines.
const maxDiff = 60

// Unified returns the lines in which two texts differ, at most [maxDiff] of them.
func Unified(oldName string, old []byte, newName string, new []byte) string {
	lines := strings.SplitAfter(string(diff.Diff(oldName, old, newName, new)), "\n")
	if len(lines) > 0 && strings.HasPrefix(lines[0], "diff ") {
		lines = lines[1:]
	}
	if len(lines) > maxDiff {
		lines = append(lines[:maxDiff], fmt.Sprintf("… and %s more\n", event.Count(len(lines)-maxDiff, "line")))
	}
	return strings.Join(lines, "")
}

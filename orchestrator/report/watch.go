package report

import (
	"fmt"
	"slices"

	"kanban-run/orchestrator/projection"
)

// mostRecent is the greatest number of the last events in status --watch.
const mostRecent = 6

// Watch returns the lines of status --watch: those of status, and the last events. Of several boards
// the rows that need nobody are left out where the height, in lines, has no room for them.
func (s Screen) Watch(boards []*projection.Board, height int) []string {
	recent := s.recent(boards)
	if len(boards) == 1 {
		return append(s.Status(boards[0], false), recent...)
	}
	return append(s.Table(boards, max(1, height-len(recent))), recent...)
}

// recent returns a blank line and the last events of all boards, or nothing.
func (s Screen) recent(boards []*projection.Board) []string {
	type row struct {
		projection.Notice
		board string
	}
	var all []row
	for _, b := range boards {
		for _, n := range b.Notices {
			name := ""
			if len(boards) > 1 {
				name = b.Board + "  "
			}
			all = append(all, row{n, name})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b row) int { return a.Time.Compare(b.Time) })
	lines := []string{""}
	for _, r := range all[max(0, len(all)-mostRecent):] {
		text := cut(s.Out.Sprintf("%s%s", r.board, r.Line), s.Width-13)
		lines = append(lines, fmt.Sprintf("  %s %s %s", r.Time.Local().Format("15:04:05"), coloredSign(r.Line.Weight, s.Color), text))
	}
	return lines
}

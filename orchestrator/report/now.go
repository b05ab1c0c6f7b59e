package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/health"
)

// now is the display of a board at one time, in the live lines of its run and in status --watch.
type now struct {
	board     string
	index, of int // number of the task, counted from 1 (0 if not known); number of all tasks
	task      string
	player    event.AttemptRef
	adapter   string // "" if it is not known
	since     time.Time
	used      event.Used
	limit     int64 // limit of the cost in millionths of a US dollar, or 0 for no limit
	doing     doing
	last      time.Time // time of the agent's last sign, or zero if there is no sign yet
	health    string    // health of the agent in a word of seed 000, or "" if no agent is watched
	weight    event.Weight
}

// doing is an activity of an agent, its beginning, and a detail that may be cut.
type doing struct {
	what   string
	since  time.Time // beginning of the activity; zero if its age is not shown
	detail string
}

func (d doing) at(t time.Time) string {
	text := d.what
	if !d.since.IsZero() {
		text += " " + event.Elapsed(t.Sub(d.since))
	}
	if text != "" && d.detail != "" {
		text += ": "
	}
	return text + d.detail
}

// silence is the duration of a model's silence after which the display shows the wait for the
// model.
const silence = 2 * time.Second

// doingOf returns the activity that an agent's trace implies at a time: the oldest open tool call,
// a wait for the provider, or a wait for the model. Without such an activity it returns the agent's
// last text.
func doingOf(t *health.Trace, at time.Time) doing {
	said := ""
	if last := t.Last; last.Kind == agent.Text || last.Kind == agent.Printed {
		said = last.String()
	}
	switch t.Waiting() {
	case health.ForTools:
		calls := t.Open()
		about := agent.OneLine(calls[0].Text) + moreCalls(len(calls)-1)
		return doing{calls[0].Tool, calls[0].Since, about}
	case health.ForProvider:
		return doing{"waits for the provider", t.Failed.Time, agent.OneLine(t.Failed.Text)}
	case health.ForModel:
		if at.Sub(t.Asked()) >= silence {
			return doing{"model", t.Asked(), said}
		}
	}
	return doing{detail: said}
}

func moreCalls(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " (and 1 more call)"
	default:
		return fmt.Sprintf(" (and %d more calls)", n)
	}
}

// doingLive returns the activity of an agent of another process. Unlike doingOf it does not know
// the agent's texts.
func doingLive(l health.Live) doing {
	switch {
	case len(l.Open) > 0:
		return doing{l.Open[0].Tool, l.Open[0].Since, l.Open[0].About + moreCalls(len(l.Open)-1)}
	case l.Activity == "model":
		return doing{what: "model", since: later(l.LastActivity, l.Started)}
	case l.Activity == "retry":
		return doing{what: "waits for the provider"}
	default:
		return doing{}
	}
}

// weightOf returns the weight of an agent's health.
func weightOf(word string) event.Weight {
	switch word {
	case string(health.Warning):
		return event.Warning
	case string(health.Critical):
		return event.Critical
	default:
		return event.Routine
	}
}

// wide is the least width of a terminal, in columns, that shows tasks and roles whole.
const wide = 100

// pair returns the two lines of a board that runs alone. The first has its progress, the second the
// activity of its agent.
func (n now) pair(t time.Time, width int, color bool) []string {
	task := n.task
	if width < wide {
		task = shortTask(task)
	}
	cost := n.cost(" of ")
	board := cutMiddle(n.board, max(8, width/3))
	words := func(task, player string) string {
		return join("  ", board, n.place("task %d of %d"), task, player, n.time(t))
	}
	player := n.fullPlayer(width)
	room := width - 2 - runewidth.StringWidth(cost) - 2
	if runewidth.StringWidth(words(task, player)) > room {
		player = ""
	}
	if over := runewidth.StringWidth(words(task, player)) - room; over > 0 {
		task = cutMiddle(task, max(8, runewidth.StringWidth(task)-over))
	}
	lines := []string{coloredSign(n.weight, color) + " " + flush(words(task, player), cost, width-2)}
	if second := flush(n.doing.at(t), n.tail(t, width), width-2); second != "" {
		lines = append(lines, "  "+second)
	}
	return lines
}

// tail returns the right end of pair's second line: the last sign and the health. A narrow terminal
// gets only the health, or nothing.
func (n now) tail(t time.Time, width int) string {
	if n.health == "" || width < 40 {
		return ""
	}
	text := runewidth.FillLeft(n.state(t), len(health.Healthy)+1)
	if width < 60 || n.isSilent() {
		return text
	}
	return runewidth.FillRight(n.lastSign(t), len("last sign 10m00s")) + "  " + text
}

// isSilent reports whether the agent counts as healthy, but has given no sign yet. The health of
// such an agent is not really known.
func (n now) isSilent() bool { return n.health == health.Healthy && n.last.IsZero() }

// state returns the agent's health in a word of seed 000, or the duration of the agent's silence.
func (n now) state(t time.Time) string {
	if n.isSilent() {
		return "silent " + n.time(t)
	}
	return n.health
}

func (n now) lastSign(t time.Time) string {
	if n.last.IsZero() {
		return "no sign yet"
	}
	return "last sign " + event.Elapsed(t.Sub(n.last))
}

func (n now) place(format string) string {
	if n.index == 0 {
		return ""
	}
	return fmt.Sprintf(format, n.index, n.of)
}

func (n now) time(t time.Time) string {
	if n.since.IsZero() {
		return ""
	}
	return event.Elapsed(t.Sub(n.since))
}

// cost returns the cost of the run, or "" if the cost is not known. If the cost has a limit, the
// limit follows after a separator, which is the parameter "of".
func (n now) cost(of string) string {
	if n.used.Told == 0 {
		return ""
	}
	text := strings.Replace(n.used.Money(), "at least ", "≥", 1)
	if n.limit > 0 {
		text += of + strings.TrimSuffix(event.Dollars(n.limit), map[bool]string{true: ".00"}[of == "/"])
	}
	return text
}

func (n now) fullPlayer(width int) string {
	text := n.player.Short()
	if text == "" || width < wide {
		return text
	}
	if n.adapter != "" {
		text += " (" + n.adapter + ")"
	}
	if n.player.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d", n.player.Attempt)
	}
	return text
}

// nowRows returns one line for each of several boards, in columns. If room is short, it leaves out
// the agents' last signs first, then their health, then their roles.
func nowRows(boards []now, t time.Time, width int, color bool) []string {
	tasks, names := make([]string, len(boards)), make([]string, len(boards))
	for i, n := range boards {
		tasks[i], names[i] = shortTask(n.task), n.board
	}
	if width < wide {
		names = ShortNames(names)
	}
	for i := range names {
		names[i] = cutMiddle(names[i], max(8, width/4))
	}
	cells := make([][]string, len(boards))
	for i, n := range boards {
		sign := ""
		if n.health != "" && !n.last.IsZero() {
			sign = "sign " + event.Elapsed(t.Sub(n.last))
		}
		cells[i] = []string{
			names[i], n.place("%d/%d"), cutMiddle(tasks[i], max(8, width/5)), n.player.Short(), n.time(t),
			"", sign, n.state(t), n.cost("/"),
		}
	}
	const ofPlayer, ofTime, ofDoing, ofSign, ofHealth, ofCost = 3, 4, 5, 6, 7, 8
	const leastDoing = 16
	room := roomOf(cells, width-2)
	for _, column := range []int{ofSign, ofHealth, ofPlayer} {
		if room >= leastDoing {
			break
		}
		for i := range cells {
			cells[i][column] = ""
		}
		room = roomOf(cells, width-2)
	}
	for i, n := range boards {
		cells[i][ofDoing] = runewidth.FillRight(cut(n.doing.at(t), room), room)
	}
	lines := columns(cells, map[int]bool{1: true, ofTime: true, ofCost: true}, width-2)
	for i := range lines {
		lines[i] = coloredSign(boards[i].weight, color) + " " + lines[i]
	}
	return lines
}

// roomOf returns the width that is left for one more column.
func roomOf(cells [][]string, width int) int {
	for _, w := range columnWidths(cells) {
		if w > 0 {
			width -= w + 2
		}
	}
	return max(0, width)
}

func columnWidths(cells [][]string) []int {
	var widths []int
	for _, row := range cells {
		for k, cell := range row {
			if k == len(widths) {
				widths = append(widths, 0)
			}
			widths[k] = max(widths[k], runewidth.StringWidth(cell))
		}
	}
	return widths
}

// columns aligns cells in columns and leaves out empty columns. The map named right has the numbers
// of the columns that are aligned on the right. All others are aligned on the left.
func columns(cells [][]string, right map[int]bool, width int) []string {
	widths := columnWidths(cells)
	lines := make([]string, len(cells))
	for i, row := range cells {
		var filled []string
		for k, cell := range row {
			switch {
			case widths[k] == 0:
			case right[k]:
				filled = append(filled, runewidth.FillLeft(cell, widths[k]))
			default:
				filled = append(filled, runewidth.FillRight(cell, widths[k]))
			}
		}
		lines[i] = cut(strings.TrimRight(strings.Join(filled, "  "), " "), width)
	}
	return lines
}

// flush returns a line with one text at its left end and one at its right end. If the line has no
// room for both texts, flush cuts the left one.
func flush(left, right string, width int) string {
	room := width - runewidth.StringWidth(right)
	if right != "" {
		room -= 2
	}
	left = cut(left, max(1, room))
	if right == "" {
		return left
	}
	return runewidth.FillRight(left, width-runewidth.StringWidth(right)) + right
}

func join(sep string, parts ...string) string {
	var there []string
	for _, p := range parts {
		if p != "" {
			there = append(there, p)
		}
	}
	return strings.Join(there, sep)
}

// shortTask returns the name of a file without its folder and ending.
func shortTask(task string) string {
	name := filepath.Base(task)
	if task == "" {
		return ""
	}
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// ShortNames returns the names of files without folder and ending. Files whose short names would be
// equal keep their names.
func ShortNames(files []string) []string {
	times := map[string]int{}
	for _, f := range files {
		times[shortTask(f)]++
	}
	names := slices.Clone(files)
	for i, f := range files {
		if short := shortTask(f); times[short] == 1 {
			names[i] = short
		}
	}
	return names
}

// clean redacts the texts of agents and boards, and removes characters that could control the
// terminal.
func (n now) clean(out *console.Printer) now {
	for _, s := range []*string{&n.board, &n.task, &n.player.Role, &n.adapter, &n.doing.what, &n.doing.detail} {
		*s = out.Sprintf("%s", *s)
	}
	return n
}

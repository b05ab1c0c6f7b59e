package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/projection"
)

// Screen is what a view of boards is drawn for.
type Screen struct {
	Out   *console.Printer
	Now   time.Time
	Width int // in columns; 0: lines have no limit
	Color bool
}

// Wrapped returns a head with a text to its right. Further lines begin below the text. If the head
// leaves no room, the text begins on a new line.
func (s Screen) Wrapped(head, text string) []string {
	rest := max(0, strings.Index(head, "kanban-run ")) + restIndent
	head, text = s.Out.Sprintf("%s", head), s.Out.Sprintf("%s", text)
	if s.Width <= 0 {
		return []string{head + text}
	}
	var lines []string
	if s.Width-max(restIndent, runewidth.StringWidth(head)) < leastText {
		lines, head = append(lines, strings.TrimRight(head, " ")), strings.Repeat(" ", rest)
	}
	indent := max(restIndent, runewidth.StringWidth(head))
	for i, line := range Wrap(text, s.Width-indent) {
		if i > 0 {
			head = strings.Repeat(" ", indent)
		}
		lines = append(lines, head+line)
	}
	return lines
}

// leastText is the width in columns that a text needs beside its head, and restIndent the least
// indentation of its further lines.
const (
	leastText  = 24
	restIndent = 2
)

// Status returns how a board stands for a person: its state, the open step and its agent, the
// decisions that wait, the next action, the cost, and the tasks. With verbose it adds the session, the
// owner, the journal and the rollback point.
func (s Screen) Status(b *projection.Board, verbose bool) []string {
	lines := s.headed(b, b.Headline())
	lines = append(lines, "")
	row := func(name, format string, args ...any) {
		lines = append(lines, s.Wrapped(fmt.Sprintf("  %-8s ", name), fmt.Sprintf(format, args...))...)
	}
	if b.Open != nil {
		row(map[bool]string{true: "now", false: "open"}[b.IsAtWork()], "%s", openText(b))
	}
	for _, text := range s.atWork(b) {
		row("", "%s", text)
	}
	for i, c := range s.forYou(b) {
		name := map[bool]string{true: "for you"}[i == 0]
		lines = append(lines, s.Wrapped(fmt.Sprintf("  %-8s %s", name, c[0]), c[1])...)
	}
	if t := b.Unquoted(); t != nil {
		row("said", "%s: %s", t.Task, event.Brief(t.Said))
	}
	for _, d := range b.Decisions[max(0, len(b.Decisions)-mostDecided):] {
		row("decided", "%s: %s", d.Time.Local().Format("2006-01-02 15:04:05"), d)
	}
	for _, p := range b.Proposals {
		if b.Who.AsksPerson() {
			row("proposed", "%s", event.OneLine(p.Text))
		}
	}
	switch {
	case b.IsAtWork():
	case b.Refused != "" && b.Who != projection.Mend:
		row("next", "a run would refuse: %s", b.Refused)
	case !b.StartsNothing():
		row("next", "%s", b.Next)
	}
	for _, again := range projection.CommandsAgain([]*projection.Board{b}) {
		lines = append(lines, s.Out.Sprintf("  %-8s %s", "again", again.Text()))
	}
	if !b.Ended.IsZero() {
		row("ended", "%s", ended(b.Ended, s.Now))
	}
	s.figures(b, verbose, row)
	if len(b.Tasks) > 0 {
		lines = append(lines, "")
	}
	return append(lines, s.tasks(b.Tasks)...)
}

// mostDecided is the greatest number of decisions that a status shows.
const mostDecided = 3

// headed returns a text behind the sign of a board.
func (s Screen) headed(b *projection.Board, text string) []string {
	lines := s.Wrapped("  ", text)
	lines[0] = coloredSign(b.Weight, s.Color) + " " + strings.TrimPrefix(lines[0], "  ")
	return lines
}

// figures adds the rows with numbers to a status.
func (s Screen) figures(b *projection.Board, verbose bool, row func(name, format string, args ...any)) {
	if b.State == projection.NeverRun && b.Records == 0 {
		return
	}
	if b.Unpushed != "" && b.Outcome != event.Unsaved { // whose reason says it
		row("unpushed", "checkpoints have not reached the remote: %s", b.Unpushed)
	}
	if b.Clone != nil {
		row("clone", "%s", b.Clone.Dir)
	}
	if work := b.Work(); work != "" {
		row("work", "%s", work)
	}
	if state, words := b.Lands(); words != "" {
		row("landing", "%s: %s", state, words)
	}
	row("cost", "%s", costOf(b))
	if limits := b.Limits.String(); limits != "" {
		row("limits", "%s", limits)
	}
	row("steps", "%d; agents worked %s", b.Totals.Steps, event.Took(b.Totals.Used.Millis))
	if b.Supervisor != nil {
		row("checked", "%s", supervisorText(b.Supervisor))
	}
	if !verbose {
		return
	}
	if b.Session != "" {
		row("session", "%s", b.Session)
	}
	row("owner", "%s, epoch %d", b.Owner, b.Epoch)
	row("journal", "%s (%d records)", b.Journal, b.Records)
	if p := b.Rollback; p != nil {
		row("rollback", "to record %d of epoch %d, snapshot %.12s", p.ReplayIndex, p.Epoch, p.Hash)
	}
}

// openText describes an open step: its number, task and attempts.
func openText(b *projection.Board) string {
	o := b.Open
	text := fmt.Sprintf("step %d: %s, %s", o.Step, o.Task, o.Ref().Short())
	if last := len(b.Steps) - 1; last >= 0 {
		n := b.Steps[last].Count()
		switch isManager := o.CallRole() == event.ManagerRole; {
		case isManager && n[event.Management] > 1:
			text += ", " + event.Count(n[event.Management], "attempt")
		case !isManager && n[event.Work]+n[event.Review] > 1:
			text += ", " + triesText(n)
		}
	}
	if o.Rejected > 0 {
		text += fmt.Sprintf(", %d rejected", o.Rejected)
	}
	return text
}

// atWork describes the agent at work.
func (s Screen) atWork(b *projection.Board) []string {
	switch {
	case b.Open == nil:
		return nil
	case b.Agent != nil:
		return describeAgent(*b.Agent, s.Now)
	case b.IsAtWork() && !b.Open.Since.IsZero():
		return []string{"working " + event.Elapsed(s.Now.Sub(b.Open.Since))}
	default:
		return nil
	}
}

// forYou lists what waits for a person, each in two parts: the tasks in quarantine, the reason for a
// decision or what mends the board, and the commands that decide, with their effects.
func (s Screen) forYou(b *projection.Board) (all [][2]string) {
	for _, q := range b.Quarantine {
		all = append(all, [2]string{"", fmt.Sprintf("%s is in quarantine: %s", q.Task, q.Text)})
	}
	if why := b.Besides(); why != "" {
		all = append(all, [2]string{"", why})
	}
	return append(all, Commands(b)...)
}

// Commands returns the hint of a board, and the commands with which a person can decide, padded to the same
// width, each with a text about its effect.
func Commands(b *projection.Board) (all [][2]string) {
	if hint := b.Card().Hint; hint != "" {
		all = append(all, [2]string{"", hint})
	}
	width := 0
	for _, c := range b.Choices {
		width = max(width, runewidth.StringWidth(c.Command))
	}
	for _, c := range b.Choices {
		all = append(all, [2]string{runewidth.FillRight(c.Command, width+2), c.Does})
	}
	return all
}

// costOf returns the cost that counts against the present limits. If the cost of all runs differs, it
// returns that cost too.
func costOf(b *projection.Board) string {
	total := b.Totals.Used
	if b.Used.Attempts == 0 && total.Attempts > 0 {
		return "of all runs " + priced(total)
	}
	text := priced(b.Used)
	if total.Used != b.Used.Used {
		text += ", of all runs " + priced(total)
	}
	return text
}

// supervisorText describes the supervisor in a line: its last verdicts with their trend, the due
// checkpoint and the cost.
func supervisorText(v *projection.Supervisor) string {
	const most = 5
	text := v.Role
	if len(v.Held) == 0 {
		text += ", no checkpoint yet"
	}
	for i, h := range v.Held[max(0, len(v.Held)-most):] {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		text += sep + heldText(h)
	}
	if len(v.Due) > 0 {
		text += ", due " + v.Due[0].ID
	}
	if v.Used.Attempts > 0 {
		text += "; cost " + priced(v.Used)
	}
	return text
}

func heldText(h flow.Held) string {
	if h.Verdict == event.NoVerdict {
		return h.ID + " no verdict"
	}
	text := fmt.Sprintf("%s %s %.2f", h.ID, h.Verdict, h.Score)
	if h.Trend != "" {
		text += " (" + shorten(event.OneLine(h.Trend), 40) + ")"
	}
	return text
}

func shorten(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

var taskMarks = map[projection.TaskState]string{
	projection.Done:        "✓",
	projection.DoneBefore:  "✓",
	projection.Settled:     "-",
	projection.Dropped:     "✗",
	projection.NotOK:       "✗",
	projection.SetAside:    "✗",
	projection.Working:     "▸",
	projection.InReview:    "▸",
	projection.NextUp:      "▸",
	projection.StoppedAt:   "!",
	projection.Waiting:     " ",
	projection.Quarantined: "⟳",
}

// A list of more than mostTasks tasks is not shown whole. Only these tasks are shown: those that are
// not ok, the current task, and the tasks near the current task. The constant "neighbours" bounds the
// number of near tasks on each side.
const (
	mostTasks  = 40
	neighbours = 10
)

// tasks returns a line for each task of a board that counts.
func (s Screen) tasks(all []projection.Task) (lines []string) {
	all = slices.DeleteFunc(slices.Clone(all), func(t projection.Task) bool { return !t.Counts() })
	isCurrent := func(t projection.Task) bool { return taskMarks[t.State] == "▸" || t.State == projection.StoppedAt }
	at := max(0, slices.IndexFunc(all, isCurrent))
	shown := func(i int) bool {
		return len(all) <= mostTasks || all[i].State.IsOpen() || i >= at-neighbours && i <= at+neighbours
	}
	width, missed := 0, 0
	for i, t := range all {
		if shown(i) {
			width = max(width, runewidth.StringWidth(t.Task))
		}
	}
	for i, t := range all {
		if !shown(i) {
			missed++
			continue
		}
		name := s.Out.Sprintf("%s", t.Task)
		if about := describeTask(t); about != "" {
			name = runewidth.FillRight(name, width) + "  " + s.Out.Sprintf("%s", about)
		}
		lines = append(lines, fmt.Sprintf("  %s %s", taskMarks[t.State], name))
	}
	if missed > 0 {
		lines = append(lines, fmt.Sprintf("  and %s more, which --json lists", event.Count(missed, "task")))
	}
	return lines
}

func describeTask(t projection.Task) string {
	switch {
	case t.State == projection.DoneBefore, t.State == projection.Dropped, t.State == projection.NextUp && t.Tries == 0:
		return t.State.Words()
	case t.Status == flow.StatusAccepted:
		return "accepted by a person"
	case t.Status == flow.StatusSkipped:
		return "skipped by a person"
	case t.Tries+t.Reviews == 0:
		return ""
	}
	text := fmt.Sprintf("%s, %s", t.Role, TriesOf(t))
	if t.Used.Millis > 0 || t.State != projection.Working {
		text += ", " + event.Took(t.Used.Millis)
	}
	if t.Status != "" && t.Status != flow.StatusOK {
		text += ", " + t.Status
	}
	return text
}

// TriesOf returns the numbers of attempts at the work on a task and of its reviews.
func TriesOf(t projection.Task) string {
	return triesText(map[event.Part]int{event.Work: t.Tries, event.Review: t.Reviews})
}

func triesText(n map[event.Part]int) string {
	text := event.Count(n[event.Work], "attempt")
	if n[event.Review] > 0 {
		text += ", " + event.Count(n[event.Review], "review")
	}
	return text
}

package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/inert"
	"kanban-run/orchestrator/projection"
)

// Markdown renders boards for a person. The parameter limit is the greatest length of the text in
// bytes, or 0 if there is no limit. If the text would be longer, Markdown leaves out the oldest
// steps first, then complete boards, then other boards, and writes how many are left out. The
// function hide redacts a text.
func Markdown(boards []*projection.Board, hide func(string) string, limit int) string {
	return renderMarkdown(boards, hide, limit, true)
}

// MarkdownForTerminal is like Markdown without a limit, but it leaves out the diagrams, which a
// terminal cannot draw.
func MarkdownForTerminal(boards []*projection.Board, hide func(string) string) string {
	return renderMarkdown(boards, hide, 0, false)
}

func renderMarkdown(boards []*projection.Board, hide func(string) string, limit int, draws bool) string {
	steps := 0
	for i := range boards {
		steps = max(steps, len(boards[i].Steps))
	}
	all := len(boards)
	for {
		m := &markdown{hide: hide, steps: steps, boards: all, draws: draws}
		m.document(boards)
		switch {
		case limit == 0 || m.b.Len() <= limit || all == 0:
			return m.b.String()
		case steps > 0:
			steps /= 2
		default:
			all /= 2
		}
	}
}

// markdown is a document that is being written.
type markdown struct {
	b             strings.Builder
	hide          func(string) string
	steps, boards int  // greatest number of rows in a table of steps, and in the table of boards
	draws         bool // true if the program that shows the document draws Mermaid diagrams
}

// line writes a line of Markdown. It redacts and escapes string arguments, but not format.
func (m *markdown) line(format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = inert.Markdown(m.hide(text))
		}
	}
	fmt.Fprintf(&m.b, format+"\n", args...)
}

func (m *markdown) document(boards []*projection.Board) {
	complete := 0
	for i := range boards {
		complete += m.is(boards[i])
	}
	m.line("## kanban-run: %d of %s complete\n", complete, event.Count(len(boards), "board"))
	shown := boards
	if m.boards < len(boards) { // complete boards are left out first
		shown = slices.Clone(boards)
		slices.SortStableFunc(shown, func(a, b *projection.Board) int { return m.is(a) - m.is(b) })
		shown = shown[:m.boards]
	}
	m.overview(shown)
	if left := len(boards) - len(shown); left > 0 {
		m.line("\n… and %s more", event.Count(left, "board"))
	}
	for i := range shown {
		if m.steps > 0 || len(shown[i].Steps) == 0 {
			m.board(shown[i])
		}
	}
}

func (m *markdown) is(b *projection.Board) int {
	if b.IsOK() {
		return 1
	}
	return 0
}

// overview writes the table of boards. For each board that is not plainly complete it also writes
// the text and the advice.
func (m *markdown) overview(boards []*projection.Board) {
	m.line("|  | board | outcome | steps | attempts | time | cost | reviewed |\n|---|---|---|--:|--:|--:|--:|--:|")
	for i := range boards {
		b := boards[i]
		tries := fmt.Sprint(b.Totals.Attempts)
		if b.Totals.Rejected > 0 {
			tries += fmt.Sprintf(" (%d rejected)", b.Totals.Rejected)
		}
		m.line("| %s | %s | %s | %d | %s | %s | %s | %s |",
			strings.TrimSpace(coloredSign(b.Weight, false)), b.Board, b.EndWords(), b.Totals.Steps, tries, tookText(b.Totals), priced(b.Totals.Used), reviewed(b))
	}
	for _, b := range boards {
		if b.Runs > 1 {
			m.line("\n**%s**: in the last of %d runs %s, %s, %s, %s", b.Board, b.Runs, event.Count(b.LastRun.Steps, "step"),
				event.Count(b.LastRun.Attempts, "attempt"), tookText(b.LastRun), priced(b.LastRun.Used))
		}
	}
	for _, b := range boards {
		if work := b.Work(); work != "" {
			m.line("\n**%s**: its work: %s", b.Board, work)
		}
		if state, words := b.Lands(); words != "" {
			m.line("\n**%s**: landing: %s: %s", b.Board, state, words)
		}
	}
	for i := range boards {
		if b := boards[i]; b.Weight != event.Success {
			m.line("\n**%s**: %s%s", b.Board, b.Reason.Said, adviceSuffix(b.Advice()))
		}
	}
}

// reviewed returns how many of the tasks that are done a review accepted, or "" if none is done.
func reviewed(b *projection.Board) string {
	done := 0
	for i := range b.Tasks {
		if b.Tasks[i].State == projection.Done {
			done++
		}
	}
	if done == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", b.Reviewed, done)
}

// tookText returns the time of runs, and the time that they waited for a provider.
func tookText(t projection.Totals) string {
	if t.Waited == 0 {
		return event.Took(t.Millis)
	}
	return event.Took(t.Millis) + " + " + event.Took(t.Waited) + " waited"
}

// priced returns a cost, and the tokens if they are known.
func priced(u flow.Tally) string {
	if tokens := u.Tokens(); tokens != "" {
		return u.Money() + " (" + tokens + ")"
	}
	return u.Money()
}

func adviceSuffix(advice string) string {
	if advice == "" {
		return ""
	}
	return ". Next: " + advice
}

// board writes the timeline of a board and its tables of steps, checkpoints and missing tools.
func (m *markdown) board(b *projection.Board) {
	m.line("\n### %s\n", b.Board)
	if len(b.Steps) == 0 {
		m.line("No step was started.")
		return
	}
	m.timeline(b)
	first := max(0, len(b.Steps)-m.steps)
	if left := b.Earlier + first; left > 0 {
		m.line("%s before these: `kanban-run log` shows all.\n", event.Count(left, "step"))
	}
	m.line("| step | task | role | attempts + Manager | time | cost | result | last message |\n" +
		"|--:|---|---|--:|--:|--:|---|---|")
	for i := first; i < len(b.Steps); i++ {
		s := &b.Steps[i]
		m.line("| %d | %s | %s | %s | %s | %s | %s | %s |",
			s.Step, s.Task, s.Role, formatAttempts(s), event.Took(s.Millis), priced(s.Used),
			StepResult(s), event.Brief(LastWord(s)))
	}
	m.checkpoints(b)
	m.tools(b)
	m.changed(b)
}

// changed writes what was changed while agents worked, and waits for no person.
func (m *markdown) changed(b *projection.Board) {
	if len(b.Changed) == 0 {
		return
	}
	m.line("\nChanged while agents worked:\n")
	for _, text := range b.Changed {
		m.line("- %s", text)
	}
}

// formatAttempts returns the numbers of attempts of the step as status counts them: at the work, of reviews, and
// then of the Manager. What else a program was started for, such as a checkpoint, counts as work.
func formatAttempts(s *projection.Step) string {
	n := s.Count()
	text := fmt.Sprint(n[event.Work] + n[event.Oversight])
	if n[event.Review] > 0 {
		text += ", " + event.Count(n[event.Review], "review")
	}
	if n[event.Management] > 0 {
		text += fmt.Sprintf(" + %d", n[event.Management])
	}
	return text
}

// tools writes the table of missing tools (seed 002, "post-mortem health summary").
func (m *markdown) tools(b *projection.Board) {
	if len(b.MissingTools) == 0 {
		return
	}
	m.line("\nTools that were not there:\n\n" +
		"| tool | agents | roles | tasks | last reason | then |\n|---|--:|---|---|---|---|")
	for _, t := range b.MissingTools {
		const most = 3
		m.line("| %s | %d | %s | %s | %s | %s |",
			t.Tool, t.Agents, strings.Join(t.Roles, ", "), event.List(t.Tasks, most), event.Brief(t.Reason), t.Then)
	}
}

// checkpoints writes the table of the checkpoints of the resident supervisor.
func (m *markdown) checkpoints(b *projection.Board) {
	if len(b.Checkpoints) == 0 {
		return
	}
	m.line("\nSupervisor: %s\n\n"+
		"| checkpoint | verdict | score | trend | first finding | report |\n|---|---|--:|---|---|---|",
		priced(b.Totals.Supervision))
	for _, c := range b.Checkpoints[max(0, len(b.Checkpoints)-max(m.steps, 5)):] {
		score, found := fmt.Sprintf("%.2f", c.Score), c.Reason
		if c.Verdict == event.NoVerdict {
			score = ""
		}
		if len(c.Findings) > 0 {
			found = c.Findings[0]
		}
		m.line("| %s | %s | %s | %s | %s | %s |",
			c.ID, c.Verdict, score, event.Brief(c.Trend), event.Brief(found), c.Report)
	}
}

// StepResult describes the result of a step in a few words.
func StepResult(s *projection.Step) string {
	words := []string{string(s.State)}
	if s.State == projection.StepDone {
		words = words[:0]
	}
	if s.Status != "" {
		words = append(words, s.Status)
	}
	if s.Manager != "" && s.Manager != "ok" {
		words = append(words, "Manager "+s.Manager)
	}
	if n := s.Rejections(); n > 0 {
		words = append(words, fmt.Sprintf("%d rejected", n))
	}
	if n := s.SentBack(); n > 0 {
		words = append(words, "sent back "+event.Count(n, "time"))
	}
	return strings.Join(words, ", ")
}

// LastWord returns the last message about the work in a step, and the step's notes. The message is
// the first of these that exists:
//   - the reason of the last attempt
//   - the feedback of the last attempt, if this is a review that sent the work back
//   - the Manager's message, if the Manager's status is not ok
//   - the message of the task's agent
func LastWord(s *projection.Step) string {
	text := s.Message
	if s.Manager == "" || s.Manager == "ok" {
		for _, a := range s.Attempts {
			if a.Call == event.TaskCall && a.Message != "" {
				text = a.Message
			}
		}
	}
	if last := s.Last(); last != nil && last.Reason != "" {
		text = last.Reason
	} else if last != nil && last.SentBack {
		text = last.Message
	}
	if text == "" {
		return strings.Join(s.Notes, "; ")
	}
	return strings.Join(append([]string{text}, s.Notes...), "; ")
}

// maxBars bounds the steps of a timeline, so that it stays readable and within the limits of
// Mermaid.
const maxBars = 60

// timeline writes a Mermaid diagram of the last steps.
func (m *markdown) timeline(b *projection.Board) {
	first := max(0, len(b.Steps)-min(maxBars, m.steps))
	if first == len(b.Steps) || !m.draws {
		return
	}
	m.line("```mermaid\ngantt\n  dateFormat x\n  axisFormat %%H:%%M:%%S")
	for i := first; i < len(b.Steps); i++ {
		s := &b.Steps[i]
		kind := "done"
		switch {
		case s.State == projection.StepOpen && b.IsAtWork():
			kind = "active"
		case s == b.Culprit(), s.Aside != "",
			slices.Contains([]string{"blocked", "error", "escalate", "block", event.NoVerdict}, s.Status):
			kind = "crit"
		}
		fmt.Fprintf(&m.b, "  %d %s %s :%s, %d, %d\n", s.Step, m.label(s.Role), m.label(s.Task), kind,
			s.Began.UnixMilli(), max(s.Ended.UnixMilli(), s.Began.UnixMilli()+1))
	}
	m.line("```\n")
}

// label puts _ in place of each character that may have a meaning in a Mermaid diagram.
func (m *markdown) label(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" ._/-", r) {
			return r
		}
		return '_'
	}, m.hide(text))
}

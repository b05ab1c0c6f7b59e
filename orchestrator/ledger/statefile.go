package ledger

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/plainfile"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/rundir"
)

// state.md is drawn from the journal and never believed: seed 002, "Single-Writer Operational State
// Rule". Its last line is a checksum of the others, which shows an edit.

// isDue says whether it is time to draw state.md again.
func (l *logbook) isDue(now time.Time) bool {
	if now.Sub(l.drawn) < drawEvery {
		return false
	}
	l.drawn = now
	return true
}

// draw writes state.md now. It is made from the journal and never read, so it is replaced without a
// sync.
func (l *logbook) draw(h *flow.History) error {
	return rundir.ReplaceFile(l.dir.State(), sealed(l.stateMarkdown(h)))
}

func sealed(text string) []byte { return []byte(text + seal(text)) }

func seal(text string) string {
	return fmt.Sprintf("\n<!-- sha256 %x -->\n", sha256.Sum256([]byte(text)))
}

// unsealed says whether a text is not as the runner wrote it. Nothing, or nothing but zeros, is
// what a power cut leaves of a file that was never synced.
func unsealed(text []byte) bool {
	if len(bytes.Trim(text, "\x00")) == 0 {
		return false
	}
	at := len(text) - len(seal(""))
	return at < 0 || !bytes.Equal(text[at:], []byte(seal(string(text[:at]))))
}

// redraw writes state.md without a reconciliation; an edited text is kept all the same.
func (l *logbook) redraw(h *flow.History) error {
	kept, err := l.findEdit()
	if err == nil && kept != "" {
		err = os.Rename(l.dir.State(), kept)
	}
	return errors.Join(err, l.draw(h))
}

// findEdit returns the name under which an edited state.md is to be kept, "" if it was not edited.
// An older state.md, or one with a checksum made anew, is not noticed and is drawn over.
func (l *logbook) findEdit() (kept string, err error) {
	if info, err := os.Lstat(l.dir.State()); err == nil && (!info.Mode().IsRegular() || info.Size() > maxState) {
		return rundir.FreeName(l.dir.State(), "edited"), nil
	}
	text, err := plainfile.Read(l.dir.State(), maxState)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !unsealed(text) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read state.md: %w", err)
	}
	return rundir.FreeName(l.dir.State(), "edited"), nil
}

func (l *logbook) stateMarkdown(h *flow.History) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# State of %s\n\nMade by kanban-run from the journal; what is written here by hand is set aside.\n\n", redact.EscapeMarkdown(l.board))
	for _, line := range stateLines(h) {
		fmt.Fprintf(&b, "- %s\n", redact.EscapeMarkdown(line))
	}
	fmt.Fprintf(&b, "\n## Event Log\n\n")
	if l.earlier > 0 {
		fmt.Fprintf(&b, "%s before these: `kanban-run log` shows all.\n\n", flow.Count(l.earlier, "event"))
	}
	b.WriteString("| time | epoch | rev | event | actor | about |\n|---|---|---|---|---|---|\n")
	for _, e := range l.recent {
		fmt.Fprintf(&b, "| %s | %d | %d | %s | %s | %s |\n", e.at.UTC().Format(time.RFC3339Nano), e.epoch, e.rev, e.kind,
			redact.EscapeMarkdown(e.actor), redact.EscapeMarkdown(e.subject))
	}
	return b.String()
}

// used is what attempts came to, in a line of state.md.
func used(u flow.Used) string {
	text := fmt.Sprintf("cost %s", u.Money())
	if tokens := u.Tokens(); tokens != "" {
		text += ", " + tokens
	}
	return fmt.Sprintf("%s, %s of %s", text, flow.Span(u.Millis), flow.Count(u.Attempts, "attempt"))
}

func stateLines(h *flow.History) []string {
	var lines []string
	s := h.State
	switch {
	case h.Frozen() != "":
		lines = append(lines, "STATE_FROZEN: "+h.Frozen())
	case s.Running:
		lines = append(lines, "running")
	case s.Outcome != "":
		lines = append(lines, fmt.Sprintf("last run: %s: %s", s.Outcome, s.Text))
	}
	if h.Custody.Locked != "" {
		lines = append(lines, "RECONCILE_LOCK is on")
	}
	lines = append(lines, fmt.Sprintf("owner: %s, epoch %d", h.Custody.Owner, h.Custody.Epoch))
	if len(h.Points) == 1 {
		p := h.Points[0]
		lines = append(lines, fmt.Sprintf("rollback point: epoch %d, replay index %d, snapshot hash %s", p.Epoch, p.ReplayIndex, p.Hash))
	}
	now, ever := s.Known()
	lines = append(lines, fmt.Sprintf("steps finished: %d", s.Finished), "used by this run: "+used(now), "by all runs: "+used(ever))
	if step := s.Step; step != nil {
		lines = append(lines, fmt.Sprintf("open step %d: %s as %s, %s call, %d attempts started, %d rejected",
			step.Number, step.Task, step.Role, step.Call, step.Started, step.Rejected))
	}
	return lines
}

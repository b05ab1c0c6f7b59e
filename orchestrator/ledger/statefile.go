package ledger

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/inert"
	"kanban-run/orchestrator/plainfile"
	"kanban-run/orchestrator/rundir"
)

// The runner draws state.md from the journal and never reads a board's state from that file (seed
// 002, "Single-Writer Operational State Rule"). The last line of state.md is a checksum of the
// lines before it, which reveals an edit.

// takeDrawTurn reports whether the time drawEvery has passed since the last drawing of state.md. If
// so, takeDrawTurn sets the time of the last drawing to the present time.
func (l *logbook) takeDrawTurn(now time.Time) bool {
	if now.Sub(l.drawn) < drawEvery {
		return false
	}
	l.drawn = now
	return true
}

// draw writes state.md now, without a sync, since the journal can restore it.
func (l *Ledger) draw() { l.fallBehind(l.tryDraw()) }

// fallBehind gives a warning the first time that a file which is made from the journal cannot be
// written. No such file decides about the board, so the run goes on.
func (l *Ledger) fallBehind(err error) {
	if err == nil || l.logbook.lost {
		return
	}
	l.logbook.lost = true
	l.observer.Notice(l.board, "a file that is made from the journal is behind, and stays so in this run: "+err.Error())
}

// tryDraw writes state.md. It first notes the digests of the old and the new text: if this process
// is killed, the file has one of the two.
func (l *Ledger) tryDraw() error {
	data := sealed(l.logbook.stateMarkdown(&l.history))
	last := digestOf(data)
	if err := l.noteDigests(l.logbook.digest, last); err != nil {
		return err
	}
	failpoint.At("state-noted")
	if err := rundir.ReplaceFile(l.dir.State(), data); err != nil {
		return err // the file is still the old one
	}
	l.logbook.digest, l.logbook.behind = last, false
	return nil
}

func digestOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// missingDigest replaces the digest of a missing file in a note.
var missingDigest = strings.Repeat("-", 2*sha256.Size)

// noteDigests notes the digests that state.md may have until it is drawn again. The note is valid
// only until the system stops: a power cut may lose the note or the file.
func (l *Ledger) noteDigests(before, after string) error {
	return l.journal.SetNote(fmt.Sprintf("%s %s %s\n", cmp.Or(before, missingDigest), after, durable.BootID()))
}

// digests returns the digests that state.md may have: the digest that this process knows, or
// otherwise the two digests in the note. It returns nil if no note was made since the system
// started.
func (l *Ledger) digests() ([]string, error) {
	if l.logbook.digest != "" {
		return []string{l.logbook.digest}, nil
	}
	note, err := l.journal.Note()
	if fields := strings.Fields(note); err == nil && len(fields) == 3 && fields[2] == durable.BootID() {
		return fields[:2], nil
	}
	return nil, err
}

func sealed(text string) []byte { return []byte(text + seal(text)) }

func seal(text string) string {
	return fmt.Sprintf("\n<!-- sha256 %x -->\n", sha256.Sum256([]byte(text)))
}

// unsealed reports whether a text was edited: the checksum at its end is missing or wrong. An empty
// text, or a text of only NUL bytes, does not count as edited, because a power cut leaves such a
// text in a file that was not synced.
func unsealed(text []byte) bool {
	if len(bytes.Trim(text, "\x00")) == 0 {
		return false
	}
	at := len(text) - len(seal(""))
	return at < 0 || !bytes.Equal(text[at:], []byte(seal(string(text[:at]))))
}

// redraw draws state.md again. It keeps an edited text under another name, but does not journal the
// edit as a divergence.
func (l *Ledger) redraw() {
	edit, err := l.findEdit()
	if err == nil {
		err = l.setAside(edit)
	}
	l.fallBehind(err)
	l.draw()
}

// setAside renames an edited state.md to edit.kept. It first notes that the file may be missing.
// Without this note, the next run would report the file as removed if this program were killed
// after the rename.
func (l *Ledger) setAside(edit stateEdit) error {
	if edit.kept == "" {
		return nil
	}
	if err := l.noteDigests("", missingDigest); err != nil {
		return err
	}
	l.logbook.digest = ""
	return os.Rename(l.dir.State(), edit.kept)
}

// stateEdit is a change of state.md that this program has not made.
type stateEdit struct {
	what string // "edited by hand", "removed", "emptied"; "": not changed
	kept string // the name for the edited text; "": there is no text to keep
}

// findEdit compares state.md with the text that was drawn last, and remembers the digest of an
// unchanged file for the next note. Without known digests, the checksum in the text shows an edit.
func (l *Ledger) findEdit() (stateEdit, error) {
	path := l.dir.State()
	edited := func() (stateEdit, error) {
		return stateEdit{"edited by hand", rundir.FreeName(path, "edited")}, nil
	}
	if info, err := os.Lstat(path); err == nil && (!info.Mode().IsRegular() || info.Size() > maxState) {
		return edited()
	}
	known, err := l.digests()
	if err != nil {
		return stateEdit{}, err
	}
	text, err := plainfile.Read(path, maxState)
	switch {
	case errors.Is(err, fs.ErrNotExist) && (known == nil || known[0] == missingDigest):
		return stateEdit{}, nil
	case errors.Is(err, fs.ErrNotExist):
		return stateEdit{what: "removed"}, nil
	case err != nil:
		return stateEdit{}, fmt.Errorf("read state.md: %w", err)
	case known == nil && !unsealed(text), slices.Contains(known, digestOf(text)):
		l.logbook.digest = digestOf(text)
		return stateEdit{}, nil
	case len(text) == 0:
		return stateEdit{what: "emptied"}, nil
	default:
		return edited()
	}
}

func (l *logbook) stateMarkdown(h *flow.History) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# State of %s\n\n"+
		"Made by kanban-run from the journal; what is written here by hand is set aside.\n\n", inert.Markdown(l.board))
	for _, line := range stateLines(h) {
		fmt.Fprintf(&b, "- %s\n", inert.Markdown(line))
	}
	if l.signs != "" {
		fmt.Fprintf(&b, "- at work: %s\n", inert.Markdown(l.signs))
	}
	fmt.Fprintf(&b, "\n## Event Log\n\n")
	if l.earlier > 0 {
		fmt.Fprintf(&b, "%s before these: `kanban-run log` shows all.\n\n", event.Count(l.earlier, "event"))
	}
	b.WriteString("| time | epoch | rev | event | actor | about |\n|---|---|---|---|---|---|\n")
	for _, e := range l.recent {
		fmt.Fprintf(&b, "| %s | %d | %d | %s | %s | %s |\n",
			e.at.UTC().Format(time.RFC3339Nano), e.epoch, e.rev, e.kind,
			inert.Markdown(e.actor), inert.Markdown(e.subject))
	}
	return b.String()
}

// used returns the total cost, tokens and time of attempts, as text for a line of state.md.
func used(u event.Used) string {
	text := fmt.Sprintf("cost %s", u.Money())
	if tokens := u.Tokens(); tokens != "" {
		text += ", " + tokens
	}
	return fmt.Sprintf("%s, %s of %s", text, event.Span(u.Millis), event.Count(u.Attempts, "attempt"))
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
		lines = append(lines, fmt.Sprintf("last run: %s: %s", s.Outcome.Words(), s.Text))
	}
	if h.Custody.Locked != "" {
		lines = append(lines, "RECONCILE_LOCK is on")
	}
	lines = append(lines, fmt.Sprintf("owner: %s, epoch %d", h.Custody.Owner, h.Custody.Epoch))
	if len(h.Points) == 1 {
		p := h.Points[0]
		lines = append(lines, fmt.Sprintf("rollback point: epoch %d, replay index %d, snapshot hash %s",
			p.Epoch, p.ReplayIndex, p.Hash))
	}
	now, ever := s.Known()
	lines = append(lines, fmt.Sprintf("steps finished: %d", s.Finished),
		"used by this run: "+used(now), "by all runs: "+used(ever))
	if v := s.Supervisor; v != nil && len(v.Held) > 0 {
		h := v.Held[len(v.Held)-1]
		last := fmt.Sprintf("%s (score %.2f)", h.Verdict, h.Score)
		if h.Verdict == event.NoVerdict {
			last = "no verdict"
		}
		lines = append(lines, fmt.Sprintf("supervisor: %s, last %s: %s", v.Plan.Role, h.ID, last))
	}
	for _, q := range s.Quarantine {
		lines = append(lines, fmt.Sprintf("in quarantine: %s: %s", q.Task, q.Text))
	}
	for _, t := range s.Tools {
		lines = append(lines, fmt.Sprintf("not available: %s, for %s", t.Tool, event.Count(t.Agents, "agent")))
	}
	if step := s.Step; step != nil {
		lines = append(lines, fmt.Sprintf("open step %d: %s as %s, %s call, %d attempts started, %d rejected",
			step.Number, step.Task, step.Role, step.Call, step.Started, step.Rejected))
		if s.Waiting != nil {
			lines = append(lines, s.Waiting.Waits())
		}
	}
	return lines
}

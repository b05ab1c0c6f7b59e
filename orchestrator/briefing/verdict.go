package briefing

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/rundir"
)

// Reports returns the number of readable reports of earlier checkpoints.
func (b *Briefing) Reports(v *flow.Supervisor) int {
	n := 0
	for _, h := range v.Held {
		if _, err := b.readReport(h); err == nil && h.Report != "" {
			n++
		}
	}
	return n
}

// Greeting returns a supervisor's first message: seed 001, "Step 3: Report Ready" and "Crash
// Recovery".
func (b *Briefing) Greeting(v *flow.Supervisor) string {
	if v.Recovers() {
		return fmt.Sprintf("Recovered. Rebuilt context from %d previous checkpoint reports.", b.Reports(v))
	}
	return fmt.Sprintf(
		"Resident supervisor ready. Baseline loaded for session %s. Awaiting checkpoint assignments.",
		b.Dir.BoardFile())
}

// Verdict returns the event for a supervisor's reply: seed 001, "Step 7: Publish State". Long texts
// in the event are cut, because the checkpoint's report has the whole reply.
func (b *Briefing) Verdict(c event.Checkpoint, r *contract.SupervisorReply) event.CheckpointHeld {
	return event.CheckpointHeld{
		Risks: b.cleanAll(r.Risks),
		Trend: b.clean(r.Trend),
		Read:  b.cleanAll(r.Read),
		Data: event.StateUpdate{
			Status:       "task_complete",
			ID:           c.ID,
			Report:       b.ReportPath(c.ID),
			Findings:     b.cleanAll(r.Findings),
			Decisions:    b.decisions(r),
			Verification: "self-validated",
			Verdict:      r.Verdict,
			Score:        r.Score,
		},
	}
}

// decisions returns the supervisor's own decisions. If there are none, it returns the decision that
// the verdict implies.
func (b *Briefing) decisions(r *contract.SupervisorReply) []string {
	switch {
	case len(r.Decisions) > 0:
		return b.cleanAll(r.Decisions)
	case r.Verdict == "block" && len(r.Findings) > 0:
		return []string{"Block: " + b.clean(r.Findings[0])}
	case r.Verdict == "block":
		return []string{"Block"}
	default:
		return []string{"Proceed"}
	}
}

// clean redacts a text and then cuts it. In the opposite order, the redactor would not recognise a
// secret that was cut.
func (b *Briefing) clean(text string) string { return clip(b.Redactor.String(text)) }

// maxListed bounds the number of entries of a list in the journal.
const maxListed = 50

func (b *Briefing) cleanAll(texts []string) []string {
	all := []string{}
	for _, t := range texts[:min(len(texts), maxListed)] {
		all = append(all, b.clean(t))
	}
	return all
}

// ReportName returns the path of a checkpoint's report, relative to the folder of the board's runs.
func ReportName(id string) string { return path.Join("artifacts", id+"-report.md") }

// ReportPath returns the path of a checkpoint's report, relative to the work directory.
func (b *Briefing) ReportPath(id string) string { return path.Join(b.Folder(), ReportName(id)) }

// Folder returns the path of the folder of the board's runs, relative to the work directory.
func (b *Briefing) Folder() string {
	return path.Join(path.Dir(b.Place.KanbanFile()), ".kanban-run", "runs", b.Dir.BoardFile())
}

// readReport reads the report of a checkpoint that was held.
func (b *Briefing) readReport(h flow.Held) ([]byte, error) {
	return rundir.ReadFile(filepath.Join(b.Dir.Path, filepath.FromSlash(ReportName(h.ID))))
}

// SaveReport writes the report of a checkpoint, and appends to wisdom/ the lessons that the
// supervisor wants to keep. The argument own is the text that the supervisor itself has written
// into the file of the report, or "" if there is none.
func (b *Briefing) SaveReport(c event.Checkpoint, r *contract.SupervisorReply, own string) error {
	var missing []string
	for _, task := range c.Scope {
		if _, err := b.Place.ReadText(task); err != nil {
			missing = append(missing, task)
		}
	}
	if err := b.Dir.MakeSupervision(); err != nil {
		return err
	}
	whole := *r
	whole.Report = strings.TrimSpace(own + "\n\n" + r.Report)
	text := inert(b.Redactor.String(whole.FormatReport(c.ID, c.Scope, missing)))
	file := filepath.Join(b.Dir.Path, filepath.FromSlash(ReportName(c.ID)))
	if err := rundir.ReplaceFile(file, []byte(text)); err != nil {
		return fmt.Errorf("write the report of %s: %w", c.ID, err)
	}
	if r.Wisdom == "" {
		return nil
	}
	return b.addWisdom(c.ID, r.Wisdom)
}

// inert replaces control characters, which a terminal would obey. It keeps LF and tabs.
func inert(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// ownNotes is the file in wisdom/ with the supervisor's own lessons.
const ownNotes = "supervisor.md"

// addWisdom appends a supervisor's lessons to a file in wisdom/, once for each checkpoint. It
// counts the lessons as known to the supervisor, because the supervisor wrote them.
func (b *Briefing) addWisdom(id, text string) error {
	file := filepath.Join(b.Dir.Wisdom(), ownNotes)
	old, _ := rundir.ReadFile(file) // a file that cannot be read is written anew
	if strings.Contains(string(old), "\n## "+id+"\n") {
		return nil
	}
	all := fmt.Appendf(old, "\n## %s\n\n%s\n", id, inert(b.Redactor.String(text)))
	if err := rundir.ReplaceFile(file, all); err != nil {
		return fmt.Errorf("add to the wisdom of the board: %w", err)
	}
	if p := path.Join("wisdom", ownNotes); b.wise[p] == len(old) {
		b.wise[p] = len(all)
	}
	return nil
}

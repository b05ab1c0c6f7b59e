package briefing

import (
	"path"
	"path/filepath"
	"slices"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/rundir"
)

// Keep notes in the event what the supervisor's notes and its report are now, at the end of the
// checkpoint.
func (b *Briefing) Keep(held *event.CheckpointHeld) {
	for _, name := range rundir.MarkdownFiles(b.Dir.Wisdom()) {
		if data, err := rundir.ReadFile(filepath.Join(b.Dir.Wisdom(), name)); err == nil {
			held.Kept = append(held.Kept, event.KeptFile{Name: path.Join("wisdom", name), Size: len(data), SHA: board.SHA(data)})
		}
	}
	if data, err := b.readReport(flow.Held{ID: held.Data.ID}); err == nil {
		held.ReportSHA = board.SHA(data)
	}
}

// own returns the length of the part of a note that stood there at the end of the last checkpoint,
// or before the first step. ok is false if that part was changed.
func (b *Briefing) own(v *flow.Supervisor, name string, data []byte) (n int, ok bool) {
	if v == nil || len(v.Kept) == 0 && b.fold.Totals.Steps == 0 {
		return len(data), true
	}
	i := slices.IndexFunc(v.Kept, func(f event.KeptFile) bool { return f.Name == name })
	switch {
	case i < 0:
		return 0, true
	case v.Kept[i].Size <= len(data) && board.SHA(data[:v.Kept[i].Size]) == v.Kept[i].SHA:
		return v.Kept[i].Size, true
	default:
		return 0, false
	}
}

// leaveOut keeps a sentence about a file that is left out, for the present input and for people.
func (b *Briefing) leaveOut(text string) {
	b.note(text)
	if !slices.Contains(b.leftOut, text) {
		b.leftOut = append(b.leftOut, text)
	}
}

// note keeps a sentence about the supervisor's files for people.
func (b *Briefing) note(text string) {
	if !slices.Contains(b.notes, text) {
		b.notes = append(b.notes, text)
	}
}

// Notes returns what the last input says of the supervisor's files, and forgets it.
func (b *Briefing) Notes() []string {
	notes := b.notes
	b.notes = nil
	return notes
}

// noteRemoved notes the files that are gone since the last checkpoint.
func (b *Briefing) noteRemoved(v *flow.Supervisor) {
	for _, f := range v.Kept {
		if _, err := rundir.ReadFile(filepath.Join(b.Dir.Path, filepath.FromSlash(f.Name))); err != nil {
			b.leaveOut(f.Name + " was changed outside of a checkpoint: it cannot be read any more")
		}
	}
}

// authors names the tasks that were worked on since the supervisor was last told.
func (b *Briefing) authors() string {
	var names []string
	for _, s := range b.states(b.told) {
		if name := s.Task + " (" + s.Role + ")"; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return "an agent"
	case 1:
		return names[0]
	default:
		return "one of " + event.List(names, 5)
	}
}

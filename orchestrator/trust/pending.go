package trust

import (
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
)

// takeUp compares the journal and the index with the files as they are now. It returns the events
// about what is new to the journal, whose state is s.
func (k *Keeper) takeUp(x *index, s *flow.State, cut *flow.Step) (events []event.Event) {
	if x.isNew && k.Siblings != nil {
		for _, c := range k.Siblings() {
			x.add(c)
		}
	}
	if cut != nil {
		k.takeTurn(x, k.Folder.Path, flow.Changed{Board: k.Board, Task: cut.Task})
	}
	for _, r := range slices.Clone(x.Open) {
		atWork := r.Folder != k.Folder.Path && r.isAtWork()
		if r.Folder != k.Folder.Path { // the own one died between two turns, or see above
			k.takeTurn(x, r.Folder, flow.Changed{Board: filepath.Base(r.Folder), Task: "an agent of " + filepath.Base(r.Folder)})
		}
		if !atWork {
			x.close(r.Folder)
		}
	}
	isOver := func(c flow.Changed) bool { return x.hasAccepted(c.ChangedFile) || k.valueOf(c) != c.SHA }
	x.Changed = slices.DeleteFunc(x.Changed, isOver)
	settled := event.FilesSettled{Board: k.Board}
	for _, c := range s.Changed {
		if isOver(c) {
			settled.Files = append(settled.Files, c.ChangedFile)
		} else if !slices.ContainsFunc(x.Changed, func(o flow.Changed) bool { return o.Is(c.ChangedFile) }) {
			x.add(c)
		}
	}
	if settled.Files != nil {
		events = append(events, settled)
	}
	for _, c := range x.Changed {
		isKnown := slices.ContainsFunc(s.Changed, func(o flow.Changed) bool { return o.Is(c.ChangedFile) && o.SHA == c.SHA })
		if !isKnown && k.looksAt(c) {
			events = append(events, event.FilesChanged{Board: c.Board, Task: c.Task, Role: "an agent", Reach: c.Reach,
				Files: []event.ChangedFile{c.ChangedFile}})
		}
	}
	return events
}

// takeTurn adds what differs from what the run of a folder knew to the index, as changes in a turn of
// that run. If it is not known what that run knew, all files of the own turn may have been changed.
func (k *Keeper) takeTurn(x *index, folder string, turn flow.Changed) {
	was, ok := load(folder)
	var files []event.ChangedFile
	switch {
	case ok && was.Dir == k.Dir:
		files = difference(was.Values, k.known)
	case ok:
		files = slices.DeleteFunc(difference(was.Values, k.known), func(f event.ChangedFile) bool { return !contains(was.Values, f) || f.SHA == "" })
	case folder == k.Folder.Path:
		files = slices.Clone(k.known)
	}
	for _, f := range files {
		isPending := slices.ContainsFunc(x.Changed, func(c flow.Changed) bool { return c.Is(f) && c.SHA == f.SHA })
		if !isPending && k.matters(f, lowest()) {
			x.add(flow.Changed{ChangedFile: f, Board: turn.Board, Task: turn.Task, Reach: lowest()})
		}
	}
}

// valueOf returns the value that the file of a change has now. A change of another board's task
// stands. So does a change of a file whose name was redacted, as long as a file has that value: which
// one it is cannot be told where its secret is not known.
func (k *Keeper) valueOf(c flow.Changed) string {
	if contains(k.known, c.ChangedFile) {
		return valueOf(k.known, c.ChangedFile)
	}
	isValue := func(f event.ChangedFile) bool { return f.By == c.By && f.Field == c.Field && f.SHA == c.SHA }
	if strings.Contains(c.File+strings.Join(c.Roles, ""), redact.Mark) && (!k.looksAt(c) || slices.ContainsFunc(k.known, isValue)) {
		return c.SHA
	}
	path := c.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(k.watch.top, filepath.FromSlash(path))
	}
	switch c.By {
	case event.TaskRole:
		if k.RoleOf == nil || c.Board != k.Board {
			return c.SHA
		}
		return board.SHA([]byte(k.RoleOf(c.File)))
	case event.SettingsFile:
		return valueOf(named(settingValues(path), c), c.ChangedFile)
	case event.RoleFile:
		return valueOf(named(roleValues(path, func(string) bool { return true }), c), c.ChangedFile)
	default:
		return hashOf(path, statusOf(path))
	}
}

// named gives values the kind and the file of a change.
func named(values []event.ChangedFile, c flow.Changed) []event.ChangedFile {
	for i := range values {
		values[i].By, values[i].File = c.By, c.File
	}
	return values
}

// looksAt reports whether the run looks at the file of a change.
func (k *Keeper) looksAt(c flow.Changed) bool {
	if c.By == event.TaskRole {
		return c.Board == k.Board
	}
	if c.By == event.PathFile { // the file may be the program now
		return k.has(c.Roles, func(p *roster.Player) bool { return k.watch.show(p.Assignment.Path) == c.File })
	}
	return contains(k.known, c.ChangedFile) || slices.ContainsFunc(k.sources(), func(s source) bool {
		path := k.watch.show(s.path)
		return s.by == c.By && (path == c.File || s.by == event.RoleFile && path == filepath.ToSlash(filepath.Dir(c.File)))
	})
}

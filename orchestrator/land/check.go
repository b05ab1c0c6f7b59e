package land

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/gitstore"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/workspace"
)

// What work changes only with a person's word: it decides what later runs, the user's git or other tools do. All in lower case.
var (
	protectedFiles   = []string{".kanban-run.yaml", ".worktreeinclude", "claude.md", "agents.md", ".mcp.json", ".envrc", ".gitattributes", ".gitmodules"}
	protectedFolders = []string{".kanban-run", ".claude", ".codex", ".githooks", ".husky"}
)

const (
	workflows = ".github/workflows/"
	mostFiles = 1000     // of one landing, without a person's word
	mostBytes = 20 << 20 // of what it brings
)

// protected returns why changes need a person's word, each with its file; nil: they need none.
func (l *Lander) protected(stop context.Context, changes []gitstore.Change) (names []string, err error) {
	others := l.otherBoards()
	for _, c := range changes {
		low := strings.ToLower(c.Name)
		folders := strings.Split(path.Dir(low), "/")
		file := durable.RealPath(filepath.Join(l.Works.Repo().Top, filepath.FromSlash(c.Name)))
		isLink := c.IsMode == link
		switch {
		case slices.Contains(protectedFiles, path.Base(low)), strings.HasPrefix(low, workflows), slices.Contains(others, file),
			slices.ContainsFunc(folders, func(f string) bool { return slices.Contains(protectedFolders, f) }):
			names = append(names, c.Name)
		case isLink:
			target, err := l.Works.Text(stop, c.Is)
			if err != nil {
				return nil, err
			}
			if to := path.Join(path.Dir(c.Name), target); path.IsAbs(target) || !filepath.IsLocal(filepath.FromSlash(to)) {
				names = append(names, c.Name+" (a link to "+target+")")
			}
		}
	}
	if len(changes) > mostFiles {
		names = append(names, fmt.Sprintf("%d files", len(changes)))
	}
	size, err := l.Works.SizeOf(stop, changes)
	if err == nil && size > mostBytes {
		names = append(names, fmt.Sprintf("%d MB of files", size>>20))
	}
	return names, err
}

const link = "120000" // mode of a link

// otherBoards returns the files of the checkout's other boards and of their tasks.
func (l *Lander) otherBoards() (files []string) {
	own := durable.RealPath(l.Path)
	for _, file := range inspect.Below(l.Works.Repo().Top) {
		b := workspace.BoardAt(file)
		if b == nil || durable.RealPath(file) == own {
			continue
		}
		files = append(files, durable.RealPath(file))
		for _, task := range b.TaskPaths() {
			for _, from := range []string{filepath.Dir(file), l.Works.Repo().Top} {
				files = append(files, durable.RealPath(filepath.Join(from, task)))
			}
		}
	}
	return files
}

// leftover returns what the work leaves behind that would go with the clone, or that is of a task without success; nil: nothing.
func (l *Lander) leftover(stop context.Context, base, tip string) (left []string, err error) {
	outcomes, err := l.Works.Outcomes(stop, base, tip)
	if err != nil {
		return nil, err
	}
	for _, o := range outcomes {
		if o.Outcome != "" && o.Outcome != "ok" && o.Outcome != "accepted" {
			left = append(left, o.Task+" is "+o.Outcome)
		}
	}
	if !l.Place.Is() {
		return left, nil // it went before
	}
	top := l.Works.Repo().Top
	rel, err := filepath.Rel(durable.RealPath(top), durable.RealPath(l.Path))
	if err != nil {
		return nil, err
	}
	kanban := filepath.ToSlash(rel)
	except := slices.Concat([]string{kanban, path.Join(path.Dir(kanban), "DECISIONS.md"), path.Join(path.Dir(kanban), ".kanban-run/runs")}, l.Clone.Tasks, l.Clone.Out)
	in, err := l.InClone.Left(stop, gitstore.Work{Tip: l.Clone.Tip, Except: except, Objects: l.Place.Objects(), Head: l.Place.Head().Commit})
	if err != nil {
		return nil, err
	}
	for _, name := range in.Files {
		left = append(left, name+" in the clone")
	}
	for _, name := range in.Refs {
		left = append(left, short(name)+" of the clone")
	}
	return left, nil
}

// check returns the refusal of work that needs a person's word before it lands. A person gives it for this tip and branch, and for what
// was named.
func (l *Lander) check(stop context.Context, w work, changes []gitstore.Change) error {
	ask := func(why, text string, names []string, err error) error {
		if err != nil || len(names) == 0 || l.isGranted(why, w.tip, names) {
			return err
		}
		return &refusal{why, names, text + event.List(names, mostNamed), ""}
	}
	names, err := l.protected(stop, changes)
	if err := ask(event.LandProtected, "it changes what decides: ", names, err); err != nil {
		return err
	}
	names, err = l.leftover(stop, w.base, w.tip)
	return ask(event.LandLeftover, "not all of it would land: ", names, err)
}

// isGranted reports whether a person has accepted this.
func (l *Lander) isGranted(why, tip string, names []string) bool {
	return l.Journal.State().Landing.Has(why, tip, l.Onto, names)
}

// isByHand reports whether a person has said that the work is in the branch, although it looks otherwise.
func (l *Lander) isByHand(tip string) bool {
	for _, why := range []string{event.LandConflict, event.LandRed, event.LandRebased} {
		if was := l.Journal.State().Landing; was != nil && was.State == why && l.isGranted(why, tip, was.Files) {
			return true
		}
	}
	return false
}

package trust

import (
	"context"
	"maps"
	"slices"
	"sync"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/worktree"
)

// Board is what a command's trees have to know of one of its boards.
type Board struct {
	Dir      string
	Roster   *roster.Roster
	Resident string          // role of its resident supervisor; "": none
	Way      bool            // its checkpoints go to a remote
	Files    func() []string // the board and its tasks, without links
	Redact   func(string) string
	Notice   func(text string)
}

// Trees has the tree of each work directory of a command. Nil Trees have none.
type Trees struct{ of map[string]*Tree }

// NewTrees makes the trees of a command that runs boards.
func NewTrees(stop context.Context, boards []Board) *Trees {
	trees := &Trees{map[string]*Tree{}}
	isOwn := ownFiles(boards)
	for _, b := range boards {
		if trees.of[b.Dir] != nil {
			continue
		}
		var residents, way []string
		for _, o := range boards {
			if o.Way && o.Dir == b.Dir {
				way = git.WayFiles(b.Dir)
			}
			if o.Resident != "" && o.Dir == b.Dir {
				residents = append(residents, o.Resident)
			}
		}
		files := worktree.Tree{Dir: b.Dir, Mark: proc.NewMark()}
		trees.of[b.Dir] = NewTree(Options{Dir: b.Dir, Roster: b.Roster, Way: way, Residents: residents, IsOwn: isOwn, Redact: b.Redact, Notice: b.Notice,
			Ignored: func(paths []string) []string { return files.Ignored(stop, paths) }, Upstream: worktree.UpstreamOf(b.Dir),
			AtUpstream: func(commit, path string) []byte { return files.TextAt(stop, commit, path) }})
	}
	group := slices.Collect(maps.Values(trees.of))
	for _, tree := range group {
		tree.group = group // an agent of one folder may write into another
	}
	return trees
}

// ownFiles returns a function that reports whether a file is one of the boards or of their tasks. It looks
// for them once, and only if it is asked.
func ownFiles(boards []Board) func(string) bool {
	files := sync.OnceValue(func() map[string]bool {
		all := map[string]bool{}
		for _, b := range boards {
			for _, file := range b.Files() {
				all[file] = true
			}
		}
		return all
	})
	return func(path string) bool { return files()[durable.RealPath(path)] }
}

// Of returns the tree of a work directory, or nil.
func (t *Trees) Of(dir string) *Tree {
	if t == nil {
		return nil
	}
	return t.of[dir]
}

// Close ends the command: it says what was changed while agents worked and waits for nobody.
func (t *Trees) Close() {
	if t == nil {
		return
	}
	for _, tree := range t.of {
		if text := tree.Said(); text != "" {
			tree.Notice(text)
		}
		if err := tree.Close(); err != nil {
			tree.Notice("what waits for a person is not kept: " + err.Error())
		}
	}
}

package inspect

import (
	"path/filepath"

	"kanban-run/orchestrator/rundir"
)

// round is one look at several boards. What is the same for them is looked at once.
type round struct {
	archives map[string]map[string]string // of rundir.ArchivesIn, by the folder
	lookups  map[string]lookup            // of Looker.Lookup, by the work directory
}

func newRound() *round {
	return &round{map[string]map[string]string{}, map[string]lookup{}}
}

// LookAll is like [Looker.Look] for several boards. It passes each to visit.
func (l Looker) LookAll(paths []string, visit func(Board, error)) {
	all := newRound()
	for _, path := range paths {
		r := l.Reader(path)
		r.round = all
		visit(l.look(path, r.read, all))
	}
}

// LookAll is like [Looker.LookAll] for the readers of one looker, which look again and again.
func LookAll(readers []*Reader, visit func(Board, error)) {
	all := newRound()
	for _, r := range readers {
		visit(r.lookIn(all))
	}
}

// archiveOf returns the last archive of the folder of a board's runs, or "". A nil round keeps nothing.
func (r *round) archiveOf(dir rundir.Dir) string {
	folder, name := filepath.Dir(dir.Path), filepath.Base(dir.Path)
	if r == nil {
		return rundir.ArchivesIn(folder)[name]
	}
	if r.archives[folder] == nil {
		r.archives[folder] = rundir.ArchivesIn(folder)
	}
	return r.archives[folder][name]
}

// lookup is what Looker.Lookup returns.
type lookup struct {
	knows func(role string) error
	err   error
}

// lookup returns what load returns for a work directory. A nil round keeps nothing.
func (r *round) lookup(workdir string, load func(string) (func(role string) error, error)) (func(role string) error, error) {
	if r == nil {
		return load(workdir)
	}
	known, is := r.lookups[workdir]
	if !is {
		known.knows, known.err = load(workdir)
		r.lookups[workdir] = known
	}
	return known.knows, known.err
}

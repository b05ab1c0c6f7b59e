package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/result"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/workspace"
)

// documents are the files in which a run says what became of its boards. They are written when the
// first run begins, so that they do not speak for an earlier run, and at the end, also if the
// runner was killed.
type documents struct {
	results string          // in the form of report --json; "": none
	html    string          // a page; "": none
	workdir string          // the folder of -C, to which the boards' names are relative; "": none
	begun   bool            // the first run has begun
	ended   []result.Result // of this run; until it has ended those boards that cannot be run
}

// lookFunc reads how a board stands.
type lookFunc func(board string) (inspect.Board, error)

// look reads how a board stands behind the end of this run, or as its journal says.
func (d documents) look(board string) (inspect.Board, error) {
	b, err := inspect.Looker{Keep: keepSteps}.Look(board)
	if i := slices.IndexFunc(d.ended, func(r result.Result) bool { return r.Board == board }); i >= 0 {
		endAs(&b, d.ended[i], err)
	}
	return b, err
}

// documentFlags adds the flags that name documents, and returns what they will name.
func documentFlags(flags *pflag.FlagSet) *documents {
	d := &documents{}
	flags.StringVar(&d.results, "results", "", "write what became of the boards to `FILE`, as report --json prints it")
	flags.StringVar(&d.html, "html", "", "write what became of the boards to `FILE`, as report --html prints it")
	return d
}

// documentsOf returns the documents that parsed flags name, none for a dry run, and the work
// directory that a flag or a variable names.
func documentsOf(flags *pflag.FlagSet, environ []string) (d documents) {
	d.workdir = roster.Variable(environ, "KANBAN_RUN_WORKDIR")
	for name, value := range map[string]*string{"results": &d.results, "html": &d.html, "workdir": &d.workdir} {
		if f := flags.Lookup(name); f != nil && f.Value.String() != "" {
			*value = f.Value.String()
		}
	}
	if f := flags.Lookup("dry-run"); f != nil && f.Value.String() == "true" {
		d.results, d.html = "", ""
	}
	return d
}

// enter makes the folder of -C the current one, as the run does.
func (d documents) enter() error {
	if d.workdir == "" {
		return nil
	}
	return os.Chdir(d.workdir)
}

// document is a file, with the function that renders its content from the boards.
type document struct {
	name   string // as the user wrote it
	path   string // absolute
	render func(look lookFunc, boards []string) ([]byte, error)
}

// all returns the documents with absolute paths. A relative path is relative to the folder in which
// the program was started, even with -C.
func (d documents) all(t *terminal) (all []document) {
	for _, one := range []document{{d.results, d.results, t.renderResults}, {d.html, d.html, t.renderPage}} {
		if one.name == "" {
			continue
		}
		if !filepath.IsAbs(one.path) {
			one.path = filepath.Join(t.startDir, one.path)
		}
		all = append(all, one)
	}
	return all
}

// check returns an error if one of the documents could not be written, or would replace a file of
// one of the boards, so that this is known before an agent is paid.
func (d documents) check(t *terminal, boards []string) error {
	all := d.all(t)
	for i, one := range all {
		var err error
		switch owner := ownerOf(one.path, boards); {
		case owner != "":
			err = errors.New("it is a file of " + owner)
		case i > 0 && filepath.Clean(one.path) == filepath.Clean(all[0].path):
			err = errors.New("--results and --html name the same file")
		default:
			_, err = durable.Rehearse(one.path)
		}
		if err != nil {
			return &failure.Invalid{Err: fmt.Errorf("write the results to %s: %w", one.name, err),
				Fix: cmp.Or(failure.HintOf(err), "name another file, in a folder that is there")}
		}
	}
	return nil
}

// ownerOf returns the board whose file is at a path: the board itself, one of its tasks, the settings
// or a file in a folder .kanban-run. For a file of git it returns "git". It returns "" if there is none.
func ownerOf(path string, boards []string) string {
	in := filepath.ToSlash(path)
	if strings.Contains(in, "/.git/") {
		return "git"
	}
	for _, name := range boards {
		files := []string{name}
		if b, at, err := inspect.ReadBoard(name, false, func(string) {}); err == nil {
			files = append(files, tasksOf(at, b)...)
		}
		if filepath.Base(path) == ".kanban-run.yaml" || strings.Contains(in, "/.kanban-run/") || slices.ContainsFunc(files, func(f string) bool { return isSameFile(path, f) }) {
			return name
		}
	}
	return ""
}

func tasksOf(boardPath string, b *board.Board) (files []string) {
	place, err := workspace.PlaceOf(boardPath, "", b)
	if err != nil {
		return nil
	}
	for _, task := range b.TaskPaths() {
		files = append(files, place.Places(task)...)
	}
	return files
}

func isSameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// write writes the documents about boards.
func (d documents) write(t *terminal, boards []string) (err error) {
	for _, one := range d.all(t) {
		text, failed := one.render(d.look, boards)
		if failed == nil {
			failed = durable.WriteFile(one.path, text, 0o644)
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("write the results: %w", failed))
		}
	}
	return err
}

// conclude writes the documents behind the end of the run. A document that cannot be written is only told
// where the boards have an exit code of their own.
func (d documents) conclude(t *terminal, boards []string, code int) error {
	err := d.write(t, boards)
	if err != nil && code != exitComplete {
		_ = t.stderr.Printf("kanban-run: %v\n", err)
		return nil
	}
	if err != nil {
		return &outputError{err}
	}
	return nil
}

// outputError is the error for output that could not be written, although what was asked is done.
type outputError struct{ err error }

func (e *outputError) Error() string { return e.err.Error() }

// Hint says that only the output is missing.
func (*outputError) Hint() string {
	return "what was asked is done, and only its output is missing: kanban-run status, log and report have it"
}

// renderResults returns the results of boards in the form of report --json. A board without a
// journal, or with a damaged one, is no error, since the run may have refused it.
func (t *terminal) renderResults(look lookFunc, names []string) ([]byte, error) {
	doc, dirs := projection.Document{Version: projection.FormVersion, Boards: []projection.Board{}}, []string{}
	for _, name := range names {
		b, err := look(name)
		if !isShown(err) && !errors.As(err, new(*ledger.NoRunError)) {
			return nil, err
		}
		doc.Boards = append(doc.Boards, b.Board)
		dirs = append(dirs, b.Workdir)
	}
	doc.Asked = askedDocument(slices.Compact(dirs))
	var text bytes.Buffer
	err := console.New(&text, t.secrets).JSON(doc, "  ")
	return text.Bytes(), err
}

// beginning is an observer that writes the documents when the first run begins.
type beginning struct {
	ledger.Observer
	write func() error
	once  *sync.Once
}

// Entry passes an event to the observer.
func (b beginning) Entry(board string, e event.Entry) {
	b.Observer.Entry(board, e)
	b.once.Do(func() {
		if err := b.write(); err != nil {
			b.Notice(board, err.Error())
		}
	})
}

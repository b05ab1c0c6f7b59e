package decisions

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/plainfile"
)

// Turn holds the parts of a run that the log uses.
type Turn struct {
	Board   string // path as the user wrote it; messages name the board by it
	File    string // path in the settings, or "" for DECISIONS.md beside the board if that file exists
	Journal flow.Journal
	Path    string                // path of the board's file
	Dir     string                // the work directory
	Ignore  func(files ...string) // makes files count as records of runs, and not as work
	Notice  func(text string)     // gets texts that are not events of the run
}

// Log collects the entries of one run for DECISIONS.md. A nil *Log writes nothing. Source: seed
// 002, "Bounded DECISIONS Contribution Rule".
type Log struct {
	Turn
	path    string
	mu      sync.Mutex
	pending []Entry
	told    bool // a failure to write an entry was reported
}

// NewLog returns the log of a run, or nil if FindFile returns no path. It makes the file count as
// a record of runs, and gives a notice if the file does not exist.
func NewLog(t Turn) *Log {
	path := FindFile(t.File, t.Path, t.Dir)
	if path == "" {
		return nil
	}
	t.Ignore(path, durable.RealPath(path))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Notice(MissingText(path))
	}
	return &Log{Turn: t, path: path}
}

// MissingText is the warning about a file for decisions that does not exist.
func MissingText(path string) string {
	return "decisions: " + path + " is not there, so nothing is noted in it"
}

// FindFile returns the path of the file for the decisions on a board. The parameter named is the
// path in the settings. If it is "", and there is no DECISIONS.md beside the board, FindFile returns
// "".
func FindFile(named, board, dir string) string {
	switch {
	case named == "":
		path := filepath.Join(filepath.Dir(board), "DECISIONS.md")
		if info, err := os.Lstat(path); err != nil || info.IsDir() {
			return ""
		}
		return path
	case filepath.IsAbs(named):
		return named
	default:
		return filepath.Join(dir, named)
	}
}

// Note collects the entry of a committed event.
func (l *Log) Note(e event.Entry) {
	if l == nil {
		return
	}
	if entry, ok := EntryOf(l.Board, e); ok {
		l.mu.Lock()
		l.pending = append(l.pending, entry)
		l.mu.Unlock()
	}
}

// Restore collects an entry that the last run may not have written. If the entry is in the file
// already, [Append] does not write it again.
func (l *Log) Restore(e event.Entry) {
	if l == nil {
		return
	}
	if _, begins := e.Event.(event.HandoffOffered); begins {
		l.pending = nil
	}
	if _, ends := e.Event.(event.RunFinished); ends { // the last run wrote all its entries
		l.pending = nil
		return
	}
	l.Note(e)
}

// Save appends the collected entries to the file. It does nothing during a supervisor's step,
// because files must not change then. It reports only the first failure of a run. It journals
// ErrMarkerMissing and ErrScope, and gives a notice of any other error. Errors: those of the
// journal.
func (l *Log) Save() error {
	if l == nil {
		return nil
	}
	if step := l.Journal.State().Step; step != nil && step.Call.IsSupervision() {
		return nil
	}
	err := l.append()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrMarkerMissing):
		return l.Journal.Record(event.MarkerMissing{Board: l.Board, Text: filepath.Base(l.path) + ": " + err.Error()})
	case errors.Is(err, ErrScope):
		return l.Journal.Record(event.DecisionsViolated{Board: l.Board, Text: filepath.Base(l.path) + ": " + err.Error()})
	default:
		l.tellUnwritten(err)
		return nil
	}
}

// Foresee checks whether the file has a section for the entry about the end of the run. If the
// section is missing, Foresee journals an event. The run calls Foresee before its end, because no
// event can be journaled after the end. Errors: those of the journal.
func (l *Log) Foresee(end event.RunFinished) error {
	if l == nil || l.told {
		return nil
	}
	entry, ok := EntryOf(l.Board, event.Entry{Event: end, Time: time.Now()})
	if !ok {
		return nil
	}
	text, err := plainfile.Read(l.path, maxSize)
	if err == nil {
		_, err = insert(text, entry.Section, "- ")
	}
	if !errors.Is(err, ErrMarkerMissing) {
		return nil // Close reports any other error
	}
	l.told = true
	return l.Journal.Record(event.MarkerMissing{Board: l.Board, Text: filepath.Base(l.path) + ": " + err.Error()})
}

// Close appends the last entries, such as the one about the run's end. It gives a notice of an
// error, because nothing can be journaled after the run's end.
func (l *Log) Close() {
	if l == nil {
		return
	}
	if err := l.append(); err != nil {
		l.tellUnwritten(err)
	}
}

// append appends the pending entries to the file. It returns the first failure of this run, and nil
// for later failures. It drops an entry that fails with ErrScope. After any other failure, the
// entry that failed and all entries after it stay pending, because the next call may succeed.
func (l *Log) append() (first error) {
	l.mu.Lock()
	pending := l.pending
	l.pending = nil
	l.mu.Unlock()
	for i, entry := range pending {
		err := Append(l.path, entry.Section, entry.Text)
		if err != nil && !l.told {
			l.told, first = true, err
		}
		if err != nil && !errors.Is(err, ErrScope) {
			l.mu.Lock()
			l.pending = slices.Concat(pending[i:], l.pending)
			l.mu.Unlock()
			break
		}
	}
	return first
}

func (l *Log) tellUnwritten(err error) {
	l.Notice("what happened is not noted in " + l.path + ": " + err.Error())
}

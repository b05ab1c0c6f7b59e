package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/rundir"
)

// Question is what the Lead of a board has to decide.
type Question struct {
	Text string // why the board stopped; "" when there is nothing to decide
	Diff string // what changed, or what the decision will change, as a unified diff; "" when nothing did

	GoesOn bool // the next run works on without an acknowledgement
}

// Acknowledge journals the Lead's decision that a board may go on as it stands. It thaws a frozen
// board, applies what a reconciliation found, and acknowledges an ending with blocked, error or
// escalate. With ask it returns the question and writes nothing. Errors: *NoRunError,
// *durable.HeldError while a run owns the board, *failure.Invalid for a board that cannot be read.
func Acknowledge(boardPath string, dir rundir.Dir, note string, ask bool, r *redact.Redactor, now func() time.Time) (q Question, err error) {
	if _, err := os.Stat(dir.Journal()); err != nil {
		return q, &NoRunError{boardPath}
	}
	source, err := board.ReadFile(boardPath)
	if err == nil {
		_, err = board.Parse(boardPath, source)
	}
	if err != nil {
		return q, &failure.Invalid{Err: err}
	}
	lock, err := durable.Acquire(dir.Lock())
	if err != nil {
		return q, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	l := New(filepath.Base(boardPath), dir, Silent{}, r, now)
	if err := l.read(ask); err != nil {
		return q, errors.Join(err, l.Close())
	}
	a := &arbitration{Ledger: l, source: source, ask: ask}
	q, err = a.decide(flow.Acknowledged{Board: l.board, BoardSHA: board.SHA(source), Note: note})
	if err == nil && !ask && q.Text != "" {
		err = l.logbook.redraw(&l.history)
	}
	q.Diff = r.String(q.Diff)
	return q, errors.Join(err, l.Close())
}

// read replays the journal. With ask it does not open it, which would set an unfinished record
// aside.
func (l *Ledger) read(ask bool) (err error) {
	if !ask {
		return l.Open(func(flow.Entry) {})
	}
	if l.history, _, err = Fold(l.dir, nil); err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	return CheckFile(l.dir, l.history)
}

// NoRunError says that a board was never run.
type NoRunError struct{ Board string }

func (e *NoRunError) Error() string { return fmt.Sprintf("%s was never run", e.Board) }

// Hint says how to run it.
func (e *NoRunError) Hint() string { return "kanban-run " + e.Board }

// arbitration is one decision of the Lead about one board.
type arbitration struct {
	*Ledger
	source []byte // of the board as it is now
	ask    bool
}

func (a *arbitration) decide(e flow.Acknowledged) (Question, error) {
	text := waitsFor(&a.history)
	if text == "" {
		return Question{}, nil
	}
	if a.history.Custody.Locked != "" || a.history.Contradiction() != "" {
		return a.arbitrate(e, text)
	}
	q := Question{Text: text, Diff: a.boardDiff(), GoesOn: a.history.Standstill() == "" && a.history.State.GoesOn()}
	if a.ask {
		return q, nil
	}
	return q, a.recordDecision(e)
}

// recordDecision journals the Lead's decision. It is no run's, so it takes no epoch of its own.
func (a *arbitration) recordDecision(events ...flow.Event) (err error) {
	a.epoch, err = a.journal.ContinueEpoch()
	if errors.Is(err, journal.ErrNoEpoch) {
		a.epoch, err = a.journal.BeginEpoch()
	}
	if err != nil {
		return err
	}
	for _, e := range events {
		if err := a.Append(e); err != nil {
			return err
		}
	}
	return a.Commit()
}

// arbitrate ends a RECONCILE_LOCK: seed 002, "Deterministic reconcile procedure", steps 8, 9 and
// 11. The diff shows what the decision does to the state of the work.
func (a *arbitration) arbitrate(e flow.Acknowledged, text string) (Question, error) {
	was := a.history.State
	rebuilt, point, err := a.outcome()
	if err != nil {
		return Question{}, err
	}
	if err := rebuilt.State.Apply(e); err != nil {
		return Question{}, err
	}
	q := Question{Text: text, Diff: summary(rebuilt, point) + unified("state", stateJSON(was), "state after the rollback", stateJSON(rebuilt.State))}
	if a.ask {
		return q, nil
	}
	events := []flow.Event{e, rebuilt.Exit(a.board, flow.DecisionLead, text, point)}
	if a.history.Custody.Locked == "" { // no run has found the contradiction yet
		events = slices.Insert(events, 0, flow.Event(flow.StateDiverged{Source: flow.SourceJournal, Task: a.board, Text: text}),
			flow.Event(flow.LockEntered{Board: a.board, Reason: text}))
	}
	return q, a.recordDecision(events...)
}

// outcome is the result of the reconciliation. Without a rollback point the state stands as far as
// the records could be applied.
func (a *arbitration) outcome() (flow.Rebuilt, flow.Snapshot, error) {
	if len(a.history.Points) != 1 {
		return flow.Rebuilt{State: a.history.State, Affected: []string{}, Findings: []string{}}, flow.Snapshot{}, nil
	}
	point := a.history.Points[0]
	rebuilt, err := a.rebuild(point)
	return rebuilt, point, err
}

// summary is seed 002's "concise diff summary" in words.
func summary(r flow.Rebuilt, point flow.Snapshot) string {
	var b strings.Builder
	if point.Hash != "" {
		fmt.Fprintf(&b, "rollback point: epoch %d, record %d, snapshot %.12s\n", point.Epoch, point.ReplayIndex, point.Hash)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "found: %s\n", f)
	}
	if len(r.Affected) > 0 {
		fmt.Fprintf(&b, "affected: %s\n", strings.Join(r.Affected, ", "))
	}
	return b.String()
}

func stateJSON(s flow.State) []byte {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil
	}
	return append(data, '\n')
}

// boardDiff is the change of the board since its bytes were last kept.
func (a *arbitration) boardDiff() string {
	before, err := board.ReadFile(a.dir.Before())
	if errors.Is(err, fs.ErrNotExist) || err != nil || bytes.Equal(before, a.source) {
		return ""
	}
	return unified("before", before, a.board, a.source)
}

// maxDiff bounds the lines of a diff that is shown.
const maxDiff = 60

func unified(oldName string, old []byte, newName string, new []byte) string {
	lines := strings.SplitAfter(string(diff.Diff(oldName, old, newName, new)), "\n")
	if len(lines) > 0 && strings.HasPrefix(lines[0], "diff ") {
		lines = lines[1:]
	}
	if len(lines) > maxDiff {
		lines = append(lines[:maxDiff], fmt.Sprintf("… and %s more\n", flow.Count(len(lines)-maxDiff, "line")))
	}
	return strings.Join(lines, "")
}

// waitsFor is why a board waits for its Lead, "" if it does not.
func waitsFor(h *flow.History) string {
	switch s := h.State; {
	case h.Standstill() != "":
		return h.Standstill()
	case s.Outcome == flow.NeedsPerson && !s.Last.Acknowledged:
		return s.Text
	default:
		return ""
	}
}

package ledger

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/inert"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/plainfile"
	"kanban-run/orchestrator/rundir"
)

// logbook is a writer of the two Markdown files of a run: supervisor-log.md, with an entry for
// every rejected reply, and state.md, the state at a glance. Both can be made from the journal at
// any time, and no run reads its state from them.
type logbook struct {
	dir      rundir.Dir
	board    string
	rejected int // number of rejected replies in the journal
	recent   []eventRow
	earlier  int       // number of entries before the recent ones
	drawn    time.Time // time at which DrawState last wrote state.md
	digest   string    // SHA-256 of state.md as this process knows it; "": unknown
	behind   bool      // an event was committed, or signs were seen, since state.md was written
	lost     bool      // a file could not be written, which was said
	signs    string    // signs of the agent at work that state.md is to show; "": none
	signed   time.Time // time at which signs were last taken
}

const (
	logHeading  = "## Supervisor Log\n"
	recentLimit = 50
	maxLog      = 256 << 20 // limit of the part of a supervisor log that is read, in bytes
	maxState    = 1 << 20   // limit of state.md, in bytes; a longer one was edited by hand
	drawEvery   = time.Second
	signsEvery  = 30 * time.Second // least time between two drawings for signs alone
)

// eventRow is the part of an entry that state.md shows; a whole entry may be long.
type eventRow struct {
	at                   time.Time
	epoch, rev           uint64
	kind, actor, subject string
}

func newLogbook(dir rundir.Dir, board string) *logbook {
	return &logbook{dir: dir, board: board}
}

// about returns the subject of an event for state.md. For an unavailable tool, about also names the
// tool and the agent (seed 002).
func about(e event.Event) string {
	if t, ok := e.(event.ToolUnavailable); ok {
		return fmt.Sprintf("%s: %s for %s (%s)", t.Task, t.Tool, t.Role, t.Agent)
	}
	return e.Subject()
}

// remember adds an entry to the recent ones, and counts rejected replies.
func (l *logbook) remember(e event.Entry) {
	if _, ok := e.Event.(event.ReplyRejected); ok {
		l.rejected++
	}
	if len(l.recent) == recentLimit {
		l.earlier++
		l.recent = append(l.recent[:0], l.recent[1:]...)
	}
	l.recent = append(l.recent,
		eventRow{e.Time, e.Epoch, e.Rev, e.Event.Kind(), e.Actor, about(e.Event)})
}

// catchUp rewrites supervisor-log.md if its number of entries differs from the number of rejected
// replies in the journal, most likely because of a crash.
func (l *logbook) catchUp(journalPath string) error {
	if err := rundir.RemoveForeign(l.dir.Log()); err != nil {
		return fmt.Errorf("look at the supervisor log: %w", err)
	}
	entries, err := countEntries(l.dir.Log())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the supervisor log: %w", err)
	}
	if entries == l.rejected {
		return nil
	}
	var all bytes.Buffer
	all.WriteString(logHeading)
	_, err = journal.Read(journalPath, func(r journal.Record) error {
		e, err := decode(r)
		if rejected, ok := e.Event.(event.ReplyRejected); ok {
			all.WriteString(retryEntry(l.board, e.Time, rejected))
		}
		return err
	})
	if err != nil {
		return err
	}
	return durable.WriteFile(l.dir.Log(), all.Bytes(), 0o600)
}

// countEntries counts the entries in the first maxLog bytes of a log. The limit is there because an
// agent may have written a file of any size.
func countEntries(path string) (n int, err error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewReader(io.LimitReader(f, maxLog))
	for begins := true; err == nil; {
		var line []byte
		var rest bool
		line, rest, err = lines.ReadLine()
		if begins && bytes.HasPrefix(line, []byte("### [")) {
			n++
		}
		begins = !rest
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// follow notes a committed event for state.md, and adds a rejected reply to supervisor-log.md.
func (l *logbook) follow(e event.Entry) error {
	l.remember(e)
	l.behind = true
	if rejected, ok := e.Event.(event.ReplyRejected); ok {
		return AppendLog(l.dir, l.board, e.Time, rejected)
	}
	return nil
}

// AppendLog adds a rejected reply to supervisor-log.md. board is the path of the board, or "" for a
// call without a board.
func AppendLog(dir rundir.Dir, board string, at time.Time, e event.ReplyRejected) error {
	text := retryEntry(board, at, e)
	if err := rundir.RemoveForeign(dir.Log()); err != nil {
		return fmt.Errorf("look at the supervisor log: %w", err)
	}
	log, err := durable.OpenPlain(dir.Log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("append to the supervisor log: %w", err)
	}
	if at, err := log.Seek(0, io.SeekEnd); err == nil && at == 0 {
		text = logHeading + text
	}
	_, err = log.WriteString(text)
	return errors.Join(err, log.Close())
}

// retryEntry formats one entry of the log (seed 004, "Retry Logging"). In the entry of the last
// attempt, the action is "Giving up".
func retryEntry(board string, at time.Time, e event.ReplyRejected) string {
	title, action := "Retry Event", "Rescheduling with exact same parameters"
	attempt := fmt.Sprintf("%d/%d", e.Retries+1, e.Of)
	switch {
	case !e.CostsRetry():
		action = e.Then()
	case e.Retries >= e.Of:
		title = "Retries Exhausted"
		action = fmt.Sprintf("Giving up: agent %s failed after %d retries", inert.Markdown(e.Role), e.Of)
		attempt = fmt.Sprintf("%d, no retry is left", e.Retries+1)
	}
	agentName, task := e.Role, e.Task
	switch {
	case e.Call == event.ManagerCall && board != "":
		task = fmt.Sprintf("%s (done_task: %s)", filepath.Base(board), e.Task)
	case e.Call == event.ReviewCall:
		agentName = "Reviewer of " + e.Role
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n### [%s] %s\n\n", at.UTC().Format(time.RFC3339), title)
	fmt.Fprintf(&b, "**Agent:** %s  \n**Task:** %s  \n**Attempt:** %s  \n",
		inert.Markdown(agentName), inert.Markdown(task), attempt)
	fmt.Fprintf(&b, "**Issue:** Invalid output format: %s  \n**Exit:** %s\n\n",
		inert.Markdown(e.Reason), inert.Markdown(e.Exit))
	fmt.Fprintf(&b, "**Expected:**\n%s\n", fenced("json", contract.Of(e.Call).Expected()))
	fmt.Fprintf(&b, "**Received:**\n%s\n", fenced("json", inert.Lines(e.Received)))
	if e.Stderr != "" {
		fmt.Fprintf(&b, "**Standard error:**\n%s\n", fenced("", inert.Lines(e.Stderr)))
	}
	fmt.Fprintf(&b, "**Action:** %s\n", action)
	return b.String()
}

// fenced puts text into a fence that is longer than any in the text, so that the text cannot close
// the fence.
func fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

package orchestrator

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/redact"
)

// logbook keeps the two Markdown files of a run up with its journal: supervisor-log.md, with an entry for every rejected
// reply, and state.md, the state at a glance. Both can be made from the journal at any time; neither is ever read.
type logbook struct {
	files    files
	board    string
	rejected int // replies rejected according to the journal
	recent   []happened
	earlier  int       // entries before the recent ones
	drawn    time.Time // when state.md was last written
}

const (
	logHeading  = "## Supervisor Log\n"
	recentLimit = 50
	beginning   = 6         // events of a new board when its first agent is at work
	maxLog      = 256 << 20 // bytes of a supervisor log that are looked at
	maxState    = 1 << 20   // bytes of a state.md; ours has a few hundred lines
	drawEvery   = time.Second
)

// happened is what state.md tells of an entry. The whole of it would be kept for nothing.
type happened struct {
	at                   time.Time
	epoch, rev           uint64
	kind, actor, subject string
}

func newLogbook(f files, board string) *logbook {
	return &logbook{files: f, board: board, recent: make([]happened, 0, beginning)}
}

func (l *logbook) replay(e flow.Entry) {
	if _, ok := e.Event.(flow.ReplyRejected); ok {
		l.rejected++
	}
	l.remember(e)
}

func (l *logbook) remember(e flow.Entry) {
	if len(l.recent) == recentLimit {
		l.earlier++
		l.recent = append(l.recent[:0], l.recent[1:]...)
	}
	l.recent = append(l.recent, happened{e.Time, e.Epoch, e.Rev, e.Event.Kind(), e.Actor, e.Event.Subject()})
}

// catchUp makes supervisor-log.md anew when it has not as many entries as the journal, most likely because of a crash.
func (l *logbook) catchUp(journalPath string) error {
	if err := onlyRegular(l.files.log()); err != nil {
		return fmt.Errorf("look at the supervisor log: %w", err)
	}
	entries, err := countEntries(l.files.log())
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
		if rejected, ok := e.Event.(flow.ReplyRejected); ok {
			all.WriteString(retryEntry(e.Time, rejected))
		}
		return err
	})
	if err != nil {
		return err
	}
	return durable.WriteFile(l.files.log(), all.Bytes(), 0o600)
}

// countEntries reads a log that anybody may have made as large as he liked.
func countEntries(path string) (n int, err error) {
	f, err := os.Open(path)
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

// follow brings the files up to a committed event.
func (l *logbook) follow(e flow.Entry) error {
	l.remember(e)
	rejected, ok := e.Event.(flow.ReplyRejected)
	if !ok {
		return nil
	}
	l.rejected++
	return l.files.appendLog(retryEntry(e.Time, rejected))
}

// appendLog adds an entry to supervisor-log.md.
func (f files) appendLog(text string) error {
	if err := onlyRegular(f.log()); err != nil {
		return fmt.Errorf("look at the supervisor log: %w", err)
	}
	log, err := os.OpenFile(f.log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("append to the supervisor log: %w", err)
	}
	if at, err := log.Seek(0, io.SeekEnd); err == nil && at == 0 {
		text = logHeading + text
	}
	_, err = log.WriteString(text)
	return errors.Join(err, log.Close())
}

// retryEntry is one entry of the log: seed 004, "Retry Logging". When the retries are used up nothing is rescheduled, and the
// entry says so.
func retryEntry(at time.Time, e flow.ReplyRejected) string {
	title, action := "Retry Event", "Rescheduling with exact same parameters"
	attempt := fmt.Sprintf("%d/%d", e.Retries+1, e.Of)
	if e.Retries >= e.Of {
		title, action = "Retries Exhausted", fmt.Sprintf("Giving up: agent %s failed after %d retries", redact.Markdown(e.Role), e.Of)
		attempt = fmt.Sprintf("%d, no retry is left", e.Retries+1)
	}
	task := e.Task
	if e.Call == flow.ManagerCall {
		task = fmt.Sprintf("KANBAN (done_task: %s)", e.Task)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n### [%s] %s\n\n", at.UTC().Format(time.RFC3339), title)
	fmt.Fprintf(&b, "**Agent:** %s  \n**Task:** %s  \n**Attempt:** %s  \n", redact.Markdown(e.Role), redact.Markdown(task), attempt)
	fmt.Fprintf(&b, "**Issue:** Invalid output format: %s  \n**Exit:** %s\n\n", redact.Markdown(e.Reason), redact.Markdown(e.Exit))
	fmt.Fprintf(&b, "**Expected:**\n%s\n", fenced("json", contractOf(e.Call).Expected()))
	fmt.Fprintf(&b, "**Received:**\n%s\n", fenced("json", redact.InertLines(e.Received)))
	if e.Stderr != "" {
		fmt.Fprintf(&b, "**Standard error:**\n%s\n", fenced("", redact.InertLines(e.Stderr)))
	}
	fmt.Fprintf(&b, "**Action:** %s\n", action)
	return b.String()
}

// fenced puts text into a fence that is longer than any in the text, so that an agent cannot end it.
func fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// Package console prints texts and makes them harmless. Every text for a person, a pipe or a CI
// job's log leaves the program through this package. The format of a text comes from the
// program itself. Foreign texts, such as names of files, agents' words and errors, are arguments,
// which are redacted and made inert.
package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"kanban-run/orchestrator/inert"
	"kanban-run/orchestrator/redact"
)

// Secrets holds the texts that printers of a process hide. Any goroutine can add texts at any time.
// A nil *Secrets hides nothing.
type Secrets struct {
	mu    sync.Mutex
	first func() *redact.Redactor
	known []*redact.Redactor
}

// NewSecrets returns Secrets that hide the secrets of one redactor. The given function makes the
// redactor. NewSecrets does not call the function yet, because making a redactor takes longer than
// some commands. The function is called once, just before a foreign text is printed.
func NewSecrets(first func() *redact.Redactor) *Secrets { return &Secrets{first: first} }

// Add lets the printers hide the secrets of r too.
func (s *Secrets) Add(r *redact.Redactor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = append(s.known, r)
}

func (s *Secrets) redactors() []*redact.Redactor {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first != nil {
		s.known = append(s.known, s.first())
		s.first = nil
	}
	return s.known[:len(s.known):len(s.known)]
}

// Count returns a number that changes when there are more secrets to hide.
func (s *Secrets) Count() int { return len(s.redactors()) }

// Hide returns text without secrets.
func (s *Secrets) Hide(text string) string {
	for _, r := range s.redactors() {
		text = r.String(text)
	}
	return text
}

// Printer is a writer to one stream. It is safe for concurrent use. Each call of a method is one
// write.
type Printer struct {
	secrets *Secrets
	inJob   bool          // see InJob
	hurried chan struct{} // closed by Hurry
	hurry   sync.Once
	mu      sync.Mutex
	queue   queue
	free    bool      // see Free
	tell    bool      // see Free
	last    time.Time // the last write; zero: none
	stalled bool      // true after a write was given up
	missing int       // number of lines that were dropped since the reader stopped
	err     error
}

// New returns a printer to w.
func New(w io.Writer, secrets *Secrets) *Printer {
	return &Printer{secrets: secrets, queue: queue{w: w}, hurried: make(chan struct{})}
}

// InJob makes the printer write into the log of a CI job: no problem matcher of the job makes an
// annotation of foreign texts. Call it before the first write.
func (p *Printer) InJob() { p.inJob = true }

// ErrStalled is the error of a write that was given up because no program reads the output.
var ErrStalled = errors.New("its reader takes nothing")

// patience bounds the time of a write after a call of Hurry.
const patience = 2 * time.Second

// Hurry bounds the time of a write by the constant patience, because a process that is to end
// cannot wait for a sleeping reader. After a write that takes longer, all further writes fail.
// Hurry is safe for concurrent use, even during a write.
func (p *Printer) Hurry() { p.hurry.Do(func() { close(p.hurried) }) }

// Free lets the program go on if no program reads the output, as behind a terminal that was stopped: a
// write waits for a moment, and the texts after it are queued until the reader takes them. What is
// more than mostQueued is dropped. If tell is true, for a reader that is no program, the next text then
// says how many lines are missing. Call Free before the writes that are not to wait.
func (p *Printer) Free(tell bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free, p.tell = true, tell
}

// moment bounds the time of a write after a call of Free.
const moment = time.Second

// mostQueued bounds the texts that wait for their reader, in bytes.
const mostQueued = 4 << 20

// Flush waits until the reader has taken all texts. It gives up, and returns ErrStalled, when the
// reader has taken nothing for the given time.
func (p *Printer) Flush(idle time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.stalled {
		before := p.queue.writes()
		select {
		case <-p.queue.emptied():
			return p.queue.failure()
		case <-time.After(idle):
		}
		p.stalled = p.queue.writes() == before
	}
	p.err = cmp.Or(p.err, ErrStalled)
	return ErrStalled
}

// Lines is an argument of Printf that may have several lines. Line ends in other arguments are
// escaped.
type Lines string

// Printf prints as fmt.Printf does, with every argument redacted and inert. Arguments other than
// numbers and booleans are printed as with %v.
func (p *Printer) Printf(format string, args ...any) error {
	// The whole text is made inert, too, because two adjacent arguments may together be a command
	// of a CI job.
	return p.write(inert.Lines(p.Sprintf(format, args...)))
}

// Sprintf formats as Printf does, and makes every argument safe in the same way. Its result is safe
// as part of a text for PrintTrusted.
func (p *Printer) Sprintf(format string, args ...any) string {
	safe := make([]any, len(args))
	for i, arg := range args {
		safe[i] = p.makeSafe(arg)
	}
	return fmt.Sprintf(format, safe...)
}

func (p *Printer) makeSafe(arg any) any {
	switch arg := arg.(type) {
	case int, int64, uint64, float64, bool:
		return arg
	case Lines:
		return inert.Lines(p.unmatched(p.secrets.Hide(string(arg))))
	default:
		return inert.Line(p.unmatched(p.secrets.Hide(fmt.Sprint(arg))))
	}
}

func (p *Printer) unmatched(text string) string {
	if p.inJob {
		return inert.Unmatched(text)
	}
	return text
}

// JSON prints v as one line of JSON, or as several lines if indent is not "". It redacts strings.
// It escapes characters that are not inert, so that a decoder still reads the same value.
func (p *Printer) JSON(v any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("print as JSON: %w", err)
	}
	text := b.Bytes()
	for _, r := range p.secrets.redactors() {
		var err error
		if text, err = r.JSON(text); err != nil {
			return fmt.Errorf("redact JSON: %w", err)
		}
	}
	out := string(inert.JSON(text))
	if p.inJob {
		out = inert.UnmatchedJSON(out)
	}
	return p.write(out)
}

// Hide returns text without secrets, for a file.
func (p *Printer) Hide(text string) string { return p.secrets.Hide(text) }

// PrintTrusted prints a text of the program unchanged, such as a help text or a picture with escape
// sequences. Foreign text in it must come from Sprintf.
func (p *Printer) PrintTrusted(text string) error { return p.write(text) }

func (p *Printer) write(text string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.send(text)
	p.last = time.Now()
	if err != nil && p.err == nil {
		p.err = err
	}
	return err
}

// send returns once the text is written, or queued behind others, or the write is given up.
func (p *Printer) send(text string) error {
	switch {
	case p.stalled:
		return ErrStalled
	case p.free && p.queue.length() > mostQueued:
		p.missing += strings.Count(text, "\n")
		p.err = cmp.Or(p.err, ErrStalled)
		return nil
	case p.missing > 0 && p.tell:
		text = fmt.Sprintf("[the reader took nothing for a time: %d lines are missing here]\n", p.missing) + text
		p.missing = 0
	}
	behind := p.queue.length() > 0
	emptied := p.queue.add(text)
	if p.free && behind {
		return nil
	}
	var late <-chan time.Time
	if p.free {
		timer := time.NewTimer(moment)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-emptied:
		return p.queue.failure()
	case <-late:
		return nil
	case <-p.hurried:
	}
	select {
	case <-emptied:
		return p.queue.failure()
	case <-time.After(patience):
		p.stalled = true
		return ErrStalled
	}
}

// queue is the texts that a goroutine writes one after the other.
type queue struct {
	w io.Writer

	mu    sync.Mutex
	texts []string
	size  int           // of all texts, in bytes
	count int           // number of texts written so far
	empty chan struct{} // closed when all texts are written; nil: no text waits
	err   error         // of the last write
	first error         // the first of these errors
}

// add adds a text, and returns a channel that is closed when all texts are written.
func (q *queue) add(text string) <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.texts = append(q.texts, text)
	q.size += len(text)
	if q.empty == nil {
		q.empty = make(chan struct{})
		go q.write()
	}
	return q.empty
}

func (q *queue) write() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.texts) > 0 {
		text := q.texts[0]
		q.texts = q.texts[1:]
		q.mu.Unlock()
		_, err := io.WriteString(q.w, text)
		q.mu.Lock()
		q.err, q.first = err, cmp.Or(q.first, err)
		q.size -= len(text)
		q.count++
	}
	close(q.empty)
	q.texts, q.empty = nil, nil
}

// emptied returns a channel that is closed when all texts are written.
func (q *queue) emptied() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.empty == nil {
		none := make(chan struct{})
		close(none)
		return none
	}
	return q.empty
}

// length returns the size of the texts that are not written yet, in bytes.
func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.size
}

func (q *queue) writes() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.count
}

func (q *queue) failure() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err
}

// LastWrite returns the time of the last write, or the zero time if there was none.
func (p *Printer) LastWrite() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// Err returns the first error of a write. A command whose output was not written has failed.
func (p *Printer) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	return cmp.Or(p.err, p.queue.first)
}

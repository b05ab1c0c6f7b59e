// Package console prints texts and makes them harmless. Every text for a person, a pipe or a CI
// job's log leaves the program through this package. The format of a text comes from the
// program itself. Foreign texts, such as names of files, agents' words and errors, are arguments,
// which are redacted and made inert.
package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	w       io.Writer
	secrets *Secrets
	hurried chan struct{} // closed by Hurry
	hurry   sync.Once
	mu      sync.Mutex
	stalled bool // true after a write was given up
	err     error
}

// New returns a printer to w.
func New(w io.Writer, secrets *Secrets) *Printer {
	return &Printer{w: w, secrets: secrets, hurried: make(chan struct{})}
}

// ErrStalled is the error of a write that was given up because no program reads the output.
var ErrStalled = errors.New("its reader takes nothing")

// patience bounds the time of a write after a call of Hurry.
const patience = 2 * time.Second

// Hurry bounds the time of a write by the constant patience, because a process that is to end
// cannot wait for a sleeping reader. After a write that takes longer, all further writes fail.
// Hurry is safe for concurrent use, even during a write.
func (p *Printer) Hurry() { p.hurry.Do(func() { close(p.hurried) }) }

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
		return inert.Lines(p.secrets.Hide(string(arg)))
	default:
		return inert.Line(p.secrets.Hide(fmt.Sprint(arg)))
	}
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
	return p.write(string(inert.JSON(text)))
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
	if err != nil && p.err == nil {
		p.err = err
	}
	return err
}

// send returns once the text is written or the write is given up.
func (p *Printer) send(text string) error {
	if p.stalled {
		return ErrStalled
	}
	written := make(chan error, 1)
	go func() {
		_, err := io.WriteString(p.w, text)
		written <- err
	}()
	select {
	case err := <-written:
		return err
	case <-p.hurried:
	}
	select {
	case err := <-written:
		return err
	case <-time.After(patience):
		p.stalled = true
		return ErrStalled
	}
}

// Err returns the first error of a write. A command whose output was not written has failed.
func (p *Printer) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Package console prints: every text for a person, a pipe or a CI job's log leaves the program here, so that there is one
// place where it is made harmless. What the program itself says is the format; whatever else is in a text, names of files,
// boards and tasks, words of agents, errors, is an argument, and arguments are redacted and made inert.
package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"kanban-run/orchestrator/redact"
)

// Secrets are what no printer of a process shows. They may be added to at any time, from any goroutine; nil hides nothing.
type Secrets struct {
	mu    sync.Mutex
	first func() *redact.Redactor
	known []*redact.Redactor
}

// NewSecrets hides what the redactor hides that first makes. It is called once, before the first foreign text is printed: to
// make one costs more than all that some commands do.
func NewSecrets(first func() *redact.Redactor) *Secrets { return &Secrets{first: first} }

// Add hides what r hides too.
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

// Printer writes to one stream. It is safe for concurrent use; what one call prints is written at once.
type Printer struct {
	w       io.Writer
	secrets *Secrets
	mu      sync.Mutex
	err     error
}

// New returns a printer that writes to w.
func New(w io.Writer, secrets *Secrets) *Printer { return &Printer{w: w, secrets: secrets} }

// Lines is an argument that may have several lines. Any other stays on its line.
type Lines string

// Printf prints as fmt.Printf does, with every argument redacted and inert. Arguments of other kinds than numbers and truth
// values are printed as %v does.
func (p *Printer) Printf(format string, args ...any) error {
	// Once more over the whole: two arguments side by side may be a command of a CI job, which neither is alone.
	return p.write(redact.InertLines(p.Sprintf(format, args...)))
}

// Sprintf returns what Printf would print, for a text of which the program knows how to make a picture: see Own.
func (p *Printer) Sprintf(format string, args ...any) string {
	safe := make([]any, len(args))
	for i, arg := range args {
		safe[i] = p.safe(arg)
	}
	return fmt.Sprintf(format, safe...)
}

func (p *Printer) safe(arg any) any {
	switch arg := arg.(type) {
	case int, int64, uint64, float64, bool:
		return arg
	case Lines:
		return redact.InertLines(p.secrets.Hide(string(arg)))
	default:
		return redact.Inert(p.secrets.Hide(fmt.Sprint(arg)))
	}
}

// JSON prints v as one line of JSON, or with indent as several. Its strings are redacted; what is not inert in them is escaped,
// so that a decoder reads the same.
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
	return p.write(string(redact.InertJSON(text)))
}

// Hide returns text without secrets, for a file.
func (p *Printer) Hide(text string) string { return p.secrets.Hide(text) }

// Own prints a text that the program made itself, as it is: a help text, or a picture with escape sequences. Foreign text may be
// part of it only if it comes from Sprintf.
func (p *Printer) Own(text string) error { return p.write(text) }

func (p *Printer) write(text string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := io.WriteString(p.w, text)
	if err != nil && p.err == nil {
		p.err = err
	}
	return err
}

// Err is the first error of a write: what nobody can read is no success.
func (p *Printer) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

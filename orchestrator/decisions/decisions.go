// Package decisions appends entries to DECISIONS.md, in two sections that belong to this program.
// The rest of the file belongs to people. Source: seed 002, "Bounded DECISIONS Contribution Rule".
package decisions

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/plainfile"
)

// Section is a heading under which entries may be appended.
type Section string

// The sections of this program.
const (
	Escalations Section = "## Operational Escalations"
	Notes       Section = "## Orchestration Notes"
)

// base holds the sections that people have to create before this program adds its own.
var base = []string{"## Feature Definition of Done", "## Risks & Mitigations", "## Architectural Decisions"}

// The errors of [Append] after which the file does not hold the entry.
var (
	ErrMarkerMissing = errors.New("DECISIONS_MARKER_MISSING") // a section is missing
	ErrScope         = errors.New("DECISIONS_SCOPE_VIOLATION")
)

// maxSize bounds the file, in bytes.
const maxSize = 16 << 20

// The limits of the retries of a write that fails because a person edits the file.
const (
	tries = 8
	pause = 10 * time.Millisecond // multiplied by the number of tries so far
)

// Append appends an entry as one line to a section of the file, unless the line is in the file
// already. It changes no byte of people's text. Errors: ErrMarkerMissing, ErrScope, or an error of
// the system.
func Append(path string, section Section, entry string) error {
	if section != Escalations && section != Notes { // a target has to be one of our sections
		return fmt.Errorf("%w: %s is no section for entries", ErrScope, section)
	}
	line := "- " + strings.Join(strings.Fields(strings.Map(printable, entry)), " ")
	var err error
	for try := range tries {
		time.Sleep(time.Duration(try) * pause)
		var was, now []byte
		if was, err = plainfile.Read(path, maxSize); err != nil {
			return err
		}
		if indexLine(was, line) >= 0 {
			if try == 0 {
				return nil // an earlier run has written the line, and a person may have moved it
			}
			return ensurePlace(path, section, line)
		}
		if now, err = insert(was, section, line); err != nil {
			return err
		}
		err = durable.ReplaceFile(path, was, now)
		if err == nil {
			return ensurePlace(path, section, line)
		}
		if !errors.Is(err, durable.ErrChanged) && !errors.Is(err, durable.ErrReadBack) {
			return err
		}
	}
	return err
}

// printable returns r, or -1 if r is a character that controls a terminal. strings.Map then removes
// that character.
func printable(r rune) rune {
	if unicode.IsPrint(r) || unicode.IsSpace(r) {
		return r
	}
	return -1
}

// insert returns the text with the line added at the end of the section. If the section is missing,
// it first adds the missing sections of this program at the end of the text. Errors:
// ErrMarkerMissing.
func insert(text []byte, section Section, line string) ([]byte, error) {
	end := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		end = "\r\n"
	}
	if _, _, ok := find(text, string(section)); !ok {
		var err error
		if text, err = addSections(text, end); err != nil {
			return nil, err
		}
	}
	from, to, ok := find(text, string(section))
	if !ok {
		return nil, fmt.Errorf("%w: %q cannot be found", ErrMarkerMissing, section)
	}
	at, lines := from, 0 // offset after the section's last nonblank line, and number of its nonblank lines
	for next := from; next < to; {
		piece := text[next:to]
		if i := bytes.IndexByte(piece, '\n'); i >= 0 {
			piece = piece[:i+1]
		}
		if next += len(piece); len(bytes.TrimSpace(piece)) > 0 {
			at, lines = next, lines+1
		}
	}
	added := line + end
	if lines == 1 { // the section has only its heading
		added = end + added
	}
	if text[at-1] != '\n' {
		added = end + added
	}
	return slices.Concat(text[:at], []byte(added), text[at:]), nil
}

// addSections returns the text with the missing sections of this program added at the end. Errors:
// ErrMarkerMissing if a section of the list "base" is missing.
func addSections(text []byte, end string) ([]byte, error) {
	for _, s := range base {
		if _, _, ok := find(text, s); !ok {
			return nil, fmt.Errorf("%w: there is no section %q", ErrMarkerMissing, s)
		}
	}
	out := slices.Clone(text)
	if !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, end...)
	}
	for _, s := range []Section{Escalations, Notes} {
		if _, _, ok := find(text, string(s)); !ok {
			out = append(out, end+string(s)+end...)
		}
	}
	return out, nil
}

// find returns the bounds of a section, including its heading. ok is false if the section is
// missing. A heading within a fenced block or a comment does not count, and a fence that is never
// closed is not a fence.
func find(text []byte, heading string) (from, to int, ok bool) {
	from = -1
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i, at := 0, 0; i < len(lines); i++ {
		line := strings.TrimRight(string(lines[i]), " \t\r\n")
		if end := endOfBlock(lines, i); end > i {
			for ; i < end; i++ {
				at += len(lines[i])
			}
			at += len(lines[end])
			continue
		}
		switch {
		case from >= 0 && beginsSection(lines, i):
			return from, at, true
		case line == heading && from < 0:
			from = at
		}
		at += len(lines[i])
	}
	return from, len(text), from >= 0
}

var (
	atxHeading = regexp.MustCompile(`^ {0,3}#{1,2}([ \t]|$)`)
	underline  = regexp.MustCompile(`^ {0,3}(=+|-+)[ \t]*$`)
	fence      = regexp.MustCompile("^ {0,3}(`{3,}[^`]*|~{3,}.*)$")
)

// beginsSection reports whether line i begins the next section. Such a line is a heading of level 1 or
// 2, in one of the two forms of Markdown.
func beginsSection(lines [][]byte, i int) bool {
	line := bytes.TrimRight(lines[i], "\r\n")
	if atxHeading.Match(line) {
		return true
	}
	text := bytes.TrimSpace(line)
	return len(text) > 0 && text[0] != '-' && i+1 < len(lines) && underline.Match(bytes.TrimRight(lines[i+1], "\r\n"))
}

// endOfBlock returns the number of the line that closes the fenced block or the comment that begins
// at line i. It returns i if no block begins there or the block is never closed.
func endOfBlock(lines [][]byte, i int) int {
	line := string(bytes.TrimRight(lines[i], "\r\n"))
	if strings.HasPrefix(line, "<!--") {
		for k := i; k < len(lines); k++ {
			if bytes.Contains(lines[k], []byte("-->")) {
				return k
			}
		}
		return i
	}
	if !fence.MatchString(line) {
		return i
	}
	open := strings.TrimLeft(line, " ")
	mark := open[:len(open)-len(strings.TrimLeft(open, open[:1]))]
	for k := i + 1; k < len(lines); k++ {
		last := strings.TrimSpace(string(lines[k]))
		if strings.HasPrefix(last, mark) && strings.Trim(last, open[:1]) == "" {
			return k
		}
	}
	return i
}

// indexLine returns the offset in bytes of the given line in the text, or -1 if the text lacks it.
func indexLine(text []byte, line string) int {
	at := 0
	for l := range bytes.SplitSeq(text, []byte("\n")) {
		if string(bytes.TrimSuffix(l, []byte("\r"))) == line {
			return at
		}
		at += len(l) + 1
	}
	return -1
}

// ensurePlace verifies that the line is in its section. If an edit at the same time has left the line
// elsewhere, ensurePlace removes it, and returns ErrScope.
func ensurePlace(path string, section Section, line string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	from, to, ok := find(text, string(section))
	at := indexLine(text, line)
	if at < 0 || ok && at >= from && at+len(line) <= to {
		return nil // the line is in its section, or a person has removed it on purpose
	}
	length := len(line)
	for length < len(text)-at && (text[at+length] == '\r' || text[at+length] == '\n') {
		if length++; text[at+length-1] == '\n' {
			break
		}
	}
	err = durable.ReplaceFile(path, text, slices.Concat(text[:at], text[at+length:]))
	return errors.Join(fmt.Errorf("%w: an entry stood outside of %s, and is taken out", ErrScope, section), err)
}

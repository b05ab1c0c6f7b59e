package board

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"kanban-run/orchestrator/frontmatter"
)

// maxFixes is the greatest number of repairs of one file. Real files need one repair.
const maxFixes = 20

// Fix makes the safe repairs of a board. A value that breaks the YAML with a colon, or with a quote
// within a word, becomes a | block. Such a value ends before the next `identifier:` in column 1. If
// the field "current" has a path without a folder, it becomes the path that resolveBare returns.
// If resolveBare is nil, the path stays. All other bytes stay. notes has one line for each repair.
// Errors: the problem of a board that Parse still refuses, or *SpliceError.
func Fix(file string, source []byte, resolveBare func(string) (string, bool)) (
	fixed []byte, notes []string, err error) {
	b, notes, err := repairValues(file, source)
	if err != nil {
		return nil, nil, err
	}
	full, ok := expandCurrent(b, resolveBare)
	if !ok {
		return b.Source, notes, nil
	}
	after, err := b.Splice(Edit{Current: &full})
	if err != nil {
		return nil, nil, err
	}
	note := fmt.Sprintf("line %d: current: %s became %s", b.Current.Line, b.Current.Path, full)
	return after.Source, append(notes, note), nil
}

// FixTask makes the safe repairs of a task's header: a title or description of one line becomes a |
// block. A longer value is left to the author, because its next lines could be fields. notes has
// one line for each repair. ok is false if there was nothing to repair, or if the header is still
// unreadable.
func FixTask(file string, source []byte) (fixed []byte, notes []string, ok bool) {
	_, err := taskDocument(file, source, false)
	for range maxFixes {
		if err == nil {
			break
		}
		repaired, note, can := blockify(file, source, err, isProse)
		if !can {
			return nil, nil, false
		}
		source, notes = repaired, append(notes, note)
		_, err = taskDocument(file, source, false)
	}
	return source, notes, err == nil && len(notes) > 0
}

// repairValues turns values into blocks, one after the other, until Parse accepts the board. It
// returns the error of Parse if the board cannot be repaired.
func repairValues(file string, source []byte) (b *Board, notes []string, err error) {
	b, err = Parse(file, source)
	for range maxFixes {
		if err == nil {
			break
		}
		fixed, note, ok := blockify(file, source, err, func(string, int) bool { return true })
		if !ok {
			break
		}
		source, notes = fixed, append(notes, note)
		b, err = Parse(file, source)
	}
	return b, notes, err
}

func expandCurrent(b *Board, resolveBare func(string) (string, bool)) (string, bool) {
	if resolveBare == nil || !b.Current.Set || b.Current.Null || strings.ContainsAny(b.Current.Path, `/\`) {
		return "", false
	}
	return resolveBare(b.Current.Path)
}

var (
	fieldLine = lazyPattern(`^([A-Za-z_][A-Za-z0-9_-]*):(?:[ \t]|$)`)
	// strayField matches an indented or quoted field of the board. Such a line must not become text
	// of a block.
	strayField = lazyPattern(`^[ \t]*["']?(phase|sub_phase|current|tasks)["']?[ \t]*:(?:[ \t]|$)`)
	plainValue = lazyPattern(`^[^\s"'\[\]{}|>&*!%@#` + "`" + `]`)
)

func lazyPattern(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// isProse reports whether a field of a task is one line of text that only people read.
func isProse(name string, lines int) bool {
	return lines == 1 && slices.Contains([]string{"title", "description", "desc", "summary"}, name)
}

// blockify turns the field that holds the problem into a | block. It calls the function named may
// with the field's name and number of lines, and changes nothing if that function returns false. ok
// is false if nothing was changed.
func blockify(file string, source []byte, problem error, may func(name string, lines int) bool) (fixed []byte, note string, ok bool) {
	var at *frontmatter.Problem
	if !errors.As(problem, &at) || at.Err == nil || errors.Is(at.Err, frontmatter.ErrUnclosed) {
		return nil, "", false // not a syntax error of the YAML library
	}
	doc := &frontmatter.Document{YAML: source, FirstLine: 1}
	if !isYAML(file) {
		split, err := frontmatter.Split(file, source)
		if err != nil {
			return nil, "", false
		}
		doc = split
	}
	lines := bytes.SplitAfter(doc.YAML, []byte{'\n'})
	first, last, ok := findField(lines, at.Line-doc.FirstLine)
	used := countUsed(lines[first:last])
	if !ok || !may(string(fieldLine().FindSubmatch(lines[first])[1]), used) {
		return nil, "", false
	}
	var out bytes.Buffer
	out.Write(source[:doc.Start])
	writeLines(&out, lines[:first])
	name := writeBlock(&out, lines[first:last])
	writeLines(&out, lines[last:])
	out.Write(source[doc.Start+len(doc.YAML):])
	note = fmt.Sprintf("line %d: %s became a | block of %d lines", doc.FirstLine+first, name, used)
	return out.Bytes(), note, true
}

// findField finds the field that contains the line with the given index, and returns the range of
// the field's lines. ok is true for an unquoted value with a colon and for a value with broken
// quotes, unless the value holds a stray field.
func findField(lines [][]byte, line int) (first, last int, ok bool) {
	first = min(max(line, 0), len(lines)-1)
	for first > 0 && !fieldLine().Match(chomp(lines[first])) {
		first--
	}
	m := fieldLine().FindSubmatchIndex(chomp(lines[first]))
	if m == nil {
		return 0, 0, false
	}
	for last = first + 1; last < len(lines) && !fieldLine().Match(chomp(lines[last])); last++ {
	}
	value := bytes.TrimLeft(lines[first][m[1]:], " \t")
	text := append([][]byte{value}, lines[first+1:last]...)
	plain := plainValue().Match(value) && hasColon(text)
	_, broken := brokenQuotes(text)
	return first, last, (plain || broken) && !slices.ContainsFunc(text, isStray)
}

// brokenQuotes removes the quotes around a one-line value if a word in it holds the same quote, as
// in 'the user's reply'. It returns false for any other value.
func brokenQuotes(text [][]byte) (inner []byte, ok bool) {
	if countUsed(text) != 1 {
		return nil, false
	}
	value := bytes.TrimSpace(text[0])
	if len(value) < 3 || value[0] != '\'' && value[0] != '"' || value[len(value)-1] != value[0] {
		return nil, false
	}
	inner = value[1 : len(value)-1]
	for i, c := range inner {
		if c == '\\' || c == value[0] && (i == 0 || i == len(inner)-1 || !isLetter(inner[i-1]) || !isLetter(inner[i+1])) {
			return nil, false
		}
	}
	return inner, bytes.IndexByte(inner, value[0]) >= 0
}

// isLetter reports whether a byte is an ASCII letter or a part of a longer UTF-8 character.
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 }

func isStray(line []byte) bool { return strayField().Match(chomp(line)) }

func hasColon(lines [][]byte) bool {
	for _, l := range lines {
		if l = chomp(l); bytes.Contains(l, []byte(": ")) || bytes.HasSuffix(l, []byte(":")) {
			return true
		}
	}
	return false
}

// writeBlock writes a field as a block and returns its name. Blank lines stay as they are.
func writeBlock(out *bytes.Buffer, lines [][]byte) (name string) {
	m := fieldLine().FindSubmatchIndex(lines[0])
	name = string(lines[0][m[2]:m[3]])
	value := bytes.TrimLeft(lines[0][m[3]+1:], " \t")
	eol := lines[0][len(chomp(lines[0])):]
	if len(eol) == 0 {
		eol = []byte{'\n'}
	}
	out.WriteString(name + ": |")
	out.Write(eol)
	if inner, broken := brokenQuotes([][]byte{value}); broken {
		value = append(bytes.Clone(inner), eol...)
	}
	for _, l := range append([][]byte{value}, lines[1:]...) {
		if len(bytes.TrimSpace(l)) > 0 {
			out.WriteString("  ")
		}
		out.Write(l)
	}
	return name
}

// countUsed counts the lines up to the last line that is not blank.
func countUsed(lines [][]byte) int {
	for len(lines) > 0 && len(bytes.TrimSpace(lines[len(lines)-1])) == 0 {
		lines = lines[:len(lines)-1]
	}
	return len(lines)
}

func writeLines(out *bytes.Buffer, lines [][]byte) {
	for _, l := range lines {
		out.Write(l)
	}
}

func chomp(line []byte) []byte { return bytes.TrimRight(line, "\r\n") }

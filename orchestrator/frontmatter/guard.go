package frontmatter

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// guard checks the bytes before the YAML library sees them.
func (d *Document) guard() error {
	if len(d.YAML) > MaxYAML {
		return tooLarge(d.File, len(d.YAML), MaxYAML)
	}
	if err := guardBytes(d.File, d.YAML, d.FirstLine); err != nil {
		return err
	}
	if countValues(d.YAML) > MaxValues {
		return &Problem{File: d.File, Line: d.FirstLine,
			Text: fmt.Sprintf("the YAML has more than %d values", MaxValues),
			Fix:  "move what is not for the runner to another file"}
	}
	if at := findTooDeep(d.YAML); at >= 0 {
		return d.problemAt(at, "the YAML is nested too deeply", "flatten it")
	}
	return nil
}

// guardBytes refuses bytes that programs read differently: invalid UTF-8, control characters, and
// line breaks other than LF and CRLF.
func guardBytes(file string, b []byte, firstLine int) error {
	for at := 0; at < len(b); {
		c := b[at]
		if c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
			at++
			continue
		}
		if c == '\r' && (at+1 == len(b) || b[at+1] == '\n') {
			at++
			continue
		}
		r, size := utf8.DecodeRune(b[at:])
		if text, fix := judgeRune(r, size); text != "" {
			d := Document{File: file, YAML: b, FirstLine: firstLine}
			return d.problemAt(at, text, fix)
		}
		at += size
	}
	return nil
}

func judgeRune(r rune, size int) (text, fix string) {
	switch {
	case r == utf8.RuneError && size == 1:
		return "this is not UTF-8", "save the file as UTF-8"
	case r == '\r':
		return "a carriage return stands alone", "save the file with LF or CRLF line endings"
	case r == 0:
		return "a NUL byte: the file is binary or UTF-16", "save the file as UTF-8"
	case r < ' ', r >= 0x7f && r <= 0x9f, r == 0x2028, r == 0x2029, r == 0xFEFF, r == 0xFFFE, r == 0xFFFF:
		return fmt.Sprintf("the character %U is invisible and not allowed", r),
			"remove it, or write it as an escape in double quotes"
	}
	return "", ""
}

// countValues returns an upper bound on the nodes that the YAML library will make. It does not
// parse the text, so quotes cannot hide a value from it. It leaves out each dash, colon, question
// mark and hash that does not begin a value. Such a character has no white space, bracket, comma or
// quote beside it, as in file names and times. A value costs the library about 250 bytes and a
// microsecond.
func countValues(b []byte) int {
	n := 2
	for i := range b {
		n += weigh(b, i)
	}
	return n
}

// weigh returns the number of values that countValues counts for the byte at i.
func weigh(b []byte, i int) int {
	before := i == 0 || isBreak(b[i-1])
	after := i+1 == len(b) || isBreak(b[i+1])
	switch c := b[i]; {
	case c == '-' && after:
		return 1
	case c == '?' && after, c == ',', c == ':' && (before || after || isQuote(b[i-1])):
		return 2
	case c == '[', c == '{', c == '#' && before:
		return 3
	}
	return 0
}

func isBreak(c byte) bool {
	switch c {
	case ' ', '\t', '\n', '\r', ',', '[', ']', '{', '}':
		return true
	}
	return false
}

func isQuote(c byte) bool { return c == '"' || c == '\'' }

// maxNesting is the greatest depth of a text that is given to the YAML library. It is well above
// MaxDepth, the limit of the tree, because brackets in prose need not be balanced.
const maxNesting = 10 * MaxDepth

// findTooDeep returns the offset where brackets or indentation exceed maxNesting, or -1. A letter
// in column 1 begins a new top-level field and resets the depth, because unbalanced brackets in one
// field must not count in the next field.
func findTooDeep(b []byte) int {
	depth := 0
	for at := 0; at < len(b); {
		line, next := cutLine(b, at)
		if len(line) > 0 && isLetter(line[0]) {
			depth = 0
		}
		if indent := indentLength(line); indent > maxNesting {
			return at + maxNesting
		}
		for i, c := range line {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(depth-1, 0)
			}
			if depth > maxNesting {
				return at + i
			}
		}
		at = next
	}
	return -1
}

// indentLength returns the length of the indentation of a line. Dashes and question marks that can
// open blocks count as indentation, like white space. It returns 0 for a blank line.
func indentLength(line []byte) int {
	if len(bytes.TrimSpace(line)) == 0 {
		return 0
	}
	i := 0
	opensBlock := func(i int) bool {
		return (line[i] == '-' || line[i] == '?') && i+1 < len(line) && line[i+1] == ' '
	}
	for i < len(line) && (line[i] == ' ' || line[i] == '\t' || opensBlock(i)) {
		i++
	}
	return i
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

package frontmatter

import (
	"bytes"
	"errors"
)

const (
	bom   = "\xEF\xBB\xBF"
	fence = "---"
)

// ErrUnclosed reports that the file ends before the closing fence.
var ErrUnclosed = errors.New("the frontmatter is opened and never closed")

// Split finds the frontmatter of a Markdown file. It does not read the YAML, so Root stays nil.
// YAML is nil if the file has no frontmatter. Errors: *Problem for a block that only resembles
// frontmatter or has no end, and for a file that does not begin as a text.
func Split(file string, source []byte) (*Document, error) {
	if bytes.HasPrefix(source, []byte("\xFF\xFE")) || bytes.HasPrefix(source, []byte("\xFE\xFF")) {
		return nil, &Problem{File: file, Line: 1, Column: 1, Text: "this is UTF-16", Fix: "save the file as UTF-8"}
	}
	d := newDocument(file, source)
	d.YAML = nil
	open, err := d.findOpening()
	if err != nil {
		return nil, err
	}
	if open < 0 {
		d.Body = d.Start
		return d, nil
	}
	if err := d.findClosing(open); err != nil {
		return nil, err
	}
	return d, nil
}

// findOpening returns the offset after the opening fence. It returns -1 if the first line that is
// not blank does not open frontmatter. It sets FirstLine to that line.
func (d *Document) findOpening() (int, error) {
	for at := d.Start; at < len(d.Source); d.FirstLine++ {
		line, next := cutLine(d.Source, at)
		if word := bytes.TrimSpace(line); len(word) > 0 {
			return d.judgeOpening(line, word, next)
		}
		at = next
	}
	return -1, nil
}

func (d *Document) judgeOpening(line, word []byte, next int) (int, error) {
	refuse := func(text, fix string) (int, error) {
		return -1, &Problem{File: d.File, Line: d.FirstLine, Column: 1, Text: text, Fix: fix}
	}
	// The first line decides whether there is a header, so it must itself be readable.
	if err := guardBytes(d.File, line, d.FirstLine); err != nil {
		return -1, err
	}
	switch {
	case bytes.HasPrefix(word, []byte("+++")), bytes.HasPrefix(word, []byte("---toml")):
		return refuse("this is TOML, only YAML frontmatter is read", "write the fields as YAML between two --- lines")
	case bytes.HasPrefix(word, []byte(";;;")), bytes.HasPrefix(word, []byte("---json")), string(word) == "{",
		bytes.HasPrefix(word, []byte(`{"`)):
		return refuse("this is JSON, only YAML frontmatter is read", "write the fields as YAML between two --- lines")
	case !bytes.HasPrefix(word, []byte(fence)):
		return -1, nil
	case len(word) != len(fence):
		return refuse("the first line resembles a frontmatter fence and is none", "write exactly --- on the line")
	case line[0] != '-':
		return refuse("the opening --- is indented", "put --- at the start of the line")
	}
	return next, nil
}

// findClosing finds the closing fence and sets YAML, Start, Body and FirstLine. The closing fence
// is the first line that begins with --- and has only white space after that. An indented --- is
// refused, because it may be the author's text. A line "..." is refused, too.
func (d *Document) findClosing(open int) error {
	line := d.FirstLine
	refuse := func(at int, text, fix string) error {
		return &Problem{File: d.File, Line: at, Column: 1, Text: text, Fix: fix}
	}
	for at := open; at < len(d.Source); {
		raw, next := cutLine(d.Source, at)
		line++
		trimmed := bytes.TrimRight(raw, " \t\r")
		switch {
		case string(bytes.TrimSpace(raw)) == fence && string(trimmed) != fence:
			return refuse(line, "an indented --- would end the frontmatter here",
				"write the line differently, for example as - - -")
		case string(trimmed) == fence:
			d.YAML, d.Start, d.Body, d.FirstLine = d.Source[open:at:at], open, next, d.FirstLine+1
			return nil
		case string(trimmed) == "...":
			return refuse(line, "the frontmatter is ended by ...", "end it with ---")
		}
		at = next
	}
	return &Problem{File: d.File, Line: d.FirstLine, Column: 1, Text: ErrUnclosed.Error(),
		Fix: "end it with a line of ---", Err: ErrUnclosed}
}

// cutLine returns the line at an offset, without its newline, and the offset of the next line.
func cutLine(b []byte, at int) (line []byte, next int) {
	if i := bytes.IndexByte(b[at:], '\n'); i >= 0 {
		return b[at : at+i], at + i + 1
	}
	return b[at:], len(b)
}

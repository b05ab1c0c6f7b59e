package frontmatter

import (
	"fmt"
	"unicode/utf8"
)

// guard checks the bytes before the YAML library sees them.
func (d *Document) guard() error {
	if len(d.YAML) > MaxYAML {
		return &Problem{File: d.File, Line: d.FirstLine, Text: "the YAML is larger than 2 MiB",
			Fix: "move what is not for the runner to another file"}
	}
	return guardBytes(d.File, d.YAML, d.FirstLine)
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

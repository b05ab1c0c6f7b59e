package redact

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hinshun/vt10x"
)

// checkScreen writes what is to be inert to a terminal that is large enough, and
// wants the text on it, the cursor behind it and nothing else.
func checkScreen(t *testing.T, text string) {
	t.Helper()
	lines := strings.Split(text, "\n")
	width := 0
	for i, line := range lines {
		lines[i] = expanded(line)
		width = max(width, len([]rune(lines[i])))
	}
	var reply bytes.Buffer
	vt := vt10x.New(vt10x.WithSize(width+1, len(lines)), vt10x.WithWriter(&reply))
	mode, look, title := vt.Mode(), vt.Cursor().Attr, vt.Title()
	if _, err := vt.Write([]byte(strings.ReplaceAll(text, "\n", "\r\n"))); err != nil {
		t.Fatal(err)
	}
	screen := strings.Split(strings.TrimSuffix(vt.String(), "\n"), "\n")
	for i, line := range screen {
		if got, want := strings.TrimRight(line, " "), strings.TrimRight(lines[i], " "); got != want {
			t.Fatalf("line %d of %q shows as %q, want %q", i, text, got, want)
		}
	}
	last := len([]rune(lines[len(lines)-1]))
	if c := vt.Cursor(); c.X != last || c.Y != len(lines)-1 || c.Attr != look {
		t.Fatalf("%q leaves the cursor %+v, want it at %d, %d", text, c, last, len(lines)-1)
	}
	if vt.Mode() != mode || vt.Title() != title || !vt.CursorVisible() || reply.Len() > 0 {
		t.Fatalf("%q changes the terminal: mode %x, title %q, reply %q", text, vt.Mode(), vt.Title(), reply.String())
	}
}

// expanded is a line with spaces for its tabs.
func expanded(line string) string {
	var b strings.Builder
	column := 0
	for _, r := range line {
		n := 1
		if r == '\t' {
			n, r = 8-column%8, ' '
		}
		b.WriteString(strings.Repeat(string(r), n))
		column += n
	}
	return b.String()
}

func TestInertOnAScreen(t *testing.T) {
	for _, a := range append(hostile, "\x1b[1mbold\x1b[7mand\x1b[0m", "\x1b[?25l", "\x1b[4h\x1b[20h", "\x1b(0lqqk", "\x1b#8", "\x1b[5;5H", "\x1b[99@\x1b[3L", "a\tb\n\tc", "日本 ❤\ufe0f") {
		for _, b := range []string{"", "\x1b", "\x1b[31m", "\n\x1bM", "\x9b?1049h"} {
			text := "x" + a + "\n" + b + a + b
			checkScreen(t, InertLines(text))
			checkScreen(t, Inert(text))
			checkScreen(t, Markdown(text))
			checkScreen(t, string(InertJSON(mustJSON(text))))
		}
	}
}

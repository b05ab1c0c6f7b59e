package inert

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hinshun/vt10x"
)

// terminal is a small VT that records everything but the printing of characters.
type terminal struct {
	did   []string
	text  strings.Builder
	state func(*terminal, rune)
	args  strings.Builder
}

func (v *terminal) note(format string, args ...any) {
	v.did = append(v.did, fmt.Sprintf(format, args...))
}

// feed reads b as UTF-8, and invalid bytes as an 8-bit terminal does.
func (v *terminal) feed(b []byte) {
	if v.state == nil {
		v.state = ground
	}
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			r = rune(b[0])
		}
		v.state(v, r)
		b = b[size:]
	}
}

func ground(v *terminal, r rune) {
	switch {
	case r == 0x1b:
		v.state = escapeState
	case r == 0x9b:
		v.state = csi
	case r == 0x90 || r == 0x98 || r == 0x9d || r == 0x9e || r == 0x9f:
		v.state = stringState
	case r == '\n' || r == '\t':
		v.text.WriteRune(r)
	case r < ' ' || r == 0x7f || 0x80 <= r && r < 0xa0:
		v.note("control %x", r)
	case 0x200e <= r && r <= 0x200f || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069 || r == 0x61c:
		v.note("direction %x", r)
	case r == 0x200b || r == 0x2060 || r == 0xfeff || r == 0xad || 0xe0000 <= r && r <= 0xe0fff || r == 0x2028 || r == 0x2029:
		v.note("invisible %x", r)
	default:
		v.text.WriteRune(r)
	}
}

func escapeState(v *terminal, r rune) {
	switch r {
	case '[':
		v.state = csi
	case ']', 'P', '_', '^', 'X':
		v.state = stringState
	default:
		v.note("escape %c", r)
		v.state = ground
	}
}

func csi(v *terminal, r rune) {
	v.args.WriteRune(r)
	if 0x40 <= r && r <= 0x7e {
		v.note("csi %s", v.args.String())
		v.args.Reset()
		v.state = ground
	}
}

func stringState(v *terminal, r rune) {
	if r == 0x07 || r == 0x9c || r == '\\' {
		v.note("string %q", v.args.String())
		v.args.Reset()
		v.state = ground
		return
	}
	v.args.WriteRune(r)
}

// hostile are texts that each affect a terminal or a log.
var hostile = []string{
	"\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1b]52;c;ZXZpbA==\x07", "\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "\x9b2J", "\u009b2J", "\x1bP+q\x1b\\",
	"\x1bc", "\x1b[?1049h", "\x1b[6n", "\x1b[1;31mred", "\x08\x08\x08gone", "ok\r::error::x", "\a", "\x0e", "\x7f", "\x00", "\v", "\f", "\u0085", "\u2028",
	"a\u202eb", "\u2066x\u2069", "\u200f", "zero\u200bwidth", "soft\u00adhyphen", "\ufeff", "tag\U000e0041\U000e0042", "\u061c", "\xff\xfe", "\xc2", "\xe2\x80",
	"\xed\xa0\x80", "\xf4\x90\x80\x80", "\u3164", "\U000e0100", "\ufe01", "a\u200db",
}

func TestVTSeesHostileText(t *testing.T) {
	for _, s := range hostile[:28] {
		var v terminal
		v.feed([]byte(s))
		if len(v.did) == 0 {
			t.Errorf("the terminal of this test does not notice %q", s)
		}
	}
}

// checkScreen writes an inert text to a large enough terminal, and requires the text on it, the
// cursor behind it and nothing else.
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
			checkScreen(t, Lines(text))
			checkScreen(t, Line(text))
			checkScreen(t, Markdown(text))
			checkScreen(t, string(JSON([]byte(marshaled(text)))))
		}
	}
}

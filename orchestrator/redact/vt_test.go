package redact

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// terminal is a small VT: it knows what a byte stream makes a terminal do, and
// keeps a record of all that is not the printing of a character.
type terminal struct {
	did   []string
	text  strings.Builder
	state func(*terminal, rune)
	args  strings.Builder
}

func (v *terminal) note(format string, args ...any) {
	v.did = append(v.did, fmt.Sprintf(format, args...))
}

// feed reads b as UTF-8, and bytes that are none of it as an 8-bit terminal does.
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

// hostile are texts that each do something to a terminal or a log.
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

// checkInert: whatever f returns shows itself and does nothing else, on a terminal
// and in the log of a CI job.
func checkInert(t *testing.T, s string) {
	t.Helper()
	for name, out := range map[string]string{"Inert": Inert(s), "InertLines": InertLines(s), "Markdown": Markdown(s)} {
		checkHarmless(t, name, out)
		checkScreen(t, out)
		if name != "InertLines" && strings.ContainsAny(out, "\n\t") {
			t.Fatalf("%s(%q) = %q is not one line", name, s, out)
		}
	}
	if once := InertLines(s); InertLines(once) != once {
		t.Fatalf("InertLines(%q) = %q", once, InertLines(once))
	}
	if once := Inert(s); Inert(once) != once || InertLines(once) != once {
		t.Fatalf("of %q is made %q and %q", once, Inert(once), InertLines(once))
	}
}

func checkHarmless(t *testing.T, name, out string) {
	t.Helper()
	var v terminal
	v.feed([]byte(out))
	if len(v.did) > 0 || v.text.String() != out {
		t.Fatalf("%s returns %q, which does %q", name, out, v.did)
	}
	if !utf8.ValidString(out) {
		t.Fatalf("%s returns %q, which is not UTF-8", name, out)
	}
	checkCommands(t, name, out)
}

func TestInertOnATerminal(t *testing.T) {
	for _, a := range hostile {
		checkInert(t, a)
		for _, b := range hostile {
			checkInert(t, "x"+a+"\n"+b+a)
		}
	}
	for r := rune(0); r < 0x11000; r++ {
		checkByte(t, string(r))
	}
	for c := range 256 {
		checkByte(t, string([]byte{byte(c)}))
	}
}

func checkByte(t *testing.T, s string) {
	t.Helper()
	var v terminal
	v.feed([]byte(InertLines("a" + s + "b")))
	if len(v.did) > 0 {
		t.Fatalf("InertLines(%q) does %q", s, v.did)
	}
}

// What is shown is still what a reader needs.
func TestInertIsReadable(t *testing.T) {
	for text, want := range map[string]string{
		"Größe ✓ 日本 한국 עברית עִבְרִית हिन्दी":                  "Größe ✓ 日本 한국 עברית עִבְרִית हिन्दी",
		"family \U0001f468\u200d\U0001f469\u200d\U0001f467 ok": "family \U0001f468\u200d\U0001f469\u200d\U0001f467 ok",
		"\x1b[31mred\x1b[0m":     `\x1b[31mred\x1b[0m`,
		"tag\U000e0041":          `tag\U000e0041`,
		"no character \uffff":    `no character \uffff`,
		"hangul filler \u3164":   `hangul filler \u3164`,
		"variation \ufe00":       `variation \ufe00`,
		"C:\\dir\\new & <b>'\"'": "C:\\dir\\new & <b>'\"'",
	} {
		if got := Inert(text); got != want {
			t.Errorf("Inert(%q) = %q, want %q", text, got, want)
		}
	}
}

// Each character that shows nothing, or turns the writing round.
func TestInertEveryInvisible(t *testing.T) {
	for _, r := range []rune{
		0, 7, 8, 0xb, 0xc, 0xd, 0x1b, 0x7f, 0x80, 0x85, 0x9b, 0x9d, 0x9f, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180e, 0x180f, 0x200b,
		0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2061, 0x2064, 0x2065, 0x2066, 0x2067, 0x2068, 0x2069,
		0x206a, 0x206f, 0x2800, 0x3164, 0xfe00, 0xfe0d, 0xfeff, 0xffa0, 0xfff0, 0xfff8, 0xfff9, 0xfffb, 0xfffe, 0xffff, 0x1d173, 0x1d17a, 0x1fffe, 0xe0000,
		0xe0001, 0xe0020, 0xe007f, 0xe0100, 0xe01ef, 0xe0fff, 0x10ffff,
	} {
		for name, out := range map[string]string{"Inert": Inert("a" + string(r) + "b"), "InertLines": InertLines("a" + string(r) + "b")} {
			if !isASCII(out) || len(out) < 4 || out[0] != 'a' || out[len(out)-1] != 'b' || strings.IndexFunc(out, func(c rune) bool { return c < ' ' || c > '~' }) >= 0 {
				t.Errorf("%s of U+%04X = %q", name, r, out)
			}
		}
	}
}

// Joiners stay where they have a meaning, and only there.
func TestJoiners(t *testing.T) {
	for _, text := range []string{
		"\U0001f468\u200d\U0001f469\u200d\U0001f467", "❤\ufe0f", "❤\ufe0f\u200d\U0001f525", "1\ufe0f\u20e3 9\ufe0e", "©\ufe0f ™\ufe0f ☎\ufe0e",
		"‼\ufe0f⁉\ufe0fℹ\ufe0f〰\ufe0f〽\ufe0f", "क\u094d\u200dष", "می\u200cخواهم", "\U0001f9d1\U0001f3fd\u200d\U0001f4bb",
	} {
		if got := Inert(text); got != text {
			t.Errorf("Inert(%q) = %q, want it unchanged", text, got)
		}
	}
	for text, want := range map[string]string{
		"pass\u200dword":         `pass\u200dword`,
		"日\u200da":               `日\u200da`,
		"a\u200d日":               `a\u200d日`,
		"é\u200cé":               `é\u200cé`,
		"日\u200d":                `日\u200d`,
		"\u200d日":                `\u200d日`,
		"日\u200d\u200d本":         `日\u200d\u200d本`,
		"日\u200d\u034f本":         `日\u200d\u034f本`,
		"日\u034f\u200d本":         `日\u034f\u200d本`,
		"日\u200d\u2028":          `日\u200d\u2028`,
		"日\u200d\xff":            `日\u200d\xff`,
		"日\u200d\ufe0f":          `日\u200d\ufe0f`,
		"日\u200d\ufffd":          "日\\u200d\ufffd",
		"日\u200d…":               `日\u200d…`,
		"#\ufe0f\u20e3 *\ufe0f":  "#\\ufe0f\u20e3 *\\ufe0f",
		"a\ufe0f \ufe0f:\ufe0e[": `a\ufe0f \ufe0f:\ufe0e[`,
		"é\ufe0f日\ufe0f":         `é\ufe0f日\ufe0f`,
		"\ufe0f":                 `\ufe0f`,
		"\ufffd\ufe0f":           "\ufffd\\ufe0f",
		"❤\ufe0f\ufe0f":          "❤\ufe0f\\ufe0f",
		"❤\ufe0d":                `❤\ufe0d`,
		"\u2800\ufe0f":           `\u2800\ufe0f`,
		"a\ufe0f\u200d日":         `a\ufe0f\u200d日`,
		"\xff1\ufe0f":            "\\xff1\ufe0f",
		"\x001\u2028\ufe0f":      `\x001\u2028\ufe0f`,
	} {
		if got := Inert(text); got != want {
			t.Errorf("Inert(%q) = %q, want %q", text, got, want)
		}
		checkInert(t, text)
	}
}

func FuzzInert(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Add("##[command]x\n  ::set-env name=a::b\n\u00a0::error::")
	f.Add("日\u200d\u034f❤\ufe0f\u200d\u2800\ufe0f1\ufe0f #\u0591#\u0591vso[")
	f.Fuzz(checkInert)
}

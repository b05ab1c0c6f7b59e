package inert

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestInert(t *testing.T) {
	tests := []struct{ name, text, one, many string }{
		{"plain", "Größe ✓ 日本", "Größe ✓ 日本", "Größe ✓ 日本"},
		{"an escape sequence", "a\x1b[2Jb", `a\x1b[2Jb`, `a\x1b[2Jb`},
		{"lines", "a\nb\tc", `a\nb\tc`, "a\nb\tc"},
		{"a carriage return", "ok\r::error::", `ok\r::error::`, `ok\r::error::`},
		{"C1", "a\u009b2Jb", `a\x9b2Jb`, `a\x9b2Jb`},
		{"bidi", "a\u202eb", `a\u202eb`, `a\u202eb`},
		{"zero width and line separator", "a\u200bb\u2028c", `a\u200bb\u2028c`, `a\u200bb\u2028c`},
		{"an invalid byte", "a\x9bb", `a\x9bb`, `a\x9bb`},
		{"a true replacement character stays", "a\ufffdb", "a\ufffdb", "a\ufffdb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Line(tt.text); got != tt.one {
				t.Errorf("Line(%q) = %q, want %q", tt.text, got, tt.one)
			}
			if got := Lines(tt.text); got != tt.many {
				t.Errorf("Lines(%q) = %q, want %q", tt.text, got, tt.many)
			}
		})
	}
}

// checkInert: the result of f shows itself and does nothing else, on a terminal and in the log of a
// CI job.
func checkInert(t *testing.T, s string) {
	t.Helper()
	for name, out := range map[string]string{"Line": Line(s), "Lines": Lines(s), "Markdown": Markdown(s)} {
		checkHarmless(t, name, out)
		checkScreen(t, out)
		if name != "Lines" && strings.ContainsAny(out, "\n\t") {
			t.Fatalf("%s(%q) = %q is not one line", name, s, out)
		}
	}
	if once := Lines(s); Lines(once) != once {
		t.Fatalf("Lines(%q) = %q", once, Lines(once))
	}
	if once := Line(s); Line(once) != once || Lines(once) != once {
		t.Fatalf("of %q is made %q and %q", once, Line(once), Lines(once))
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
	v.feed([]byte(Lines("a" + s + "b")))
	if len(v.did) > 0 {
		t.Fatalf("Lines(%q) does %q", s, v.did)
	}
}

// The text stays readable.
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
		if got := Line(text); got != want {
			t.Errorf("Line(%q) = %q, want %q", text, got, want)
		}
	}
}

// nothingToSee are the characters, beside controls, that are invisible, turn the writing round, or
// are not assigned.
var nothingToSee = []rune{ // from, to
	0xad, 0xad, 0x34f, 0x34f, 0x600, 0x605, 0x61c, 0x61c, 0x6dd, 0x6dd, 0x70f, 0x70f, 0x890, 0x891, 0x8e2, 0x8e2, 0x115f, 0x1160, 0x17b4, 0x17b5,
	0x180b, 0x180f, 0x200b, 0x200f, 0x2028, 0x202e, 0x2060, 0x206f, 0x2800, 0x2800, 0x3164, 0x3164, 0xfdd0, 0xfdef, 0xfe00, 0xfe0f, 0xfeff, 0xfeff,
	0xffa0, 0xffa0, 0xfff0, 0xfffb, 0x110bd, 0x110bd, 0x110cd, 0x110cd, 0x13430, 0x1343f, 0x1bca0, 0x1bca3, 0x1d173, 0x1d17a, 0xe0000, 0xe0fff,
}

func TestInertEveryCharacter(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		nothing := r < ' ' || 0x7f <= r && r < 0xa0 || r&0xfffe == 0xfffe
		for i := 0; i < len(nothingToSee); i += 2 {
			nothing = nothing || nothingToSee[i] <= r && r <= nothingToSee[i+1]
		}
		text := "a" + string(r) + "b"
		if got := Line(text); (got != text) != nothing || nothing && !isPrintableASCII(got) {
			t.Errorf("Line of U+%04X = %q", r, got)
		}
		if r > 0xff {
			continue
		}
		if got := Lines(text); (got != text) != (nothing && r != '\n' && r != '\t') {
			t.Errorf("Lines of U+%04X = %q", r, got)
		}
	}
}

func isPrintableASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// Joiners stay where they have a meaning, and only there.
func TestJoiners(t *testing.T) {
	for _, text := range []string{
		"\U0001f468\u200d\U0001f469\u200d\U0001f467", "❤\ufe0f", "❤\ufe0f\u200d\U0001f525", "1\ufe0f\u20e3 9\ufe0e", "©\ufe0f ™\ufe0f ☎\ufe0e",
		"‼\ufe0f⁉\ufe0fℹ\ufe0f〰\ufe0f〽\ufe0f", "क\u094d\u200dष", "می\u200cخواهم", "\U0001f9d1\U0001f3fd\u200d\U0001f4bb",
	} {
		if got := Line(text); got != text {
			t.Errorf("Line(%q) = %q, want it unchanged", text, got)
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
		if got := Line(text); got != want {
			t.Errorf("Line(%q) = %q, want %q", text, got, want)
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

package frontmatter

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParseAccepts(t *testing.T) {
	for _, c := range []struct {
		name, source string
		yaml         string
		firstLine    int
		phase        string
	}{
		{"plain", "---\nphase: done\n---\nbody\n", "phase: done\n", 2, "done"},
		{"no newline at the end", "---\nphase: done\n---", "phase: done\n", 2, "done"},
		{"byte order mark", "\ufeff---\nphase: done\n---\n", "phase: done\n", 2, "done"},
		{"CRLF", "---\r\nphase: done\r\n---\r\nbody", "phase: done\r\n", 2, "done"},
		{"blank lines first", "\n \n---\nphase: done\n---\n", "phase: done\n", 4, "done"},
		{"white space behind the fences", "--- \nphase: done\n---\t\n", "phase: done\n", 2, "done"},
		{"a second fence in the body", "---\nphase: done\n---\n---\nphase: x\n---\n", "phase: done\n", 2, "done"},
		{"dots inside a block", "---\nphase: done\ntext: |\n  ...\n---\n", "phase: done\ntext: |\n  ...\n", 2, "done"},
		{"unquoted date", "---\ncreated: 2026-02-26T11:20:08.964571\nphase: done\n---\n",
			"created: 2026-02-26T11:20:08.964571\nphase: done\n", 2, "done"},
		{"garbage in the body", "---\nphase: done\n---\n\xff\x00\x1b", "phase: done\n", 2, "done"},
		{"quoted merge word", "---\n\"<<\": x\nphase: done\n---\n", "\"<<\": x\nphase: done\n", 2, "done"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := Parse("b.md", []byte(c.source))
			if err != nil {
				t.Fatalf("Parse(%q) = %v", c.source, err)
			}
			if string(d.YAML) != c.yaml || d.FirstLine != c.firstLine {
				t.Errorf("YAML, FirstLine = %q, %d, want %q, %d", d.YAML, d.FirstLine, c.yaml, c.firstLine)
			}
			if got := c.source[d.Start : d.Start+len(d.YAML)]; got != c.yaml {
				t.Errorf("Source[Start:] = %q, want %q", got, c.yaml)
			}
			if _, v := d.Field("phase"); v == nil || v.Value != c.phase {
				t.Errorf("Field(phase) = %v, want %s", v, c.phase)
			}
		})
	}
}

func TestNoFrontmatterIsNoError(t *testing.T) {
	for name, source := range map[string]string{
		"empty": "", "blank": "\n\n", "heading": "# Title\n---\nphase: x\n---\n", "prose": "text",
		"cut rune at the end": "text\n\xe2\x82",
		"byte order mark":     "\ufeff# Title\n",
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Parse("t.md", []byte(source))
			if err != nil || d.Root != nil {
				t.Fatalf("Parse(%q) = %+v, %v, want no Root and no error", source, d, err)
			}
		})
	}
}

func TestEmptyFrontmatterIsAnEmptyMapping(t *testing.T) {
	for _, source := range []string{"---\n---\n", "---\n\n# only a comment\n---\n"} {
		d, err := Parse("t.md", []byte(source))
		if err != nil || d.Root == nil || len(d.Root.Content) != 0 {
			t.Errorf("Parse(%q) = %+v, %v, want an empty Root", source, d, err)
		}
	}
}

type refusal struct{ name, source, want, hint string }

func (c refusal) check(t *testing.T) {
	_, err := Parse("t.md", []byte(c.source))
	checkProblem(t, err, c.want, c.hint)
}

// A task whose header is misread as text would have no role.
func TestParseRefusesFences(t *testing.T) {
	for _, c := range []refusal{
		{"unterminated", "---\nphase: x\n", "t.md:1:1: the frontmatter is opened and never closed", "---"},
		{"dots as terminator", "---\nphase: x\n...\nbody\n---\n", "t.md:3:1: the frontmatter is ended by ...",
			"end it with ---"},
		{"indented fence inside a block", "---\ntext: |\n  ---\nrole: x\n---\n",
			"t.md:3:1: an indented --- would end", "- - -"},
		{"indented opening", "  ---\nrole: x\n---\n", "t.md:1:1: the opening --- is indented", "start of the line"},
		{"longer fence", "-----\nrole: x\n---\n", "t.md:1:1: the first line resembles", "exactly ---"},
		{"TOML", "+++\nrole = 'x'\n+++\n", "t.md:1:1: this is TOML", "YAML"},
		{"named TOML", "---toml\nrole = 'x'\n---\n", "t.md:1:1: this is TOML", "YAML"},
		{"named JSON", "---json\n{}\n---\n", "t.md:1:1: this is JSON", "YAML"},
		{"JSON", "{\n\"role\": \"x\"\n}\n\n", "t.md:1:1: this is JSON", "YAML"},
		{"JSON semicolons", ";;;\n{}\n;;;\n", "t.md:1:1: this is JSON", "YAML"},
	} {
		t.Run(c.name, c.check)
	}
}

// TestLibraryEndsTheHeader: where the library ends a header elsewhere than we do, the file is refused:
// another reader would take another text for the header.
func TestLibraryEndsTheHeader(t *testing.T) {
	const source = "---\nrole: x\n---\nbody\n---\n"
	for body, want := range map[int]string{
		len("---\nrole: x\n---\n"): "",
		len(source):                "t.md:2: the frontmatter has no clear end",
	} {
		d, err := Split("t.md", []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		d.Body = body
		if err = d.decode(d.extract); (err != nil) != (want != "") || err != nil && err.Error() != want {
			t.Errorf("a header that ends at %d: %v, want %q", body, err, want)
		}
	}
}

func TestParseRefusesBytes(t *testing.T) {
	for _, c := range []refusal{
		{"UTF-16 little endian", "\xff\xfe-\x00-\x00", "t.md:1:1: this is UTF-16", "UTF-8"},
		{"UTF-16 big endian", "\xfe\xff\x00-\x00-", "t.md:1:1: this is UTF-16", "UTF-8"},
		{"UTF-16 without a mark", "-\x00-\x00-\x00\n\x00", "t.md:1:2: a NUL byte", "UTF-8"},
		{"invalid UTF-8", "---\nrole: ä\xff\n---\n", "t.md:2:8: this is not UTF-8", "UTF-8"},
		{"NUL", "---\nrole: a\x00\n---\n", "t.md:2:8: a NUL byte", "UTF-8"},
		{"escape", "---\nrole: \x1b[2J\n---\n", "t.md:2:7: the character U+001B", "escape in double quotes"},
		{"bare CR", "---\rrole: x\r---\r", "t.md:1:4: a carriage return stands alone", "LF or CRLF"},
		{"bare CR within", "---\nrole: x\rstate: y\n---\n", "t.md:2:8: a carriage return stands alone", "LF or CRLF"},
		{"next line", "---\nrole: x\u0085state: y\n---\n", "t.md:2:8: the character U+0085", "remove it"},
		{"line separator", "---\nrole: x\u2028state: y\n---\n", "t.md:2:8: the character U+2028", "remove it"},
		{"second mark", "---\n\ufeffrole: x\n---\n", "t.md:2:1: the character U+FEFF", "remove it"},
	} {
		t.Run(c.name, c.check)
	}
}

func TestParseRefusesAmbiguousYAML(t *testing.T) {
	for _, c := range []refusal{
		{"anchor", "---\na: &x 1\n---\n", "t.md:2:4: anchors (&x)", "write the value out"},
		{"anchor on the root", "---\n&x\na: 1\n---\n", "t.md:2:1: anchors (&x)", "write the value out"},
		{"alias", "---\na: &x 1\nb: *x\n---\n", "t.md:2:4: anchors (&x)", "write the value out"},
		{"unknown alias", "---\nb: 1\na: *x\n---\n", "t.md:3:5: invalid YAML: unknown anchor 'x'", "quote"},
		{"merge key", "---\n<<: {a: 1}\n---\n", "t.md:2:1: merge keys", "write the value out"},
		{"nested merge key", "---\nx:\n  <<: {a: 1}\n---\n", "t.md:3:3: merge keys", "write the value out"},
		{"custom tag", "---\na: !mine 1\n---\n", "t.md:2:4: tags (!mine)", "quote"},
		{"core tag", "---\na: !!str 1\n---\n", "t.md:2:4: tags (!!str)", "quote"},
		{"bare tag", "---\na: ! 1\n---\n", "t.md:2:4: tags (!)", "quote"},
		{"duplicate key", "---\nrole: a\nx: 1\nrole: b\n---\n", "t.md:4:1: the key \"role\" is already on line 2",
			"remove one"},
		{"duplicate key, quoted", "---\nrole: a\n\"role\": b\n---\n",
			"t.md:3:1: the key \"role\" is already on line 2", "remove one"},
		{"duplicate key, escaped", "---\nrole: a\n\"r\\u006fle\": b\n---\n",
			"t.md:3:1: the key \"role\" is already on line 2", "remove one"},
		{"duplicate key, nested", "---\na:\n  - {x: 1, 'x': 2}\n---\n",
			"t.md:3:12: the key \"x\" is already on line 3", "remove one"},
		{"complex key", "---\n? [a]\n: b\n---\n", "t.md:2:3: a key must be plain text", ""},
		{"null key", "---\na: 1\n~: b\n---\n", "t.md:3:1: a value has no key", "key: value"},
		{"alias as key", "---\na: &x b\n*x : c\n---\n", "t.md:3:1: aliases (*x)", ""},
		{"list", "---\n- a\n---\n", "t.md:2:1: there must be key: value lines", "name: value"},
		{"scalar", "---\nhello\n---\n", "t.md:2:1: there must be key: value lines", ""},
		{"null", "---\nnull\n---\n", "t.md:2:1: there must be key: value lines", ""},
	} {
		t.Run(c.name, c.check)
	}
}

// An unquoted colon is refused with a place and advice; elsewhere it made a task vanish.
func TestParseRefusesInvalidYAML(t *testing.T) {
	for _, c := range []refusal{
		{"unquoted colon", "\n---\ntype: kanban\nrequest: GOAL: change it\nphase: x\n---\n",
			"t.md:4:14: invalid YAML: mapping values are not allowed", "kanban-run check --fix"},
		{"unquoted colon on the first line", "---\nrequest: ä: change it\n---\n",
			"t.md:2:11: invalid YAML: mapping values are not allowed", "kanban-run check --fix"},
		{"tab", "---\na: 1\n\tb: 2\n---\n", "t.md:3:", "spaces"},
		{"open quote", "---\na: 1\nb: \"x\nc: 2\n---\n", "t.md:3:4: invalid YAML: found unexpected end of stream",
			"close the quote"},
		{"open bracket", "---\na: 1\nb: [x\n\nc: 2\n---\n", "t.md:3:", "close the bracket"},
		{"bad indentation", "---\na:\n  - x\n - y\n---\n", "t.md:4:2: invalid YAML: did not find expected key",
			"align"},
		{"unquoted at sign", "---\na: @me\n---\n",
			"t.md:2:4: invalid YAML: found character that cannot start any token", "quote the value"},
	} {
		t.Run(c.name, c.check)
	}
}

func TestParseRefusesDepth(t *testing.T) {
	for _, c := range []refusal{
		{"deep brackets", "---\na: " + strings.Repeat("[", 101) + strings.Repeat("]", 101) + "\n---\n",
			"t.md:2:103: the YAML is nested more than 100 deep", "flatten"},
		{"very deep brackets", "---\na: " + strings.Repeat("[", 100_000) + "\n---\n",
			"t.md:2:10004: invalid YAML: exceeded max depth", "flatten"},
		{"deep dashes", "---\na:\n  " + strings.Repeat("- ", 1_000) + "x\n---\n",
			"t.md:3:201: the YAML is nested more than 100 deep", "flatten"},
		{"deep indentation", "---\n" + staircase(101) + "---\n",
			"t.md:102:101: the YAML is nested more than 100 deep", "flatten"},
	} {
		t.Run(c.name, c.check)
	}
}

func staircase(depth int) string {
	var b strings.Builder
	for i := range depth {
		fmt.Fprintf(&b, "%sk:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

func checkProblem(t *testing.T, err error, want, hint string) {
	t.Helper()
	var p *Problem
	if !errors.As(err, &p) {
		t.Fatalf("error = %v, want a *Problem that begins %q", err, want)
	}
	if !strings.HasPrefix(p.Error(), want) {
		t.Errorf("error = %q, want it to begin %q", p.Error(), want)
	}
	if !strings.Contains(p.Hint(), hint) {
		t.Errorf("hint = %q, want it to contain %q", p.Hint(), hint)
	}
}

func TestDepthWithinTheLimitIsAccepted(t *testing.T) {
	for name, source := range map[string]string{
		"brackets":          "a: " + strings.Repeat("[", 99) + strings.Repeat("]", 99) + "\n",
		"indentation":       staircase(100),
		"intervals in text": "a: |\n" + strings.Repeat("  x in [0, 1)\n", 500),
	} {
		if _, err := ParseYAML("b.yaml", []byte(source)); err != nil {
			t.Errorf("ParseYAML(%s) = %v", name, err)
		}
	}
}

func TestParseYAML(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"plain", "phase: done\n", ""},
		{"byte order mark", "\ufeffphase: done\n", ""},
		{"document start", "---\nphase: done\n", ""},
		{"document end", "phase: done\n...\n", ""},
		{"directive", "%YAML 1.1\n---\nphase: done\n", ""},
		{"no newline", "phase: done", ""},
		{"flow", "{phase: done}", ""},
		{"empty", "", "b.yaml: the file is empty"},
		{"only comments", "# nothing\n", "b.yaml: the file is empty"},
		{"two documents", "phase: done\n---\nphase: design\n", "b.yaml:2:1: a second YAML document begins here"},
		{"two documents, the second broken", "phase: done\n---\nphase: [\n",
			"b.yaml:4:1: a second YAML document begins here"},
		{"UTF-16", "\xff\xfep\x00", "b.yaml:1:1: this is not UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := ParseYAML("b.yaml", []byte(c.source))
			if c.want != "" {
				checkProblem(t, err, c.want, "")
				return
			}
			if err != nil {
				t.Fatalf("ParseYAML(%q) = %v", c.source, err)
			}
			if _, v := d.Field("phase"); v == nil || v.Value != "done" {
				t.Errorf("Field(phase) = %v, want done", v)
			}
		})
	}
}

func TestPositionOffsetAndEnd(t *testing.T) {
	long := strings.Repeat("ä€😀 ", 100)
	for _, c := range []struct{ name, yaml, key, want string }{
		{"plain", "a: 1\nkey: tasks/x.md # c\n", "key", "tasks/x.md"},
		{"behind wide characters", "x: [" + long + ", {ü: 1}]\nß: ö\nkey: ä b\n", "key", "ä b"},
		{"wide characters before it on the line", "{ü" + long + ": ö, key: x}\n", "key", "x"},
		{"single quotes", "key: 'it''s' # c\n", "key", "'it''s'"},
		{"double quotes", `key: "a\"b\\" # c` + "\n", "key", `"a\"b\\"`},
		{"quotes on two lines", "key: 'a\n  b'\nz: 1\n", "key", "'a\n  b'"},
		{"plain on three lines", "key: a\n  b\n\n  c\nz: 1\n", "key", "a\n  b\n\n  c"},
		{"literal", "key: |\n  a\n\n  # b\n\nz: 1\n", "key", "|\n  a\n\n  # b"},
		{"folded at the end", "key: >-\n  a\n  b", "key", ">-\n  a\n  b"},
		{"empty", "key: # c\nz: 1\n", "key", ""},
		{"null", "key: ~ # c\nz: 1\n", "key", "~"},
		{"flow list", "key: [a, 'b]', # ]\n  c, ] # x\nz: 1\n", "key", "[a, 'b]', # ]\n  c, ]"},
		{"empty flow list", "key: [ ]\n", "key", "[ ]"},
		{"flow map", "key: {a: b, c, d: }\n", "key", "{a: b, c, d: }"},
		{"flow map in list", "key: [a: b, c: d]\n", "key", "[a: b, c: d]"},
		{"block list", "key:\n  - a\n  # c\n  - b: |\n      x\n    c: {d: e}\n\nz: 1\n", "key",
			"- a\n  # c\n  - b: |\n      x\n    c: {d: e}"},
		{"block list in column 1", "key:\n- a\n- 'b'\nz: 1\n", "key", "- a\n- 'b'"},
		{"CRLF", "key: |\r\n  a\r\n\r\nz: 1\r\n", "key", "|\r\n  a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := Parse("t.md", []byte("\ufeff\n---\n"+c.yaml+"\n---\nbody"))
			if err != nil {
				t.Fatal(err)
			}
			_, v := d.Field(c.key)
			if got := string(d.Source[d.Offset(v):d.End(v, d.Root)]); got != c.want {
				t.Errorf("Source[Offset:End] = %q, want %q", got, c.want)
			}
			if line, _ := d.Position(v); line != v.Line+2 {
				t.Errorf("Position = line %d, want %d", line, v.Line+2)
			}
		})
	}
}

func TestLimit(t *testing.T) {
	long := "a: " + strings.Repeat("x", MaxYAML-3)
	if _, err := ParseYAML("t", []byte(long)); err != nil {
		t.Errorf("ParseYAML(2 MiB) = %v", err)
	}
	_, err := ParseYAML("t", []byte(long+"x"))
	checkProblem(t, err, "t:1: the YAML is larger than 2 MiB", "another file")
	_, err = Parse("t", []byte("---\n"+long+"\n---\n"))
	checkProblem(t, err, "t:2: the YAML is larger than 2 MiB", "another file")
	if _, err := Parse("t", []byte("---\na: b\n---\n"+long)); err != nil {
		t.Errorf("Parse(a header above 2 MiB) = %v", err)
	}
}

func TestRemedyForUnknownWords(t *testing.T) {
	if got := fixFor("something new"); got != "quote the value" {
		t.Errorf("remedy = %q, want quote the value", got)
	}
}

func TestProblemText(t *testing.T) {
	cause := errors.New("cause")
	for _, c := range []struct {
		p    Problem
		want string
	}{
		{Problem{File: "f", Text: "t"}, "f: t"},
		{Problem{File: "f", Line: 3, Text: "t"}, "f:3: t"},
		{Problem{File: "f", Line: 3, Column: 4, Text: "t", Err: cause}, "f:3:4: t"},
	} {
		if got := c.p.Error(); got != c.want {
			t.Errorf("Error() = %q, want %q", got, c.want)
		}
	}
	if p := (&Problem{Err: cause}); !errors.Is(p, cause) {
		t.Error("Unwrap loses the cause")
	}
	d := &Document{File: "f"}
	if got := d.Problem(nil, "t", "x").Error(); got != "f: t" {
		t.Errorf("Problem(nil) = %q, want f: t", got)
	}
	if k, v := d.Field("x"); k != nil || v != nil {
		t.Errorf("Field without a Root = %v, %v, want nil", k, v)
	}
}

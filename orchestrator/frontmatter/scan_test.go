package frontmatter

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// byLibrary reads without the scanner: the oracle.
func byLibrary(fenced bool, source []byte) (*Document, error) {
	d := newDocument("f", source)
	read := d.plain
	if fenced {
		split, err := Split("f", source)
		if err != nil || split.YAML == nil {
			return split, err
		}
		d, read = split, split.extract
	}
	if err := d.decode(read); err != nil {
		return nil, err
	}
	return d, nil
}

func parse(fenced bool, source []byte) (*Document, error) {
	if fenced {
		return Parse("f", source)
	}
	return ParseYAML("f", source)
}

func scanned(d *Document) bool { return d != nil && d.fields != nil }

// checkScan compares the scanner with the library.
func checkScan(t *testing.T, fenced bool, source []byte) {
	t.Helper()
	fast, err := parse(fenced, source)
	if !scanned(fast) {
		return // the library read it
	}
	slow, slowErr := byLibrary(fenced, source)
	if err != nil || slowErr != nil {
		t.Fatalf("%q: the scanner says %v, the library %v", source, err, slowErr)
	}
	if err := fast.guard(); err != nil {
		t.Fatalf("%q: the scanner took what the guard refuses: %v", source, err)
	}
	weight := 2
	for _, f := range fast.fields {
		weight += f.weight
	}
	if want := recountValues(fast.YAML); weight != want {
		t.Fatalf("%q: the scanner counts %d, recount %d", source, weight, want)
	}
	if diff := differ(fast, slow); diff != "" {
		t.Fatalf("%q: %s", source, diff)
	}
	checkCompact(t, fenced, source, slow)
}

func parseCompact(fenced bool, source []byte) (*Document, error) {
	if fenced {
		return ParseCompact("f", source)
	}
	return ParseCompactYAML("f", source)
}

// checkCompact compares a compact document with the library's, before and after its lists get
// nodes.
func checkCompact(t *testing.T, fenced bool, source []byte, slow *Document) {
	t.Helper()
	d, err := parseCompact(fenced, source)
	if err != nil || !scanned(d) {
		t.Fatalf("%q: the compact form is not scanned: %v", source, err)
	}
	for i := 0; i < len(d.Root.Content); i += 2 {
		n, want := d.Root.Content[i+1], slow.Root.Content[i+1]
		if got, want := d.End(n, d.Root), slow.End(want, slow.Root); got != want {
			t.Fatalf("%q: the field %s ends at %d, want %d", source, d.Root.Content[i].Value, got, want)
		}
		l := d.List(d.Root.Content[i].Value)
		if text := len(want.Content) > 0 && want.Style == 0 &&
			!slices.ContainsFunc(want.Content,
				func(n *yaml.Node) bool { return n.Tag != "!!str" }); text != (l != nil) {
			t.Fatalf("%q: the field %s has a list %v, want %v", source, d.Root.Content[i].Value, l != nil, text)
		}
		if l == nil {
			continue
		}
		n.Content = l.makeNodes()
		for j, n := range n.Content {
			from, to := l.Span(j)
			if from, to = from+d.Base(l), to+d.Base(l); from != slow.Offset(want.Content[j]) ||
				to != slow.End(want.Content[j], want) {
				t.Fatalf("%q: value %d of %s lies at %d-%d", source, j, d.Root.Content[i].Value, from, to)
			}
			if l.Value(j) != n.Value || l.Line(j) != n.Line || l.Len() != len(want.Content) ||
				!reflect.DeepEqual(l.Node(j), n) {
				t.Fatalf("%q: value %d of %s is %q on line %d, its node %+v", source, j, d.Root.Content[i].Value,
					l.Value(j), l.Line(j), n)
			}
		}
	}
	if diff := differ(d, slow); diff != "" {
		t.Fatalf("%q, compact: %s", source, diff)
	}
}

// differ returns how two documents differ, in the tree or in the offsets of its nodes.
func differ(a, b *Document) string {
	if a.Start != b.Start || a.Body != b.Body || a.FirstLine != b.FirstLine {
		return "the YAML lies elsewhere"
	}
	return differAt(a, b, a.Root, b.Root, a.Root, b.Root)
}

func differAt(a, b *Document, m, n, inM, inN *yaml.Node) string {
	shown := func(n *yaml.Node) string {
		return fmt.Sprintf("%d:%d kind %d style %d %s %q anchor %q alias %v, %d inside, comments %q", n.Line,
			n.Column, n.Kind, n.Style, n.Tag, n.Value,
			n.Anchor, n.Alias, len(n.Content), []string{n.HeadComment, n.LineComment, n.FootComment})
	}
	if shown(m) != shown(n) {
		return shown(m) + ", want " + shown(n)
	}
	if a.Offset(m) != b.Offset(n) || a.End(m, inM) != b.End(n, inN) {
		return fmt.Sprintf("%s lies at %d-%d, want %d-%d", shown(m), a.Offset(m), a.End(m, inM), b.Offset(n),
			b.End(n, inN))
	}
	for i := range m.Content {
		if diff := differAt(a, b, m.Content[i], n.Content[i], m, n); diff != "" {
			return diff
		}
	}
	return ""
}

// plainCases are read by the scanner.
var plainCases = map[string]string{
	"a board":                    "phase: design\ncurrent: tasks/a.md\ntasks:\n  - tasks/a.md\n  - tasks/b.md\n",
	"a header":                   "id: 1\nrole: Implementor\ntitle: \"Do thing 1\"\ntags: [a, b]\n",
	"a list in column 1":         "tasks:\n- a.md\n- b.md\nphase: x\n",
	"lists of text and of more":  "done:\n- a\n\n- b\n- c\ntasks:\n- a\n- 1\n\nz:\n- ä\n",
	"two lists":                  "done:\n- a\n- b\ntasks:\n    - c\n    - d\nz: 1\n",
	"blank lines":                "\n\nphase: x\n\ntasks:\n\n  - a\n\n\n  - b\n\n",
	"CRLF":                       "phase: x\r\n\r\ntasks:\r\n  - a\r\n  - b\r\n",
	"LF and CRLF":                "phase: x\ncurrent: y\r\ntasks:\n  - a\r\n  - b\n",
	"no newline at the end":      "phase: x\ntasks:\n  - a\n  - b",
	"no value":                   "phase:\ncurrent:\n\ntasks:\n",
	"no value and no newline":    "phase:",
	"null":                       "a: null\nb: ~\nc: Null\nd: NULL\n",
	"booleans":                   "a: true\nb: False\nc: TRUE\nd: yes\ne: off\n",
	"numbers":                    "a: 1\nb: 0x1f\nc: 0777\nd: 1_000\ne: 1.5\nf: 1e3\ng: .5\nh: 1:30\ni: 0o7\nj: .inf\nk: .nan\nl: 0b1\n",
	"dates":                      "a: 2026-02-25\nb: 2026-02-25T14:59:23.544307\nc: 2026-02-25 14:59:23\nd: 2026-02-25T14:59:23Z\ne: 2026-02\nf: 2001-12-14t21:59:43.10-05:00\ng: 2026-13-01\n",
	"numbers that are text":      "a: 0-explore.md\nb: 1/2\nc: 7-kanban\nd: .hidden\ne: ./a.md\nf: ..\n",
	"text that begins like null": "a: nullable\nb: ~/x.md\nc: nil\nd: trueish\ne: Truth\n",
	"spaces in text":             "title: a b  c\ntasks:\n  - a b.md\n  - c [done]\n",
	"signs in text":              "a: x#y\nb: x:y\nc: it's \"q\" {x} [y] (z) a, b? !@%&*|>`\nd: a\\b\n",
	"aligned values":             "phase:    x\ntasks:    []\n",
	"quotes":                     "a: 'x'\nb: \"y\"\nc: ''\nd: \"\"\ne: ' a: b #c '\nf: 'say \"x\"'\ng: \"it's\"\nh: 'a\\b'\ni: '- x'\n",
	"brackets":                   "a: []\nb: [x]\nc: [x,y]\nd: ['x', \"y z\", 1, true, a/b.md]\ne: [x-, y-]\n",
	"wide characters":            "title: Übergröße 😀\nb: ö\nc: 'ä'\ntasks:\n  - ä.md\n  - b-ü.md\n",
	"a replacement character":    "a: \ufffd\n",
	"keys":                       "a-b_C9: x\n_: y\nA: z\n",
	"a dash at the end":          "a: x-\ntasks:\n  - y-\n  - z- a\n",
	"63 fields more":             fields(64),
}

func fields(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "f%d: x\n", i)
	}
	return s.String()
}

func TestScanReadsThePlainCase(t *testing.T) {
	for name, source := range plainCases {
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct {
				fenced bool
				source string
			}{{false, source}, {false, "\ufeff" + source}, {true, "---\n" + source + "\n---\nbody\n"},
				{true, "\ufeff\r\n---\r\n" + source + "\r\n---"}} {
				d, err := parse(c.fenced, []byte(c.source))
				if err != nil || !scanned(d) {
					t.Errorf("%q was not scanned: %v", c.source, err)
				}
				checkScan(t, c.fenced, []byte(c.source))
			}
		})
	}
}

// The library reads or refuses all that is not plain beyond doubt.
func TestScanDeclines(t *testing.T) {
	for name, source := range map[string]string{
		"nothing": "", "blank": "\n\n", "a comment": "# c\nphase: x\n", "a comment at the end": "phase: x\n# c\n",
		"a comment behind a value": "phase: x # c\n",
		"a comment in a list":      "tasks:\n  - a\n  # c\n  - b\n",
		"a comment behind a dash":  "tasks:\n  - # c\n    a\n", "a comment behind a key": "tasks: # c\n  - a\n",
		"an anchor": "a: &x y\n", "an alias": "a: *x\n", "a tag": "a: !t y\n", "a merge key": "<<: x\n",
		"a merged value": "a: <<\n", "a literal": "a: |\n  x\n", "folded": "a: >\n  x\n",
		"two lines": "a: x\n  y\n", "two lines in a list": "a:\n  - x\n    y\n",
		"quotes on two lines": "a: 'x\n  y'\n", "a less indented second line": "a: 'x\ny'\n",
		"an escape": `a: "\x41"` + "\n", "an escaped backslash": `a: "\\"` + "\n", "a doubled quote": "a: 'it''s'\n",
		"an open quote": "a: 'x\n", "an open quote at the end": "a: \"x",
		"text behind quotes": "a: 'x' y\n", "a map in quotes": "a: 'x': y\n", "a space behind quotes": "a: 'x' \n",
		"a tab": "a:\tx\n", "a tab in a value": "a: x\ty\n", "a tab in quotes": "a: 'x\ty'\n",
		"a tab behind a dash": "a:\n-\tx\n", "a tab behind a colon": "a: x:\ty\n",
		"a space at the end": "a: x \n", "a space behind a colon": "a: \nb: c\n",
		"a space behind a colon at the end": "a: ", "a line of spaces": "a: x\n  \nb: y\n",
		"two spaces behind a dash": "a:\n-  x\n",
		"a colon":                  "a: b: c\n", "a colon at the end": "a: b:\n", "a colon at the very end": "a: b:",
		"a colon in a list": "a:\n  - b: c\n", "a colon before CRLF": "a: b:\r\n",
		"a key twice": "a: x\na: y\n", "a key in quotes": "'a': x\n", "a null key": "null: x\n",
		"a boolean key": "true: x\n", "a key with a digit first": "1a: x\n", "a key with a dash first": "-a: x\n",
		"a key without a colon": "a\n", "a space before a colon": "a : x\n", "a question mark": "? a\n: b\n",
		"no space behind a colon": "a:x\n", "a dot in a key": "a.b: x\n",
		"a long key":      strings.Repeat("k", 129) + ": x\n",
		"an indented key": "  a: x\n", "an indented key behind others": "a: x\n b: y\n",
		"a nested map": "a:\n  b: c\n", "a value below its key": "a:\n  b c\n", "a sign below a key": "a:\n  ? c\n",
		"a map in a list": "a:\n  - {b: c}\n", "a list in a list": "a:\n  - - b\n",
		"brackets in a list":    "a:\n  - [b]\n",
		"a dash that is deeper": "a:\n  - b\n    - c\n", "a dash that is less deep": "a:\n    - b\n  - c\n",
		"a dash without a value": "a:\n  - b\n  -\n", "a dash and a space": "a:\n  - b\n  - \n",
		"dashes without a space":     "a:\n--- b\n",
		"a list that ends in spaces": "a:\n  - b\n  ", "spaces at the end": "a:\n  ",
		"a deep dash": "a:\n" + strings.Repeat(" ", 33) + "- b\n", "quotes in a list": "a:\n  - 'b'\n",
		"a map in braces": "a: {b: c}\n", "braces at the start": "{a: b}\n", "a list alone": "- a\n",
		"a word alone": "a", "brackets in brackets": "a: [[b]]\n", "a map in brackets": "a: [b: c]\n",
		"brackets with words": "a: [b c]\n", "a comma at the end": "a: [b, ]\n", "two commas": "a: [b,,c]\n",
		"no end of brackets": "a: [b\n", "no end of brackets at all": "a: [b",
		"brackets on two lines": "a: [b,\n  c]\n", "a space before a bracket": "a: [b ]\n",
		"two spaces in brackets": "a: [b,  c]\n", "text behind brackets": "a: [b] c\n",
		"a comment behind brackets": "a: [b] # c\n", "wide characters in brackets": "a: ['ä', b]\n",
		"a map with quotes in brackets": "a: ['b': c]\n", "only a bracket": "a: [",
		"a document mark": "---\na: b\n", "the end of a document": "a: b\n...\n",
		"two documents": "a: b\n---\nc: d\n", "a directive": "%YAML 1.1\n---\na: b\n",
		"a second mark": "a: \ufeffx\n", "a control character": "a: x\x01\n", "DEL": "a: x\x7f\n",
		"a C1 control": "a: x\u0085y\n", "a line separator": "a: x\u2028y\n", "a non-character": "a: x\uffff\n",
		"no UTF-8": "a: x\xff\n", "half a rune": "a: x\xc3", "a NUL": "a: x\x00\n", "a surrogate": "a: \xed\xa0\x80\n",
		"a bare CR": "a: x\ry\n", "CR at the end": "a: x\r", "CR for a value": "a:\r", "two CR": "a: x\r\r\n",
		"a CR first": "\ra: x\n",
		"a sign":     "a: -1\n", "a plus": "a: +1\n", "an indicator": "a: @x\n", "another indicator": "a: %x\n",
		"a parenthesis": "a: (x)\n", "a bracket first": "a: ]x\n", "an equals sign": "a: =\n",
		"an open bracket in text": "a: x [y\n", "an open brace in text": "a: x {y\n",
		"a bracket closed before it is opened": "a: x ][\n", "an open bracket in quotes": "a: '['\n",
		"nine brackets": "a: x [[[[[[[[[]]]]]]]]]\n", "65 fields": fields(65),
	} {
		t.Run(name, func(t *testing.T) {
			d := newDocument("f", []byte(source))
			if d.scan(nil) {
				t.Errorf("%q was scanned", source)
			}
			if d.Root != nil || d.lines != nil || d.fields != nil {
				t.Errorf("%q left a trace in the document", source)
			}
		})
	}
}

// The scanner keeps the limits of the library, and has one of its own.
func TestScanKeepsTheLimits(t *testing.T) {
	values := func(n int) string { return "a:\n" + strings.Repeat("- x\n", n) }
	for _, c := range []struct {
		name, source string
		want         bool
	}{
		{"bytes", "a: " + strings.Repeat("x", MaxYAML-4) + "\n", true},
		{"too many bytes", "a: " + strings.Repeat("x", MaxYAML) + "\n", false},
		{"values", values(maxPlain - 4), true},
		{"more values than plain", values(maxPlain - 3), false},
		{"values in two fields", values(maxPlain-6) + "b: x\n", true},
		{"more values than plain in two fields", values(maxPlain-5) + "b: x\n", false},
		{"too many values", values(MaxValues), false},
		{"commas", "a:\n" + strings.Repeat("- x,y,z\n", maxPlain/5-1), true},
		{"too many commas to be plain", "a:\n" + strings.Repeat("- x,y,z\n", maxPlain/5+1), false},
		{"dashes in names", "a:\n" + strings.Repeat("- a-name-with-four-dashes\n", 200_000), true},
		{"blank lines", "a:\n- x\n" + strings.Repeat("\n", 1<<20) + "- y\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := newDocument("f", []byte(c.source)).scan(nil); got != c.want {
				t.Errorf("scan = %v, want %v", got, c.want)
			}
		})
	}
}

// A long board makes the library fill its buffers more than once.
func TestScanOfALongBoard(t *testing.T) {
	wide := strings.Replace(string(boardOf(3000)), "the-name", "der-näme [x]", 500)
	checkScan(t, false, []byte("a: "+strings.Repeat("ä[x] ", 20_000)+".\nb: '"+strings.Repeat("x, ", 3000)+"'\n"+wide))
	checkScan(t, true, []byte("---\n"+strings.ReplaceAll(wide, "\n", "\r\n")+"---\n"))
}

// Text that turns out not to be plain must not have cost much.
func TestScanWastesLittle(t *testing.T) {
	for _, c := range []struct {
		name, source string
		most         uint64
	}{
		{"blank lines", "a:\n- x\n" + strings.Repeat("\n", 4<<20) + "#", 16 << 20},
		{"lists and blank lines", strings.Repeat("a:\n- x\n", 64) + strings.Repeat("\n", 4<<20) + "#", 16 << 20},
		{"fields", strings.Repeat("a: x\n", 1<<20), 8 << 20},
		{"entries", "a:\n" + strings.Repeat("- x\n", 2<<20-1), 64 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := []byte(c.source)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if newDocument("f", source).scan(nil) {
				t.Fatal("this was scanned")
			}
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > c.most {
				t.Errorf("a scan of %d bytes took %d, want at most %d", len(source), got, c.most)
			}
		})
	}
}

func TestVisible(t *testing.T) {
	for source, want := range map[string]bool{
		"a: x\n": true, "a: x y\nb:\n- z [done]\n": true, "a: 'x'\nb: ''\n": true, "a: ä\n": false,
		"a: x\nb: \ufffd\nc: y\n": false, "# c\na: x\n": false,
	} {
		d, err := ParseYAML("f", []byte(source))
		if err != nil || d.Visible() != want {
			t.Errorf("Visible of %q = %v, want %v (%v)", source, !want, want, err)
		}
	}
}

// mutants are changes by authors and tools, and by an attacker.
var mutants = []string{" ", "  ", "\n", "\r\n", "\r", "\t", ":", ": ", "#", " #", "- ", "-", "[", "]", "{", "}", ",",
	", ", "'", `"`, `\`, "&a", "*a", "!", "|", ">", "%", "@", "?", "? ",
	"<<", "---", "\n---\n", "...", "null", "true", "~", "1", "0x", ".", "2026-01-01", "ä", "😀", "\u2028", "\u0085",
	"\ufeff", "\ufffd", "\x00", "\x7f", "\xff", "a: b", "\na: b", "\n- x", "\n  - x", "\n    - x", "[done]",
	" [done]", "a", "phase"}

func mutate(r *rand.Rand, source string) string {
	for range r.IntN(4) {
		from := r.IntN(len(source) + 1)
		to := min(len(source), from+[]int{0, 0, 0, 1, 2, 7}[r.IntN(6)])
		source = source[:from] + mutants[r.IntN(len(mutants))] + source[to:]
	}
	return source
}

// sample returns how many of the mutants of a random test are tried: a quarter of them, all where
// KANBAN_TEST_EXHAUSTIVE is set. The same seeds are the same mutants each time.
func sample(all uint64) uint64 {
	if os.Getenv("KANBAN_TEST_EXHAUSTIVE") != "" {
		return all
	}
	return all / 4
}

func TestScanOfMutantsIsTheLibrarys(t *testing.T) {
	names := make([]string, 0, len(plainCases))
	for name := range plainCases {
		names = append(names, name)
	}
	slices.Sort(names)
	for seed := range sample(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		source := mutate(r, plainCases[names[r.IntN(len(names))]])
		checkScan(t, false, []byte(source))
		checkScan(t, true, []byte("---\n"+source+"\n---\n"))
	}
}

func FuzzScan(f *testing.F) {
	for _, source := range plainCases {
		f.Add([]byte(source))
		f.Add([]byte("---\n" + source + "---\nbody\n"))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		checkScan(t, bytes.HasPrefix(source, []byte("---")), source)
	})
}

package board

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func setCurrent(path string) Edit { return Edit{Current: &path} }

func setTasks(paths ...string) Edit { return Edit{Tasks: paths, SetTasks: true} }

// Only the bytes of the value move: each case shows the whole file.
func TestSpliceCurrent(t *testing.T) {
	for _, c := range []struct {
		name, file, source string
		edit               Edit
		want               string
	}{
		{"plain", "k.yaml", "phase: x\ncurrent: a.md # now\ntasks: []\n", setCurrent("tasks/b.md"),
			"phase: x\ncurrent: tasks/b.md # now\ntasks: []\n"},
		{"single quotes stay", "k.yaml", "current: 'a.md'\ntasks: []\n", setCurrent("it's.md"),
			"current: 'it''s.md'\ntasks: []\n"},
		{"double quotes stay", "k.yaml", "current: \"a.md\"\ntasks: []\n", setCurrent(`a\"b.md`),
			"current: \"a\\\\\\\"b.md\"\ntasks: []\n"},
		{"aligned", "k.yaml", "phase:    x\ncurrent:  a.md\ntasks:    []\n", setCurrent("b.md"),
			"phase:    x\ncurrent:  b.md\ntasks:    []\n"},
		{"to null", "k.yaml", "current: 'a.md' # now\ntasks: []\n", Edit{Null: true},
			"current: null # now\ntasks: []\n"},
		{"from null", "k.yaml", "current: null\ntasks: []\n", setCurrent("b.md"), "current: b.md\ntasks: []\n"},
		{"from tilde", "k.yaml", "current: ~\ntasks: []\n", setCurrent("b.md"), "current: b.md\ntasks: []\n"},
		{"from empty", "k.yaml", "current:\ntasks: []\n", setCurrent("b.md"), "current: b.md\ntasks: []\n"},
		{"from empty with comment", "k.yaml", "current:   # c\ntasks: []\n", setCurrent("b.md"),
			"current: b.md   # c\ntasks: []\n"},
		{"null stays as it is written", "k.yaml", "current: ~\ntasks: []\n", Edit{Null: true},
			"current: ~\ntasks: []\n"},
		{"same path stays as it is written", "k.yaml", "current: \"\\x61.md\"\ntasks: []\n", setCurrent("a.md"),
			"current: \"\\x61.md\"\ntasks: []\n"},
		{"looks like a number", "k.yaml", "current: a.md\ntasks: []\n", setCurrent("1.5"),
			"current: '1.5'\ntasks: []\n"},
		{"looks like null", "k.yaml", "current: a.md\ntasks: []\n", setCurrent("null"), "current: 'null'\ntasks: []\n"},
		{"looks like a boolean elsewhere", "k.yaml", "current: a.md\ntasks: []\n", setCurrent("no"),
			"current: 'no'\ntasks: []\n"},
		{"colon and hash", "k.yaml", "current: a.md\ntasks: []\n", setCurrent("a: b #c.md"),
			"current: 'a: b #c.md'\ntasks: []\n"},
		{"number at the start", "k.yaml", "current: a.md\ntasks: []\n", setCurrent("0-explore request.md"),
			"current: 0-explore request.md\ntasks: []\n"},
		{"folded", "k.yaml", "current: >-\n  a.md\n\n# c\ntasks: []\n", setCurrent("b.md"),
			"current: b.md\n\n# c\ntasks: []\n"},
		{"on two lines", "k.yaml", "current: 'a\n  b.md' # c\ntasks: []\n", setCurrent("b.md"),
			"current: 'b.md' # c\ntasks: []\n"},
		{"flow board", "k.yaml", "{phase: x, current: a.md, tasks: []}\n", setCurrent("b, c.md"),
			"{phase: x, current: 'b, c.md', tasks: []}\n"},
		{"flow board, empty", "k.yaml", "{phase: x, current: , tasks: []}\n", setCurrent("b.md"),
			"{phase: x, current: b.md, tasks: []}\n"},
		{"absent, below phase", "k.yaml", "phase: x # c\ntasks: []\n", setCurrent("b.md"),
			"phase: x # c\ncurrent: b.md\ntasks: []\n"},
		{"absent, below sub_phase", "k.yaml", "  sub_phase: y\n  phase: x\n  tasks: []\n", setCurrent("b.md"),
			"  sub_phase: y\n  current: b.md\n  phase: x\n  tasks: []\n"},
		{"absent, before the rest", "k.md", "---\n# head\ntitle: x\ntasks: []\n---\n", setCurrent("b.md"),
			"---\n# head\ncurrent: b.md\ntitle: x\ntasks: []\n---\n"},
		{"absent, to null", "k.yaml", "phase: x\ntasks: []", Edit{Null: true}, "phase: x\ncurrent: null\ntasks: []"},
		{"absent, the last line has no newline", "k.yaml", "tasks: []\nphase: x", setCurrent("b.md"),
			"tasks: []\nphase: x\ncurrent: b.md"},
		{"absent, flow board", "k.yaml", "{phase: x, tasks: []}", setCurrent("b.md"),
			"{current: b.md, phase: x, tasks: []}"},
		{"absent, empty flow board", "k.yaml", "{}", setCurrent("b.md"), "{current: b.md}"},
		{"absent, empty frontmatter", "k.md", "---\n---\nbody", setCurrent("b.md"), "---\ncurrent: b.md\n---\nbody"},
		{"byte order mark, CRLF, body", "k.md",
			"\ufeff---\r\nphase: x\r\ncurrent: a.md\r\ntasks: []\r\n---\r\ncurrent: a.md\r\n", setCurrent("b.md"),
			"\ufeff---\r\nphase: x\r\ncurrent: b.md\r\ntasks: []\r\n---\r\ncurrent: a.md\r\n"},
		{"absent, CRLF", "k.md", "---\r\nphase: x\r\ntasks: []\r\n---\r\n", setCurrent("b.md"),
			"---\r\nphase: x\r\ncurrent: b.md\r\ntasks: []\r\n---\r\n"},
		{"behind wide characters", "k.md", "---\ntitle: Übergröße 😀\n\"current\" : 'ä.md' # ü\ntasks: []\n---\n",
			setCurrent("ö.md"), "---\ntitle: Übergröße 😀\n\"current\" : 'ö.md' # ü\ntasks: []\n---\n"},
		{"nothing", "k.yaml", "phase:   x\ntasks:  [ ]\n", Edit{}, "phase:   x\ntasks:  [ ]\n"},
	} {
		t.Run(c.name, func(t *testing.T) { checkSplice(t, c.file, c.source, c.edit, c.want) })
	}
}

// text is what an edit wrote.
func text(b *Board, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return string(b.Source), nil
}

func checkSplice(t *testing.T, file, source string, e Edit, want string) {
	t.Helper()
	b := mustParse(t, file, source)
	got, err := text(b.Splice(e))
	if err != nil {
		t.Fatalf("Splice(%+v) of %q = %v", e, source, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Splice (-want +got):\n%s", diff)
	}
	if string(b.Source) != source {
		t.Errorf("Splice changed the board that it was given")
	}
}

func TestSpliceBlockList(t *testing.T) {
	const real = "tasks:\n  - a.md [done]\n\n  # next\n  - file: b.md\n    state: todo # s\n    note: |\n      - x\n\n  - 'c.md' # last\nz: 1\n"
	for _, c := range []struct {
		name, source string
		edit         Edit
		want         string
	}{
		{"the same list", real, setTasks("a.md", "b.md", "c.md"), real},
		{"other spellings of the same paths", real, setTasks("./a.md", "b.md", "x/../c.md"), real},
		{"append", real, setTasks("a.md", "b.md", "c.md", "d.md", "e f.md"),
			strings.Replace(real, "# last\n", "# last\n  - d.md\n  - e f.md\n", 1)},
		{"insert first", real, setTasks("z.md", "a.md", "b.md", "c.md"),
			strings.Replace(real, "tasks:\n", "tasks:\n  - z.md\n", 1)},
		{"insert between", real, setTasks("a.md", "z.md", "b.md", "c.md"),
			strings.Replace(real, "[done]\n", "[done]\n  - z.md\n", 1)},
		{"remove the first", real, setTasks("b.md", "c.md"),
			"tasks:\n\n  # next\n  - file: b.md\n    state: todo # s\n    note: |\n      - x\n\n  - 'c.md' # last\nz: 1\n"},
		{"remove one, its comment stays", real, setTasks("a.md", "c.md"),
			"tasks:\n  - a.md [done]\n  # next\n\n  - 'c.md' # last\nz: 1\n"},
		{"remove the last", real, setTasks("a.md", "b.md"), strings.Replace(real, "\n  - 'c.md' # last\n", "", 1)},
		{"remove all, comments stay", real, setTasks(), "tasks: []\n  # next\nz: 1\n"},
		{"turn around", real, setTasks("c.md", "b.md", "a.md"),
			"tasks:\n\n  - 'c.md' # last\n\n  # next\n  - file: b.md\n    state: todo # s\n    note: |\n      - x\n  - a.md [done]\nz: 1\n"},
		{"replace all", real, setTasks("x.md"), "tasks:\n  - x.md\n  # next\nz: 1\n"},
		{"add a state", "tasks:\n- a.md # c\n- b.md\n", setTasks("a.md [done]", "b.md"),
			"tasks:\n- a.md [done] # c\n- b.md\n"},
		{"change a state in quotes", "tasks:\n- 'a.md [todo]'\n", setTasks("./a.md [done]"),
			"tasks:\n- 'a.md [done]'\n"},
		{"a state that is there", "tasks:\n- a.md [Done]\n", setTasks("a.md [done]"), "tasks:\n- a.md [Done]\n"},
		{"a map keeps its state", "tasks:\n- {file: a.md, state: todo}\n", setTasks("a.md [done]"),
			"tasks:\n- {file: a.md, state: todo}\n"},
		{"a new one with a state", "tasks:\n- a.md\n", setTasks("a.md", "b.md [done]"),
			"tasks:\n- a.md\n- b.md [done]\n"},
		{"the author's quotes", "tasks:\n- \"a.md\"\n", setTasks("a.md", "b.md"), "tasks:\n- \"a.md\"\n- \"b.md\"\n"},
		{"no newline at the end", "tasks:\n- a.md\n- b.md", setTasks("a.md", "b.md", "c.md"),
			"tasks:\n- a.md\n- b.md\n- c.md"},
		{"no newline at the end, turned around", "tasks:\n- a.md\n- b.md", setTasks("b.md", "a.md"),
			"tasks:\n- b.md\n- a.md"},
		{"no newline at the end, all removed", "tasks:\n- a.md\n- b.md", setTasks(), "tasks: []\n"},
		{"CRLF", "tasks:\r\n- a.md\r\n\r\n- b.md\r\nz: 1\r\n", setTasks("a.md", "b.md", "c.md"),
			"tasks:\r\n- a.md\r\n\r\n- b.md\r\n- c.md\r\nz: 1\r\n"},
		{"dash on a line of its own", "tasks:\n  -\n    a.md\n  - # c\n    b.md\n  - c.md\n",
			setTasks("a.md", "c.md", "b.md"), "tasks:\n  -\n    a.md\n  - c.md\n  - # c\n    b.md\n"},
		{"one path twice", "tasks:\n- a.md\n- b.md\n- a.md # 2\n", setTasks("a.md", "a.md"),
			"tasks:\n- a.md\n- a.md # 2\n"},
		{"twice as often", "tasks:\n- a.md # 1\n", setTasks("a.md", "a.md"), "tasks:\n- a.md # 1\n- a.md\n"},
		{"text after a less indented quote", "tasks:\n  - \"a\nb.md\"\n  - c.md\nz: 1\n", setTasks("c.md", "a b.md"),
			"tasks:\n  - c.md\n  - \"a\nb.md\"\nz: 1\n"},
		{"empty value", "tasks: # c\nz: 1\n", setTasks("a.md", "b.md"), "tasks: # c\n  - a.md\n  - b.md\nz: 1\n"},
		{"null", "tasks: null # c\nz: 1\n", setTasks("a.md"), "tasks:  # c\n  - a.md\nz: 1\n"},
		{"null to no tasks", "tasks: null\n", setTasks(), "tasks: null\n"},
		{"absent", "phase: x\nlog: |\n  a\n\n# c\n", setTasks("a.md", "no"),
			"phase: x\nlog: |\n  a\ntasks:\n  - a.md\n  - 'no'\n\n# c\n"},
		{"absent, empty", "phase: x", setTasks(), "phase: x\ntasks: []"},
		{"absent, flow board", "{phase: x}", setTasks("a.md"), "{tasks: [a.md], phase: x}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkSplice(t, "k.yaml", c.source, c.edit, c.want)
			if !strings.HasPrefix(c.source, "{") && strings.HasSuffix(c.source, "\n") {
				checkSplice(t, "k.md", "---\n"+c.source+"---\n- a.md\n", c.edit, "---\n"+c.want+"---\n- a.md\n")
			}
		})
	}
}

func TestSpliceFlowList(t *testing.T) {
	for _, c := range []struct {
		name, source string
		edit         Edit
		want         string
	}{
		{"append", "tasks: ['a.md', 'b.md'] # c\n", setTasks("a.md", "b.md", "c.md"),
			"tasks: ['a.md', 'b.md', 'c.md'] # c\n"},
		{"insert first", "tasks: [a.md,b.md]\n", setTasks("c.md", "a.md", "b.md"), "tasks: [c.md,a.md,b.md]\n"},
		{"insert between", "tasks: [a.md,  b.md]\n", setTasks("a.md", "c.md", "b.md"), "tasks: [a.md,  c.md,  b.md]\n"},
		{"remove the first", "tasks: [ a.md, b.md ]\n", setTasks("b.md"), "tasks: [ b.md ]\n"},
		{"remove one", "tasks: [a.md, b.md, {file: c.md}]\n", setTasks("a.md", "c.md"),
			"tasks: [a.md, {file: c.md}]\n"},
		{"remove the last", "tasks: [a.md, b.md, ]\n", setTasks("a.md"), "tasks: [a.md, ]\n"},
		{"remove all", "tasks: [a.md, b.md, ] # c\n", setTasks(), "tasks: [] # c\n"},
		{"fill", "tasks: [ ]\n", setTasks("a.md", "b, c.md"), "tasks: [a.md, 'b, c.md']\n"},
		{"turn around", "tasks: [a.md, \"b.md\", 'c.md [done]']\n", setTasks("c.md", "b.md", "a.md"),
			"tasks: ['c.md [done]', \"b.md\", a.md]\n"},
		{"neighbours that stay neighbours", "tasks: [a.md, b.md,   c.md]\n", setTasks("b.md", "c.md", "a.md"),
			"tasks: [b.md,   c.md, a.md]\n"},
		{"add a state", "tasks: [a.md, b.md]\n", setTasks("a.md [done]", "b.md"), "tasks: ['a.md [done]', b.md]\n"},
		{"on lines with comments", "tasks: [\n  a.md, # 1\n  b.md, # 2\n  c.md\n]\n",
			setTasks("a.md", "b.md", "c.md", "d.md"), "tasks: [\n  a.md, # 1\n  b.md, # 2\n  c.md, d.md\n]\n"},
		{"on lines", "tasks: [\n  a.md,\n  b.md\n]\n", setTasks("a.md", "b.md", "c.md"),
			"tasks: [\n  a.md,\n  b.md,\n  c.md\n]\n"},
		{"a pair without braces", "tasks: [file: a.md, b.md]\n", setTasks("b.md", "a.md"),
			"tasks: [b.md, file: a.md]\n"},
		{"flow board", "{tasks: [a.md], phase: x}\n", setTasks("a.md", "b.md"), "{tasks: [a.md, b.md], phase: x}\n"},
		{"flow board, null", "{tasks: null, phase: x}\n", setTasks("a.md"), "{tasks: [a.md], phase: x}\n"},
	} {
		t.Run(c.name, func(t *testing.T) { checkSplice(t, "k.yaml", c.source, c.edit, c.want) })
	}
}

// TestSpliceEnded: the field ended comes and goes with the Manager's ending, and a
// value of the author's stays.
func TestSpliceEnded(t *testing.T) {
	blocked, none := "blocked", ""
	for _, c := range []struct {
		name, file, source string
		edit               Edit
		want               string
	}{
		{"with current", "k.yaml", "phase: x\ncurrent: a.md # now\ntasks: []\n", Edit{Null: true, Ended: &blocked},
			"phase: x\ncurrent: null # now\nended: blocked\ntasks: []\n"},
		{"below a current that was written", "k.yaml", "current: null\r\ntasks: []\r\n", Edit{Ended: &blocked},
			"current: null\r\nended: blocked\r\ntasks: []\r\n"},
		{"without current", "k.yaml", "phase: done\ntasks: []\n", Edit{Ended: &blocked}, "phase: done\ntasks: []\nended: blocked\n"},
		{"indented", "k.yaml", "  current: a.md\n  tasks: []\n", Edit{Null: true, Ended: &blocked}, "  current: null\n  ended: blocked\n  tasks: []\n"},
		{"between braces", "k.yaml", "{current: a.md, tasks: []}\n", Edit{Null: true, Ended: &blocked}, "{ended: blocked, current: null, tasks: []}\n"},
		{"in Markdown", "k.md", "---\ncurrent: a.md\n---\n# B\n", Edit{Null: true, Ended: &blocked}, "---\ncurrent: null\nended: blocked\n---\n# B\n"},
		{"another status", "k.yaml", "current: null\nended: 'error' # e\n", Edit{Ended: &blocked}, "current: null\nended: blocked # e\n"},
		{"as it is", "k.yaml", "current: null\nended: \"blocked\"\n", Edit{Ended: &blocked}, "current: null\nended: \"blocked\"\n"},
		{"taken off", "k.yaml", "current: null\n# why\nended: blocked # e\ntasks: [a.md]\n", Edit{Current: ptr("a.md"), Ended: &none},
			"current: a.md\n# why\ntasks: [a.md]\n"},
		{"taken off at the end", "k.yaml", "current: null\nended: blocked", Edit{Ended: &none}, "current: null\n"},
		{"taken off between braces", "k.yaml", "{ended: error, current: null}\n", Edit{Ended: &none}, "{current: null}\n"},
		{"taken off before a brace", "k.yaml", "{current: null, ended: error}\n", Edit{Ended: &none}, "{current: null}\n"},
		{"taken off at the beginning", "k.yaml", "ended: blocked\ncurrent: null\n", Edit{Ended: &none}, "current: null\n"},
		{"no other field", "k.yaml", "ended: blocked\n", Edit{Ended: &none}, "ended: null\n"},
		{"none to take off", "k.yaml", "current: null\n", Edit{Ended: &none}, "current: null\n"},
		{"the author's", "k.yaml", "current: a.md\nended: 2026-01-01\n", Edit{Null: true, Ended: &blocked}, "current: null\nended: 2026-01-01\n"},
		{"the author's is not taken off", "k.yaml", "current: null\nended: ok\n", Edit{Ended: &none}, "current: null\nended: ok\n"},
		{"the author's list", "k.yaml", "current: a.md\nended: [blocked]\n", Edit{Null: true, Ended: &blocked}, "current: null\nended: [blocked]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := Parse(c.file, []byte(c.source))
			if err != nil {
				t.Fatal(err)
			}
			got, err := text(b.Splice(c.edit))
			if err != nil || got != c.want {
				t.Errorf("Splice = %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// TestEndedWith: only on a board that is over the field says how it ended, and only with a
// status that needs a person.
func TestEndedWith(t *testing.T) {
	for source, want := range map[string]string{
		"current: null\nended: blocked\n":         "blocked",
		"phase: complete\nended: escalate\n":      "escalate",
		"current: null\nended: \"error\"\n":       "error",
		"current: a.md\nended: blocked\n":         "",
		"current: null\nended: ok\n":              "",
		"current: null\nended: Blocked\n":         "",
		"current: null\nended: true\n":            "",
		"current: null\nended:\n":                 "",
		"current: null\nended: {status: error}\n": "",
		"current: null\nEnded: blocked\n":         "",
	} {
		b, err := Parse("k.yaml", []byte(source+"tasks: []\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := b.EndedWith(); got != want {
			t.Errorf("EndedWith(%q) = %q, want %q", source, got, want)
		}
		if odd := strings.Contains(source, "\nended:") && b.Ended == ""; odd != (len(b.Warnings) > 0) {
			t.Errorf("%q: warnings %v, want one: %t", source, b.Warnings, odd)
		}
	}
}

func ptr(s string) *string { return &s }

func TestSpliceBothFields(t *testing.T) {
	next := "b.md"
	checkSplice(t, "k.md", "---\ntasks: [a.md, b.md]\nphase: x\ncurrent: a.md\n---\n",
		Edit{Current: &next, Tasks: []string{"b.md"}, SetTasks: true},
		"---\ntasks: [b.md]\nphase: x\ncurrent: b.md\n---\n")
	checkSplice(t, "k.md", "---\n---\n", Edit{Current: &next, Tasks: []string{"b.md"}, SetTasks: true},
		"---\ncurrent: b.md\ntasks:\n  - b.md\n---\n")
}

func TestSpliceRefuses(t *testing.T) {
	b := mustParse(t, "k.yaml", "current: a.md\ntasks: [a.md]\n")
	for _, bad := range []string{"", " ", "a\nb", "a\x1b", "a\u2028", "a\x00"} {
		var p *PathError
		if _, err := b.Splice(setCurrent(bad)); !errors.As(err, &p) {
			t.Errorf("Splice(current %q) = %v, want a *PathError", bad, err)
		}
		if _, err := b.Splice(setTasks("a.md", bad)); !errors.As(err, &p) {
			t.Errorf("Splice(tasks %q) = %v, want a *PathError", bad, err)
		}
	}
}

// An edit that cannot be made in place is refused with a hint.
func TestSpliceRefusesWhatItCannotEdit(t *testing.T) {
	b := mustParse(t, "k.yaml", "current: a.md\n? tasks\n: - a.md\n  - b.md\n")
	_, err := b.Splice(setTasks("b.md"))
	var s *SpliceError
	if !errors.As(err, &s) || s.Hint() == "" {
		t.Fatalf("Splice of a list behind ? = %v, want a *SpliceError with a hint", err)
	}
}

// verify is the last guard before a board is written: it must see every foreign change.
func TestVerifyFindsWhatWasNotMeant(t *testing.T) {
	const source = "phase: x\ncurrent: a.md\ntasks:\n- file: a.md\n  note: mine\n- b.md\nlog: [1]\n"
	b := mustParse(t, "k.yaml", source)
	next := "b.md"
	e := Edit{Current: &next, Tasks: []string{"b.md", "a.md"}, SetTasks: true}
	good, err := text(b.Splice(e))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"nothing", "", "", ""},
		{"unreadable", "log: [1]", "log: [1", "unreadable"},
		{"another field", "log: [1]", "log: [2]", "other fields would change"},
		{"another style", "log: [1]", "log:\n- 1", "other fields would change"},
		{"a new field", "log: [1]", "log: [1]\nz: 1", "other fields would change"},
		{"current", "current: b.md", "current: c.md", "current would not be"},
		{"current is null", "current: b.md", "current: null", "current would not be"},
		{"a task more", "- b.md", "- b.md\n- c.md", "tasks would not be"},
		{"the author's map", "note: mine", "note: yours", "an entry that stays would change"},
		{"a suffix", "- b.md", "- b.md [done]", "an entry that stays would change"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wanted, err := e.parseEntries()
			if err != nil {
				t.Fatal(err)
			}
			after, err := b.reparse([]byte(strings.Replace(good, c.old, c.new, 1)))
			if err == nil {
				err = b.verify(after, e, wanted)
			}
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("verify = %v, want %q", err, c.want)
			}
		})
	}
	if err := b.verify(mustParse(t, "k.yaml", strings.Replace(source, "- b.md", "- c.md", 1)), Edit{}, nil); err == nil {
		t.Error("verify of a changed list that was to stay = nil, want an error")
	}
	if err := b.verify(mustParse(t, "k.yaml", strings.Replace(source, "current: a.md\n", "", 1)), Edit{}, nil); err == nil {
		t.Error("verify of a current that was to stay = nil, want an error")
	}
}

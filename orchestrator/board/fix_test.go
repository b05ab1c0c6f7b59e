package board

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFix(t *testing.T) {
	folder := func(name string) (string, bool) { return "tasks/" + name, name == "a.md" }
	for _, c := range []struct {
		name, file, source, want string
		notes                    []string
	}{
		{
			"an unquoted goal of many lines, a bare current", "k.md",
			"---\ntype: kanban\nrequest: GOAL: make it robust\n\nImplementation Changes Needed:\n- Lexer - Track levels  \n- Parser: update\ncreated: 2026-02-25T14:35:13.774270\ncurrent: a.md # now\ntasks: ['tasks/a.md']\n---\n\n# Kanban: x\n",
			"---\ntype: kanban\nrequest: |\n  GOAL: make it robust\n\n  Implementation Changes Needed:\n  - Lexer - Track levels  \n  - Parser: update\ncreated: 2026-02-25T14:35:13.774270\ncurrent: tasks/a.md # now\ntasks: ['tasks/a.md']\n---\n\n# Kanban: x\n",
			[]string{"line 3: request became a | block of 5 lines", "line 10: current: a.md became tasks/a.md"},
		},
		{
			"a value that ends in a colon, headings and braces below", "k.md",
			"---\nrequest: Do the following:\n\n## Lexer & Parser\n1. {a | b}\n\nKey Design Decisions:\n- x\nphase: x\ncurrent: tasks/a.md\ntasks: []\n---\n",
			"---\nrequest: |\n  Do the following:\n\n  ## Lexer & Parser\n  1. {a | b}\n\n  Key Design Decisions:\n  - x\nphase: x\ncurrent: tasks/a.md\ntasks: []\n---\n",
			[]string{"line 2: request became a | block of 7 lines"},
		},
		{
			"CRLF and byte order mark", "k.md",
			"\ufeff---\r\nrequest: a: b\r\nphase: x\r\ncurrent: null\r\ntasks: []\r\n---\r\n",
			"\ufeff---\r\nrequest: |\r\n  a: b\r\nphase: x\r\ncurrent: null\r\ntasks: []\r\n---\r\n",
			[]string{"line 2: request became a | block of 1 lines"},
		},
		{
			"two values, plain YAML, the last without a newline", "k.yaml",
			"title: a: b\ncurrent: null\ntasks: []\nnote: c: d",
			"title: |\n  a: b\ncurrent: null\ntasks: []\nnote: |\n  c: d",
			[]string{"line 1: title became a | block of 1 lines", "line 5: note became a | block of 1 lines"},
		},
		{"nothing to do", "k.md", "---\nphase:   x\ncurrent: tasks/a.md\ntasks: []\n---\n",
			"---\nphase:   x\ncurrent: tasks/a.md\ntasks: []\n---\n", nil},
		{"a bare current that is nowhere", "k.yaml", "current: b.md\ntasks: []\n", "current: b.md\ntasks: []\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			fixed, notes, err := Fix(c.file, []byte(c.source), folder)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(fixed)); diff != "" {
				t.Errorf("Fix (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.notes, notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			mustParse(t, c.file, string(fixed))
			again, notes, err := Fix(c.file, fixed, folder)
			if err != nil || string(again) != string(fixed) || notes != nil {
				t.Errorf("Fix of what was fixed = %v, %v, want no change", notes, err)
			}
		})
	}
}

func TestFixWithoutPlaceLeavesCurrent(t *testing.T) {
	const source = "current: a.md\ntasks: []\n"
	fixed, notes, err := Fix("k.yaml", []byte(source), nil)
	if err != nil || string(fixed) != source || notes != nil {
		t.Errorf("Fix = %q, %v, %v, want no change", fixed, notes, err)
	}
}

// An unsafe repair is not made; the problem comes back.
func TestFixLeavesTheRestAlone(t *testing.T) {
	for _, c := range []struct{ name, file, source, want string }{
		{"no frontmatter", "k.md", "# x\n", "k.md:1: this is no board"},
		{"never closed", "k.md", "---\nrequest: a: b\n", "k.md:1:1: the frontmatter is opened"},
		{"a quoted value", "k.yaml", "request: 'a: b\ntasks: []\n", "k.yaml:1:10: invalid YAML"},
		{"a list", "k.yaml", "tasks: [a, b\nphase: x: y\n", "k.yaml:"},
		{"an indented colon", "k.yaml", "log:\n  a: b: c\ntasks: []\n", "k.yaml:2:7: invalid YAML"},
		{"a duplicate key", "k.yaml", "a: 1\na: 2\n", "k.yaml:2:1: the key \"a\""},
		{"prose that looks like a field", "k.yaml", "request: a: b\nphase: x\nphase: y\ntasks: []\n",
			"k.yaml:4:1: the key \"phase\""},
		{"a field of a board that is indented", "k.yaml",
			"phase: execute\n sub_phase: review\ncurrent: a\ntasks: []\n", "k.yaml:2:11: invalid YAML"},
		{"one with a tab", "k.md", "---\nrequest: a: b\nof many lines\n\tcurrent: a\ntasks: []\n---\n",
			"k.md:2:11: invalid YAML"},
		{"a current with a colon", "k.yaml", "current: a: b\ntasks: []\n", "k.yaml:1:10: current"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fixed, _, err := Fix(c.file, []byte(c.source), nil)
			if err == nil || fixed != nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("Fix = %q, %v, want an error that begins %q", fixed, err, c.want)
			}
		})
	}
}

// TestFixTask: the title of a task is mended, and nothing that could be more than a title.
func TestFixTask(t *testing.T) {
	for name, tt := range map[string]struct{ header, want string }{
		"a colon":                     {"title: Log: core\nrole: A\n", "title: |\n  Log: core\nrole: A\n"},
		"an apostrophe":               {"title: 'the user's reply'\n", "title: |\n  the user's reply\n"},
		"a description":               {"description: Log: core\n", "description: |\n  Log: core\n"},
		"two lines":                   {"title: Log: core\ndesc: it's: odd\n", "title: |\n  Log: core\ndesc: |\n  it's: odd\n"},
		"two quotations":              {"title: 'first' or 'second'\n", ""},
		"two double quotations":       {"title: \"A\" versus \"B\"\n", ""},
		"an apostrophe that is right": {"title: 'it''s the user's'\n", ""},
		"an indented field":           {"title: Log: core\n  role: A\n  needs: [b.md]\n", ""},
		"a quoted field":              {"title: Log: core\n\"role\": A\n", ""},
		"a field with a blank":        {"title: Log: core\nrole : A\n", ""},
		"a comment":                   {"title: Log: core\n# or not\n", ""},
		"a role":                      {"role: 'a's'\n", ""},
		"needs":                       {"needs: 'a's.md'\n", ""},
		"nothing to mend":             {"title: Log\n", ""},
	} {
		fixed, notes, ok := FixTask("t.md", []byte("---\n"+tt.header+"---\nDo it.\n"))
		if ok != (tt.want != "") || ok && (string(fixed) != "---\n"+tt.want+"---\nDo it.\n" || len(notes) == 0) {
			t.Errorf("%s: FixTask = %q, %q, %t", name, fixed, notes, ok)
		}
	}
}

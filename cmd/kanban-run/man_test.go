package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestManPages: each command, flag and exit code that the help names has its place in a page.
func TestManPages(t *testing.T) {
	pages := manPages()
	if len(pages) != len(commands())+1 {
		t.Errorf("%d pages for %d commands", len(pages), len(commands()))
	}
	top := pages["kanban-run.1"]
	for _, c := range commands() {
		page := pages["kanban-run-"+c.name+".1"]
		if want := "\n.SH SYNOPSIS\n.RS 4\n.nf\nkanban\\-run " + c.name; !strings.Contains(page, want) {
			t.Errorf("the page of %s has no %q", c.name, want)
		}
		if !strings.Contains(page, "\n.SH EXAMPLES\n") {
			t.Errorf("the page of %s has no examples", c.name)
		}
		if want := ".TP\n\\fBkanban\\-run\\-" + c.name + "(1)\\fP\n"; !strings.Contains(top, want) {
			t.Errorf("kanban-run.1 has no %q", want)
		}
		flagsOf(c).VisitAll(func(f *pflag.Flag) {
			if want := roffEscape("--" + f.Name); !f.Hidden && !strings.Contains(page, want+" ") && !strings.Contains(page, want+`\fP`) {
				t.Errorf("the page of %s has no flag --%s", c.name, f.Name)
			}
		})
	}
	for _, row := range exitTable() {
		if !strings.Contains(top, roffEscape(row.meaning)) {
			t.Errorf("kanban-run.1 does not say %q", row.meaning)
		}
	}
}

// TestManSection: a text of a help keeps its paragraphs, rows and examples, and nothing in it is a
// request to roff.
func TestManSection(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "\n", ""},
		{"paragraphs", "One\ngoes on.\n\nTwo.", "One\ngoes on.\n.PP\nTwo.\n"},
		{"rows", "The words:\n\n  retry [TASK]   try it\n                 again\n  skip           leave it\n\nMore.",
			"The words:\n.TP\n\\fBretry [TASK]\\fP\ntry it\nagain\n.TP\n\\fBskip\\fP\nleave it\n.PP\nMore.\n"},
		{"examples", "Try:\n  kanban-run\n  kanban-run log", "Try:\n.PP\n.RS 4\n.nf\nkanban\\-run\n.fi\n.RE\n.RS 4\n.nf\nkanban\\-run log\n.fi\n.RE\n"},
		{"requests and escapes", ".kanban-run.yaml\n'it' \\n ✓", "\\&.kanban\\-run.yaml\n\\(aqit\\(aq \\(rsn \\[u2713]\n"},
	} {
		var b strings.Builder
		manSection(&b, "S", tt.text)
		if got := strings.TrimPrefix(b.String(), ".SH S\n"); got != tt.want {
			t.Errorf("%s: manSection = %q, want %q", tt.name, got, tt.want)
		}
	}
}

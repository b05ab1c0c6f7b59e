package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/report"
)

// TestHelp: every command has a help, by either spelling, that shows how to call it.
func TestHelp(t *testing.T) {
	for _, c := range commands() {
		want := "\nusage: kanban-run " + c.name
		for _, args := range [][]string{{c.name, "--help"}, {"help", c.name}} {
			var out bytes.Buffer
			code, err := dispatch(&terminal{stdout: console.New(&out, nil)}, args)
			if err != nil || code != exitComplete || !strings.Contains(out.String(), want) {
				t.Errorf("dispatch(%q) = %d, %v, and prints %.80q; want a line with %q", args, code, err, out.String(), want)
			}
			if c.name == "run" && strings.Count(out.String(), "\n      --dry-run") != 1 {
				t.Errorf("dispatch(%q) does not list --dry-run once", args)
			}
			for _, hidden := range []string{"--strict", "--no-keep-going", "--stub"} {
				if strings.Contains(out.String(), hidden) {
					t.Errorf("dispatch(%q) lists %s, which few people need", args, hidden)
				}
			}
			for line := range strings.Lines(out.String()) {
				if runewidth.StringWidth(line) > 80 && !strings.Contains(line, "kanban-run ") {
					t.Errorf("dispatch(%q) prints a line of more than 80 columns: %s", args, line)
				}
			}
		}
	}
}

// TestHelpIsShort: the help has four groups with at most 14 commands in the first three, and a line for
// each command and each exit code.
func TestHelpIsShort(t *testing.T) {
	var out bytes.Buffer
	if err := writeHelp(&terminal{stdout: console.New(&out, nil)}); err != nil {
		t.Fatal(err)
	}
	all := groups()
	if most := len(all[0].commands) + len(all[1].commands) + len(all[2].commands); len(all) != 4 || most > 14 {
		t.Errorf("%d groups, %d commands in the first three, want 4 and at most 14", len(all), most)
	}
	if lines := strings.Count(out.String(), "\n"); lines > 60 {
		t.Errorf("the help has %d lines, want at most 60", lines)
	}
	for _, c := range commands() {
		if line := fmt.Sprintf("\n  %-11s %s\n", c.name, c.summary); !strings.Contains(out.String(), line) {
			t.Errorf("the help lacks the line %q", line)
		}
	}
}

// TestLayout: text breaks between words at the width, an item's further lines stand below its text, and a
// command line stays whole.
func TestLayout(t *testing.T) {
	s := report.Screen{Out: console.New(&bytes.Buffer{}, nil), Width: 40}
	got := layout(s, "One paragraph of two lines, which\nare joined.\n\nusage: kanban-run a-command-that-is-longer-than-it\n\n"+
		"  word  its meaning, which is longer than one line of it\n  kanban-run something --with a-long-flag --and another")
	want := "One paragraph of two lines, which are\njoined.\n\nusage: kanban-run a-command-that-is-longer-than-it\n\n" +
		"  word  its meaning, which is longer\n        than one line of it\n  kanban-run something --with a-long-flag --and another\n"
	if got != want {
		t.Errorf("layout = %q, want %q", got, want)
	}
}

// notRun are the examples of help texts that TestHelpExamples leaves out, and why.
var notRun = map[string]string{
	"kanban-run demo":                                                "a_demo_of_a_night",
	"kanban-run demo --fast":                                         "a_demo_of_a_night",
	"kanban-run init":                                                "is for a folder without a board: init_and_check",
	"kanban-run status -w":                                           "needs a terminal",
	"kanban-run view --open":                                         "goes on until Ctrl-C",
	"kanban-run view kanban.yaml":                                    "goes on until Ctrl-C",
	"kanban-run docs overnight | less":                               "waits for keys",
	"kanban-run supervise -- --continue":                             "needs claude",
	"kanban-run ack kanban.yaml retry tasks/2.md":                    "ack_by_the_lead",
	"kanban-run tell kanban.yaml the tests need Go 1.26":             "what_is_said_to_a_running_agent",
	"kanban-run tell --wait 0 kanban.yaml stop at the first failure": "what_is_said_to_a_running_agent",
	"kanban-run teardown --delete kanban.yaml":                       "teardown_checks_archives_and_deletes",
	"kanban-run completion zsh > \"${fpath[1]}/_kanban-run\"":        "needs zsh",
	"source <(kanban-run completion bash)":                           "needs bash",
}

// TestHelpExamples: the help of each command has two examples at least, and each of them works.
func TestHelpExamples(t *testing.T) {
	left, ran := maps.Clone(notRun), ranBoard(t, map[string]string{"kanban.yaml": "current: tasks/1.md\ntasks: [tasks/1.md, tasks/2.md]\n",
		"nightly/a.yaml": "current: tasks/1.md\ntasks: [tasks/1.md]\n", "tasks/1.md": "Do it.\n", "tasks/2.md": "Do it.\n",
		"question.txt": "Why?", ".kanban-run/roles/x.txt": "", ".config/fish/completions/x": ""})
	for _, c := range commands() {
		var lines []string
		for line := range strings.Lines(c.examples) {
			if line = strings.TrimSpace(line); line != "" {
				line, _, _ = strings.Cut(line, "   ")
				lines = append(lines, line)
			}
		}
		if len(lines) < 2 {
			t.Errorf("the help of %s has %d examples, want 2", c.name, len(lines))
		}
		for _, line := range lines {
			if left[line] != "" {
				delete(left, line)
				continue
			}
			t.Run(line, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				must(t, os.CopyFS(dir, os.DirFS(ran)))
				runDocumented(t, dir, line)
			})
		}
	}
	for line := range left {
		t.Errorf("%s is no example", line)
	}
}

// TestMistyped: what is no call of kanban-run is refused with a hint.
func TestMistyped(t *testing.T) {
	for _, tt := range []struct {
		args       []string
		text, hint string
	}{
		{[]string{"log"}, "which board?", ""},
		{[]string{"chekc", "kanban.yaml"}, `"chekc" is neither a command nor a board`, "did you mean kanban-run check?"},
		{[]string{"--dryrun", "kanban.yaml"}, "unknown flag: --dryrun", "did you mean --dry-run?"},
	} {
		_, err := dispatch(&terminal{stdout: console.New(&bytes.Buffer{}, nil)}, tt.args)
		usage, ok := errors.AsType[*usageError](err)
		if !ok || !strings.Contains(usage.text, tt.text) || !strings.Contains(usage.hint, tt.hint) {
			t.Errorf("dispatch(%q) = %+v, want %q with the hint %q", tt.args, err, tt.text, tt.hint)
		}
	}
}

package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"kanban-run/orchestrator/console"
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
			if c.name == "run" && strings.Count(out.String(), "--dry-run") != 1 {
				t.Errorf("dispatch(%q) names --dry-run %d times, want once", args, strings.Count(out.String(), "--dry-run"))
			}
		}
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

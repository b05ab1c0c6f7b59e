package orchestrator_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// starts are all files that start a program, each with the reason why that program has no
// controlling terminal on which it could ask a person.
var starts = map[string]string{
	"orchestrator/proc/reaper_linux.go":              "a session of its own, for all that a run starts; the runner alone stays in the guardian's",
	"orchestrator/proc/reaper_other.go":              "the same on other systems",
	"orchestrator/agent/acp/client.go":               "it stays in the session of the client, which proc has started",
	"orchestrator/agent/modeltest/find.go":           "for tests only",
	"orchestrator/agent/internal/agenttest/fault.go": "for tests only",
	"orchestrator/proc/group.go":                     "proc.Detach, which gives it one",
	"cmd/kanban-run/testdata/crash/escape/main.go":   "for tests only",
}

// TestStarts: programs are started by package proc, which gives them a session without a terminal.
func TestStarts(t *testing.T) {
	start := regexp.MustCompile(`\b(exec\.Command(Context)?|os\.StartProcess|syscall\.(ForkExec|StartProcess))\b[,(]`)
	found := filesWith(t, start)
	if got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(starts)); !slices.Equal(got, want) {
		t.Errorf("programs are started in\n%q, want them started by package proc, or in\n%q with a reason", got, want)
	}
}

// filesWith returns the files of the product that have a line of code that matches.
func filesWith(t *testing.T, code *regexp.Regexp) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, root := range []string{"orchestrator", "cmd/kanban-run"} {
		err := filepath.WalkDir(filepath.Join("..", root), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for line := range strings.Lines(string(text)) {
				if code.MatchString(line) && !strings.HasPrefix(line, "//") {
					found[strings.TrimPrefix(filepath.ToSlash(path), "../")] = true
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

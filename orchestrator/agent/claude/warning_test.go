package claude

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/proc"
)

// TestLongLine: a line that is too long is left out with a warning.
func TestLongLine(t *testing.T) {
	stream := slices.Concat([]byte(`{"type":"assistant","x":"`), bytes.Repeat([]byte("x"), 33<<20), []byte("\"}\n"+good+"\n"))
	for _, size := range []int{0, 1 << 20} {
		got := play(stream, size, proc.Exit{})
		if want := "warning a line of claude's output cannot be read (it is too long)"; !slices.Contains(got.events, want) {
			t.Errorf("in pieces of %d: reported %q, want %q", size, got.events, want)
		}
		if got.report.Failure != nil || got.report.Reply == "" {
			t.Errorf("in pieces of %d: %v, want the reply behind the line", size, got.report.Failure)
		}
	}
}

// TestManyWarnings: the number of warnings left out is reported once.
func TestManyWarnings(t *testing.T) {
	for n, want := range map[int]int{1: 1, 20: 20, 21: 21, 500: 21} {
		var warnings []string
		for _, e := range play([]byte(strings.Repeat("no JSON\n", n)+good+"\n"), 0, proc.Exit{}).events {
			if strings.HasPrefix(e, "warning ") {
				warnings = append(warnings, e)
			}
		}
		if more := strings.HasSuffix(warnings[len(warnings)-1], "are left out"); len(warnings) != want || more != (n > 20) {
			t.Errorf("%d broken lines: %d warnings, the last: %s, want %d", n, len(warnings), warnings[len(warnings)-1], want)
		}
	}
}

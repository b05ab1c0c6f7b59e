package failure

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// TestQuote: a quoted path can be shown and copied, and a shell makes the path of it again.
func TestQuote(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	for _, path := range []string{
		"kanban.yaml", "two words.yaml", "it's.yaml", "%s.yaml", "-x.yaml", "--help", "a\tb.yaml", "a\nb.yaml", "\u202eg.yaml", "\xff\xfe.yaml",
		"$(touch x).yaml", "`x`.yaml", "a\\b.yaml", "boards/*/kanban.yaml", "~/x.yaml", "#x", "a\x1b[2Jb", "é.yaml",
	} {
		quoted := Quote(path)
		if strings.ContainsFunc(quoted, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("Quote(%q) = %q, want only what can be printed", path, quoted)
		}
		shell := exec.Command(bash, "-c", "printf %s "+quoted)
		shell.Env = []string{"LC_ALL=C"} // has no characters but those of ASCII
		got, err := shell.Output()
		if err != nil || filepath.Clean(string(got)) != filepath.Clean(path) || strings.HasPrefix(string(got), "-") {
			t.Errorf("Quote(%q) = %s, which a shell makes %q of, %v", path, quoted, got, err)
		}
	}
}

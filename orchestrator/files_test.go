package orchestrator

import (
	"os"
	"path/filepath"
	"testing"
)

// TestIgnore: the runs stay out of git also after a power cut, which may empty a file that was never synced; what somebody wrote into
// it stays.
func TestIgnore(t *testing.T) {
	for _, c := range []struct{ name, before, want string }{{"none", "absent", "*\n"}, {"emptied", "", "*\n"}, {"somebody's", "# nothing\n", "# nothing\n"}} {
		t.Run(c.name, func(t *testing.T) {
			f := filesOf(filepath.Join(t.TempDir(), "kanban.yaml"))
			path := filepath.Join(filepath.Dir(f.dir), ".gitignore")
			if c.before != "absent" {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.ensure(); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
				t.Errorf(".gitignore = %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

package modeltest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/testfile"
)

// install runs the script with a PATH of the named commands only.
func install(t *testing.T, env []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"sh", "dirname", "cmp"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	script := filepath.Join(agents, "install")
	if _, err := os.ReadFile(script); err != nil { // go test runs again only for what the test itself opens
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", append([]string{script}, args...)...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = append(env, "PATH="+bin), &out, &errs
	_ = cmd.Run() // the exit code tells
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestInstalled: a program is installed once, wherever the cache is.
func TestInstalled(t *testing.T) {
	home := t.TempDir()
	for _, tt := range []struct{ name, env, cache string }{
		{"home", "HOME=" + home, filepath.Join(home, ".cache", "kanban-run", "agents")},
		{"cache", "XDG_CACHE_HOME=" + home, filepath.Join(home, "kanban-run", "agents")},
		{"folder", "KANBAN_TEST_AGENTS=" + home, home},
	} {
		for _, group := range []string{"claude-codex", "gemini-opencode"} {
			for _, name := range []string{"package.json", "package-lock.json"} {
				data, err := os.ReadFile(filepath.Join(agents, group, name))
				if err != nil {
					t.Fatal(err)
				}
				testfile.Write(t, filepath.Join(tt.cache, group, name), string(data))
			}
			want := filepath.Join(tt.cache, group, "node_modules", ".bin") + "\n"
			if got, stderr, code := install(t, []string{tt.env}, group); got != want || code != 0 {
				t.Errorf("%s: install %s = %q, %q, %d, want %q", tt.name, group, got, stderr, code, want)
			}
		}
	}
}

func TestCannotInstall(t *testing.T) {
	here := "KANBAN_TEST_AGENTS=" + t.TempDir()
	for _, tt := range []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{"no node", []string{here}, nil, "install: node is not installed\nhint: install Node.js 20"},
		{"no such group", []string{here}, []string{"crush"}, "install: no such group of agents: crush\nhint: claude-codex or"},
		{"no home", nil, nil, "install: there is no HOME to keep a cache in\nhint: set KANBAN_TEST_AGENTS"},
	} {
		stdout, stderr, code := install(t, tt.env, tt.args...)
		if code != 1 || stdout != "" || !strings.HasPrefix(stderr, tt.want) {
			t.Errorf("%s: install = %q, %q, %d, want %q", tt.name, stdout, stderr, code, tt.want)
		}
	}
}

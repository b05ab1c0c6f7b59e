package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFile: git reads of a file of settings what they were.
func TestFile(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	file := filepath.Join(t.TempDir(), "config")
	text := "[user]\n\tname = \"a \\\"b\\\" \\\\ # ; c\"\n\tnothing\n[url \"ext::sh \\\"x\\\" \\\\ \"]\n\tinsteadOf = \"  spaced\\tand\\nlines \"\n[http \"https://a.b/C\"]\n\textraHeader = A\n\textraHeader = B\n[core]\n\tsshCommand = ssh -i ~/k\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func() string {
		out, err := exec.Command("git", "config", "--file", file, "--list", "-z").Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	before := read()
	var all Settings
	for entry := range strings.SplitSeq(strings.TrimSuffix(before, "\x00"), "\x00") {
		all = append(all, parseSettings("global\x00"+entry+"\x00")...)
	}
	if err := os.WriteFile(file, []byte(all.File()), 0o600); err != nil {
		t.Fatal(err)
	}
	if after := read(); after != before {
		t.Errorf("git reads\n%q\nand before\n%q", after, before)
	}
}

// TestKept: of the user's and the system's settings those that a remote needs; of the repository's own
// none.
func TestKept(t *testing.T) {
	var list strings.Builder
	keys := map[string]bool{"credential.helper": true, "credential.https://a.b.username": true, "http.proxy": true, "http.https://a.b/.extraheader": true, "url.https://a/.insteadof": true,
		"user.email": true, "gpg.ssh.program": true, "safe.directory": true, "core.sshcommand": true, "core.askpass": true, "core.excludesfile": true, "ssh.variant": true,
		"core.hookspath": false, "core.fsmonitor": false, "alias.x": false, "filter.x.clean": false, "diff.external": false, "init.templatedir": false, "core.pager": false, "include.path": false}
	for key := range keys {
		for _, scope := range []string{"system", "global", "command", "local", "worktree"} {
			list.WriteString(scope + "\x00" + key + "\n" + scope + "\x00")
		}
	}
	all := parseSettings(list.String())
	for key, want := range keys {
		var scopes []string
		for _, at := range all.Kept() {
			if at.key == key {
				scopes = append(scopes, at.value)
			}
		}
		if want != slices.Equal(scopes, []string{"system", "global", "command"}) || !want && scopes != nil {
			t.Errorf("%s is kept of %v", key, scopes)
		}
		if all.Get(key) != "command" || all.GetOwn(key) != "worktree" {
			t.Errorf("%s is %q, with the repository's own %q", key, all.Get(key), all.GetOwn(key))
		}
	}
}

// TestLastOf: of two entries of an environment the last one counts.
func TestLastOf(t *testing.T) {
	if got := lastOf([]string{"A=1", "B=2", "A=3"}); !slices.Equal(got, []string{"A=3", "B=2"}) {
		t.Errorf("%q", got)
	}
}

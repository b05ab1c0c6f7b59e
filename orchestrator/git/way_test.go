package git

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWayIn: of the user's settings those count that lead to a remote, of the repository's own the addresses; they are
// read by no git of the work tree.
func TestWayIn(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := find(dir); err != nil {
		t.Skip(err)
	}
	started := filepath.Join(home, "started")
	write(filepath.Join(dir, "bin", "git"), "#!/bin/sh\ntouch "+started+"\n", 0o755)
	write(filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/main\n", 0o644)
	t.Setenv("PATH", filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	t.Setenv("HOME", home)
	t.Setenv("GIT_CONFIG_GLOBAL", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	own := "[remote \"origin\"]\n\turl = ../far\n\tpushurl = ../else\n[core]\n\tsshCommand = ours\n"
	write(filepath.Join(dir, ".git", "config"), own, 0o644)
	write(filepath.Join(home, ".gitconfig"), `[user]
	name = me
	email = me@example.com
[safe]
	directory = /x
[commit]
	gpgsign = false
[gc]
	auto = 0
[url "ssh://a/"]
	insteadOf = https://a/
[http]
	proxy = p
	sslVerify = false
	postBuffer = 1
[http "https://b/"]
	sslCAInfo = c
	extraHeader = token
[core]
	sshCommand = s
	askPass = a
	editor = vi
[gpg]
	program = g
	format = ssh
[gpg "ssh"]
	defaultKeyCommand = d
	program = k
[credential]
	helper = store
[credential "https://github.com"]
	helper = gh
	username = u
`, 0o644)
	want := map[string][]string{
		filepath.Join(dir, ".git", "config"): {"remote.origin.url", "remote.origin.pushurl"},
		filepath.Join(home, ".gitconfig"): {"url.ssh://a/.insteadof", "http.proxy", "http.sslverify", "http.https://b/.sslcainfo", "core.sshcommand", "core.askpass",
			"gpg.program", "gpg.ssh.defaultkeycommand", "gpg.ssh.program", "credential.helper", "credential.https://github.com.helper"},
		filepath.Join(home, ".config", "git", "config"): nil,
	}
	files := WayFiles(dir)
	if len(files) != len(want) {
		t.Errorf("the files are %q", files)
	}
	for _, file := range files {
		way := WayIn(file, dir)
		for _, name := range want[file] {
			if len(way[name]) != 1 {
				t.Errorf("%s lacks %s", file, name)
			}
		}
		if len(way) != len(want[file]) {
			t.Errorf("%s: %v", file, way)
		}
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("the git of the work tree was started")
	}
}

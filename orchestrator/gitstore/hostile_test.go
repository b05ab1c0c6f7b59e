package gitstore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/gitstore"
)

// program is a command that leaves a mark, and what it was started with.
func (c *clone) program() string {
	path := filepath.Join(filepath.Dir(c.dir), "evil.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nenv >>'"+c.mark()+"'\nexit 1\n"), 0o755); err != nil {
		c.Fatal(err)
	}
	return path
}

// mark is the file that tells that a program was started.
func (c *clone) mark() string { return filepath.Join(filepath.Dir(c.dir), "started") }

// hooks are those that git may start.
var hooks = []string{"pre-push", "post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-commit", "post-rewrite", "fsmonitor-watchman", "pre-auto-gc",
	"push-to-checkout", "sendemail-validate"}

// TestNothingOfAnAgentsIsStarted: whatever an agent writes below .git and into the run's folder,
// before the run or in the middle of it, no program of its starts.
func TestNothingOfAnAgentsIsStarted(t *testing.T) {
	const away = "ssh://nobody@127.0.0.1:1/x.git"
	own := func(text string) func(*clone) {
		return func(c *clone) { c.add(".git/config", strings.ReplaceAll(text, "EVIL", c.program())) }
	}
	for name, attack := range map[string]struct {
		plant  func(c *clone)
		remote string // "": that of the clone, a folder
	}{
		"ssh command":           {own("[core]\n\tsshCommand = EVIL\n"), away},
		"a proxy for git":       {own("[core]\n\tgitProxy = EVIL\n"), "git://127.0.0.1:1/x"},
		"askpass":               {own("[core]\n\taskPass = EVIL\n"), "http://127.0.0.1:1/x"},
		"credential helper":     {own("[credential]\n\thelper = !EVIL\n"), "http://127.0.0.1:1/x"},
		"another address":       {own("[protocol \"ext\"]\n\tallow = always\n[url \"ext::EVIL \"]\n\tinsteadOf = ../far\n\tinsteadOf = ssh:\n"), ""},
		"another address, away": {own("[protocol \"ext\"]\n\tallow = always\n[url \"ext::EVIL \"]\n\tinsteadOf = ssh:\n\tpushInsteadOf = ssh:\n"), away},
		"settings by reference": {func(c *clone) {
			c.write(".git/more", "[core]\n\tsshCommand = "+c.program()+"\n\tfsmonitor = "+c.program()+"\n")
			c.add(".git/config", "[include]\n\tpath = more\n")
		}, away},
		"settings of the work tree": {func(c *clone) {
			c.add(".git/config", "[extensions]\n\tworktreeConfig = true\n")
			c.write(".git/config.worktree", "[core]\n\tsshCommand = "+c.program()+"\n\thooksPath = .git/evil\n")
		}, away},
		"receive-pack":         {own("[remote \"origin\"]\n\treceivepack = EVIL\n\tuploadpack = EVIL\n\tproxy = EVIL\n\tvcs = evil\n"), ""},
		"pack programs":        {own("[uploadpack]\n\tpackObjectsHook = EVIL\n[pack]\n\tpackSizeLimit = 1\n"), ""},
		"signing":              {own("[gpg]\n\tprogram = EVIL\n[commit]\n\tgpgSign = true\n[user]\n\tsigningKey = x\n[push]\n\tgpgSign = true\n"), ""},
		"pager, editor, alias": {own("[core]\n\tpager = EVIL\n\teditor = EVIL\n[alias]\n\tpush = !EVIL\n\twrite-tree = !EVIL\n[pager]\n\tshow = EVIL\n"), ""},
		"diff and merge drivers": {func(c *clone) {
			own("[diff]\n\texternal = EVIL\n[diff \"x\"]\n\ttextconv = EVIL\n\tcommand = EVIL\n[merge \"x\"]\n\tdriver = EVIL\n[interactive]\n\tdiffFilter = EVIL\n")(c)
			c.write(".git/info/attributes", "* diff=x merge=x\n")
		}, ""},
		"maintenance and monitor": {own("[core]\n\tfsmonitor = EVIL\n\tuntrackedCache = true\n[gc]\n\tauto = 1\n[maintenance]\n\tauto = true\n\tstrategy = incremental\n"), ""},
		"hooks": {func(c *clone) {
			for _, hook := range hooks {
				c.write(".git/hooks/"+hook, "#!/bin/sh\nexec "+c.program()+"\n")
				_ = os.Chmod(filepath.Join(c.dir, ".git/hooks", hook), 0o755)
			}
		}, ""},
		"the folder of the calls": {func(c *clone) {
			evil := "[core]\n\tsshCommand = " + c.program() + "\n\tfsmonitor = " + c.program() + "\n"
			for _, name := range []string{"config", "global", "config.worktree"} {
				c.write(".kanban-run/runs/kanban.yaml/git-1/"+name, evil)
			}
			for name, text := range map[string]string{"config": evil, "HEAD": "ref: refs/heads/main\n", "refs/x": "", "objects/x": ""} {
				c.write(".git/evil/"+name, text)
			}
			c.write(".kanban-run/runs/kanban.yaml/git-1/commondir", filepath.Join(c.dir, ".git/evil")+"\n")
			c.write(".kanban-run/runs/kanban.yaml/git-1/hooks/reference-transaction", "#!/bin/sh\nexec "+c.program()+"\n")
			_ = os.Chmod(filepath.Join(c.dir, ".kanban-run/runs/kanban.yaml/git-1/hooks/reference-transaction"), 0o755)
			_ = os.Chmod(filepath.Join(c.dir, ".kanban-run/runs/kanban.yaml/git-1"), 0o700) // as it is made
		}, away},
		"a folder elsewhere in place of the calls'": {func(c *clone) {
			_ = os.MkdirAll(filepath.Join(c.dir, "../elsewhere"), 0o755)
			_ = os.RemoveAll(filepath.Join(c.dir, ".kanban-run/runs/kanban.yaml/git-1"))
			_ = os.Symlink("../../../../elsewhere", filepath.Join(c.dir, ".kanban-run/runs/kanban.yaml/git-1"))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			if attack.remote != "" {
				c.options.Remote = attack.remote
			}
			c.journal("one\n")
			attack.plant(c)
			s, err := gitstore.Open(t.Context(), c.options)
			if err != nil { // refused, by name: then it comes in the middle of a run
				if !errors.As(err, new(*gitstore.UnfitError)) {
					t.Error(err)
				}
				c = newClone(t)
				c.journal("one\n")
				s = c.open()
			}
			if _, err = s.Start(t.Context()); err == nil {
				attack.plant(c)
				c.journal("one\ntwo\n")
				err = s.Save(t.Context(), final)
			}
			if err != nil && !errors.As(err, new(*gitstore.UnfitError)) {
				t.Error(err)
			}
			if env, err := os.ReadFile(c.mark()); err == nil {
				t.Errorf("a program of the agent's was started, with\n%s", env)
			}
			if there, _ := os.ReadDir(filepath.Join(c.dir, "../elsewhere")); len(there) > 0 {
				t.Error("git has written elsewhere")
			}
		})
	}
}

// TestOptionsAreNoAddresses: a remote whose address git would take for an option, or that names a
// program, is refused.
func TestOptionsAreNoAddresses(t *testing.T) {
	c := newClone(t)
	for _, address := range []string{"--upload-pack=" + c.program(), "--receive-pack=" + c.program(), "ext::" + c.program(), "fd::3", "-x"} {
		c.git("config", "remote.origin.url", address)
		for _, c.options.Remote = range []string{"origin", address} {
			if _, err := gitstore.Open(t.Context(), c.options); !errors.As(err, new(*gitstore.UnfitError)) {
				t.Errorf("%s as %s: %v, want an UnfitError", address, c.options.Remote, err)
			}
		}
	}
	if _, err := os.Stat(c.mark()); err == nil {
		t.Error("the program was started")
	}
}

// TestFolderAsRemote: the hooks of a remote that is a folder are an agent's: they get what agents get.
func TestFolderAsRemote(t *testing.T) {
	for _, address := range []string{"../far", "file://"} {
		c := newClone(t)
		if address == "file://" {
			address += filepath.Join(filepath.Dir(c.dir), "far")
		}
		c.git("config", "remote.origin.url", address)
		if err := os.WriteFile(filepath.Join(os.Getenv("HOME"), ".gitconfig"), []byte("[http \"https://example.com/\"]\n\textraHeader = header-of-the-user\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c.options.Environ = append(os.Environ(), "MY_TOKEN=token-of-the-user", "SSH_AUTH_SOCK=/agent", "PLAIN=x")
		c.options.AgentEnv = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "PLAIN=x"}
		hook := filepath.Join(filepath.Dir(c.dir), "far/hooks/post-receive")
		text := "#!/bin/sh\nexec >'" + c.mark() + "'\nenv\ntr '\\0' '\\n' </proc/$PPID/environ\ngit config --list\n"
		if err := os.WriteFile(hook, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		c.journal("one\n")
		c.save(c.open())
		env, err := os.ReadFile(c.mark())
		if err != nil || !strings.Contains(string(env), "PLAIN=x") || strings.Contains(string(env), "of-the-user") || strings.Contains(string(env), "SSH_AUTH_SOCK") {
			t.Errorf("%s: %v, the hook sees\n%s", address, err, env)
		}
	}
}

// TestEnvironment: a call to a remote elsewhere gets the variables of the table in the docs, those that
// the user's settings name, and no others.
func TestEnvironment(t *testing.T) {
	c := newClone(t)
	ssh := c.program()
	settings := "[core]\n\tsshCommand = " + ssh + "\n[credential]\n\thelper = \"!f() { echo password=$HELPER_TOKEN; }; f\"\n"
	if err := os.WriteFile(filepath.Join(os.Getenv("HOME"), ".gitconfig"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	c.options.Remote = "ssh://nobody@127.0.0.1:1/x.git"
	c.options.Environ = append(os.Environ(), "MY_TOKEN=withheld", "HELPER_TOKEN=named", "SSH_AUTH_SOCK=/agent", "https_proxy=http://proxy", "GIT_DIR=/elsewhere", "GIT_SSL_CAINFO=/ca")
	c.journal("one\n")
	c.save(c.open())
	env, err := os.ReadFile(c.mark())
	for _, want := range []string{"HELPER_TOKEN=named", "SSH_AUTH_SOCK=/agent", "https_proxy=http://proxy", "GIT_SSL_CAINFO=/ca", "HOME=" + os.Getenv("HOME")} {
		if !strings.Contains("\n"+string(env), "\n"+want+"\n") {
			t.Errorf("%v: the user's ssh lacks %s", err, want)
		}
	}
	if strings.Contains(string(env), "withheld") || strings.Contains(string(env), "/elsewhere") {
		t.Errorf("the user's ssh sees\n%s", env)
	}
}

// TestNothingIsWaitedFor: a FIFO in the place of a file that is read holds nothing up.
func TestNothingIsWaitedFor(t *testing.T) {
	for _, name := range []string{".git/info/exclude", ".git/info/attributes", ".kanban-run/runs/kanban.yaml/git-1/index", ".kanban-run/runs/kanban.yaml/git-1/config",
		".kanban-run/runs/kanban.yaml/restoring", ".kanban-run/runs/kanban.yaml/journal.jsonl"} {
		t.Run(name, func(t *testing.T) {
			c := newSaved(t)
			path := filepath.Join(c.dir, name)
			_ = os.Remove(path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), unix.Mkfifo(path, 0o600)); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			s, err := gitstore.Open(t.Context(), c.options)
			if err == nil {
				_, err = s.Start(t.Context())
			}
			if err != nil && !errors.As(err, new(*gitstore.UnfitError)) || time.Since(began) > 15*time.Second {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		})
	}
}

// TestSecretsAnywhere: a secret is found wherever a push would take it: in a commit that was undone,
// in its message or author, in names of files, in the run's own files. What was refused is no object.
func TestSecretsAnywhere(t *testing.T) {
	for name, attack := range map[string]struct {
		do    func(c *clone)
		where string
	}{
		"committed and removed": {func(c *clone) {
			c.write("conf", "hunter2")
			c.commit("add")
			c.git("rm", "-q", "conf")
			c.commit("remove")
		}, "conf, in a commit that was made since the last checkpoint,"},
		"on a branch that was merged": {func(c *clone) {
			c.git("checkout", "-q", "-b", "side")
			c.write("conf", "hunter2")
			c.commit("add")
			c.git("rm", "-q", "conf")
			c.commit("remove")
			c.git("checkout", "-q", "main")
			c.git("merge", "-q", "--no-ff", "-m", "merge", "side")
		}, "conf"},
		"a message":          {func(c *clone) { c.commit("with hunter2") }, "the message or the author of the commit"},
		"an author":          {func(c *clone) { c.git("commit", "-q", "--allow-empty", "-m", "m", "--author", "hunter2 <x@y>") }, "the message or the author of the commit"},
		"a name":             {func(c *clone) { c.write("out-hunter2.txt", "") }, "the name of a file"},
		"a name in a folder": {func(c *clone) { c.write("a/b/out-hunter2.txt", "") }, "the name of a file in a/b"},
		"a link":             {func(c *clone) { _ = os.Symlink("hunter2", filepath.Join(c.dir, "link")) }, "link"},
		"a stored input":     {func(c *clone) { c.write(".kanban-run/runs/kanban.yaml/inputs/x", "hunter2") }, ".kanban-run/runs/kanban.yaml/inputs/x"},
		"a file that git converts": {func(c *clone) {
			c.write(".gitattributes", "*.t working-tree-encoding=UTF-16\n")
			c.write("x.t", "hunter2")
		}, "x.t"},
		"a very large file, within": {func(c *clone) { c.write("big", strings.Repeat("x", 5<<20)+"hunter2"+strings.Repeat("y", 1<<20)) }, "big"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.journal("one\n")
			s := c.open()
			c.save(s)
			attack.do(c)
			before := c.git("count-objects", "-v")
			var secret *gitstore.SecretError
			err := s.Save(t.Context(), point)
			if !errors.As(err, &secret) || !strings.HasPrefix(secret.File, attack.where) {
				t.Fatalf("%v, want a SecretError of %s", err, attack.where)
			}
			if after := c.git("count-objects", "-v"); after != before {
				t.Errorf("objects of it stay:\n%s\nbefore\n%s", after, before)
			}
			if got := c.git("--git-dir", "../far", "log", "--all", "-p", "--format=%B%an"); strings.Contains(got, "hunter2") {
				t.Error("it was pushed")
			}
			if !strings.HasPrefix(name, "a name") && !strings.HasPrefix(name, "committed") {
				return // one of each kind of object will do
			}
			c.options.Allow = []string{secret.Object[:12]}
			c.save(c.open())
			if c.waits(filepath.Join(filepath.Dir(c.dir), "far")) {
				t.Error("it is not pushed although it is allowed")
			}
		})
	}
}

// TestSecretBeforeTheFirstPush: what a remote does not have yet is looked at, and what it has is not.
func TestSecretBeforeTheFirstPush(t *testing.T) {
	c := newClone(t)
	c.write("conf", "hunter2")
	c.commit("conf")
	c.journal("one\n")
	if err := c.open().Save(t.Context(), point); !errors.As(err, new(*gitstore.SecretError)) {
		t.Errorf("%v, want a SecretError", err)
	}
	c.options.Allow = []string{"conf"}
	c.save(c.open())
	c = newClone(t)
	c.write("conf", "hunter2")
	c.commit("conf")
	c.git("push", "-q", "origin", "main")
	c.git("fetch", "-q", "origin")
	c.journal("one\n")
	c.save(c.open())
}

// TestLineEnds: files that git converts on their way are no differences where they are unchanged; one
// that was changed is there byte for byte, in another clone too.
func TestLineEnds(t *testing.T) {
	c := newClone(t)
	c.write(".gitattributes", "*.bat text eol=crlf\n*.u16 text working-tree-encoding=UTF-16LE eol=lf\n")
	c.write("run.bat", "a\r\nb\r\n")
	c.write("own.bat", "a\r\n")
	c.write("x.u16", "h\x00i\x00\n\x00")
	c.commit("more")
	c.git("push", "-q", "origin", "main")
	c.journal("one\n")
	s := c.open()
	c.save(s)
	for _, text := range []string{"one\ntwo\n", "one\ntwo\nthree\n"} {
		c.journal(text)
		c.write("own.bat", text+"mixed\r\n")
		c.save(s)
		if changed := c.git("diff", "--name-only", "main", "board/kanban.yaml", "--", ".", ":!.kanban-run"); changed != "own.bat" {
			t.Errorf("the checkpoint changes %q, want own.bat", changed)
		}
	}
	other := c.another()
	if restored, err := other.open().Start(t.Context()); err != nil || restored == "" {
		t.Fatalf("%q %v", restored, err)
	}
	for _, name := range []string{"run.bat", "own.bat", "x.u16"} {
		if other.read(name) != c.read(name) {
			t.Errorf("%s is %q in the other clone, and %q here", name, other.read(name), c.read(name))
		}
	}
	if changed := other.git("status", "--porcelain", "--", "run.bat", "x.u16"); changed != "" {
		t.Errorf("the user of the other clone sees %s", changed)
	}
}

// TestWhatIsNotInGitStands: files of a person's that git ignores, or that were written since a run was
// killed here, are never written over: they are named.
func TestWhatIsNotInGitStands(t *testing.T) {
	for name, place := range map[string]struct {
		mine string            // what the person has: a file, or one below it
		is   map[string]string // in the checkpoint
	}{
		"a file":                  {"local.env", map[string]string{"local.env": "agent"}},
		"a folder":                {"build/result", map[string]string{"build": "agent"}},
		"a file, and it a folder": {"build", map[string]string{"build/out/x": "agent"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.write(".gitignore", "local.env\nbuild\n")
			c.commit("ignore")
			c.git("push", "-q", "origin", "main")
			c.journal("one\n")
			other := c.another()
			c.write(".gitignore", "")
			for name, text := range place.is {
				c.write(name, text)
			}
			c.save(c.open())
			other.write(place.mine, "hours of work")
			for range 2 {
				_, err := other.open().Start(t.Context())
				if !errors.As(err, new(*gitstore.UnfitError)) || !strings.Contains(err.Error(), place.mine) || other.read(place.mine) != "hours of work" {
					t.Fatalf("%v; %s is %q", err, place.mine, other.read(place.mine))
				}
			}
			if err := os.RemoveAll(filepath.Join(other.dir, strings.Split(place.mine, "/")[0])); err != nil {
				t.Fatal(err)
			}
			if restored, err := other.open().Start(t.Context()); err != nil || restored != c.tip() {
				t.Errorf("without it: %q %v", restored, err)
			}
		})
	}
}

// TestKilledWhileBringing: a run that was killed while it brought the files goes on; what a person has
// written since stands, and is named where it is in the way.
func TestKilledWhileBringing(t *testing.T) {
	c := newClone(t)
	c.write("a.txt", "a")
	c.write("b.txt", "b")
	c.commit("ab")
	c.git("push", "-q", "origin", "main")
	other := c.another()
	c.write("a.txt", "agent")
	c.write("new.txt", "agent")
	c.journal("one\n")
	c.save(c.open())
	half := func(text string) { other.write(".kanban-run/runs/kanban.yaml/restoring", text) }
	half(c.tip() + " " + c.git("rev-parse", "main") + "\n")
	other.write("a.txt", "agent") // that far it had come
	other.write("b.txt", "a person's")
	other.write("mine.txt", "a person's")
	other.write("new.txt", "a person's")
	if _, err := other.open().Start(t.Context()); err == nil || !strings.Contains(err.Error(), "new.txt") || other.read("new.txt") != "a person's" {
		t.Errorf("%v, want that new.txt is named", err)
	}
	other.write("new.txt", "agent")
	restored, err := other.open().Start(t.Context())
	if err != nil || restored != c.tip() || other.read("b.txt") != "a person's" || other.read("mine.txt") != "a person's" || other.read("a.txt") != "agent" {
		t.Errorf("%q %v: b.txt is %q, mine.txt %q", restored, err, other.read("b.txt"), other.read("mine.txt"))
	}
	other = c.another()
	for _, text := range []string{"garbage", c.git("rev-parse", "main") + "0\n", strings.Repeat("0", 40), c.git("rev-parse", "main"), "--help x", ""} {
		half(text)
		if _, err := other.open().Start(t.Context()); !errors.As(err, new(*gitstore.UnfitError)) || other.read("a.txt") != "a" {
			t.Errorf("a mark that says %q: %v, want an UnfitError", text, err)
		}
	}
}

// TestWhatReferencesSay: what an agent writes into references hides no secret from the look, and leads
// nothing else along: the board's branch, those of remotes, others of the remote's.
func TestWhatReferencesSay(t *testing.T) {
	leak := func(c *clone) string {
		c.git("checkout", "-q", "--detach")
		c.write("conf", "hunter2")
		c.commit("add")
		c.git("rm", "-q", "conf")
		c.commit("remove")
		commit := c.git("rev-parse", "HEAD")
		c.git("checkout", "-q", "main")
		return commit
	}
	for name, attack := range map[string]func(c *clone){
		"the board's branch, moved on": func(c *clone) {
			commit := leak(c)
			c.git("update-ref", "refs/heads/board/kanban.yaml", c.git("commit-tree", "board/kanban.yaml^{tree}", "-p", "board/kanban.yaml", "-p", commit, "-m", "x\n\nKanban-Step: 1\nKanban-Base: a\n"))
		},
		"a branch of a remote": func(c *clone) {
			commit := leak(c)
			c.git("update-ref", "refs/remotes/zz/x", commit)
			c.git("merge", "-q", "--no-ff", "-m", "m", commit)
		},
		"the board's branch, gone": func(c *clone) {
			c.git("merge", "-q", "--no-ff", "-m", "m", leak(c))
			c.git("update-ref", "refs/remotes/zz/x", "HEAD")
			c.git("branch", "-D", "board/kanban.yaml")
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.journal("one\n")
			c.save(c.open())
			attack(c)
			s := c.open()
			_, err := s.Start(t.Context())
			c.journal("one\ntwo\n")
			if err == nil {
				err = s.Save(t.Context(), final)
			}
			if !errors.As(err, new(*gitstore.SecretError)) {
				t.Errorf("%v, want a SecretError", err)
			}
			if got := c.git("--git-dir", "../far", "log", "--all", "-p", "--format=%B%an"); strings.Contains(got, "hunter2") {
				t.Error("it was pushed")
			}
		})
	}
	c := newSaved(t)
	good := c.tip()
	c.write(".git/refs/heads/board/kanban.yaml", strings.Repeat("12", 20)+"\n")
	if _, err := gitstore.Open(t.Context(), c.options); err == nil || !strings.Contains(err.Error(), "no commit that is here") {
		t.Errorf("a branch that names nothing: %v", err)
	}
	c.write(".git/refs/heads/board/kanban.yaml", good+"\n")
	c.git("push", "-q", "origin", "main:refs/heads/a/refs/heads/board/kanban.yaml")
	if restored, err := c.another().open().Start(t.Context()); err != nil || restored != c.tip() {
		t.Errorf("another branch of the remote's leads to %q: %v", restored, err)
	}
	c.git("symbolic-ref", "refs/heads/board/kanban.yaml", "refs/heads/main")
	if _, err := gitstore.Open(t.Context(), c.options); err == nil || !strings.Contains(err.Error(), "leads to refs/heads/main") {
		t.Errorf("a branch that leads to another: %v", err)
	}
}

// TestFirstPushLater: what was not pushed when it was made is looked at before it is.
func TestFirstPushLater(t *testing.T) {
	for _, away := range []bool{false, true} {
		c := newClone(t)
		far := filepath.Join(filepath.Dir(c.dir), "far")
		c.write("conf", "hunter2")
		c.commit("add")
		c.git("rm", "-q", "conf")
		c.commit("remove")
		c.git("update-ref", "refs/remotes/origin/x", "HEAD")
		c.journal("one\n")
		if away {
			if err := os.Rename(far, far+".gone"); err != nil {
				t.Fatal(err)
			}
		} else {
			c.options.Remote = "none"
		}
		s := c.open()
		c.save(s)
		if away {
			if err := os.Rename(far+".gone", far); err != nil {
				t.Fatal(err)
			}
		} else {
			c.options.Remote = "origin"
			s = c.open()
		}
		c.journal("one\ntwo\n")
		if err := s.Save(t.Context(), final); !errors.As(err, new(*gitstore.SecretError)) {
			t.Errorf("away %v: %v, want a SecretError", away, err)
		}
		if !c.waits(far) {
			t.Error("it was pushed")
		}
	}
}

// TestFurtherMeanwhile: a run that was killed while it brought a checkpoint goes on to the newest.
func TestFurtherMeanwhile(t *testing.T) {
	c := newSaved(t)
	other := c.another()
	other.write(".kanban-run/runs/kanban.yaml/restoring", c.tip()+" "+other.git("rev-parse", "HEAD")+"\n")
	c.write("more.txt", "more")
	c.journal("one\ntwo\n")
	c.save(c.open())
	if restored, err := other.open().Start(t.Context()); err != nil || restored != c.tip() || other.read("more.txt") != "more" {
		t.Errorf("%q %v, want %q", restored, err, c.tip())
	}
	_ = os.Remove(filepath.Join(other.dir, ".kanban-run/runs/kanban.yaml/journal.jsonl")) // gone, as the rest of it is not
	if restored, err := other.open().Start(t.Context()); err != nil || restored != c.tip() || other.read(".kanban-run/runs/kanban.yaml/journal.jsonl") != "one\ntwo\n" {
		t.Errorf("%q %v: the journal is %q", restored, err, other.read(".kanban-run/runs/kanban.yaml/journal.jsonl"))
	}
}

// TestMoved: what stops checkpoints in the middle of a run is a sentence with a hint, and once
// it is mended the next run goes on.
func TestMoved(t *testing.T) {
	for name, trouble := range map[string]struct {
		do, mend func(c *clone)
		want     string
	}{
		"the branch is moved": {func(c *clone) { c.git("branch", "-f", "board/kanban.yaml", "main") }, func(c *clone) { c.git("branch", "-f", "board/kanban.yaml", "refs/was") }, "was moved to"},
		"the branch is gone":  {func(c *clone) { c.git("branch", "-D", "board/kanban.yaml") }, func(*clone) {}, "is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.journal("one\n")
			s := c.open()
			c.save(s)
			c.git("update-ref", "refs/was", "board/kanban.yaml")
			trouble.do(c)
			c.journal("one\ntwo\n")
			var unfit *gitstore.UnfitError
			if err := s.Save(t.Context(), point); !errors.As(err, &unfit) || !strings.Contains(err.Error(), trouble.want) || unfit.Fix == "" {
				t.Fatalf("%v, want %q", err, trouble.want)
			}
			trouble.mend(c)
			s = c.open()
			if _, err := s.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.save(s)
			if c.waits(filepath.Join(filepath.Dir(c.dir), "far")) {
				t.Errorf("the next run's checkpoint is not pushed: %q", c.notices)
			}
		})
	}
}

// TestIgnoredBoard: a board that git ignores by its own name is refused, unless it is in git all the
// same.
func TestIgnoredBoard(t *testing.T) {
	c := newClone(t)
	c.write(".gitignore", "kanban.yaml\n")
	c.journal("one\n")
	c.save(c.open())
	c.git("rm", "-q", "--cached", "kanban.yaml")
	if _, err := gitstore.Open(t.Context(), c.options); err == nil || !strings.Contains(err.Error(), "kanban.yaml is ignored by git") {
		t.Errorf("%v", err)
	}
}

// TestWay: what leads checkpoints to their remote is told, with digests in place of values.
func TestWay(t *testing.T) {
	c := newClone(t)
	c.git("config", "remote.origin.url", "https://user:hunter2@example.com/x.git")
	text := "[credential]\n\thelper = store\n[user]\n\tname = me\n[http \"https://example.com/\"]\n\textraHeader = one\n[color]\n\tui = auto\n"
	set := func(text string) {
		if err := os.WriteFile(filepath.Join(os.Getenv("HOME"), ".gitconfig"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set(text)
	first := c.open().Way()
	if first.Address != "https://user:xxxxx@example.com/x.git" || len(first.Settings) < 3 || strings.Contains(fmt.Sprint(first.Settings), "store") {
		t.Errorf("%+v", first)
	}
	set(strings.Replace(text, "extraHeader = one", "extraHeader = two", 1)) // the token of the next job
	c.git("config", "credential.helper", "!evil")
	if again := c.open().Way(); fmt.Sprint(again) != fmt.Sprint(first) {
		t.Errorf("%+v, and before %+v", again, first)
	}
	set(strings.Replace(text, "helper = store", "helper = cache", 1))
	if other := c.open().Way(); fmt.Sprint(other) == fmt.Sprint(first) {
		t.Error("another helper is the same way")
	}
}

// TestAddresses: see [git.CheckAddress], [git.IsLocal] and [git.LocalFolder].
func TestAddresses(t *testing.T) {
	for address, local := range map[string]bool{"https://example.com/x": false, "git@example.com:x/y.git": false, "example.com:x": false, "[::1]:x": false, "ssh://h/x": false,
		"../far": true, "/srv/x.git": true, "file:///srv/x": true, "./a:b": true, "far": true} {
		if err := git.CheckAddress(address); err != nil || git.IsLocal(address) != local {
			t.Errorf("%s: %v, local %v", address, err, git.IsLocal(address))
		}
	}
	for address, want := range map[string]string{"https://example.com/x": "", "example.com:x": "", "../far": "/a/far", "/srv/x.git": "/srv/x.git",
		"file:///srv/x%20y": "/srv/x y", "./a:b": "/a/top/a:b"} {
		if got := git.LocalFolder("/a/top", address); got != want {
			t.Errorf("LocalFolder(%s) = %q, want %q", address, got, want)
		}
	}
}

//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent/modeltest"
	"kanban-run/orchestrator/testfile"
)

// TestRealClone is docs/places.md: the real agents may write in a clone as they may in a checkout, find their session again there behind a
// kill, start the servers of their role, and leave nothing in the checkout.
func TestRealClone(t *testing.T) {
	onEach(t, func(t *testing.T, name string) {
		s := newReal(t, name, 2)
		s.write("mcp.json", fmt.Sprintf(`{"mcpServers": {"lab": {"command": "sh", "args": ["-c", "touch %s"]}}}`, s.path("started")))
		s.write(".kanban-run/roles/implementor.md", "---\nname: Implementor\nmcp_config: mcp.json\n---\nWork.\n")
		inClone(t, s.site)
		clone := s.dir + ".clones/kanban.yaml"
		write := func(file string) modeltest.Step {
			return modeltest.WriteFile(filepath.Join(clone, file), "written by "+name)
		}
		s.plays(write("half.txt"), modeltest.Shell("touch busy; sleep 600"))
		r := s.start(nil)
		s.await("../" + filepath.Base(s.dir) + ".clones/kanban.yaml/busy")
		r.kill(bothHalves)
		r.wait()
		s.awaitHalves()
		s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
			switch task := taskOf(said); {
			case strings.Contains(said, goOn):
				return modeltest.Play(modeltest.Structured(reply("ok", "Went on."))), true
			case task != "" && strings.LastIndex(said, `"done_task"`) < strings.LastIndex(said, `"task_file"`):
				return modeltest.Play(write(task+".txt"), modeltest.Structured(reply("ok", "Wrote it."))), true
			default:
				return s.work(q, said)
			}
		})
		s.run(exitComplete)
		s.says("goes on in its session with the work that was cut short (attempt 2)", "Went on.")
		if got, want := s.gitOf(s.dir, "log", "--format=", "--name-only", "kanban/kanban.yaml", "^HEAD"), "2.txt\nhalf.txt"; got != want {
			t.Errorf("the commits of the branch have\n%s\nwant\n%s", got, want)
		}
		if got := s.gitOf(s.dir, "status", "--short"); strings.Contains(got, "txt") {
			t.Errorf("the checkout has\n%s", got)
		}
		if !exists(s.path("started")) {
			t.Errorf("the server of the role was not started\n%s", s.read("output"))
		}
	}, "gemini", "opencode", "acp")
}

// TestRealCloneByPath: a server that claude keeps for the checkout by its path is started there, and not in a clone, which is said once.
func TestRealCloneByPath(t *testing.T) {
	t.Parallel()
	serving := func() (s *realSite, started string) {
		s = newReal(t, "claude", 1)
		at := slices.IndexFunc(s.env, func(v string) bool { return strings.HasPrefix(v, "HOME=") })
		started = s.path("started")
		testfile.Write(t, filepath.Join(strings.TrimPrefix(s.env[at], "HOME="), ".claude.json"), fmt.Sprintf(
			`{"projects": {%q: {"hasTrustDialogAccepted": true, "mcpServers": {"lab": {"command": "sh", "args": ["-c", "touch %s"]}}}}}`, s.dir, started))
		return s, started
	}
	const said = "claude goes by the path of the checkout, so this does not count in the clone: the MCP servers lab (mcp_config in a role names such)"
	s, started := serving()
	commitAll(t, s.site)
	s.run(exitComplete)
	if !exists(started) || strings.Contains(s.read("output"), said) {
		t.Errorf("in the checkout it was started: %t\n%s", exists(started), s.read("output"))
	}
	s, started = serving()
	inClone(t, s.site)
	s.plays(modeltest.Structured(reply("ok", "Did it.")))
	s.run(exitComplete)
	if s.says(said); exists(started) {
		t.Error("in the clone the server was started")
	}
}

// TestRealCloneTrust: settings of a project that codex reads because its user trusts the folder by its path count in the checkout, and not in
// a clone, which is said once.
func TestRealCloneTrust(t *testing.T) {
	t.Parallel()
	trusting := func() *realSite {
		s := newReal(t, "codex", 1)
		s.write(".codex/config.toml", "model = \"of-the-project\"\n")
		at := slices.IndexFunc(s.env, func(v string) bool { return strings.HasPrefix(v, "CODEX_HOME=") })
		config := filepath.Join(strings.TrimPrefix(s.env[at], "CODEX_HOME="), "config.toml")
		text, err := os.ReadFile(config)
		must(t, err)
		testfile.Write(t, config, string(text)+fmt.Sprintf("\n[projects.%q]\ntrust_level = \"trusted\"\n", s.dir))
		return s
	}
	const said = "codex goes by the path of the checkout, so this does not count in the clone: your trust, so that .codex/config.toml counts"
	s := trusting()
	commitAll(t, s.site)
	s.run(exitComplete)
	if model := s.model.Requests()[0].Model; model != "of-the-project" || strings.Contains(s.read("output"), said) {
		t.Errorf("in the checkout the model is %q\n%s", model, s.read("output"))
	}
	s = trusting()
	inClone(t, s.site)
	s.plays(modeltest.Structured(reply("ok", "Did it.")))
	s.run(exitComplete)
	s.says(said)
	if model := s.model.Requests()[0].Model; model == "of-the-project" {
		t.Errorf("in the clone the model is %q", model)
	}
}

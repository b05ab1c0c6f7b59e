//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent/modeltest"
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

//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent/modeltest"
)

// realSite is a site whose agents are real programs that speak to a fake model.
type realSite struct {
	*site
	name  string // of the agent
	model *modeltest.Server

	header string // lines of the header of a role file that has the agent play the role
}

// reals are the agents; those of the second half are slow, and only used by make
// test-agents: see modeltest.Find.
var reals = [...]string{"claude", "codex", "gemini", "opencode", "acp"}

// exact says whether the agent's tool asks the model for nothing beside its work,
// and tells each token of it.
func exact(name string) bool { return name == "claude" || name == "codex" }

// newReal makes a site where a board of n tasks is worked on by a real agent. Its home
// and its environment are new.
func newReal(t *testing.T, name string, n int) *realSite {
	t.Helper()
	program := name
	if name == "acp" {
		program = "gemini" // which speaks the protocol, too
	}
	path := modeltest.Find(t, program)
	s := &realSite{site: newSite(t, built(t, buildPlain), n), name: name, model: modeltest.Start(t)}
	s.patience = 3*time.Minute + lasts(0) // some need five seconds for a word
	s.env = append(s.model.Env(t, program), "KANBAN_RUN_GRACE=5s")
	for i, v := range s.env {
		if strings.HasPrefix(v, "PATH=") {
			s.env[i] = "PATH=" + filepath.Dir(path) + ":" + strings.TrimPrefix(v, "PATH=")
		}
	}
	s.args = []string{"--agent", name}
	s.write(".kanban-run.yaml", "env:\n  pass: [FAKE_API_KEY, GEMINI_API_KEY]\n")
	if name == "acp" {
		s.args, s.header = nil, "agent: acp\ncommand: [gemini, --acp]\n"
		for _, role := range []string{"Implementor", "Manager"} {
			s.write(".kanban-run/roles/"+strings.ToLower(role)+".md", "---\nname: "+role+"\n"+s.header+"---\nWork.\n")
		}
	}
	s.model.SetFallback(s.work)
	return s
}

// work is what the model does for an agent that got a task or is the Manager, and no other answer
// was set: it writes out/N.txt, or walks the list.
func (s *realSite) work(_ *modeltest.Request, said string) (modeltest.Script, bool) {
	switch task := taskOf(said); {
	case strings.LastIndex(said, `"done_task"`) > strings.LastIndex(said, `"task_file"`):
		return modeltest.Play(modeltest.Walk()), true
	case task != "":
		return modeltest.Play(s.wrote(task), modeltest.Structured(reply("ok", "Wrote it."))), true
	default:
		return modeltest.Script{}, false
	}
}

// taskOf is the name of the last task in a prompt, without folder and ending; "" where it has
// none. Prompts of roles have examples of input.
func taskOf(said string) string {
	const key = `"task_file":`
	at := strings.LastIndex(said, key)
	var path string
	if at < 0 || json.NewDecoder(strings.NewReader(said[at+len(key):])).Decode(&path) != nil {
		return ""
	}
	return strings.TrimSuffix(filepath.Base(path), ".md")
}

func (s *realSite) wrote(task string) modeltest.Step {
	return modeltest.WriteFile(s.path("out/"+task+".txt"), "written by "+s.name)
}

func reply(status, message string) map[string]string {
	return map[string]string{"status": status, "message": message}
}

// plays has the model do these steps for every task, and walk the list as the Manager.
func (s *realSite) plays(steps ...modeltest.Step) {
	s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
		if taskOf(said) != "" {
			return modeltest.Play(steps...), true
		}
		return s.work(q, said)
	})
}

// run runs the board to its end, and checks its exit code.
func (s *realSite) run(code int, args ...string) {
	s.t.Helper()
	s.write("output", "")
	if err := os.MkdirAll(s.path("out"), 0o755); err != nil {
		s.t.Fatal(err)
	}
	r := s.launch(s.command(nil, append(append(append([]string(nil), s.args...), args...), "kanban.yaml")...))
	if got := r.wait(); got != code {
		s.t.Fatalf("exit code %d, want %d\n%s\n%s", got, code, s.read("output"), s.asked())
	}
	s.nobodyIsLeft()
}

// asked is what the model was asked and how it answered, for a person.
func (s *realSite) asked() string {
	var b strings.Builder
	for _, q := range s.model.Requests() {
		fmt.Fprintf(&b, "%s %s turn %d: %s\n", q.Path, q.Model, q.Turn, q.Answer)
	}
	return b.String()
}

// says checks that what was printed has all the texts.
func (s *realSite) says(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.read("output"), text) {
			s.t.Errorf("the run does not say %q, but:\n%s", text, s.read("output"))
		}
	}
}

// ask runs another command of kanban-run and returns what it prints.
func (s *realSite) ask(args ...string) string {
	s.t.Helper()
	cmd := s.command(nil, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("kanban-run %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String()
}

// used is what the status says that the board came to.
type used struct {
	Input   int64  `json:"input_tokens"`
	Output  int64  `json:"output_tokens"`
	Cost    *int64 `json:"cost_microusd"`
	Session string `json:"-"`
}

func (s *realSite) used() used {
	s.t.Helper()
	last, _ := s.usedBy()
	return last
}

// usedBy is what the last run, and all runs, came to.
func (s *realSite) usedBy() (last, all used) {
	s.t.Helper()
	var doc struct {
		Boards []struct {
			Used   used `json:"used"`
			Totals struct {
				Used used `json:"used"`
			} `json:"totals"`
			Session string `json:"session"`
		} `json:"boards"`
	}
	text := s.ask("status", "--json", "kanban.yaml")
	if err := json.Unmarshal([]byte(text), &doc); err != nil || len(doc.Boards) != 1 {
		s.t.Fatalf("status: %v\n%s", err, text)
	}
	status := doc.Boards[0]
	status.Used.Session = status.Session
	return status.Used, status.Totals.Used
}

// onEach runs a test with each of the real agents, but for those that cannot do what it is about.
func onEach(t *testing.T, test func(t *testing.T, name string), but ...string) {
	t.Helper()
	if os.Getenv("KANBAN_TEST_REQUIRE_AGENTS") == "none" {
		t.Skip("make test-agents runs this with real agents")
	}
	for _, name := range reals {
		if !slices.Contains(but, name) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, name)
			})
		}
	}
}

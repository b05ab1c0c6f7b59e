//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// yard is a folder with a board that runs into trouble.
type yard struct {
	t      *testing.T
	binary string
	dir    string
}

// The agents of such boards.
var yardFiles = map[string]string{
	"kanban.yaml": "phase: execute\ncurrent: tasks/1.md\ntasks: [tasks/1.md]\n",
	"tasks/1.md":  "# Task\n\n## Work Log\n",
	".gitignore":  "given\n",
	"work.sh":     "IFS= read -r in || :\nprintf '%s\\n' \"$in\" >> given\necho '{\"status\":\"ok\",\"message\":\"looked\"}'\n",
	"bad.sh":      "IFS= read -r in || :\nprintf '%s\\n' \"$in\" >> given\necho no JSON\n",
	"toggle.sh": `read -r in || :
board= reviews=
while IFS= read -r line; do
  case $line in sub_phase*) reviews=yes ;; *) board="$board$line
" ;; esac
done <kanban.yaml
[ "$reviews" ] || board="sub_phase: review
$board"
printf %s "$board" >new
mv new kanban.yaml
echo '{"status":"ok","message":"again","next_task":"tasks/1.md","tasks":["tasks/1.md"]}'
`,
	".kanban-run/roles/Senior.md": "---\nname: Senior\ncommand: [sh, work.sh]\n---\n",
}

func newYard(t *testing.T, binary string) yard {
	t.Helper()
	y := yard{t, binary, t.TempDir()}
	for name, text := range yardFiles {
		path := filepath.Join(y.dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return y
}

func (y yard) git(args ...string) {
	y.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=n@example.com"}, args...)...)
	cmd.Dir = y.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		y.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// run runs the program, with a place to be killed at.
func (y yard) run(failpoint string, args ...string) (out string, code int) {
	y.t.Helper()
	cmd := exec.Command(y.binary, args...)
	cmd.Dir = y.dir
	cmd.Env = append(os.Environ(), "KANBAN_TEST_FAILPOINT="+failpoint)
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		y.t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

func (y yard) read(name string) string {
	y.t.Helper()
	text, err := os.ReadFile(filepath.Join(y.dir, name))
	must(y.t, err)
	return string(text)
}

// killed kills a run each time that it reaches a place, lets the next one go on,
// and has the end looked at.
func killed(t *testing.T, scene func(y yard), args []string, look func(y yard, out string, code int)) {
	binary := built(t, buildFailpoints)
	for at, name := range []string{"intent-durable", "agent-gone", "reply-noted", "board-intent", "run-end"} {
		for i, victim := range []string{"self", "both"} {
			if !inSample(t, at+i, 2) {
				continue
			}
			t.Run(name+"/"+victim, func(t *testing.T) {
				t.Parallel()
				for n := 1; n <= mostOccurrences; n++ {
					y := newYard(t, binary)
					scene(y)
					_, code := y.run(fmt.Sprintf("%s@%d=%s", name, n, victim), args...)
					wasKilled := code == 137 || code == -1
					out, code := y.run("", args...)
					look(y, out, code)
					if said, code := y.run("", "log", "--verify", "kanban.yaml"); code != 0 || !strings.Contains(said, "sound") {
						t.Errorf("%s, time %d: %s", name, n, said)
					}
					if !wasKilled || !exhaustive() {
						return
					}
				}
			})
		}
	}
}

// TestLoopOutlivesEveryKill: a loop is found once, its Manager is told, and the task rests,
// whenever the run is killed.
func TestLoopOutlivesEveryKill(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	args := []string{"--quiet", "--exec", "sh work.sh", "--exec", "Manager=sh toggle.sh", "kanban.yaml"}
	scene := func(y yard) {
		y.git("init", "-q")
		y.git("add", "-A")
		y.git("commit", "-q", "-m", "begin")
	}
	killed(t, scene, args, func(y yard, out string, code int) {
		journal := y.read(journalFile)
		if code != exitNeedsPerson || !strings.Contains(out, "the Manager was told, and names the task again") || strings.Count(journal, `"type":"LOOP_SUSPECTED"`) != 1 ||
			!strings.Contains(journal, `"anomaly_type":"loop_suspected"`) {
			y.t.Errorf("exit code %d, %s\n%s", code, out, journal)
		}
		if out, code := y.run("", args...); code != exitNeedsPerson || !strings.Contains(out, "(0 steps, exit code 3)") {
			y.t.Errorf("the next run: exit code %d, %s", code, out)
		}
	})
}

// TestDecisionsScopeViolation: seed 002, "Bounded DECISIONS Contribution Rule", post-check: where
// a person has moved an entry into a section of theirs before the run looks at it again, exactly
// that entry is taken out, the Lead is told, and what people wrote stays byte for byte.
func TestDecisionsScopeViolation(t *testing.T) {
	t.Parallel()
	binary := built(t, buildFailpoints)
	const people = "# Decisions\n\n## Feature Definition of Done\n\n## Risks & Mitigations\n\n## Architectural Decisions\n- use yaml\n"
	const made = "\n## Operational Escalations\n\n## Orchestration Notes\n"
	for n := 1; n <= mostOccurrences; n++ { // the one that puts the entry in place is among them
		y := newYard(t, binary)
		minutes := filepath.Join(y.dir, "DECISIONS.md")
		must(t, os.WriteFile(minutes, []byte(people), 0o644))
		must(t, os.WriteFile(filepath.Join(y.dir, "work.sh"), []byte("cat > /dev/null\necho '{\"status\":\"escalate\",\"message\":\"the API is wrong\"}'\n"), 0o644))
		held := filepath.Join(t.TempDir(), "held")
		moved := make(chan string, 1)
		ended := make(chan struct{})
		go func() {
			defer close(moved)
			if !appears(held, ended) {
				return
			}
			defer os.Remove(held)
			text, err := os.ReadFile(minutes)
			at := strings.Index(string(text), "- 2")
			if err != nil || at < 0 {
				return
			}
			entry := string(text[at : at+strings.Index(string(text[at:]), "\n")+1])
			temp := filepath.Join(y.dir, "person.md")
			if os.WriteFile(temp, []byte(people+entry+made), 0o644) == nil && os.Rename(temp, minutes) == nil {
				moved <- entry
			}
		}()
		out, code := y.run(fmt.Sprintf("renamed@%d=hold:%s", n, held), "--exec", "sh work.sh", "--exec", "Manager=sh toggle.sh", "--max-steps", "1", "kanban.yaml")
		close(ended)
		if code != exitLimit {
			t.Fatalf("exit code %d, %s", code, out)
		}
		entry, ok := <-moved
		if journal := y.read(journalFile); !strings.Contains(journal, `"type":"DECISIONS_SCOPE_VIOLATION"`) {
			continue
		}
		if got := y.read("DECISIONS.md"); !ok || strings.Contains(got, entry) || !strings.HasPrefix(got, people+"\n## Operational Escalations\n") {
			t.Errorf("%q was moved; the file is now\n%s", entry, got)
		}
		if !strings.Contains(out, "stood outside of ## Operational Escalations, and is taken out") {
			t.Errorf("nothing was told: %s", out)
		}
		if said, _ := y.run("", "report", "--supervisor", "kanban.yaml"); !strings.Contains(said, "- CRITICAL DECISIONS_SCOPE_VIOLATION task #kanban.yaml") {
			t.Error(said)
		}
		return
	}
	t.Error("no entry was found outside of its section")
}

// appears waits until there is a file at path, or ended is closed, and returns whether there is one.
func appears(path string, ended <-chan struct{}) bool {
	for {
		if _, err := os.Lstat(path); err == nil {
			return true
		}
		select {
		case <-ended:
			return false
		case <-time.After(time.Millisecond):
		}
	}
}

// TestReassignmentOutlivesEveryKill: the agent that takes over gets the same bytes,
// whenever the run is killed.
func TestReassignmentOutlivesEveryKill(t *testing.T) {
	t.Parallel()
	args := []string{"--quiet", "--max-retries", "1", "--exec", "Implementor=sh bad.sh", "--agent", "Manager=walk", "kanban.yaml"}
	scene := func(y yard) {
		must(y.t, os.WriteFile(filepath.Join(y.dir, ".kanban-run.yaml"), []byte("reassign: {Implementor: [Senior]}\n"), 0o644))
	}
	killed(t, scene, args, func(y yard, out string, code int) {
		inputs := strings.Split(strings.TrimSpace(y.read("given")), "\n")
		for _, in := range inputs {
			if in != inputs[0] {
				y.t.Errorf("the inputs differ: %s and %s", inputs[0], in)
			}
		}
		if journal := y.read(journalFile); code != exitComplete || len(inputs) < 3 || strings.Count(journal, `"type":"REASSIGNED"`) != 1 {
			y.t.Errorf("exit code %d, %s, %d inputs\n%s", code, out, len(inputs), journal)
		}
	})
}

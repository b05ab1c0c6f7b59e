//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckpointOutlivesEveryKill: killed before any call of git, a board goes on in the same
// clone, or in another, and no call whose checkpoint was at the remote is made again. All that was
// done is in the last checkpoint.
func TestCheckpointOutlivesEveryKill(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	binary := built(t, buildFailpoints)
	for i, c := range []struct {
		victim    string
		elsewhere bool
	}{{"self", false}, {"both", true}, {"both", false}, {"self", true}} {
		// A sample: other calls in each case, and with each seed.
		first, step := 1+(int(sampleSeed())+13*i)%54, 54
		if exhaustive() { // each call in two cases, which differ in both
			first, step = 1+i/2, 2
		}
		t.Run(fmt.Sprintf("%s, elsewhere %t", c.victim, c.elsewhere), func(t *testing.T) {
			t.Parallel()
			t.Logf("KANBAN_TEST_SEED=%d", sampleSeed())
			n := first
			for killCheckpoint(t, binary, n, c.victim, c.elsewhere) {
				n += step
			}
			if n == first {
				t.Fatal("git was never called")
			}
			t.Logf("killed before %d calls", (n-first)/step)
		})
	}
}

// killCheckpoint kills a run before the n-th call of git. It says whether there was one.
func killCheckpoint(t *testing.T, binary string, n int, victim string, elsewhere bool) bool {
	t.Helper()
	y := yard{t, binary, t.TempDir()}
	for name, text := range map[string]string{
		"kanban.yaml": "current: tasks/1.md\ntasks: [tasks/1.md, tasks/2.md]\n", "tasks/1.md": "One.\n", "tasks/2.md": "Two.\n",
		"work.sh": "read -r input\ntask=$(printf %s \"$input\" | sed -n 's#.*tasks/\\([0-9]\\).*#\\1#p')\necho \"$task\" >> done\necho '{\"status\":\"ok\",\"message\":\"did it\"}'\n",
	} {
		must(t, os.MkdirAll(filepath.Join(y.dir, "repo", filepath.Dir(name)), 0o755))
		must(t, os.WriteFile(filepath.Join(y.dir, "repo", name), []byte(text), 0o644))
	}
	y.git("init", "-q", "-b", "main", "--bare", "far")
	y.dir += "/repo"
	y.git("init", "-q", "-b", "main")
	y.git("add", "-A")
	y.git("commit", "-q", "-m", "begin")
	y.git("remote", "add", "origin", "../far")
	y.git("push", "-q", "origin", "main")
	args := []string{"--quiet", "--checkpoint", "git", "--exec", "sh work.sh", "--agent", "Manager=walk", "kanban.yaml"}
	_, code := y.run(fmt.Sprintf("git-call@%d=%s", n, victim), args...)
	if code == 0 {
		return false
	}
	known := lookUp(y, "../far", "board/kanban.yaml:done")
	if elsewhere {
		y.git("clone", "-q", "../far", "../other")
		y.dir = filepath.Join(filepath.Dir(y.dir), "other")
	}
	if out, code := y.run("", args...); code != 0 {
		t.Errorf("killed at %d: the next run ends with %d: %s", n, code, out)
		return true
	}
	was, done := strings.Fields(known), strings.Fields(y.read("done"))
	for _, task := range []string{"1", "2"} {
		before, after := strings.Count(strings.Join(was, " "), task), strings.Count(strings.Join(done, " "), task)
		if after == 0 || before > 0 && accepted(y, task) != 1 {
			t.Errorf("killed at %d: task %s was done %d times, and accepted %d times; %d of them were at the remote", n, task, after, accepted(y, task), before)
		}
	}
	for _, name := range []string{"done", "kanban.yaml"} {
		if got := lookUp(y, "../far", "board/kanban.yaml:"+name); got != y.read(name) {
			t.Errorf("killed at %d: the last checkpoint has %s as %q, and it is %q", n, name, got, y.read(name))
		}
	}
	if said, code := y.run("", "log", "--verify", "kanban.yaml"); code != 0 || !strings.Contains(said, "sound") {
		t.Errorf("killed at %d: %s", n, said)
	}
	return true
}

// accepted is how often the work on a task was accepted.
func accepted(y yard, task string) (n int) {
	for line := range strings.Lines(y.read(journalFile)) {
		if strings.Contains(line, `"type":"REPLY_ACCEPTED"`) && strings.Contains(line, `"call":"task","task":"tasks/`+task+`.md"`) {
			n++
		}
	}
	return n
}

// lookUp is a file in a bare repository; "": it is not there.
func lookUp(y yard, repository, name string) string {
	cmd := exec.Command("git", "--git-dir", repository, "show", name)
	cmd.Dir = y.dir
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// inGit makes the folder a repository, and has its board keep checkpoints there.
func inGit(t *testing.T, s *site) {
	t.Helper()
	commitAll(t, s)
	s.args = append(s.args, "--checkpoint", "git")
}

// commitAll makes the site a repository whose first commit has all of its files.
func commitAll(t *testing.T, s *site) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=n", "-c", "user.email=n@example.com", "commit", "-q", "-m", "begin"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = s.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A worker that is asked to end stops its boards at once, resumable, and another one goes on
// without waiting for a lease.
func TestDrain(t *testing.T) {
	l := newLab(t, 1)
	first := l.startWorker("first", nil, l.implementors())
	l.mustSubmit(l.remote, board(1))
	l.until(time.Minute, "a step is finished", func() bool { return l.isAt(board(1), 1) })
	l.startWorker("second", nil, l.implementors())
	l.until(time.Minute, "the second worker waits", func() bool { return strings.Contains(l.read("second.log"), "waits for boards") })
	began := time.Now()
	if took := first.stop(); took > 4*time.Second {
		t.Errorf("the worker took %v to end", took)
	} else {
		t.Logf("it ended after %v", took.Round(10*time.Millisecond))
	}
	l.resumed(began)
	if out, code := l.submit("--wait", l.remote, board(1)); code != 0 {
		t.Errorf("exit %d: %s", code, out)
	}
	l.wantWhole(board(1))
	if log := l.read("first.log"); !strings.Contains(log, "outcome=interrupted") || !strings.Contains(strings.Join(l.subjects(board(1)), "\n"), "the run is interrupted") {
		t.Errorf("the run was not interrupted: %s", log)
	}
	if clones, _ := filepath.Glob(filepath.Join(l.dir, "first", "project*")); len(clones) > 0 {
		t.Errorf("clones are left, whose checkpoints are all at the remote: %q", clones)
	}
}

// stub has all agents be stubs that follow rules.
func (l *lab) stub(rules string) []string {
	l.Helper()
	l.write("stub.yaml", rules)
	return []string{"--agent=stub", "--stub=" + filepath.Join(l.dir, "stub.yaml")}
}

// A board that needs a person waits for the decision, which a worker passes on. submit --wait ends
// with kanban-run's exit code.
func TestPerson(t *testing.T) {
	l := newLab(t, 1)
	l.startWorker("first", nil, l.stub("- {role: Manager, task: 2.md, next_task: null, status: blocked, message: \"which\\e[2J colour?\"}\n"))
	out, code := l.submit("--wait", l.remote, board(1))
	if code != 3 || !strings.Contains(out, "needs_person") || !strings.Contains(out, "ack") || strings.Contains(out, "\x1b") {
		t.Errorf("exit %d: %s", code, out)
	}
	if out, err := l.ask("workflow", "list", "--query", "KanbanOutcome = 'needs_person' AND KanbanStep = 2"); err != nil || !strings.Contains(out, board(1)) {
		t.Errorf("the server does not list it: %v %s", err, out)
	}
	out, err := l.ask("workflow", "metadata", "--workflow-id", strings.TrimSuffix(l.remote, ".git")+"//"+board(1))
	if err != nil || !strings.Contains(out, "needs_person") || !strings.Contains(out, "--ack=") {
		t.Errorf("the server shows no details: %v: %s", err, out)
	}
	if out, code := l.submit("--ack=override", l.remote, board(1)); code != 0 || !strings.Contains(out, "gets the decision") {
		t.Errorf("exit %d: %s", code, out)
	}
	l.until(time.Minute, "a word that does not fit is refused by kanban-run", func() bool {
		out, _ := l.submit("--wait", l.remote, board(1))
		return strings.Contains(out, "was not taken")
	})
	if out, code := l.submit("--ack=accept", "-m", "it is fine", "--wait", l.remote, board(1)); code != 0 {
		t.Errorf("exit %d: %s", code, out)
	}
	log := l.git(l.dir, "--git-dir", l.remote, "show", "board/"+board(1)+":boards/b01/.kanban-run/runs/kanban.yaml/journal.jsonl")
	if !strings.Contains(log, "it is fine") {
		t.Error("the journal does not have the note")
	}
	if out, code := l.submit("--ack=retry", l.remote, board(1)); code != 1 || !strings.Contains(out, "waits for no decision") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// A usage limit is waited for, and the board goes on after it.
func TestUsageLimit(t *testing.T) {
	l := newLab(t, 1)
	until := time.Now().Add(20 * time.Second)
	l.startWorker("first", nil, l.stub("- {role: Implementor, task: 2.md, tell: {later: limit reached, until: "+until.UTC().Format(time.RFC3339)+"}}\n"))
	l.mustSubmit(l.remote, board(1))
	l.until(time.Minute, "the server lists it as waiting", func() bool {
		out, _ := l.ask("workflow", "list", "--query", "KanbanOutcome = 'later'")
		return strings.Contains(out, board(1))
	})
	l.stub("[]\n")
	if out, code := l.submit("--wait", l.remote, board(1)); code != 0 || time.Now().Before(until) {
		t.Errorf("exit %d at %v: %s", code, time.Now(), out)
	}
	l.wantWhole(board(1))
}

// A workflow that is cancelled has its run end; handed in again, the board goes on where it was.
func TestCancelled(t *testing.T) {
	l := newLab(t, 1)
	l.startWorker("first", nil, l.implementors())
	l.mustSubmit(l.remote, board(1))
	l.until(time.Minute, "a step is finished", func() bool { return l.isAt(board(1), 1) })
	id := strings.TrimSuffix(l.remote, ".git") + "//" + board(1)
	if out, err := l.ask("workflow", "cancel", "--workflow-id", id); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, code := l.submit("--wait", l.remote, board(1))
	if code != 143 || !strings.Contains(out, "stopped") {
		t.Errorf("exit %d: %s", code, out)
	}
	if out, _ := l.ask("workflow", "describe", "--workflow-id", id); !strings.Contains(out, "CANCELED") {
		t.Errorf("the server has it as %s", out)
	}
	l.mustSubmit(l.remote, board(1))
	l.until(time.Minute, "the board goes on", func() bool { return l.isAt(board(1), 3) })
	if out, err := l.ask("workflow", "terminate", "--workflow-id", id); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l.until(time.Minute, "the run is ended, too", func() bool { return strings.Count(l.read("first.log"), "msg=ended") == 2 })
	if out, code := l.submit("--wait", l.remote, board(1)); code != 0 {
		t.Errorf("exit %d: %s", code, out)
	}
	l.wantWhole(board(1))
}

// A worker runs boards of the repositories that it was started for, and no others,
// whatever a workflow asks for.
func TestRefused(t *testing.T) {
	l := newLab(t, 1)
	l.startWorker("first", nil, l.implementors())
	other := filepath.Join(l.dir, "other", "project.git")
	for _, job := range []map[string]any{
		{"repository": other, "board": board(1)},
		{"repository": l.remote + "/../../other/project.git", "board": board(1)},
		{"repository": "file://" + filepath.Dir(l.remote) + "/%2e%2e/other/project.git", "board": board(1)},
		{"repository": l.remote, "board": "../../etc/passwd"},
		{"repository": "ext::sh -c touch% " + l.dir + "/pwned", "board": board(1)},
		{"repository": "--upload-pack=touch " + l.dir + "/pwned", "board": board(1)},
	} {
		input, _ := json.Marshal(job)
		out, err := l.ask("workflow", "execute", "--type", "Board", "--task-queue", "boards", "--input", string(input), "--workflow-id", "hostile")
		if err == nil || !strings.Contains(out, "may not run boards of") && !strings.Contains(out, "refused") {
			t.Errorf("%s: %v: %s", input, err, out)
		}
	}
	if out, code := l.submit("--wait", other, board(1)); code != 2 || !strings.Contains(out, "may not run boards of") {
		t.Errorf("exit %d: %s", code, out)
	}
	if _, err := os.Stat(filepath.Join(l.dir, "pwned")); err == nil {
		t.Error("an address has started a program")
	}
	if clones, _ := filepath.Glob(filepath.Join(l.dir, "first", "*-*")); len(clones) > 0 {
		t.Errorf("it cloned %q", clones)
	}
}

// A board goes to the workers of its queue.
func TestQueue(t *testing.T) {
	l := newLab(t, 1)
	l.startWorker("plain", nil, l.implementors())
	out, code := l.submit("--queue", "gpu", l.remote, board(1))
	if code != 0 || !strings.Contains(out, "no worker waits at the queue gpu") {
		t.Errorf("exit %d: %s", code, out)
	}
	l.startWorker("large", []string{"--queue", "gpu"}, l.implementors())
	if out, code := l.submit("--wait", l.remote, board(1)); code != 0 || !strings.Contains(out, "at work already") {
		t.Errorf("exit %d: %s", code, out)
	}
	l.wantWhole(board(1))
	if log := l.read("plain.log"); strings.Contains(log, "msg=run") {
		t.Errorf("a worker of another queue ran it: %s", log)
	}
}

// A board whose checkpoints the repository does not have is not complete: the worker
// waits until it can be reached.
func TestUnpushed(t *testing.T) {
	l := newLab(t, 1)
	l.startWorker("first", nil, l.implementors())
	l.mustSubmit(l.remote, board(1))
	l.until(time.Minute, "a step is finished", func() bool { return l.isAt(board(1), 2) })
	away := l.remote + ".away"
	if err := os.Rename(l.remote, away); err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSuffix(l.remote, ".git") + "//" + board(1)
	l.until(2*time.Minute, "the heartbeat says what is waited for", func() bool {
		out, _ := l.ask("workflow", "describe", "--workflow-id", id, "--output", "json")
		return strings.Contains(out, "waits to bring its checkpoints to the repository")
	})
	if err := os.Rename(away, l.remote); err != nil {
		t.Fatal(err)
	}
	if out, code := l.submit("--wait", l.remote, board(1)); code != 0 {
		t.Errorf("exit %d: %s", code, out)
	}
	l.wantWhole(board(1))
}

// A clone that others have left behind is set aside, and a repository that has new commits
// disturbs nothing: the board goes on with the files that it knows.
func TestLeftBehind(t *testing.T) {
	l := newLab(t, 1)
	first := l.startWorker("first", nil, l.implementors())
	l.mustSubmit(l.remote, board(1))
	l.until(time.Minute, "a step is finished", func() bool { return l.isAt(board(1), 1) })
	first.lose()
	l.write("source/README", "new")
	l.addBoard(9, 1)
	second := l.startWorker("second", nil, l.implementors())
	l.until(time.Minute, "the second worker goes on", func() bool { return l.isAt(board(1), 3) })
	second.stop()
	l.startWorker("first", nil, l.implementors())
	if out, code := l.submit("--wait", l.remote, board(1)); code != 0 {
		t.Errorf("exit %d: %s", code, out)
	}
	l.wantWhole(board(1))
	if aside, _ := filepath.Glob(filepath.Join(l.dir, "first", "aside", "project*")); len(aside) != 1 {
		t.Errorf("set aside: %q", aside)
	}
}

// Neither agents nor the server's history get what is not theirs.
func TestSecrets(t *testing.T) {
	l := newLab(t, 1)
	l.write("env.sh", "cat >/dev/null; env >>"+l.dir+"/env; printf '{\"status\":\"blocked\",\"message\":\"the token is %s\"}\\n' "+"hunter2hunter2\n")
	c := l.command("worker", "--repository", l.remote, "--kanban-run", l.program, "--work", "first", "--", "--agent=stub", "--strict", "--exec=Implementor=sh "+l.dir+"/env.sh")
	c.Env = append(c.Env, "TEMPORAL_FREE_WORD=anything", "DEPLOY_TOKEN=hunter2hunter2")
	l.startMachine("first", c)
	if out, code := l.submit("--wait", l.remote, board(1)); code != 3 || strings.Contains(out, "hunter2") {
		t.Errorf("exit %d: %s", code, out)
	}
	if env := l.read("env"); env == "" || strings.Contains(env, "TEMPORAL_") || strings.Contains(env, "hunter2") {
		t.Errorf("agents got %s", env)
	}
	id := strings.TrimSuffix(l.remote, ".git") + "//" + board(1)
	for _, verb := range []string{"show", "describe"} {
		if out, err := l.ask("workflow", verb, "--workflow-id", id, "--output", "json"); err != nil || !strings.Contains(out, `"incomplete"`) && verb == "describe" || strings.Contains(out, "hunter2") {
			t.Errorf("the server knows %v %s", err, out)
		}
	}
}

// Work that cannot be a checkpoint, because a file holds a secret, stays on the worker,
// and the board says where.
func TestUnsaved(t *testing.T) {
	l := newLab(t, 1)
	l.write("leak.sh", "cat >/dev/null; echo hunter2hunter2 >leaked.txt; echo '{\"status\":\"ok\",\"message\":\"m\"}'\n")
	c := l.command("worker", "--repository", l.remote, "--kanban-run", l.program, "--work", "first", "--", "--agent=stub", "--exec=Implementor=sh "+l.dir+"/leak.sh")
	c.Env = append(c.Env, "DEPLOY_TOKEN=hunter2hunter2")
	l.startMachine("first", c)
	out, code := l.submit("--wait", l.remote, board(1))
	if code != 3 || !strings.Contains(out, "leaked.txt holds a known secret") || !strings.Contains(out, "waits on the worker") {
		t.Errorf("exit %d: %s", code, out)
	}
	if left, _ := filepath.Glob(filepath.Join(l.dir, "first", "project*", "boards", "b01", "leaked.txt")); len(left) != 1 || !strings.Contains(out, filepath.Join(l.dir, "first", "project")) {
		t.Errorf("the work is gone: %q: %s", left, out)
	}
}

// A kanban-run that answers nothing is ended, and its board goes on elsewhere.
func TestHangs(t *testing.T) {
	l := newLab(t, 1)
	l.write("hangs", "")
	l.write("kanban-run", "#!/bin/sh\nif [ \"$1\" = status ] && [ -e "+l.dir+"/hangs ]; then exec sleep 1000; fi\nexec "+l.program+" \"$@\"\n")
	if err := os.Chmod(filepath.Join(l.dir, "kanban-run"), 0o755); err != nil {
		t.Fatal(err)
	}
	l.write("work.sh", strings.ReplaceAll(strings.Replace(agent, "sleep 0.5", "sleep 2", 1), "LAB", l.dir))
	program := l.program
	l.program = filepath.Join(l.dir, "kanban-run")
	l.startWorker("first", nil, l.implementors())
	l.mustSubmit(l.remote, board(1))
	l.until(time.Minute, "the run is ended", func() bool {
		log := l.read("first.log")
		return strings.Contains(log, "kanban-run does not answer") && strings.Contains(log, "msg=ended")
	})
	if err := os.Remove(filepath.Join(l.dir, "hangs")); err != nil {
		t.Fatal(err)
	}
	l.program = program
	l.until(time.Minute, "the board goes on", func() bool { return l.isAt(board(1), 4) })
	l.wantNoRepeats()
}

func (l *lab) wantNoRepeats() {
	l.Helper()
	if repeated := l.read("repeated"); repeated != "" {
		l.Errorf("finished calls were repeated: %s", repeated)
	}
}

// A wrong use says what is wrong, and what to do; exit code 2.
func TestUse(t *testing.T) {
	l := newLab(t, 1)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 2, "usage:"},
		{[]string{"help"}, 0, "submit --ack=WORD"},
		{[]string{"version"}, 0, "dev"},
		{[]string{"serve"}, 2, "hint: worker or submit"},
		{[]string{"worker"}, 2, "hint: --repository ADDRESS"},
		{[]string{"worker", "--help"}, 0, "--lease"},
		{[]string{"worker", "-r", l.remote, "-j", "0"}, 2, "--jobs has to be 1 at least"},
		{[]string{"worker", "-r", l.remote, "--lease", "1s"}, 2, "the default is 45s"},
		{[]string{"worker", "-r", l.remote, "--kanban-run", "/none"}, 2, "install kanban-run"},
		{[]string{"worker", "-r", l.remote, "--kanban-run", l.program, "--", "--checkpoint=other"}, 2, "the worker sets --checkpoint itself"},
		{[]string{"worker", "-r", l.remote, "--exec", "x"}, 2, "unknown flag: --exec"},
		{[]string{"submit", l.remote}, 2, "a repository and a board are needed"},
		{[]string{"submit", "--ack", l.remote, "retry"}, 2, "a repository and a board are needed"},
		{[]string{"submit", "--ack=maybe", l.remote, board(1)}, 2, "hint: --ack=retry, --ack=accept"},
		{[]string{"submit", "https://u:p4ssw0rd@host/x", board(1)}, 2, "credential helper"},
		{[]string{"submit", "--ack=accept", l.remote, board(1)}, 1, "it was never handed in"},
	} {
		cmd := l.command(c.args...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.want) || strings.Contains(string(out), "p4ssw0rd") {
			t.Errorf("%q: exit %d: %s", c.args, code, out)
		}
	}
	cmd := l.command("submit", l.remote, board(1))
	cmd.Env = append(cmd.Env, "TEMPORAL_ADDRESS=127.0.0.1:1")
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "hint: TEMPORAL_ADDRESS names another one") {
		t.Errorf("without a server: %s", out)
	}
	l.startWorker("first", nil, l.implementors())
	l.until(time.Minute, "the worker has its folder", func() bool { _, err := os.Stat(filepath.Join(l.dir, "first", "lock")); return err == nil })
	cmd = l.command("worker", "-r", l.remote, "--kanban-run", l.program, "--work", "first")
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "another worker keeps its clones in") {
		t.Errorf("two workers share a folder: %s", out)
	}
}

// A board that another runner goes on with, outside of the fleet, is not fought over: one push
// wins, and the rest is kept.
func TestOtherRunner(t *testing.T) {
	l := newLab(t, 1)
	first := l.startWorker("first", nil, l.implementors())
	l.mustSubmit(l.remote, board(1))
	l.until(time.Minute, "a step is finished", func() bool { return l.isAt(board(1), 1) })
	for _, pid := range processesIn(filepath.Join(l.dir, "first", "project")) { // the runner does not notice until it is over
		_ = syscall.Kill(pid, syscall.SIGSTOP)
	}
	_ = first.cmd.Process.Signal(syscall.SIGSTOP)
	l.git(l.dir, "clone", "--quiet", l.remote, "mine")
	c := l.command()
	c.Path, c.Args, c.Dir = l.program, append([]string{l.program, "--checkpoint=git", "--max-steps=2"}, append(l.implementors(), board(1))...), filepath.Join(l.dir, "mine")
	c.Env = slices.DeleteFunc(c.Env, func(e string) bool { return strings.HasPrefix(e, asProgram) })
	if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != 7 {
		t.Fatalf("exit %d: %s", c.ProcessState.ExitCode(), out)
	}
	for _, pid := range processesIn(filepath.Join(l.dir, "first", "project")) {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	_ = first.cmd.Process.Signal(syscall.SIGCONT)
	if out, code := l.submit("--wait", l.remote, board(1)); code != 0 {
		t.Errorf("exit %d: %s", code, out)
	}
	var got []string
	for _, s := range l.subjects(board(1)) {
		if strings.Contains(s, "Implementor ok") && slices.Contains(got, s) {
			t.Errorf("%s is there twice", s)
		}
		got = append(got, s)
	}
}

// The README's first fleet runs as it stands, but for the agent: the lines for the worker and for
// submit, which the page of the project has, too.
func TestReadme(t *testing.T) {
	l := newLab(t, 2)
	var lines []string
	for _, page := range []string{"README.md", "../../docs/beyond-one-machine.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(line, " #")
			if line = strings.TrimSpace(line); strings.Contains(line, "$HOME/project") {
				found = append(found, line)
			}
		}
		if len(found) != 2 || lines != nil && !slices.Equal(found, lines) {
			t.Fatalf("%s has %q", page, found)
		}
		lines = found
	}
	l.git(l.dir, "clone", "--quiet", l.remote, "project")
	program, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	l.write("bin/kanban-run-temporal", "#!/bin/sh\n"+asProgram+"=1 exec "+program+" \"$@\"\n")
	l.write("bin/kanban-run", "#!/bin/sh\nexec "+l.program+" \"$@\"\n")
	shell := func(line string) *exec.Cmd {
		c := exec.Command("sh", "-c", "exec "+line)
		c.Dir = l.dir
		c.Env = append(os.Environ(), "HOME="+l.dir, "PATH="+l.dir+"/bin:"+os.Getenv("PATH"), "TEMPORAL_ADDRESS="+l.address())
		return c
	}
	for _, name := range []string{"kanban-run", "kanban-run-temporal"} {
		if err := os.Chmod(filepath.Join(l.dir, "bin", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l.startMachine("first", shell(strings.Replace(lines[0], "--agent claude", "--agent stub", 1)))
	out, err := shell(lines[1]).CombinedOutput()
	if err != nil || strings.Count(string(out), "complete: the board is complete") != 2 {
		t.Errorf("%v: %s\n%s", err, out, l.logs())
	}
}

//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// FuzzNoSecretInAnyFileOrStream: whatever agents do with a secret that the runner knows,
// neither it nor one of its encodings is in a file of the run or in what any command prints.
// The runner knows one secret as a variable and one from its settings; agents have them from
// elsewhere, as from a file .env.
func FuzzNoSecretInAnyFileOrStream(f *testing.F) {
	for i, s := range leakSeeds() {
		if !inSample(f, i, 4) {
			continue
		}
		f.Add([]byte(s.variable), []byte(s.setting), s.script)
	}
	f.Fuzz(func(t *testing.T, variable, setting, script []byte) {
		t.Parallel()
		s := newLeakScript(variable, setting, script)
		if !s.usable() {
			t.Skip("a settings file cannot hold this secret")
		}
		l := newLeakRun(t, s)
		l.perform()
		var needles []leakNeedle
		for _, secret := range s.secrets {
			needles = append(needles, needlesOf(secret, !s.splits)...)
		}
		findLeaks(t, l.everything(), needles)
		if t.Failed() {
			t.Logf("DEPLOY_TOKEN = %q, setting %q, header %08b %08b\n%s", s.secrets[0].value, s.secrets[1].value, s.how, s.in, strings.Join(s.told, "\n"))
		}
	})
}

// leakRun is a board with its agent, and what was said about it.
type leakRun struct {
	*leakScript
	t      testing.TB
	binary string
	dir    string
	env    []string

	mu   sync.Mutex
	said []leakText // what the program said
}

func newLeakRun(t testing.TB, s *leakScript) *leakRun {
	t.Helper()
	l := &leakRun{leakScript: s, t: t, binary: built(t, buildPlain), dir: t.TempDir()}
	for _, folder := range []string{"work/tasks", "agent", "temp", "home", "seen"} {
		l.must(os.MkdirAll(filepath.Join(l.dir, folder), 0o755))
	}
	l.put("agent/agent.sh", s.shell.String())
	for name, text := range s.chunks {
		l.put("agent/"+name, text)
	}
	l.furnish(false)
	l.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(l.dir, "home"), "TMPDIR=" + filepath.Join(l.dir, "temp"),
		"DEPLOY_TOKEN=" + s.secrets[0].value}
	if s.how&leakJob == leakJob {
		l.put("home/summary", "")
		l.put("home/output", "")
		l.env = append(l.env, "GITHUB_ACTIONS=true", "GITHUB_WORKSPACE="+filepath.Join(l.dir, "work"),
			"GITHUB_STEP_SUMMARY="+filepath.Join(l.dir, "home", "summary"), "GITHUB_OUTPUT="+filepath.Join(l.dir, "home", "output"))
	}
	return l
}

// furnish writes what the user of the runner writes: with the secrets where the
// script has them, or mended.
func (l *leakRun) furnish(mended bool) {
	in := func(flag byte) bool { return l.has(flag) && !mended }
	one, two := l.secrets[0].value, l.secrets[1].value
	settings := l.settings()
	if in(leakInCommand) {
		settings["exec"] = fmt.Sprintf("%s --token='%s' '%s'", settings["exec"], shellBody(one), shellBody(two))
	}
	if in(leakInSettings) {
		settings["timeout"] = one
	}
	data, err := yaml.Marshal(settings)
	l.must(err)
	l.put("work/.kanban-run.yaml", string(data))
	board, role := leakBoard, "A cook."
	if in(leakOnBoard) {
		board += "note: " + yamlScalar(one) + "\nphase: " + yamlScalar(two) + "\n"
	}
	l.put("work/kanban.yaml", board)
	if in(leakInRole) {
		role = one + two
	}
	l.put("work/.kanban-run/roles/Cook.md", "---\nname: Cook\ndescription: "+yamlScalar(role)+"\n---\nCook.\n")
	for _, task := range []string{"1", "2", "3"} {
		l.put("work/tasks/"+task+".md", "---\nrole: Implementor\n---\n")
	}
}

func (l *leakRun) settings() map[string]any {
	settings := map[string]any{"exec": "sh " + filepath.Join(l.dir, "agent", "agent.sh"), "max_steps": 2, "max_retries": 1, "grace": "100ms",
		"keep_output": l.says(leakKeep), "redact": []string{l.secrets[1].value}}
	if l.has(leakNoRetries) {
		settings["max_retries"] = 0
	}
	if l.says(leakShort) {
		settings["timeout"] = "250ms"
	}
	if l.says(leakBound) {
		settings["max_output"] = leakMaxOutput
	}
	if l.says(leakOther) {
		settings["on_divergence"], settings["redact"] = "freeze", []string{}
		settings["env"] = map[string]any{"set": map[string]string{"DB_PASSWORD": l.secrets[1].value}}
	}
	return settings
}

// perform runs the board, asks about it all that can be asked, and runs it again after
// what stopped it was mended.
func (l *leakRun) perform() {
	run := [][]string{{"run", "kanban.yaml"}, {"run", "--json", "kanban.yaml"}, {"run", "-q", "kanban.yaml"}, {"run", "kanban.yaml"}}[l.how&leakJob]
	note := "seen"
	if l.has(leakInNote) {
		note = l.secrets[0].value + " and " + l.secrets[1].value
	}
	if l.says(leakOnce) && !l.says(leakDryRun) {
		instruction := "Look around."
		if l.has(leakInInstruction) {
			instruction += l.secrets[0].value + "\n" + l.secrets[1].value
		}
		l.command(instruction, "once", "--role", "Implementor", "-")
	}
	code := l.command("", run...)
	l.ask()
	l.lookAtBoard()
	l.furnish(true)
	if code == exitNeedsPerson || code == exitFrozen {
		l.command("", "ack", "-m", note, "kanban.yaml")
	}
	l.command("", run...)
	if l.says(leakDryRun) && !l.says(leakOnce) {
		l.command("", "run", "--dry-run", "kanban.yaml")
	}
	if !exists(filepath.Join(l.dir, "agent", fmt.Sprint("call-", l.numCalls))) { // the agent has more to say
		l.furnish(true)
		l.command("", run...)
	}
}

// lookAtBoard keeps the board when what it holds is the runner's doing.
func (l *leakRun) lookAtBoard() {
	if l.has(leakOnBoard) || exists(filepath.Join(l.dir, "agent", "wrote")) {
		return
	}
	data, err := os.ReadFile(filepath.Join(l.dir, "work", "kanban.yaml"))
	l.must(err)
	l.said = append(l.said, leakText{"kanban.yaml, which no agent wrote", data})
}

// ask asks what only reads, side by side.
func (l *leakRun) ask() {
	groups := []string{"status B", "status --json B", "log B/log --verify B", "log --json B", "check B",
		"config/roles/report B", "config --json/report --json B", "ack -n B/report --junit B"}
	var wg sync.WaitGroup
	for i, group := range groups {
		if l.unasked>>i&1 != 0 {
			continue
		}
		for question := range strings.SplitSeq(group, "/") {
			wg.Go(func() { l.command("", strings.Fields(strings.ReplaceAll(question, "B", "kanban.yaml"))...) })
		}
	}
	wg.Wait()
}

// command runs the program, keeps what it says and returns the exit code. It must end, and without
// a crash or an error of its own.
func (l *leakRun) command(stdin string, args ...string) int {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.binary, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = filepath.Join(l.dir, "work"), l.env, strings.NewReader(stdin), &out, &errs
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	name := strings.Join(args[:min(len(args), 2)], " ")
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		l.t.Errorf("%s: %v", name, err)
		return exitFailed
	}
	code := cmd.ProcessState.ExitCode()
	if code == exitFailed || code < 0 || bytes.Contains(errs.Bytes(), []byte("goroutine ")) {
		l.t.Errorf("%s: exit code %d\n%s", name, code, errs.Bytes()[max(0, errs.Len()-2000):])
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, leakText{"stdout of " + name, out.Bytes()}, leakText{"stderr of " + name, errs.Bytes()})
	return code
}

// everything is all that can be read after the run, but for the copies of the board and what the
// user and the agents wrote themselves: SECURITY.md, "What is not promised".
func (l *leakRun) everything() []leakText {
	exact := func(rel string) bool {
		rel = filepath.ToSlash(rel)
		switch {
		case rel == "kanban.yaml", rel == ".kanban-run.yaml", rel == "tasks", strings.HasSuffix(rel, "roles"):
			return true
		case slices.Contains(l.names, rel):
			return true
		}
		return (filepath.Base(rel) == "board.before" || filepath.Base(rel) == "board.after") && (l.has(leakOnBoard) || exists(filepath.Join(l.dir, "agent", "wrote")))
	}
	all := l.said
	for _, folder := range []string{"work", "temp", "home", "seen"} {
		all = append(all, textsUnder(l.t, filepath.Join(l.dir, folder), exact)...)
	}
	return all
}

func (l *leakRun) put(name, text string) {
	l.t.Helper()
	path := filepath.Join(l.dir, name)
	l.must(os.MkdirAll(filepath.Dir(path), 0o755))
	l.must(os.WriteFile(path, []byte(text), 0o644))
}

func (l *leakRun) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestTranscripts holds each word that the views print about boards as a night leaves them: a change of a
// word is seen in its commit. KANBAN_TEST_UPDATE=1 makes testdata/transcripts/NAME.txt anew.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	plays, files := readPlays(t)
	binary := built(t, buildPlain)
	for _, name := range slices.Sorted(maps.Keys(plays)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, name, plays[name], binary)
			p.writeSite(files)
			p.writeBoard("tasks/")
			p.run()
			p.look()
			p.compare()
		})
	}
}

// TestTranscriptOfANight holds what the views print about a night of 21 boards in one work tree: eight of one
// command, side by side, and the others beside and behind them. The supervisor of the board that has one gets
// to look.
func TestTranscriptOfANight(t *testing.T) {
	t.Parallel()
	plays, files := readPlays(t)
	night := newPlay(t, "night", "", built(t, buildPlain))
	night.writeSite(files)
	together := []string{"complete", "retried", "blocked", "escalated", "crashed", "reviewed", "sentback", "checkpoint"}
	alone := []string{"hung", "quota", "declined", "login", "limits", "lenient", "early", "loop", "frozen", "killed", "interrupted", "fresh"}
	for _, name := range slices.Concat(together, alone) {
		board := newPlay(t, name, plays[name], night.binary)
		board.dir = night.dir
		board.writeBoard("tasks/" + name + "-")
	}
	night.write("unreadable.yaml", "current: tasks/nope.md\ntasks:\n  - tasks/nope.md: bad: [x\n")
	words := []string{"-j", "8"}
	for _, name := range together {
		words = append(words, name+".yaml")
	}
	cmd := night.command(nil, words...)
	out, _ := cmd.CombinedOutput() // the exit code is told
	night.tell(fmt.Sprintf("the end of a run of eight boards: %v", cmd.ProcessState), string(out[max(0, bytes.Index(out, []byte("\n✗ "))):]))
	for _, name := range alone {
		board := newPlay(t, name, plays[name], night.binary)
		board.dir = night.dir
		_ = os.Remove(filepath.Join(night.dir, "at-work")) // of the board before
		board.run()
	}
	var views []glance
	for _, words := range [][]string{{"status"}, {"inbox"}} {
		views = append(views, glance{Words: words, Columns: 80}, glance{Words: words, Columns: 120})
	}
	views = night.perform(append(views, glance{Words: []string{"status", "checkpoint.yaml"}}, glance{Words: []string{"report"}}))
	last := len(views) - 1
	for _, v := range views[:last-1] {
		night.tell(fmt.Sprintf("%s on a terminal of %d columns", v.Words[0], v.Columns), strings.ReplaceAll(v.Out, "\r\n", "\n"))
	}
	night.tell("status checkpoint.yaml", views[last-1].Out)
	overview, _, _ := strings.Cut(views[last].Out, "\n### ")
	night.tell("report, down to the boards", overview)
	night.compare()
}

// readPlays returns the plays and the files of testdata/transcripts/night.txtar by their names.
func readPlays(t *testing.T) (plays map[string]string, files map[string][]byte) {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/transcripts/night.txtar")
	must(t, err)
	plays, files = map[string]string{}, map[string][]byte{}
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, "plays/"); ok {
			plays[name] = string(f.Data)
			continue
		}
		files[f.Name] = f.Data
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	return plays, files
}

// compare compares what the views say with testdata/transcripts/NAME.txt.
func (p *play) compare() {
	p.t.Helper()
	path := filepath.Join("testdata", "transcripts", p.name+".txt")
	if os.Getenv("KANBAN_TEST_UPDATE") != "" {
		must(p.t, os.WriteFile(path, p.said.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	must(p.t, err)
	if got := p.said.String(); got != string(want) {
		p.t.Errorf("%s says something else; KANBAN_TEST_UPDATE=1 makes it anew:\n%s", path, firstDifference(got, string(want)))
	}
}

// firstDifference returns the first line that differs, and the heading above it.
func firstDifference(got, want string) string {
	heading, wanted := "", strings.Split(want, "\n")
	for i, line := range strings.Split(got, "\n") {
		if strings.HasPrefix(line, "==== ") {
			heading = line
		}
		if i >= len(wanted) || line != wanted[i] {
			return fmt.Sprintf("%s\n got %q\nwant %q", heading, line, strings.Join(wanted[min(i, len(wanted)):min(i+1, len(wanted))], ""))
		}
	}
	return "lines are missing at the end"
}

// play is a board in a folder of its own, and what the views say of it.
type play struct {
	t                 *testing.T
	name, dir, binary string
	settings          map[string]string // the lines of the file plays/NAME, by their first word
	said              bytes.Buffer
}

func newPlay(t *testing.T, name, text, binary string) *play {
	p := &play{t: t, name: name, dir: t.TempDir(), binary: binary, settings: map[string]string{}}
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		p.settings[word] = rest
	}
	return p
}

// writeSite writes what all boards use.
func (p *play) writeSite(files map[string][]byte) {
	p.t.Helper()
	for file, data := range files {
		p.write(file, string(data))
	}
	must(p.t, os.Mkdir(filepath.Join(p.dir, "bin"), 0o755))
	must(p.t, os.Rename(filepath.Join(p.dir, "agents/claude"), filepath.Join(p.dir, "bin/claude")))
	must(p.t, os.Chmod(filepath.Join(p.dir, "bin/claude"), 0o755))
	git := exec.Command("git", "init", "-q", p.dir)
	git.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	must(p.t, git.Run())
}

// writeBoard writes the board and its tasks, whose paths begin with a prefix.
func (p *play) writeBoard(prefix string) {
	p.t.Helper()
	var tasks []string
	for i, do := range strings.Fields(p.settings["tasks"]) {
		task := fmt.Sprintf("%s%d.md", prefix, i+1)
		role := p.settings["role"]
		if role == "" {
			role = "Implementor"
		}
		p.write(task, fmt.Sprintf("---\nrole: %s\n---\n# Part %d\n\ndo: %s\n", role, i+1, do))
		tasks = append(tasks, "  - "+task+"\n")
	}
	p.write(p.name+".yaml", "current: "+prefix+"1.md\n"+p.settings["board"]+"\ntasks:\n"+strings.Join(tasks, ""))
}

func (p *play) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	must(p.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(p.t, os.WriteFile(path, []byte(text), 0o644))
}

// command returns the program with some words, in the folder of the play and with surroundings that are
// always the same.
func (p *play) command(env []string, words ...string) *exec.Cmd {
	cmd := exec.Command(p.binary, words...)
	cmd.Dir = p.dir
	cmd.Env = append([]string{"PATH=" + filepath.Join(p.dir, "bin") + ":/usr/bin:/bin", "HOME=" + p.dir, "TZ=UTC", "IS_SANDBOX=1", "TERM=xterm", "NO_COLOR=1"}, env...)
	return cmd
}

// words returns the command line of the run.
func (p *play) words() (all []string) {
	for _, word := range strings.Fields(strings.ReplaceAll(p.settings["args"], `\ `, "\x00")) {
		all = append(all, strings.ReplaceAll(word, "\x00", " "))
	}
	return append(all, p.name+".yaml")
}

// run plays the board, in a CI job as GitHub Actions has it.
func (p *play) run() {
	p.t.Helper()
	then := p.settings["then"]
	if then == "never" {
		return
	}
	for _, file := range []string{"summary", "outputs"} {
		p.write(file, "")
	}
	env := []string{"GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=" + filepath.Join(p.dir, "summary"), "GITHUB_OUTPUT=" + filepath.Join(p.dir, "outputs")}
	cmd := p.command(env, p.words()...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = &out, &out, &syscall.SysProcAttr{Setpgid: true}
	must(p.t, cmd.Start())
	if then == "kill" || then == "interrupt" {
		if !within(stuckAfter, func() bool { _, err := os.Stat(filepath.Join(p.dir, "at-work")); return err == nil }) {
			p.t.Fatalf("no agent is at work:\n%s", out.String())
		}
	}
	switch then {
	case "kill":
		runner, _ := runnerOf(cmd.Process.Pid)
		must(p.t, cmd.Process.Signal(syscall.SIGSTOP))
		runner.kill()
		must(p.t, cmd.Process.Kill())
		agent, err := strconv.Atoi(strings.TrimSpace(p.read("at-work"))) // it lives, until the next run ends it
		must(p.t, err)
		p.t.Cleanup(func() { _ = syscall.Kill(-agent, syscall.SIGKILL) })
	case "interrupt":
		must(p.t, cmd.Process.Signal(os.Interrupt))
	}
	_ = cmd.Wait() // the exit code is told
	p.tell(fmt.Sprintf("run in a job: %v", cmd.ProcessState), out.String())
	p.tell("job summary", p.read("summary"))
	p.tell("job outputs", p.read("outputs"))
	if then == "edit" {
		p.write(p.name+".yaml", "current: tasks/1.md\ntasks:\n  - tasks/1.md\n  - tasks/2.md\n")
		p.write("tasks/2.md", "# Part 2\n")
	}
}

// look asks each view.
func (p *play) look() {
	board := p.name + ".yaml"
	var views []glance
	for _, words := range [][]string{
		{"status", board}, {"status", "--json", board}, {"inbox", board}, {"ack", board}, {"log", board},
		{"report", board}, {"report", "--junit", board}, {"report", "--supervisor", board}, {"teardown", board},
	} {
		views = append(views, glance{Words: words})
	}
	for _, words := range [][]string{{"status", board}, {"inbox", board}, {"status", "--watch", board}} {
		views = append(views, glance{Words: words, Columns: 80}, glance{Words: words, Columns: 120})
	}
	drawn := ""
	for _, v := range p.perform(append(views, glance{Words: []string{"report", "--html", board}})) {
		text, words := strings.ReplaceAll(v.Out, "\r\n", "\n"), strings.Join(v.Words, " ")
		switch {
		case v.Words[1] == "--html":
			first, _, _ := strings.Cut(pageText(v.Out), "\nWaterfall ")
			p.tell("the page, down to the boards", first)
		case v.Columns == 0:
			p.tell(fmt.Sprintf("%s: exit status %d", words, v.Code), v.Out)
		case v.Columns == 80:
			drawn = text
			p.tell(words+" on a terminal of 80 columns", text)
		case text != drawn:
			p.tell(words+" on a terminal of 120 columns", text)
		}
	}
	p.tell("told", p.read("told"))
	_, entries, _ := strings.Cut(p.read("DECISIONS.md"), "## Architectural Decisions")
	p.tell("DECISIONS.md", strings.TrimSpace(entries))
	state, _, _ := strings.Cut(p.read(".kanban-run/runs/"+board+"/state.md"), "## Event Log")
	p.tell("state.md, without its events", state)
}

// perform performs the views in one process.
func (p *play) perform(views []glance) []glance {
	p.t.Helper()
	self, err := os.Executable()
	must(p.t, err)
	asked, err := json.Marshal(views)
	must(p.t, err)
	ctx, cancel := context.WithTimeout(p.t.Context(), stuckAfter)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, viewsCommand)
	like := p.command(nil)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = like.Dir, like.Env, bytes.NewReader(asked), os.Stderr
	out, err := cmd.Output()
	must(p.t, err)
	must(p.t, json.Unmarshal(out, &views))
	return views
}

func (p *play) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(p.dir, name)) // a file that is missing says nothing
	return string(text)
}

var (
	notShown = regexp.MustCompile(`(?s)<(style|script|svg)\b.*?</(style|script|svg)>|<!--.*?-->`)
	blocks   = regexp.MustCompile(`</?(div|p|li|tr|h[1-6]|section|article|details|summary|table|ul|ol|dl|dt|dd|pre|header|main|nav|footer|button|a)\b[^>]*>`)
	tags     = regexp.MustCompile(`<[^>]*>`)
	blank    = regexp.MustCompile(`\s*\n\s*`)
)

// pageText returns the words of a page, a line for each block.
func pageText(page string) string {
	_, body, _ := strings.Cut(page, "<body")
	body = notShown.ReplaceAllString("<body"+body, "")
	body = tags.ReplaceAllString(blocks.ReplaceAllString(body, "\n"), " ")
	return blank.ReplaceAllString(strings.TrimSpace(html.UnescapeString(body)), "\n")
}

// changing are the parts of texts that no two plays have in common.
var changing = []struct {
	of *regexp.Regexp
	is string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z| UTC|\+00:00)?`), "TIME"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d\b|\b\d{1,2} [A-Z][a-z]+ \d{4}\b`), "DATE"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "TIME"},
	{regexp.MustCompile(`\b\d\d:\d\d\b`), "HH:MM"},
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "UUID"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "SHA"},
	{regexp.MustCompile(`kanban-run@(\d+)-[0-9a-f]{8}`), "kanban-run@$1-RANDOM"},
	{regexp.MustCompile(`"([a-z_]*millis|[a-z_]*seconds|time_seconds)": ?[\d.]+`), `"$1": 0`},
	{regexp.MustCompile(`time="[\d.]+"`), `time="0"`},
	{regexp.MustCompile(`\b(\d+h ?)?(\d+m ?)?\d+(\.\d+)?(ms|s)\b`), "SPAN"},
	{regexp.MustCompile(`(stop-commands::|::)[0-9a-zA-Z]{26}(::)?`), "${1}TOKEN$2"},
	{regexp.MustCompile(`[0-9A-Z]{26}\b`), "TOKEN"},
	{regexp.MustCompile(`\b1\d{12}\b`), "MILLIS"},
	{regexp.MustCompile(`"version": "[^"]*"`), `"version": "VERSION"`},
}

// tell adds what a view says, without what no two plays have in common.
func (p *play) tell(view, text string) {
	text = strings.ReplaceAll(text, p.dir, "DIR")
	for _, c := range changing {
		text = c.of.ReplaceAllString(text, c.is)
	}
	fmt.Fprintf(&p.said, "==== %s\n%s\n", view, strings.TrimRight(text, "\n"))
}

//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// terminated is the guardian's SIGTERM, which is no kill.
const terminated victim = "SIGTERM"

// nightSite is a site with three boards that run side by side in one repository, with all that makes a
// run wait, ask and repeat. Its agents are in testdata/crash/night.sh.
type nightSite struct {
	*site
	log string // folder outside of the project: what the agents log, and what they play
}

// nightTasks are the boards' tasks, with their headers. One is always blocked, so that another one
// is never worked on. The first tasks of all boards change the same files.
func nightTasks() map[string][]string {
	return map[string][]string{
		"one": {"role: Implementor\nfiles: [src]", "role: Busy\nneeds: [one/1.md]", "role: Implementor",
			"role: Checked\nneeds: [one/2.md]", "role: Implementor\nneeds: [one/3.md]"},
		"two":   {"role: Busy\nfiles: [src/]", "role: Implementor", "role: Checked\nneeds: [two/1.md]", "role: Implementor\nneeds: [two/3.md]"},
		"three": {"role: Implementor\nfiles: [src/a]", "role: Busy", "role: Checked\nneeds: [three/1.md]"},
	}
}

const (
	nightBlocked = "one/3.md"
	nightUnready = "one/5.md"
	nightReturns = "two/3.md" // its review sends it back once
)

func newNightSite(t *testing.T, binary string) *nightSite {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	n := &nightSite{site: emptySite(t, binary)}
	n.log, n.dir = filepath.Join(n.dir, "log"), filepath.Join(n.dir, "work")
	n.patience = 3 * stuckAfter // a night has three boards, with pushes and reviews
	n.calls, n.boards = "../log/calls", []string{"one.yaml", "two.yaml", "three.yaml"}
	script := scriptOf(t, "night.sh")
	n.args = []string{"--patience", "200ms", "--agent", "Manager=walk", "--agent", "Busy=claude", "--exec", "sh " + script + " work",
		"--exec", "Supervisor=sh " + scriptOf(t, "supervisor.sh") + " " + n.marker}
	n.env = []string{"NIGHT=" + n.log, "IS_SANDBOX=1", "PATH=" + n.log + ":" + os.Getenv("PATH")}
	n.write("../log/claude", "#!/bin/sh\nexec sh "+script+" claude \"$@\"\n")
	must(t, os.Chmod(filepath.Join(n.log, "claude"), 0o755))
	n.write(".kanban-run.yaml", "checkpoints: {every: 2}\ncheckpoint: git\nkeep_going: true\n")
	n.write(".kanban-run/roles/Busy.md", "---\nname: Busy\n---\nWork.\n")
	n.write(".kanban-run/roles/Checked.md", "---\nname: Checked\naccepts: [feedback]\nreview: {command: sh "+script+" check}\n---\nWork.\n")
	for board, tasks := range nightTasks() {
		text := "current: " + board + "/1.md\ntasks:\n"
		for i, header := range tasks {
			task := fmt.Sprintf("%s/%d.md", board, i+1)
			text += "  - " + task + "\n"
			n.write(task, "---\n"+header+"\n---\nDo it.\n")
		}
		n.write(board+".yaml", text)
	}
	y := yard{t, binary, n.dir}
	y.git("init", "-q", "-b", "main", "--bare", "../far")
	y.git("init", "-q", "-b", "main")
	y.git("add", "-A", ":!output")
	y.git("commit", "-q", "-m", "begin")
	y.git("remote", "add", "origin", "../far")
	y.git("push", "-q", "origin", "main")
	return n
}

// TestRandomKillsOfANight kills a command over three boards at any moment, with all at once that makes
// a run wait, ask and repeat: checkpoints in git, reviews, a task that is set aside, needs, a provider
// that is busy, a supervisor that stays, claims of the same files, and an agent that marks what is not
// its own. Each time the next run goes on, and nothing is lost, done twice or left behind. The
// variables are those of TestRandomKills.
func TestRandomKillsOfANight(t *testing.T) {
	t.Parallel()
	kills, random := randomTries(t, 8, 300)
	binary := built(t, buildPlain)
	hits, seen := map[victim]int{}, map[string]int{}
	nights := 0
	for n := 0; n < kills; nights++ {
		n += killUntilMorning(t, binary, random, kills-n, hits, seen)
	}
	t.Logf("%d nights, kills of the %v; the boards had %v", nights, hits, seen)
}

// killUntilMorning plays one night with at most so many kills, and returns their number.
func killUntilMorning(t *testing.T, binary string, random *rand.Rand, most int, hits map[victim]int, seen map[string]int) (kills int) {
	n := newNightSite(t, binary)
	defer endBearers(t, n.marker)
	for calm := 0; calm < 4; {
		n.choose(random, kills < most)
		then := n.soFar()
		run := n.start([]string{fmt.Sprint("KANBAN_RUN_JOBS=", 1+random.IntN(3))})
		if kills < most {
			time.Sleep(nightMoment(random))
		} else {
			run.wait()
			calm++
		}
		killed := n.end(run, random)
		if killed != "" {
			hits[killed]++
			kills++
		}
		n.settle(killed, then)
		if killed != "" && (killed == bothHalves || random.IntN(3) > 0) {
			continue // some questions are asked by the next run, and one that is left alive could go on forging
		}
		if n.asks() {
			seen["questions"]++
		} else if killed == "" && n.isMorning() {
			n.checkMorning()
			n.soFar().countKinds(seen)
			return kills
		}
	}
	t.Fatalf("the boards do not come to their end\n%s", n.story())
	return kills
}

// nightMoment is when a run is killed: at its beginning, or so late that it may have got to its end.
func nightMoment(random *rand.Rand) time.Duration {
	latest := 400 * time.Millisecond
	if exhaustive() {
		latest = []time.Duration{latest, 150 * time.Millisecond, 1500 * time.Millisecond}[random.IntN(3)]
	}
	return time.Duration(random.Int64N(int64(latest)))
}

// choose chooses what the agents play in the next run.
func (n *nightSite) choose(random *rand.Rand, wild bool) {
	plays := map[string]bool{"busy": wild && random.IntN(4) == 0, "once": wild && random.IntN(2) == 0, "forge": random.IntN(4) > 0}
	for name, played := range plays {
		_ = os.Remove(filepath.Join(n.log, name))
		if played {
			n.write("../log/"+name, "")
		}
	}
	_ = os.Rename(n.path("../gone"), n.path("../far")) // the remote is away at times
	if wild && random.IntN(4) == 0 {
		must(n.t, os.Rename(n.path("../far"), n.path("../gone")))
	}
}

// end ends a run that is still there, mostly by a kill, and returns how; "" if it has ended by itself.
func (n *nightSite) end(run *launched, random *rand.Rand) (killed victim) {
	n.t.Helper()
	want := []int{exitComplete, exitNeedsPerson, exitLater}
	if run.running() {
		switch killed = []victim{runnerOnly, guardianOnly, bothHalves, terminated}[random.IntN(4)]; killed {
		case terminated: // before there is a runner, Go's runtime and the system answer
			within(stuckAfter, func() bool { _, started := runnerOf(run.guardian.pid); return started || !run.running() })
			run.guardian.signal(syscall.SIGTERM)
			want = append(want, exitTerminated)
		default:
			killed = run.kill(killed)
			want = append(want, exitKilled, -1)
		}
	}
	code := run.wait()
	if !slices.Contains(want, code) {
		n.t.Fatalf("exit code %d after an end by %q, want one of %v\n%s", code, killed, want, n.story())
	}
	if slices.Contains(want[:3], code) {
		return ""
	}
	return killed
}

// nightHistory is what happened on all boards so far.
type nightHistory struct {
	records map[string][]record // by board
	calls   []string            // the agents' own log
}

func (n *nightSite) soFar() nightHistory {
	n.t.Helper()
	h := nightHistory{map[string][]record{}, wholeLines(n.read(n.calls))}
	for _, board := range n.boards {
		h.records[board] = n.records(journalOf(board))
	}
	return h
}

// countKinds adds the numbers of those records that make a night.
func (h nightHistory) countKinds(seen map[string]int) {
	for _, r := range slices.Concat(slices.Collect(maps.Values(h.records))...) {
		switch r.Type {
		case "PROVIDER_WAIT", "OVERLAP_SCOPE", "STATE_DIVERGENCE", "TASK_SET_ASIDE", "REVIEW_HELD", "CHECKPOINT_HELD", "ATTEMPT_STOPPED":
			seen[r.Type]++
		}
	}
}

// tally counts the records of a type about the work on tasks, by "TASK ROUND".
func (h nightHistory) tally(kind string) map[string]int {
	counts := map[string]int{}
	for _, records := range h.records {
		for _, r := range records {
			if r.Type == kind && r.Data.Call == "task" {
				counts[fmt.Sprint(r.Data.Task, " ", max(1, r.Data.Round))]++
			}
		}
	}
	return counts
}

// tallyCalls counts the lines of agents that begin with a word, by "TASK ROUND".
func tallyCalls(lines []string, word string) map[string]int {
	counts := map[string]int{}
	for _, line := range lines {
		if f := strings.Fields(line); f[0] == word {
			counts[f[2]+" "+f[3]]++
		}
	}
	return counts
}

// settle waits for the end of all that has to end with a run, and looks at what was done since then.
func (n *nightSite) settle(killed victim, then nightHistory) {
	n.t.Helper()
	switch killed {
	case bothHalves:
		n.awaitHalves()
	case "":
		n.owed, n.owedMarks = nil, nil // it has opened all boards
		n.nobodyIsLeft()
	default:
		n.nobodyIsLeft()
	}
	n.checkSince(then)
	if killed == bothHalves {
		n.owed, n.owedMarks = bearers(n.marker), nil
		for _, board := range n.boards {
			n.owedMarks = append(n.owedMarks, n.lastMark(journalOf(board))...)
		}
	}
}

// mostRefused is how often the provider may refuse the work on one task in one run: at first, and at
// the end of its patience, and once more where a run has waited with another board.
const mostRefused = 3

// checkSince: since then no work was begun whose reply was recorded before, and none without an
// intent; no two agents worked at a time on one board; the provider was not stormed; and each board is
// whole.
func (n *nightSite) checkSince(then nightHistory) {
	n.t.Helper()
	now := n.soFar()
	if len(now.calls) < len(then.calls) {
		n.t.Fatalf("of %d calls %d are left", len(then.calls), len(now.calls))
	}
	calls := n.ownCalls(slices.Clone(now.calls[len(then.calls):]))
	accepted, before, intended := then.tally("REPLY_ACCEPTED"), then.tally("ATTEMPT_STARTED"), now.tally("ATTEMPT_STARTED")
	for work, began := range tallyCalls(calls, "begin") {
		if accepted[work] > 0 && !strings.HasPrefix(work, nightBlocked) {
			n.t.Fatalf("%s began again after its reply was recorded\n%s", work, n.story())
		}
		if began > intended[work]-before[work] {
			n.t.Fatalf("%s began %d times with %d intents\n%s", work, began, intended[work]-before[work], n.story())
		}
	}
	for work, refused := range tallyCalls(calls, "refuse") {
		if refused > mostRefused {
			n.t.Fatalf("the provider has refused %s %d times in one run\n%s", work, refused, n.story())
		}
	}
	n.checkOverlaps(now.calls)
	for _, board := range n.boards {
		if !wholeBoard.MatchString(n.read(board)) {
			n.t.Fatalf("%s is not whole\n%s", board, n.story())
		}
	}
}

var wholeBoard = regexp.MustCompile(`^current: (null|([a-z]+)/\d\.md)\ntasks:\n(  - [a-z]+/\d\.md( \[done\])?\n){3,5}$`)

// checkOverlaps: while an agent works, no other begins on the same board, nor on the same files. One
// that was killed has no end.
func (n *nightSite) checkOverlaps(calls []string) {
	n.t.Helper()
	open := map[string][]string{} // by process: what began since it began
	for _, line := range calls {
		f := strings.Fields(line)
		task, pid := f[2], f[4]
		switch f[0] {
		case "begin":
			for p := range open {
				open[p] = append(open[p], task)
			}
			open[pid] = []string{}
		case "end":
			for _, other := range open[pid] {
				if filepath.Dir(other) == filepath.Dir(task) || filepath.Base(other) == "1.md" && filepath.Base(task) == "1.md" {
					n.t.Fatalf("%s began while %s was worked on\n%s", other, task, n.story())
				}
			}
			delete(open, pid)
		}
	}
}

// asks reports whether a board asks a person, and answers. It may only ask about marks that came in the
// turn of another board, or of which it cannot be told who set them, and only if an agent has set them.
func (n *nightSite) asks() (asked bool) {
	n.t.Helper()
	for _, board := range n.boards {
		if !strings.Contains(n.read(journalOf(board)), `"RUN_STARTED"`) {
			continue // there is no run yet that status could tell about
		}
		said := n.saidOf(board)
		if !strings.Contains(said, "cannot be told") && !strings.Contains(said, "came while") {
			continue
		}
		named := askedMark.FindStringSubmatch(said)
		if named == nil || !strings.Contains(n.read(named[1]), "forged") {
			n.t.Fatalf("%s asks without need: %s\n%s", board, said, n.story())
		}
		n.tells(nil, "ack", board, "retry")
		if strings.Contains(n.read(named[1]), "forged") {
			n.t.Fatalf("%s: retry does not put back the mark of %s\n%s", board, named[1], n.story())
		}
		asked = true
	}
	if text := n.read(nightUnready); !asked && strings.Contains(text, "forged") {
		// It came behind the end of the run of its board, or a kill, and a later command takes it for a person's.
		n.write(nightUnready, forgedMark.ReplaceAllString(text, ""))
		asked = true
	}
	return asked
}

var forgedMark = regexp.MustCompile(`status: done # forged\n`)

var askedMark = regexp.MustCompile(`\(the mark in the header of (\S+)\)(: it cannot be told|; if that was you)`)

// tells runs a command that is to end well, and decodes what it prints, unless into is nil.
// saidOf returns the reason why a board stands as it does.
func (n *nightSite) saidOf(board string) string {
	var doc struct {
		Boards []struct{ Reason struct{ Said string } }
	}
	if n.tells(&doc, "status", "--json", board); len(doc.Boards) != 1 {
		n.t.Fatalf("status of %s has %d boards", board, len(doc.Boards))
	}
	return doc.Boards[0].Reason.Said
}

func (n *nightSite) tells(into any, args ...string) string {
	n.t.Helper()
	cmd := n.command(nil, args...)
	out, err := cmd.Output()
	if err == nil && into != nil {
		err = json.Unmarshal(out, into)
	}
	if err != nil {
		n.t.Fatalf("kanban-run %v: %v\n%s\n%s", args, err, out, n.story())
	}
	return string(out)
}

// morningBoard is a board as the night leaves it.
func morningBoard(board string) string {
	text := "current: null\ntasks:\n"
	if board == "one" {
		text = "current: " + nightBlocked + "\ntasks:\n"
	}
	for i := range nightTasks()[board] {
		task := fmt.Sprintf("%s/%d.md", board, i+1)
		text += "  - " + task
		if isDoable(task) {
			text += " [done]"
		}
		text += "\n"
	}
	return text
}

// isDoable reports whether a task is to be done in the end.
func isDoable(task string) bool { return task != nightBlocked && task != nightUnready }

// isMorning reports whether all boards stand at their end. The next run takes to the remote what waits
// for it.
func (n *nightSite) isMorning() bool {
	n.t.Helper()
	if strings.Contains(n.read(nightUnready), "forged") || !exists(n.path("../far")) {
		return false
	}
	for _, board := range n.boards {
		name := strings.TrimSuffix(board, ".yaml")
		if n.read(board) != morningBoard(name) {
			return false
		}
		want := "the board is complete"
		if name == "one" {
			want = "one/3.md is blocked: did it; one/5.md is not worked on: it needs one/3.md (the board is incomplete)"
		}
		if n.saidOf(board) != want {
			return false
		}
	}
	return true
}

// checkMorning: every task that is to be done was done once, and reviewed; no mark was forged;
// nothing disturbed the boards; and journals and repositories are sound.
func (n *nightSite) checkMorning() {
	n.t.Helper()
	h := n.soFar()
	accepted, ended := h.tally("REPLY_ACCEPTED"), tallyCalls(h.calls, "end")
	for board, tasks := range nightTasks() {
		for i := range tasks {
			task := fmt.Sprintf("%s/%d.md", board, i+1)
			rounds := 1
			if task == nightReturns {
				rounds = 2
			}
			for round := range rounds {
				work := fmt.Sprint(task, " ", round+1)
				if isDoable(task) && (accepted[work] != 1 || ended[work] < 1) {
					n.t.Fatalf("%s has %d recorded replies and was done %d times\n%s", work, accepted[work], ended[work], n.story())
				}
			}
			if text := n.read(task); strings.Contains(text, "forged") || !strings.Contains(text, tasks[i]) {
				n.t.Fatalf("%s is\n%s\n%s", task, text, n.story())
			}
		}
	}
	if accepted[nightUnready+" 1"] > 0 || ended[nightUnready+" 1"] > 0 {
		n.t.Fatalf("%s was worked on\n%s", nightUnready, n.story())
	}
	y := yard{n.t.(*testing.T), n.binary, n.dir}
	for _, board := range n.boards {
		n.checkRecords(h.records[board])
		if said := n.tells(nil, "log", "--verify", board); !strings.Contains(said, "sound") {
			n.t.Fatalf("%s: %s", board, said)
		}
		if kept := lookUp(y, "../far", "board/"+board+":"+board); kept != n.read(board) {
			n.t.Fatalf("the last checkpoint of %s has\n%s\n%s", board, kept, n.story())
		}
	}
	for _, repository := range []string{".git", "../far"} {
		y.git("--git-dir", repository, "fsck", "--strict", "--no-dangling")
	}
}

// checkRecords: no call of a step was started again after its reply, each checkpoint was held once,
// and no crash is taken for tampering.
func (n *nightSite) checkRecords(records []record) {
	n.t.Helper()
	answered := map[string]bool{}
	for _, r := range records {
		key := fmt.Sprint(r.Data.Step, r.Data.Call, r.Data.Round)
		switch r.Type {
		case "REPLY_ACCEPTED", "REVIEW_HELD":
			answered[key] = true
		case "ATTEMPT_STARTED":
			if answered[key] && r.Data.Call != "ready" {
				n.t.Fatalf("the %s call of step %d was started again after its reply\n%s", r.Data.Call, r.Data.Step, n.story())
			}
		case "STATE_DIVERGENCE":
			if !strings.Contains(r.Data.Text, "came while") && !strings.Contains(r.Data.Text, "marked ") && !strings.Contains(r.Data.Text, "cannot be told") {
				n.t.Fatalf("%s\n%s", r.Data.Text, n.story())
			}
		case "STEP_ABANDONED", "CALL_RESTARTED", "SPLIT_BRAIN_DETECTED", "RECONCILE_LOCK_ENTER", "SNAPSHOT_CONFLICT", "SNAPSHOT_NOT_FOUND":
			n.t.Fatalf("the board was not disturbed, and the journal has %s\n%s", r.Type, n.story())
		}
	}
	for id, held := range count(records, "CHECKPOINT_HELD") {
		if held != 1 {
			n.t.Fatalf("%s was held %d times\n%s", id, held, n.story())
		}
	}
}

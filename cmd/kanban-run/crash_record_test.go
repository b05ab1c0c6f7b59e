//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const journalFile = ".kanban-run/runs/kanban.yaml/journal.jsonl"

// record is what these tests look at of a record in the journal.
type record struct {
	Type  string    `json:"type"`
	Epoch uint64    `json:"epoch"`
	Time  time.Time `json:"time"`
	Data  struct {
		Step    int    `json:"step"`
		Call    string `json:"call"`
		Role    string `json:"role"`
		Task    string `json:"task"`
		Outcome string `json:"outcome"`
		Attempt int    `json:"attempt"`
		Round   int    `json:"round"` // of the work and its reviews; 0 is the first
		Text    string `json:"text"`
	} `json:"data"`
}

// work is what an agent is asked for: a role's work on a task. These boards have every task once.
func (r record) work() string { return r.Data.Role + " " + r.Data.Task }

// history is what happened on a site so far.
type history struct {
	records []record
	calls   []string // the agents' own log
}

// history reads the journal as the runner left it, with other code than the runner's, and the
// agents' log. A last line that is not whole was never acknowledged.
func (s *site) history() history {
	s.t.Helper()
	return history{s.records(journalFile), wholeLines(s.read(s.calls))}
}

func (s *site) records(journal string) (all []record) {
	s.t.Helper()
	for _, line := range wholeLines(s.read(journal)) {
		_, text, _ := strings.Cut(line, "{")
		var r record
		if err := json.Unmarshal([]byte("{"+text), &r); err != nil {
			s.t.Fatalf("the journal has the line %q: %v", line, err)
		}
		all = append(all, r)
	}
	return all
}

// outcome is how the last run ended; "" when it did not.
func (h history) outcome() string {
	for _, r := range slices.Backward(h.records) {
		switch r.Type {
		case "RUN_FINISHED", "RUN_INTERRUPTED":
			return r.Data.Outcome
		case "RUN_STARTED":
			return ""
		}
	}
	return ""
}

func wholeLines(text string) []string {
	lines := strings.Split(text, "\n")
	return lines[:len(lines)-1]
}

// began counts the calls that agents say they began, by their work.
func began(calls []string) map[string]int {
	counts := map[string]int{}
	for _, line := range calls {
		if f := strings.Fields(line); f[0] == "begin" {
			counts[f[1]+" "+f[2]]++
		}
	}
	return counts
}

// newCalls are the lines that agents wrote since then, without those of agents that
// an earlier run had started.
func (s *site) newCalls(then history) []string {
	s.t.Helper()
	return s.ownCalls(s.history().calls[len(then.calls):])
}

// ownCalls returns the lines without those of agents that an earlier run had started.
func (s *site) ownCalls(lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool {
		return slices.ContainsFunc(s.owed, func(p process) bool { return strings.HasSuffix(line, fmt.Sprint(" ", p.pid)) })
	})
}

// count counts the records of a type by their work.
func count(records []record, kind string) map[string]int {
	counts := map[string]int{}
	for _, r := range records {
		if r.Type == kind {
			counts[r.work()]++
		}
	}
	return counts
}

// checkSince: since then no work was begun whose reply was recorded before, and none without an
// intent; no two agents worked at a time.
func (s *site) checkSince(then history) history {
	s.t.Helper()
	now := s.history()
	if len(now.records) < len(then.records) || len(now.calls) < len(then.calls) {
		s.t.Fatalf("of %d records %d are left", len(then.records), len(now.records))
	}
	accepted := count(then.records, "REPLY_ACCEPTED")
	intended := count(now.records[len(then.records):], "ATTEMPT_STARTED")
	for work, n := range began(s.newCalls(then)) {
		if accepted[work] > 0 {
			s.t.Fatalf("%s began again after its reply was recorded\n%s", work, s.story())
		}
		if n > intended[work] {
			s.t.Fatalf("%s began %d times with %d intents\n%s", work, n, intended[work], s.story())
		}
	}
	for _, line := range now.calls {
		if strings.HasPrefix(line, "OVERLAP") {
			s.t.Fatalf("two agents at a time: %s\n%s", line, s.story())
		}
	}
	return now
}

// stillOwed is checkSince, and what an earlier run has left is gone when this
// one has started an agent.
func (s *site) stillOwed(then history) {
	s.t.Helper()
	s.checkSince(then)
	if len(began(s.newCalls(then))) == 0 {
		return
	}
	for _, p := range s.owed {
		if p.alive() {
			s.t.Fatalf("an agent was started while %v of an earlier run was alive\n%s", p, s.story())
		}
	}
	s.owed, s.owedMarks = nil, nil
}

// settle waits for the end of all that the half which was not killed has to end, and looks at
// what was done since then.
func (s *site) settle(killed victim, then history) {
	s.t.Helper()
	if killed == bothHalves {
		s.awaitHalves() // they hold the board's lock until they are gone
	} else {
		s.nobodyIsLeft()
	}
	s.stillOwed(then)
	if killed == bothHalves {
		s.owed = bearers(s.marker)
		s.owedMarks = s.lastMark(journalFile)
	}
}

var stepMark = regexp.MustCompile(`"mark":"([0-9a-f]+)"`)

// lastMark is the mark of the step of a board that was begun last, if there is one: what was starting
// at the moment when both halves were killed bears it.
func (s *site) lastMark(journal string) []string {
	all := stepMark.FindAllStringSubmatch(s.read(journal), -1)
	if len(all) == 0 {
		return nil
	}
	return []string{"KANBAN_RUN_MARK=" + all[len(all)-1][1]}
}

// completes: the run ends with a complete board of n tasks, and all is well.
func (s *site) completes(run *launched, then history, n int) {
	s.t.Helper()
	if code := run.wait(); code != exitComplete {
		s.t.Fatalf("exit code %d\n%s", code, s.story())
	}
	s.stillOwed(then)
	s.owed, s.owedMarks = nil, nil
	s.nobodyIsLeft()
	s.checkComplete(n)
}

// checkComplete: the board of n tasks is as an undisturbed run leaves it, each call
// has exactly one recorded reply and began at least once, and everything that is made
// from the journal is true.
func (s *site) checkComplete(n int) {
	s.t.Helper()
	h := s.checkSince(history{})
	if got, want := s.read("kanban.yaml"), s.boardText(0, n); got != want {
		s.t.Fatalf("the board is\n%s\nwant\n%s\n%s", got, want, s.story())
	}
	s.checkReplies(h, n)
	s.checkStreams(h)
	s.checkUndisturbed(h)
	if outcome := h.outcome(); outcome != "complete" {
		s.t.Fatalf("the last run ended with %q\n%s", outcome, s.story())
	}
	s.checkLogs(h)
	if s.cloned {
		s.checkClone(n)
	}
}

// checkStreams: the streams of accepted replies are gone, also where the run
// died before it emptied them.
func (s *site) checkStreams(h history) {
	s.t.Helper()
	for _, r := range h.records {
		name := fmt.Sprintf(".kanban-run/runs/kanban.yaml/steps/%04d/%s-%d.stdout", r.Data.Step, r.Data.Call, r.Data.Attempt)
		if r.Type == "REPLY_ACCEPTED" && exists(s.path(name)) {
			s.t.Fatalf("%s is left, and its reply was accepted\n%s", name, s.story())
		}
	}
	files, err := filepath.Glob(s.path(".kanban-run/runs/kanban.yaml/output/*"))
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || info.Size() != 0 {
			s.t.Fatalf("%s is left at the end, %v\n%s", name, err, s.story())
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// checkUndisturbed: no crash is taken for tampering, and each run owned the
// board before it did anything.
func (s *site) checkUndisturbed(h history) {
	s.t.Helper()
	acked, latest := map[uint64]bool{}, uint64(0)
	for _, r := range h.records {
		switch r.Type {
		case "STEP_ABANDONED", "CALL_RESTARTED", "STATE_DIVERGENCE", "SPLIT_BRAIN_DETECTED", "RECONCILE_LOCK_ENTER", "SNAPSHOT_CONFLICT",
			"SNAPSHOT_NOT_FOUND":
			s.t.Fatalf("the board was not disturbed, and the journal has %s\n%s", r.Type, s.story())
		case "STATE_OWNERSHIP_ACK":
			acked[r.Epoch] = true
		case "RUN_STARTED":
			if !acked[r.Epoch] || r.Epoch <= latest {
				s.t.Fatalf("a run started in epoch %d after epoch %d (acknowledged: %v)\n%s", r.Epoch, latest, acked[r.Epoch], s.story())
			}
			latest = r.Epoch
		}
	}
}

// supervised says whether a supervisor looks in behind each task.
func (s *site) supervised() bool { return strings.Contains(s.read(".kanban-run.yaml"), "checkpoints") }

func (s *site) checkReplies(h history, n int) {
	s.t.Helper()
	held := 0
	accepted, calls := count(h.records, "REPLY_ACCEPTED"), began(h.calls)
	for work, n := range count(h.records, "CHECKPOINT_HELD") {
		if n != 1 {
			s.t.Fatalf("%s was held %d times\n%s", work, n, s.story())
		}
		_, id, _ := strings.Cut(work, " ")
		if !exists(s.path(".kanban-run/runs/kanban.yaml/artifacts/" + id + "-report.md")) {
			s.t.Fatalf("%s has no report\n%s", work, s.story())
		}
		held++
	}
	for work := range accepted { // a supervisor gets ready in each run
		if strings.HasPrefix(work, "Supervisor ") {
			delete(accepted, work)
		}
	}
	if s.supervised() && held != n {
		s.t.Fatalf("%d checkpoints were held, want %d\n%s", held, n, s.story())
	}
	for i := range n {
		for _, role := range []string{"Implementor", "Manager"} {
			work := fmt.Sprintf("%s tasks/%d.md", role, i+1)
			if accepted[work] != 1 || calls[work] < 1 {
				s.t.Fatalf("%s has %d recorded replies and began %d times\n%s", work, accepted[work], calls[work], s.story())
			}
		}
	}
	if len(accepted) != 2*n {
		s.t.Fatalf("there are replies for %v, want %d calls", accepted, 2*n)
	}
	answered := map[string]bool{}
	for _, r := range h.records {
		key := fmt.Sprint(r.Data.Step, r.Data.Call)
		switch {
		case r.Data.Call == "ready": // once for each time that its program is started
		case r.Type == "REPLY_ACCEPTED":
			answered[key] = true
		case r.Type == "ATTEMPT_STARTED" && answered[key]:
			s.t.Fatalf("the %s call of step %d was started again after its reply\n%s", r.Data.Call, r.Data.Step, s.story())
		}
	}
}

// checkLogs: the journal reads well, and supervisor-log.md has every rejected reply once.
func (s *site) checkLogs(h history) {
	s.t.Helper()
	if got := s.readJournal(); got != len(h.records) {
		s.t.Fatalf("kanban-run log shows %d of %d records", got, len(h.records))
	}
	rejected := 0
	for _, n := range count(h.records, "REPLY_REJECTED") {
		rejected += n
	}
	if got := strings.Count(s.read(".kanban-run/runs/kanban.yaml/supervisor-log.md"), "] Retry Event\n"); got != rejected {
		s.t.Fatalf("supervisor-log.md has %d retries, the journal %d", got, rejected)
	}
	if state := s.read(".kanban-run/runs/kanban.yaml/state.md"); !strings.Contains(state, "last run: complete") {
		s.t.Fatalf("state.md does not say that the board is complete:\n%s", state)
	}
}

// readJournal returns the number of records that kanban-run itself reads.
func (s *site) readJournal() int {
	s.t.Helper()
	cmd := exec.Command(s.binary, "log", "--json", "kanban.yaml")
	cmd.Dir = s.dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("kanban-run log: %v\n%s\n%s", err, errs.String(), s.story())
	}
	return len(wholeLines(out.String()))
}

// story is what is known, for the message of a failure.
func (s *site) story() string {
	var boards strings.Builder
	for _, board := range s.ownBoards() {
		fmt.Fprintf(&boards, "-- %s --\n%s-- its journal --\n%s", board, s.read(board), s.told(journalOf(board)))
	}
	return fmt.Sprintf("%s-- calls --\n%s-- output --\n%s", &boards, s.read(s.calls), s.read("output"))
}

// told is what happened as a journal has it.
func (s *site) told(journal string) string {
	var told strings.Builder
	for _, line := range wholeLines(s.read(journal)) {
		_, text, _ := strings.Cut(line, "{")
		var r record
		if json.Unmarshal([]byte("{"+text), &r) != nil || strings.HasPrefix(r.Type, "STATE_OWNERSHIP") || r.Type == "SNAPSHOT_TAKEN" {
			continue
		}
		fmt.Fprintf(&told, "%s %s %s %s %s\n", r.Time.Format("05.000"), r.Type, r.Data.Call, r.work(), r.Data.Outcome)
	}
	return told.String()
}

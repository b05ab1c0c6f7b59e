//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const failpointTasks = 2

// mostOccurrences bounds the search for the last time that a place is reached.
const mostOccurrences = 200

// place is a name that the program gives to failpoint.At.
type place struct {
	name  string
	scene func(t *testing.T, s *site) // what has to be before, so that the place is reached; nil: nothing
	drive func(r *launched)           // what has to be done meanwhile; nil: nothing
	alone bool                        // the guardian reaches it, and its parent is none of ours
	step  int                         // more than 1: only one of so many times is tried
}

// places are all there are; TestPlacesAreTrue holds the table against the source.
func places() []place {
	return []place{
		// The run of a board.
		{name: "before-lock"},
		{name: "lock-held"},
		{name: "journal-open"},
		{name: "reaping", scene: killedAtWork},
		{name: "ownership-taken"},
		{name: "input-stored", scene: longList},
		{name: "intent-durable"},
		{name: "agent-gone"},
		{name: "hung-decided", scene: hungAgent},
		{name: "consent-asked", scene: personAsked},
		{name: "reply-noted"},
		{name: "report-written", scene: supervised},
		{name: "board-intent"},
		{name: "board-written"},
		{name: "log-behind"},
		{name: "snapshot-taken"},
		{name: "run-end"},
		{name: "git-call", scene: inGit, step: 5}, // TestCheckpointOutlivesEveryKill tries each
		{name: "state-noted", scene: oneStepDone},
		{name: "clone-made", scene: inClone},
		{name: "clone-journaled", scene: inClone},
		{name: "clone-set-up", scene: inClone},
		{name: "work-committed", scene: inClone},
		{name: "work-followed", scene: inClone},
		// Its files.
		{name: "repair-copied", scene: tornJournal},
		{name: "journal-torn"},
		{name: "journal-written"},
		{name: "journal-synced"},
		{name: "folder-made"},
		{name: "temp-written"},
		{name: "temp-synced"},
		{name: "renamed"},
		// Its processes.
		{name: "forked"},
		{name: "term-sent", scene: deafAgent, drive: interruptAtWork},
		{name: "agent-ended"},
		{name: "runner-started", alone: true},
		{name: "runner-gone", alone: true},
	}
}

// TestPlacesAreTrue: no place is missing in the table, and none is made up.
func TestPlacesAreTrue(t *testing.T) {
	inSource := placesInSource(t)
	for _, p := range slices.Concat(places(), walkPlaces(), landPlaces()) {
		if !inSource[p.name] {
			t.Errorf("the table has %s and the source has not", p.name)
		}
		delete(inSource, p.name)
	}
	if len(inSource) > 0 {
		t.Errorf("the source has %v and the table has not", slices.Sorted(maps.Keys(inSource)))
	}
}

func placesInSource(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	call := regexp.MustCompile(`failpoint\.(?:At|Cut)\("([^"]+)"`)
	for _, root := range []string{".", filepath.Join("..", "..", "orchestrator")} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, match := range call.FindAllSubmatch(text, -1) {
				found[string(match[1])] = true
			}
			return err
		})
		must(t, err)
	}
	return found
}

// TestEveryFailpoint kills at every place, and goes on: one of the runner, its guardian and both, by
// turns, the first time that the place is reached; each of them, each time, if the test is exhaustive
// (see step of place).
func TestEveryFailpoint(t *testing.T) {
	t.Parallel()
	binary := built(t, buildFailpoints)
	for at, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			victims := []string{"self", "parent", "both"}
			if p.alone {
				victims = victims[:1]
			}
			for i, v := range victims {
				if !p.alone && !inSample(t, at+i, len(victims)) {
					continue
				}
				t.Run(v, func(t *testing.T) {
					t.Parallel()
					p.killEveryTime(t, binary, v)
				})
			}
		})
	}
}

func (p place) killEveryTime(t *testing.T, binary, v string) {
	for n := 1; n <= mostOccurrences; n += max(1, p.step) {
		killed := p.killOnce(t, binary, fmt.Sprintf("%s@%d=%s", p.name, n, v))
		if !killed && n == 1 {
			t.Fatal("the place was never reached")
		}
		if !killed || !exhaustive() {
			t.Logf("tried up to the time %d", n)
			return
		}
	}
	t.Fatalf("the place was reached more than %d times", mostOccurrences)
}

// killOnce runs a board with the failpoint and then without it, and says whether it killed.
func (p place) killOnce(t *testing.T, binary, failpoint string) (killed bool) {
	s := newSite(t, binary, failpointTasks)
	defer endBearers(t, s.marker)
	s.shield = true
	s.env = []string{"CRASH_GARBAGE=Manager tasks/1.md"}
	if p.scene != nil {
		p.scene(t, s)
	}
	then := s.history()
	run := s.start([]string{"KANBAN_TEST_FAILPOINT=" + failpoint})
	if p.drive != nil {
		p.drive(run)
	}
	code := run.wait()
	killed = code == 128+int(syscall.SIGKILL)
	if !killed && code != exitComplete && code != exitInterrupted && code != exitNeedsPerson {
		t.Fatalf("%s: exit code %d\n%s", failpoint, code, s.story())
	}
	s.settle(whomItKilled(failpoint), then)
	s.goOn()
	return killed
}

func whomItKilled(failpoint string) victim {
	if strings.HasSuffix(failpoint, "both") {
		return bothHalves
	}
	return runnerOnly
}

// goOn runs the board to its end and looks at all of it.
func (s *site) goOn() {
	s.t.Helper()
	then := s.history()
	_ = os.Remove(s.path("deaf"))
	s.completes(s.start(nil), then, failpointTasks)
}

// supervised: a supervisor whose program stays looks in behind each task.
func supervised(_ *testing.T, s *site) {
	s.args = append(s.args, "--exec", "Supervisor=sh "+scriptOf(s.t, "supervisor.sh")+" "+s.marker)
	s.write(".kanban-run.yaml", "checkpoints: {every: 1}\n")
}

// TestSupervisorOutlivesEveryKill kills a run with a supervisor at the places
// that its calls reach, too.
func TestSupervisorOutlivesEveryKill(t *testing.T) {
	t.Parallel()
	binary := built(t, buildFailpoints)
	for at, name := range []string{"intent-durable", "forked", "agent-gone", "reply-noted", "agent-ended", "run-end"} {
		p := place{name: name, scene: supervised}
		for i, v := range []string{"self", "both"} {
			if !inSample(t, at+i, 2) {
				continue
			}
			t.Run(name+"/"+v, func(t *testing.T) {
				t.Parallel()
				p.killEveryTime(t, binary, v)
			})
		}
	}
}

// killedAtWork: both halves were killed while an agent was at work.
func killedAtWork(t *testing.T, s *site) {
	t.Helper()
	s.start([]string{"KANBAN_TEST_FAILPOINT=forked@1=both"}).wait()
	s.settle(bothHalves, history{})
}

// oneStepDone: an earlier run drew state.md.
func oneStepDone(t *testing.T, s *site) {
	t.Helper()
	s.args = append(s.args, "--max-steps", "1")
	if code := s.start(nil).wait(); code != exitLimit {
		t.Fatalf("exit code %d\n%s", code, s.story())
	}
	s.args = s.args[:len(s.args)-2]
}

// longList: the Manager's input is too long for the journal, because of tasks
// that are not written yet.
func longList(_ *testing.T, s *site) {
	for i := range 30 {
		s.listed += fmt.Sprintf("  - planned/%s/%d.md\n", strings.Repeat("x", 200), i)
	}
	s.write("kanban.yaml", s.boardText(1, failpointTasks))
}

// tornJournal: a power cut has torn the last record.
func tornJournal(t *testing.T, s *site) {
	t.Helper()
	oneStepDone(t, s)
	text := s.read(journalFile)
	first := wholeLines(text)[0]
	s.write(journalFile, text+first[:len(first)/2])
}

// deafAgent: the first agent does not heed SIGTERM.
func deafAgent(_ *testing.T, s *site) {
	s.write("deaf", "")
	s.env = append(s.env, "CRASH_DEAF=Implementor tasks/1.md")
}

// hungAgent: the first agent hangs once, and the watch finds it.
func hungAgent(_ *testing.T, s *site) {
	s.env = append(s.env, "CRASH_HUNG=Implementor tasks/1.md", "KANBAN_RUN_WATCH_SILENT_AGENTS=act", "KANBAN_RUN_WATCH_FREQUENCY=100ms",
		"KANBAN_RUN_WATCH_GRACE=0", "KANBAN_RUN_WATCH_IDLE_WARNING=1s", "KANBAN_RUN_WATCH_IDLE_TIMEOUT=2s")
}

// personAsked has a person decide about that agent, who is not there: a run
// that is not killed needs one.
func personAsked(t *testing.T, s *site) {
	hungAgent(t, s)
	s.env = append(s.env, "KANBAN_RUN_WATCH_COORDINATOR=person", "KANBAN_RUN_WATCH_CONSENT=1s")
}

// interruptAtWork sends SIGINT to the guardian when the first agent is at work.
func interruptAtWork(r *launched) {
	r.site.t.Helper()
	r.site.await("listening")
	shielded := childrenOf(r.guardian.pid)
	if len(shielded) != 1 {
		r.site.t.Fatalf("the shield has the children %v", shielded)
	}
	signalTo(r.site.t, shielded[0], syscall.SIGINT)
}

//go:build linux

package main

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// escapes are the ways in which a process that an agent starts tries to outlive it;
// see testdata/crash/escape.
func escapes() []string {
	return []string{"setsid", "double-fork", "cleared", "storm", "limits"}
}

// TestNobodyIsLeft lets a process escape from an agent in every way and ends the agent in every way:
// nothing is left.
func TestNobodyIsLeft(t *testing.T) {
	t.Parallel()
	ends := []struct {
		name string
		end  func(t *testing.T, r *launched)
	}{
		{"the agent ends", agentEnds},
		{"timeout", timesOut},
		{"SIGINT", interrupted},
		{"runner killed", func(_ *testing.T, r *launched) { r.killedAtWork(runnerOnly) }},
		{"guardian killed", func(_ *testing.T, r *launched) { r.killedAtWork(guardianOnly) }},
		{"both killed", bothKilled},
	}
	binary, helper := built(t, buildPlain), built(t, buildEscape)
	for i, end := range ends {
		for j, kind := range escapes() {
			if !inSample(t, i+j, 3) {
				continue
			}
			t.Run(end.name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				s := runawaySite(t, binary, helper, "kanban")
				if end.name == "timeout" {
					s.args = append(s.args, "--timeout", "2s", "--max-retries", "0") // the process is up by then
				}
				s.letEscape("kanban", kind)
				run := s.start(nil)
				s.await("up.kanban")
				s.await("calls")
				end.end(t, run)
				s.nobodyIsLeft()
			})
		}
	}
}

// runawaySite has a board NAME.yaml with one task NAME.md for each name; runaway.sh plays them.
func runawaySite(t *testing.T, binary, helper string, names ...string) *site {
	t.Helper()
	s := emptySite(t, binary)
	s.args = []string{
		"--exec", fmt.Sprintf("sh %s %s %s", scriptOf(t, "runaway.sh"), helper, s.marker),
		"--exec", "Manager=sh " + scriptOf(t, "agent.sh") + " " + s.marker,
	}
	for _, name := range names {
		s.write(name+".yaml", fmt.Sprintf("current: %s.md\ntasks:\n  - %s.md\n", name, name))
		s.write(name+".md", "---\nrole: Implementor\n---\n")
	}
	return s
}

// letEscape makes the agent of a task start such a process, and work until letGo.
func (s *site) letEscape(name, kind string) {
	s.t.Helper()
	s.write("wild."+name, kind+"\n")
	s.write("hold."+name, "")
}

func (s *site) letGo(name string) {
	s.t.Helper()
	s.remove("hold." + name)
}

func agentEnds(t *testing.T, r *launched) {
	t.Helper()
	r.site.letGo("kanban")
	r.ends(t, exitComplete)
}

func timesOut(t *testing.T, r *launched) {
	t.Helper()
	r.ends(t, exitExhausted)
}

func interrupted(t *testing.T, r *launched) {
	t.Helper()
	signalTo(t, r.guardian.pid, syscall.SIGINT)
	r.ends(t, exitInterrupted)
}

func (r *launched) ends(t *testing.T, want int) {
	t.Helper()
	if code := r.wait(); code != want {
		t.Fatalf("exit code %d, want %d\n%s", code, want, r.site.read("output"))
	}
}

// killedAtWork kills and waits for the end of what the test has started.
func (r *launched) killedAtWork(v victim) {
	r.site.t.Helper()
	if got := r.kill(v); got != v {
		r.site.t.Errorf("killed the %s, want the %s", got, v)
	}
	r.wait()
}

// bothKilled also starts the board again, whose agent finds nothing of the first run.
func bothKilled(t *testing.T, r *launched) {
	t.Helper()
	s := r.site
	r.killedAtWork(bothHalves)
	s.owed = bearers(s.marker)
	if len(s.owed) == 0 {
		t.Fatal("nothing survived both: this test proves nothing")
	}
	s.remove("wild.kanban")
	s.remove("calls")
	then := s.history()
	again := s.start(nil)
	s.await("calls")
	s.stillOwed(then)
	s.letGo("kanban")
	again.ends(t, exitComplete)
}

// TestNoGraceForTheLeft: when one half is killed the other one ends the agents at once,
// however long their grace is.
func TestNoGraceForTheLeft(t *testing.T) {
	t.Parallel()
	for _, v := range []victim{runnerOnly, guardianOnly} {
		t.Run(string(v), func(t *testing.T) {
			s := signalSite(t)
			s.env = []string{"KANBAN_RUN_GRACE=60s"}
			s.write("deaf", "")
			run := s.start(nil)
			s.await("calls")
			run.killedAtWork(v)
			s.nobodyIsLeft()
		})
	}
}

// TestBoardIsHeldUntilSwept: as long as agents of a killed runner may live, no
// other run gets the board.
func TestBoardIsHeldUntilSwept(t *testing.T) {
	t.Parallel()
	s := newSite(t, built(t, buildPlain), 1)
	s.env = []string{"CRASH_DEAF=Implementor tasks/1.md"}
	s.write("deaf", "")
	run := s.start(nil)
	s.await("listening")
	runner, ok := runnerOf(run.guardian.pid)
	if !ok {
		t.Fatal("there is no runner")
	}
	run.guardian.stop() // its agents outlive the runner for as long as that
	runner.kill()
	before := s.read("calls")
	for range 3 {
		s.start(nil).ends(t, exitOwned)
	}
	if after := s.read("calls"); after != before {
		t.Errorf("an agent was started beside an agent of the other run:\n%s", after)
	}
	run.guardian.signal(syscall.SIGCONT)
	run.wait()
	s.nobodyIsLeft()
	s.remove("deaf")
	now := s.history()
	s.completes(s.start(nil), now, 1)
}

// TestBoardsDoNotTouchEachOther runs three boards side by side: the end of one step ends what
// escaped from it, and nothing of the others, whatever is known of it.
func TestBoardsDoNotTouchEachOther(t *testing.T) {
	t.Parallel()
	binary, helper := built(t, buildPlain), built(t, buildEscape)
	for _, kind := range escapes() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := runawaySite(t, binary, helper, "a", "b", "c")
			s.letEscape("a", kind)
			s.letEscape("b", "cleared")
			s.letEscape("c", "limits")
			run := s.start(nil, "-j", "3", "a.yaml", "b.yaml", "c.yaml")
			b, c := s.escaped("b"), s.escaped("c")
			s.await("up.a")
			s.letGo("a")
			s.awaitEnd("a", b, c)
			s.letGo("c")
			s.awaitEnd("c", b)
			s.letGo("b")
			run.ends(t, exitComplete)
			s.nobodyIsLeft()
		})
	}
}

// escaped is the process that has escaped from the agent of a task, once it is up.
func (s *site) escaped(name string) process {
	s.t.Helper()
	s.await("up." + name)
	pid, err := strconv.Atoi(strings.TrimSpace(s.read("up." + name)))
	if err != nil {
		s.t.Fatal(err)
	}
	p, _, ok := look(pid)
	if !ok {
		s.t.Fatalf("%d is not alive", pid)
	}
	return p
}

// awaitEnd waits for the end of a board. What escaped from its agent has ended by
// then, and the others live.
func (s *site) awaitEnd(name string, others ...process) {
	s.t.Helper()
	journal := ".kanban-run/runs/" + name + ".yaml/journal.jsonl"
	if !within(stuckAfter, func() bool { return strings.Contains(s.read(journal), `"RUN_FINISHED"`) }) {
		s.t.Fatalf("board %s does not end\n%s", name, s.read("output"))
	}
	for _, p := range bearers(s.marker + "-" + name) {
		s.t.Errorf("%v of board %s is left", p, name)
	}
	for _, p := range others {
		if !p.alive() {
			s.t.Fatalf("the end of board %s has ended a process of another", name)
		}
	}
}

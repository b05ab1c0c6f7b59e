//go:build linux

package main

import "testing"

// cuts are the first pieces of a board that a Manager writes: no board, another board that is
// complete, and none that can be read.
func cuts() []string { return []string{"nothing", "line", "word"} }

// TestManagerDiesWhileItWrites: a Manager that was killed when half of the board was written
// leaves nothing that a person would have to mend; nor does one that lives on, because both halves
// of the program were killed.
func TestManagerDiesWhileItWrites(t *testing.T) {
	t.Parallel()
	binary := built(t, buildPlain)
	for _, v := range []victim{runnerOnly, guardianOnly, bothHalves} {
		for _, cut := range cuts() {
			t.Run(string(v)+"/"+cut, func(t *testing.T) {
				s := newSite(t, binary, 2)
				s.env = []string{"CRASH_HALF=tasks/2.md", "CRASH_CUT=" + cut}
				run := s.start(nil)
				s.await("half-written")
				then := s.history()
				killed := run.kill(v)
				run.wait()
				s.settle(killed, then)
				now := s.history()
				s.completes(s.start(nil), now, 2)
			})
		}
	}
}

// TestManagerIsStoppedWhileItWrites is the same for an end by SIGINT.
func TestManagerIsStoppedWhileItWrites(t *testing.T) {
	t.Parallel()
	for _, cut := range cuts() {
		t.Run(cut, func(t *testing.T) {
			s := newSite(t, built(t, buildPlain), 2)
			s.env = []string{"CRASH_HALF=tasks/2.md", "CRASH_CUT=" + cut}
			run := s.start(nil)
			s.await("half-written")
			interrupted(t, run)
			now := s.history()
			s.completes(s.start(nil), now, 2)
		})
	}
}

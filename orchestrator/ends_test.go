package orchestrator_test

import (
	"maps"
	"regexp"
	"slices"
	"testing"
)

// endings are all files that end processes by a mark, each with the place of these processes. They end
// them by proc.EndMarked, which ends none of another place.
var endings = map[string]string{
	"orchestrator/agent/agent.go": "the caller knows it",
	"orchestrator/git/git.go":     "the mark is made of it",
}

// TestEndings: nobody but proc.EndMarked ends processes by a mark, and so in the place of a copy none of
// the original's.
func TestEndings(t *testing.T) {
	byMark := regexp.MustCompile(`\bproc\.EndMarked\(`)
	found := filesWith(t, byMark)
	if got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(endings)); !slices.Equal(got, want) {
		t.Errorf("processes are ended by their mark in\n%q, want them ended by agent.EndLeftovers, or in\n%q with a place", got, want)
	}
}

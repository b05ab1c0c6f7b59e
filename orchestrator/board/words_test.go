package board

import (
	"regexp"
	"testing"
)

// FuzzWords compares hand-written matchers with their patterns, which would be compiled at every
// start.
func FuzzWords(f *testing.F) {
	state, line := regexp.MustCompile(`^[A-Za-z][A-Za-z _-]*$`), regexp.MustCompile(`^(?i:role|assignee):\s`)
	for _, word := range []string{"", "done", "In-Progress", "a b", " a", "1", "a@", "a[", "a\x00", "ä", "role: x",
		"Assignee:\tx", "aſſignee: x", "role:", "roles: x", "role:\f", "role:\n", "role:\v"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if got, want := isState(word), state.MatchString(word); got != want {
			t.Errorf("isState(%q) = %t, want %t", word, got, want)
		}
		if got, want := isRoleLine([]byte(word)), line.MatchString(word); got != want {
			t.Errorf("isRoleLine(%q) = %t, want %t", word, got, want)
		}
	})
}

package config

import (
	"regexp"
	"testing"
)

// FuzzRoleWord compares the plain code with its pattern, which takes as long to compile as the rest
// of a start.
func FuzzRoleWord(f *testing.F) {
	oracle := regexp.MustCompile(`^[\pL\pN][\pL\pN_.-]*$`)
	for _, word := range []string{"", "Manager", "a.b", "./run", `"quoted`, "a b", "-a", "Ärztin", "²", "a\n",
		"a\xff", "\ufffd"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if got, want := isRoleWord(word), oracle.MatchString(word); got != want {
			t.Errorf("isRoleWord(%q) = %t, want %t", word, got, want)
		}
	})
}

package roles

import (
	"regexp"
	"testing"
)

// FuzzRoleName compares the plain code with its pattern, which takes as long to compile as the rest
// of a start.
func FuzzRoleName(f *testing.F) {
	oracle := regexp.MustCompile(`^[\pL\pN][\pL\pN_.-]*( [\pL\pN_.-]+)*$`)
	for _, name := range []string{"", "Manager", "a b-c", "a  b", " a", "a ", "-a", "a -", "Ärztin 2", "²", "a\n",
		"a\xff", "\ufffd", "a/b", "管理者"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if got, want := isRoleName(name), oracle.MatchString(name); got != want {
			t.Errorf("isRoleName(%q) = %t, want %t", name, got, want)
		}
	})
}

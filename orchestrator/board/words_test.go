package board

import (
	"fmt"
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

// TestLongCircle: a circle is one fault, whose text is short however many tasks it has.
func TestLongCircle(t *testing.T) {
	var needs Needs
	list := "current: 0.md\ntasks:\n"
	for i := range 2000 {
		list += fmt.Sprintf("- %d.md\n", i)
		needs = append(needs, need{Entry{Path: fmt.Sprintf("%d.md", i)}, []string{fmt.Sprintf("%d.md", (i+1)%2000)}})
	}
	found := needs.Check(mustParse(t, "k.yaml", list))
	const want = "0.md: it needs 1.md, which needs 2.md, which needs 3.md, which needs 4.md, and so on over 1995 more, " +
		"which needs 0.md: none of them can begin"
	if len(found) != 1 || found[0].Error() != want {
		t.Errorf("Check = %v, want %s", found, want)
	}
}

// TestStates: the words with which other tools close a task mean done, and a word that is neither
// known for done nor for open is a warning.
func TestStates(t *testing.T) {
	b := mustParse(t, "k.yaml", "current: a.md\ntasks: [a.md]\n")
	for word, want := range map[string]struct{ done, warns bool }{
		"Closed": {true, false}, "finished": {true, false}, "resolved": {true, false}, "done": {true, false},
		"": {}, "todo": {}, "open": {}, "pending": {}, "ready": {}, "draft": {}, "Backlog": {}, "in_progress": {},
		"in-progress": {}, "In Progress": {}, "review": {}, "blocked": {},
		"shipped": {false, true}, "wontfix": {false, true}, "not done": {false, true},
	} {
		e := Entry{Path: "a.md", State: word, Line: 2}
		if warns := len(b.Oddities(e, &Task{})) > 0; e.Done() != want.done || warns != want.warns && !want.done {
			t.Errorf("%q: done %t, warns %t, want %v", word, e.Done(), warns, want)
		}
		if warns := len(b.Oddities(Entry{Path: "a.md"}, &Task{State: word})) > 0; warns != want.warns {
			t.Errorf("%q in the header: warns %t, want %t", word, warns, want.warns)
		}
	}
}

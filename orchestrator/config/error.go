package config

import (
	"fmt"
	"strings"
)

// Error reports a wrong setting, which the user can mend.
type Error struct {
	File string // the settings file; "" for a flag or a variable, which Text names
	Line int    // zero: the whole file
	Text string
	Fix  string
}

func (e *Error) Error() string {
	switch {
	case e.File == "":
		return e.Text
	case e.Line == 0:
		return e.File + ": " + e.Text
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
}

// Hint returns what to write instead.
func (e *Error) Hint() string { return e.Fix }

// suggest names the word that was probably meant, else all allowed words.
func suggest(word string, words []string, all string) string {
	for _, w := range words {
		if oneEditApart(normalize(word), normalize(w)) {
			return "did you mean " + w + "?"
		}
	}
	return all + strings.Join(words, ", ")
}

func normalize(word string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(word))
}

// oneEditApart reports whether one letter added, removed, changed, or swapped with its neighbour
// turns a into b.
func oneEditApart(a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return swapped || len(a) <= 1 && len(b) <= 1
}

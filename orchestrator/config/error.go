package config

import (
	"fmt"
	"strings"
)

// Error says what is wrong with a setting: always the user's to mend.
type Error struct {
	File string // the settings file; "" when a flag or a variable is meant, which Text then names
	Line int    // zero: the file as a whole
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

// Hint says what to write instead.
func (e *Error) Hint() string { return e.Fix }

// suggest names the word that was probably meant, and otherwise all that would do.
func suggest(word string, words []string, all string) string {
	for _, w := range words {
		if oneEditApart(plain(word), plain(w)) {
			return "did you mean " + w + "?"
		}
	}
	return all + strings.Join(words, ", ")
}

func plain(word string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(word))
}

// oneEditApart reports whether one letter more, less, changed, or swapped with its neighbour turns a into b.
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

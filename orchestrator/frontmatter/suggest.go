package frontmatter

import "strings"

// Suggest returns a hint for a word that is not allowed. The hint names the allowed word that was
// probably meant. If no allowed word is near, the hint is the prefix and a list of the allowed
// words.
func Suggest(word string, words []string, prefix string) string {
	if meant := Nearest(word, words); meant != "" {
		return "did you mean " + meant + "?"
	}
	return prefix + strings.Join(words, ", ")
}

// Nearest returns the word that was probably meant, or "" if no word is near.
func Nearest(word string, words []string) string {
	for _, w := range words {
		if OneEditApart(normalize(word), normalize(w)) {
			return w
		}
	}
	return ""
}

func normalize(word string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(word))
}

// OneEditApart reports whether one edit turns a into b: a letter is added, removed, changed, or
// swapped with its neighbour. It is also true if a equals b.
func OneEditApart(a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return swapped || len(a) <= 1 && len(b) <= 1
}

package claim

import (
	"path"
	"strings"
)

// overlaps reports whether a file can match both patterns. In a pattern, * and ? match within a
// name, ** matches any number of folders, and a set of characters counts as any character. A
// pattern can name a folder if it ends with a slash, or if its last name has none of the characters
// ".*?[". Such a pattern also matches all files below that folder.
func overlaps(a, b string) bool {
	return meet(segments(a), segments(b), func(s string) bool { return s == "**" }, nameOverlap)
}

func segments(pattern string) []string {
	all := strings.Split(path.Clean(pattern), "/")
	if strings.HasSuffix(pattern, "/") || !strings.ContainsAny(all[len(all)-1], ".*?[") {
		all = append(all, "**")
	}
	return all
}

// nameOverlap reports whether a name can match both patterns.
func nameOverlap(a, b string) bool {
	if !strings.ContainsAny(a+b, "*?[") {
		return a == b
	}
	any := func(c byte) bool { return c == '?' || c >= 0x80 }
	star := func(c byte) bool { return c == '*' }
	same := func(x, y byte) bool { return any(x) || any(y) || x == y }
	return meet(characters(a), characters(b), star, same)
}

// characters returns the bytes of a pattern. It replaces a set such as [a-z] by ?.
func characters(pattern string) (all []byte) {
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		if c == '[' {
			if end := strings.IndexByte(pattern[i+1:], ']'); end >= 0 {
				i += end + 1
			}
			c = '?'
		}
		all = append(all, c)
	}
	return all
}

// meet reports whether one sequence can match both patterns. An element for which the function star
// returns true matches any number of elements. The function same compares two other elements. The
// running time is at most proportional to len(a)*len(b).
func meet[T any](a, b []T, star func(T) bool, same func(x, y T) bool) bool {
	below := make([]bool, len(b)+1) // below[j] is the result for a[i+1:] and b[j:]
	for i := len(a); i >= 0; i-- {
		row := make([]bool, len(b)+1)
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				row[j] = true
			case i < len(a) && star(a[i]):
				row[j] = below[j] || j < len(b) && row[j+1]
			case j < len(b) && star(b[j]):
				row[j] = row[j+1] || i < len(a) && below[j]
			case i < len(a) && j < len(b):
				row[j] = below[j+1] && same(a[i], b[j])
			}
		}
		below = row
	}
	return below[0]
}

package claim

import (
	"path"
	"strings"
)

// Overlaps says whether a file can be named by both patterns: * and ? are within a name, ** is any folders, a set of characters
// counts as any one. What ends with a slash, or has neither a dot nor a star in its last name, may be a folder, and stands for all below it, too.
func Overlaps(a, b string) bool {
	return overlap(segments(a), segments(b))
}

func segments(pattern string) []string {
	all := strings.Split(path.Clean(pattern), "/")
	if strings.HasSuffix(pattern, "/") || !strings.ContainsAny(all[len(all)-1], ".*?[") {
		all = append(all, "**")
	}
	return all
}

func overlap(a, b []string) bool {
	switch {
	case len(a) == 0 && len(b) == 0:
		return true
	case len(a) > 0 && a[0] == "**":
		return overlap(a[1:], b) || len(b) > 0 && overlap(a, b[1:])
	case len(b) > 0 && b[0] == "**":
		return overlap(a, b[1:]) || len(a) > 0 && overlap(a[1:], b)
	case len(a) == 0 || len(b) == 0:
		return false
	default:
		return nameOverlap(a[0], b[0]) && overlap(a[1:], b[1:])
	}
}

// nameOverlap says whether a name can match both patterns.
func nameOverlap(a, b string) bool {
	switch {
	case a == "" && b == "":
		return true
	case a != "" && a[0] == '*':
		return nameOverlap(a[1:], b) || b != "" && nameOverlap(a, next(b))
	case b != "" && b[0] == '*':
		return nameOverlap(a, b[1:]) || a != "" && nameOverlap(next(a), b)
	case a == "" || b == "":
		return false
	case isAny(a[0]) || isAny(b[0]) || a[0] == b[0]:
		return nameOverlap(next(a), next(b))
	default:
		return false
	}
}

func isAny(c byte) bool { return c == '?' || c == '[' || c >= 0x80 }

// next is a pattern without its first character, or set of them.
func next(p string) string {
	if p[0] == '[' {
		if i := strings.IndexByte(p[1:], ']'); i >= 0 {
			return p[i+2:]
		}
	}
	return p[1:]
}

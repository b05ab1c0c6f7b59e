package gitstore

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// BranchName turns a path into the name of a branch. If the name differs from the path, it ends
// with a part of the path's hash, so that two paths never share a name.
func BranchName(path string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9',
			strings.ContainsRune("._-/", r):
			return r
		default:
			return '-'
		}
	}, path)
	parts := strings.Split(name, "/")
	for i, part := range parts {
		part = strings.Trim(strings.ReplaceAll(part, "..", "-"), ".")
		parts[i] = strings.TrimSuffix(part, ".lock")
	}
	if name = strings.Join(parts, "/"); name != path {
		name += fmt.Sprintf("-%.4x", sha256.Sum256([]byte(path)))
	}
	return name
}

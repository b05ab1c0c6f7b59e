//go:build !failpoints

package failpoint

// At marks a place where a test can kill or delay the program, in builds with the tag failpoints.
func At(string) {}

// Cut returns n: only builds with the tag failpoints can cut a write short.
func Cut(_ string, n int) int { return n }

//go:build !failpoints

package failpoint

// At marks a place where a test may kill the program.
func At(string) {}

// Cut returns how many of n bytes to write before the At of the same name: fewer than n when that
// place is armed.
func Cut(_ string, n int) int { return n }

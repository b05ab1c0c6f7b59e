//go:build !failpoints

package failpoint

// At is a place where a test may kill the program.
func At(string) {}

// Cut is how many of n bytes are to be written before the At of the same name: fewer than all when that one is armed.
func Cut(_ string, n int) int { return n }

//go:build !linux

package quit

// Catch does nothing: on this system Go's own handler stays in its place.
func Catch() {}

//go:build unix && !linux

package attempt_test

func resetMarks() {}

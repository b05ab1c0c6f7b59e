//go:build linux

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestReleaseHasNoFailpoints: nothing of the failpoints is in the program that people get.
func TestReleaseHasNoFailpoints(t *testing.T) {
	t.Parallel()
	plain, failing := contents(t, buildPlain), contents(t, buildFailpoints)
	for _, text := range traces() {
		if bytes.Contains(plain, []byte(text)) {
			t.Errorf("the program has %q", text)
		}
		if !bytes.Contains(failing, []byte(text)) {
			t.Errorf("the program with failpoints has no %q: this test proves nothing", text)
		}
	}
}

// traces are texts that only failpoints have: their variable, and the names that cannot be words
// of something else. The compiler compares short texts without keeping them, and joins others with
// what stands beside them, but a name that is passed to a function stays in one piece.
func traces() []string {
	found := []string{"KANBAN_TEST_FAILPOINT"}
	for _, p := range places() {
		if strings.Contains(p.name, "-") && len(p.name) >= len("agent-gone") {
			found = append(found, p.name)
		}
	}
	return found
}

func contents(t *testing.T, build func() (string, error)) []byte {
	t.Helper()
	program, err := os.ReadFile(built(t, build))
	must(t, err)
	return program
}

package orchestrator_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRootIsTheLoop: the root is read beside seed 004's pseudo code, so it stays short. What a part of a run
// knows lies in the package of that part.
func TestRootIsTheLoop(t *testing.T) {
	const mostFiles, mostLines = 9, 1000 // of lines without doc.go
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	lines := 0
	for _, name := range files {
		if name != "doc.go" {
			lines += strings.Count(readFile(t, name), "\n")
		}
	}
	if len(files) > mostFiles || lines > mostLines {
		t.Errorf("the root has %d files and %d lines without doc.go, want at most %d and %d", len(files), lines, mostFiles, mostLines)
	}
}

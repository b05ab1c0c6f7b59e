// Package testfile writes files for tests. Only tests import it.
package testfile

import (
	"os"
	"path/filepath"
	"testing"
)

// Write writes a file and the folders above it, and returns its path.
func Write(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Tree writes files into a new temporary folder, and returns the folder's path. The parameter files
// maps the name of each file to its text.
func Tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		Write(t, filepath.Join(dir, name), text)
	}
	return dir
}

package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOutsideOf: an agent can fill no folder in which a program is looked for, not by a link either,
// nor one that it makes later.
func TestOutsideOf(t *testing.T) {
	root := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	must(os.MkdirAll(at("tree", "bin"), 0o755))
	must(os.MkdirAll(at("tree-2"), 0o755))
	must(os.Symlink(at("tree", "bin"), at("link")))
	must(os.Symlink("tree/later", at("dangling")))
	must(os.Symlink("dangling/bin", at("chain")))
	must(os.Symlink("loop", at("loop")))
	must(os.Symlink(at("tree"), at("alias")))
	list := []string{"bin", "", ".", at("tree"), at("tree", "bin"), at("tree", "..", "tree", "x"), at("link"), at("dangling"),
		at("chain"), at("alias", "bin"), at("tree-2"), at("missing"), at("loop"), "/usr/bin"}
	t.Setenv("PATH", strings.Join(list, string(filepath.ListSeparator)))
	want := SearchPath{at("tree-2"), at("missing"), at("loop"), "/usr/bin"}
	for _, top := range []string{at("tree"), at("alias")} {
		if got := OutsideOf(top); !slices.Equal(got, want) {
			t.Errorf("outside of %s are\n%q, want\n%q", top, got, want)
		}
	}
	must(os.WriteFile(at("tree", "bin", "tool"), []byte("#!/bin/sh\n"), 0o755))
	if path, err := OutsideOf(at("tree")).Look("tool"); err == nil {
		t.Errorf("the agent's tool was found: %s", path)
	}
	must(os.WriteFile(at("tree-2", "tool"), []byte("#!/bin/sh\n"), 0o755))
	if path, err := OutsideOf(at("tree")).Look("tool"); err != nil || path != at("tree-2", "tool") {
		t.Errorf("the tool was not found: %s, %v", path, err)
	}
}

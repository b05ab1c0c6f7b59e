package durable

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlace: a place is known again when it moved or one of its folders was replaced, and a copy of it,
// also by hard links, or the same path with other folders, is another place.
func TestPlace(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) []string {
		return []string{filepath.Join(dir, name, "runs"), filepath.Join(dir, name), filepath.Join(dir, name, "missing")}
	}
	create := func(name string) {
		if err := os.MkdirAll(at(name)[0], 0o700); err != nil {
			t.Fatal(err)
		}
	}
	create("a")
	born := PlaceOf(at("a")...)
	replace := func(path string) {
		if err := os.Rename(path, path+".old"); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		what   string
		change func()
		name   string
		want   bool
	}{
		{"unchanged", func() {}, "a", true},
		{"a copy", func() { create("b") }, "b", false},
		{"moved", func() { replace(at("a")[1]) }, "a.old", true},
		{"a copy at the path", func() { create("a") }, "a", false},
		{"another folder of runs", func() { replace(at("a.old")[0]); create("a.old") }, "a.old", true},
		{"gone", func() { replace(at("a.old")[1]) }, "a.old", false},
	} {
		tt.change()
		if got := born.IsAt(PlaceOf(at(tt.name)...)); got != tt.want {
			t.Errorf("%s: IsAt = %t, want %t", tt.what, got, tt.want)
		}
	}
}

// TestPlaceAfterBoot: devices have other numbers after a boot, and so only the inodes count.
func TestPlaceAfterBoot(t *testing.T) {
	for _, tt := range []struct {
		born, here string
		want       bool
	}{
		{"b1 fd00:7,fd00:8,-", "b1 fd00:7,fd00:9,-", true},
		{"b1 fd00:7,fd00:8,-", "b1 fe00:7,fe00:8,-", false},
		{"b1 fd00:7,fd00:8,-", "b2 fe00:7,fe00:1,-", true},
		{"b1 fd00:7,fd00:8,-", "b2 fe00:1,fe00:2,-", false},
		{"b1 -,-,-", "b1 -,-,-", false},
		{"b1 fd00:7", "b1 fd00:8,fd00:7", false},
		{"", "b1 fd00:7", true},
	} {
		if got := Place(tt.born).IsAt(Place(tt.here)); got != tt.want {
			t.Errorf("%q.IsAt(%q) = %t, want %t", tt.born, tt.here, got, tt.want)
		}
	}
	for _, tt := range []struct {
		born string
		want bool
	}{{"b1 fd00:7", true}, {"b2 fd00:7", false}, {"", true}} {
		if got := Place(tt.born).IsInBootOf("b1 fd00:8"); got != tt.want {
			t.Errorf("%q.IsInBootOf(b1) = %t, want %t", tt.born, got, tt.want)
		}
	}
	if p := string(PlaceOf(t.TempDir())); BootID() != "" && !strings.HasPrefix(p, BootID()+" ") {
		t.Errorf("PlaceOf = %q, want the boot in front", p)
	}
}

// TestAcquireFolder: the lock of a folder stays when all files in it are replaced, and nobody else gets it.
func TestAcquireFolder(t *testing.T) {
	dir := t.TempDir()
	l, err := AcquireFolder(dir)
	if err != nil || l == nil {
		t.Fatalf("AcquireFolder = %v, %v", l, err)
	}
	if _, err := AcquireFolder(dir); !errors.As(err, new(*HeldError)) || !IsFolderHeld(dir) {
		t.Errorf("a second AcquireFolder = %v, held %t, want that it is held", err, IsFolderHeld(dir))
	}
	if err := l.Release(); err != nil || IsFolderHeld(dir) {
		t.Errorf("Release = %v, held %t", err, IsFolderHeld(dir))
	}
	if _, err := AcquireFolder(filepath.Join(dir, "missing")); err == nil {
		t.Error("a folder that is missing is locked")
	}
}

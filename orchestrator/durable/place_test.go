package durable

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlace: a place is known again when its folder moved or some of its files were replaced, and a
// copy of it, or the same path with other files, is another place.
func TestPlace(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) []string {
		home := filepath.Join(dir, name)
		return []string{home, filepath.Join(home, "lock"), filepath.Join(home, "missing")}
	}
	create := func(name string) {
		if err := os.MkdirAll(at(name)[0], 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name)[1], nil, 0o600); err != nil {
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
		{"moved", func() { replace(at("a")[0]) }, "a.old", true},
		{"a copy at the path", func() { create("a") }, "a", false},
		{"another lock", func() { replace(at("a.old")[1]); create("a.old") }, "a.old", true},
		{"gone", func() { replace(at("a.old")[0]) }, "a.old", false},
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
	if p := string(PlaceOf(t.TempDir())); BootID() != "" && !strings.HasPrefix(p, BootID()+" ") {
		t.Errorf("PlaceOf = %q, want the boot in front", p)
	}
}

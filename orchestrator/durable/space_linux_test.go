package durable

import "testing"

// TestIsFull: a disk is full when an ordinary file has no room on it, or when it has no file left. A
// file system that counts neither is never full.
func TestIsFull(t *testing.T) {
	const mib = 1 << 20
	for name, tt := range map[string]struct {
		free, all, freeFiles, allFiles uint64
		want                           bool
	}{
		"room on a small disk":                  {2 * mib, 3 * mib, 10, 20, false},
		"the rest of a small disk":              {mib / 2, 3 * mib, 10, 20, true},
		"what git removed again":                {40 * mib, 1000 * 1000 * mib, 10, 20, true},
		"little room on a large disk":           {100 * mib, 1000 * 1000 * mib, 10, 20, false},
		"a twentieth of a disk is room":         {6 * mib, 100 * mib, 10, 20, false},
		"no file is left":                       {900 * mib, 1000 * mib, 0, 20, true},
		"no bound on files":                     {900 * mib, 1000 * mib, 0, 0, false},
		"a file system in memory of the kernel": {0, 0, 0, 0, false},
	} {
		if got := isFull(tt.free, tt.all, tt.freeFiles, tt.allFiles); got != tt.want {
			t.Errorf("%s: isFull = %t, want %t", name, got, tt.want)
		}
	}
	if IsFull("/proc") || IsFull("/none") {
		t.Error("a file system without blocks, or a folder that is not there, is full")
	}
}

package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteFileMakesOrReplaces(t *testing.T) {
	tests := map[string]struct {
		old  string // "-" for none
		data string
	}{
		"new file":            {"-", "board"},
		"new empty file":      {"-", ""},
		"longer":              {"old", "much longer than old"},
		"shorter":             {"much longer than the new one", "new"},
		"emptied":             {"old", ""},
		"the same":            {"same", "same"},
		"more than a buffer":  {"old", strings.Repeat("0123456789abcdef", 10_000)},
		"NUL and odd newline": {"old", "a\x00b\r\nc\r"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kanban.md")
			if tt.old != "-" {
				put(t, path, tt.old)
			}
			if err := WriteFile(path, []byte(tt.data), 0o644); err != nil {
				t.Fatalf("WriteFile = %v", err)
			}
			wantFile(t, path, tt.data)
			wantNames(t, filepath.Dir(path), "kanban.md")
		})
	}
}

func TestWriteFileTakesALongName(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("k", 255))
	for _, data := range []string{"one", "two"} {
		if err := WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatalf("WriteFile = %v", err)
		}
		wantFile(t, path, data)
	}
}

func TestWriteFileRefuses(t *testing.T) {
	tests := map[string]struct {
		prepare func(t *testing.T, dir string) string
		want    error
	}{
		"a missing folder": {
			func(t *testing.T, dir string) string { return filepath.Join(dir, "no", "f") }, fs.ErrNotExist,
		},
		"a folder": {func(t *testing.T, dir string) string { return dir }, nil},
		"a folder named with a slash": {
			func(t *testing.T, dir string) string { return dir + string(filepath.Separator) }, nil,
		},
		"a file as folder": {func(t *testing.T, dir string) string {
			put(t, filepath.Join(dir, "f"), "x")
			return filepath.Join(dir, "f", "g")
		}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := tt.prepare(t, t.TempDir())
			err := WriteFile(path, []byte("new"), 0o600)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("WriteFile(%q) = %v, want an error like %v", path, err, tt.want)
			}
		})
	}
}

// rival is a disk on which another program writes the same file at the same instant.
type rival struct{ disk }

func (d rival) rename(from, to string) error {
	return errors.Join(d.disk.rename(from, to), os.WriteFile(to, []byte("theirs"), 0o600))
}

func TestWriteFileReadsBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kanban.md")
	if err := writeFile(rival{}, path, []byte("ours"), 0o600); !errors.Is(err, ErrReadBack) {
		t.Errorf("WriteFile beside another writer = %v, want ErrReadBack", err)
	}
}

// A temporary file is always new, even if its name is in use.
func TestCreateTakesNothingOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	put(t, path, "precious")
	if f, err := (disk{}).create(path, 0o600); !errors.Is(err, fs.ErrExist) {
		f.Close()
		t.Errorf("create = %v, want fs.ErrExist", err)
	}
}

func TestVerifyNoticesAnotherWriter(t *testing.T) {
	tests := map[string]struct {
		disk, want string
		err        error
	}{
		"equal":     {"abc", "abc", nil},
		"shorter":   {"ab", "abc", ErrReadBack},
		"longer":    {"abcd", "abc", ErrReadBack},
		"different": {"abd", "abc", ErrReadBack},
		"emptied":   {"", "abc", ErrReadBack},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			put(t, path, tt.disk)
			if err := verify(disk{}, path, []byte(tt.want)); !errors.Is(err, tt.err) {
				t.Errorf("verify(%q, %q) = %v, want %v", tt.disk, tt.want, err, tt.err)
			}
		})
	}
}

func TestSweepRemovesOnlyLeftovers(t *testing.T) {
	dir := t.TempDir()
	kept := []string{
		"kanban.md", ".kanban.md.tmp-", ".kanban.md.tmp-mine", ".kanban.md.tmp-0123456789ABCDEF",
		".other.md.tmp-0123456789abcdef", "kanban.md.tmp-0123456789abcdef",
	}
	for _, name := range kept {
		put(t, filepath.Join(dir, name), "x")
	}
	put(t, filepath.Join(dir, ".kanban.md.tmp-0123456789abcdef"), "half")
	if err := os.Mkdir(filepath.Join(dir, ".kanban.md.tmp-aaaaaaaaaaaaaaaa"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Sweep(filepath.Join(dir, "kanban.md")); err != nil {
		t.Fatalf("Sweep = %v", err)
	}
	wantNames(t, dir, append(kept, ".kanban.md.tmp-aaaaaaaaaaaaaaaa")...)
}

func TestSweepFindsWhatWriteFileStages(t *testing.T) {
	for _, base := range []string{"kanban.md", strings.Repeat("k", 255)} {
		path := filepath.Join(t.TempDir(), base)
		f, _, err := createTemp(disk{}, path, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if err := Sweep(path); err != nil {
			t.Fatalf("Sweep = %v", err)
		}
		wantNames(t, filepath.Dir(path))
	}
}

func TestMkdirAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b", "c")
	for range 2 { // at the second call all folders exist
		if err := MkdirAll(dir, 0o700); err != nil {
			t.Fatalf("MkdirAll = %v", err)
		}
	}
	if err := isDir(dir); err != nil {
		t.Error(err)
	}
	file := filepath.Join(dir, "f")
	put(t, file, "x")
	for _, bad := range []string{file, filepath.Join(file, "g")} {
		if err := MkdirAll(bad, 0o700); err == nil {
			t.Errorf("MkdirAll(%q) = nil, want an error", bad)
		}
	}
}

func TestMkdirAllRelative(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"x", "y/z", ".", "y/../w/"} {
		if err := MkdirAll(dir, 0o700); err != nil {
			t.Errorf("MkdirAll(%q) = %v", dir, err)
		}
	}
	wantNames(t, ".", "x", "y", "w")
}

func TestSyncDirNeedsAFolder(t *testing.T) {
	if err := SyncDir(filepath.Join(t.TempDir(), "no")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("SyncDir = %v, want fs.ErrNotExist", err)
	}
}

func TestSyncData(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	if err := SyncData(f); err != nil {
		t.Errorf("SyncData = %v", err)
	}
	f.Close()
	if err := SyncData(f); err == nil {
		t.Error("SyncData of a closed file = nil, want an error")
	}
}

func put(t *testing.T, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %.40q (%d bytes), %v, want %.40q", path, got, len(got), err, want)
	}
}

func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, name := range want {
		missing[name] = true
	}
	for _, e := range entries {
		if !missing[e.Name()] {
			t.Errorf("%s is in the folder, want only %q", e.Name(), want)
		}
		delete(missing, e.Name())
	}
	for name := range missing {
		t.Errorf("%s is missing from the folder", name)
	}
}

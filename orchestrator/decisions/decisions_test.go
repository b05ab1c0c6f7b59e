package decisions_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/decisions"
)

const people = "# Decisions\n\n## Feature Definition of Done\n- tests pass\n\n## Risks & Mitigations\n\n## Architectural Decisions\n- use `yaml`  \n"

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "DECISIONS.md")
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAppend: seed 002, "Bounded DECISIONS Contribution Rule": entries at the end of their
// section; the sections are made once, and all else stays byte for byte.
func TestAppend(t *testing.T) {
	for name, tt := range map[string]struct{ before, after string }{
		"the sections are made":    {people, people + "\n## Operational Escalations\n\n- e\n\n## Orchestration Notes\n"},
		"without a last line end":  {strings.TrimSuffix(people, "\n"), people + "\n## Operational Escalations\n\n- e\n\n## Orchestration Notes\n"},
		"behind other entries":     {"## Operational Escalations\n- a\n\n- b  \n\n\n## Other\nx", "## Operational Escalations\n- a\n\n- b  \n- e\n\n\n## Other\nx"},
		"at the end of the file":   {"x\n## Operational Escalations\n- a", "x\n## Operational Escalations\n- a\n- e\n"},
		"only the heading":         {"## Operational Escalations", "## Operational Escalations\n\n- e\n"},
		"line ends of Windows":     {"## Operational Escalations\r\n- a\r\n\r\n## X\r\n", "## Operational Escalations\r\n- a\r\n- e\r\n\r\n## X\r\n"},
		"a heading in a fence":     {"```\n## Operational Escalations\n```\n## Operational Escalations\n~~~~\n## X\n~~~\n~~~~\n- a\n# Y\n", "```\n## Operational Escalations\n```\n## Operational Escalations\n~~~~\n## X\n~~~\n~~~~\n- a\n- e\n# Y\n"},
		"a heading in a comment":   {"<!--\n## Operational Escalations\n-->\n## Operational Escalations\n- a\n", "<!--\n## Operational Escalations\n-->\n## Operational Escalations\n- a\n- e\n"},
		"a comment without an end": {people + "\n<!-- x\n", people + "\n<!-- x\n\n## Operational Escalations\n\n- e\n\n## Orchestration Notes\n"},
		"no fence":                 {people + "\n```foo```\n    ```\n", people + "\n```foo```\n    ```\n\n## Operational Escalations\n\n- e\n\n## Orchestration Notes\n"},
		"a fence without an end":   {people + "\n```\nx\n", people + "\n```\nx\n\n## Operational Escalations\n\n- e\n\n## Orchestration Notes\n"},
		"other headings":           {"## Operational Escalations\n- a\nMy own\n------\nmine\n", "## Operational Escalations\n- a\n- e\nMy own\n------\nmine\n"},
		"an indented heading":      {"## Operational Escalations\n- a\n  ##\tMine\n", "## Operational Escalations\n- a\n- e\n  ##\tMine\n"},
		"an entry that is there":   {"## Operational Escalations\n- e\n## X\n", "## Operational Escalations\n- e\n## X\n"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, tt.before)
			if err := decisions.Append(path, decisions.Escalations, " e\n"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.after, read(t, path)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			left, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(left) != 1 {
				t.Errorf("%v, %v: a temporary file is left", left, err)
			}
		})
	}
}

// TestRefused: without the sections of people nothing is written, and nothing
// outside of the two sections.
func TestRefused(t *testing.T) {
	path := write(t, "# Decisions\n\n## Architectural Decisions\n")
	if err := decisions.Append(path, decisions.Notes, "e"); !errors.Is(err, decisions.ErrMarkerMissing) || !strings.Contains(err.Error(), "## Feature Definition of Done") {
		t.Errorf("%v", err)
	}
	if err := decisions.Append(path, "## Architectural Decisions", "e"); !errors.Is(err, decisions.ErrScope) {
		t.Errorf("%v", err)
	}
	if got := read(t, path); got != "# Decisions\n\n## Architectural Decisions\n" {
		t.Errorf("%q", got)
	}
	if err := decisions.Append(filepath.Join(t.TempDir(), "none"), decisions.Notes, "e"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	folder := t.TempDir()
	if err := decisions.Append(folder, decisions.Notes, "e"); err == nil {
		t.Error("a folder was written")
	}
}

// TestForgery: an entry stays in one line, whatever an agent has written.
func TestForgery(t *testing.T) {
	path := write(t, people)
	if err := decisions.Append(path, decisions.Notes, "x\n## Architectural Decisions\r\n- use mine"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); !strings.HasPrefix(got, people) || !strings.HasSuffix(got, "\n- x ## Architectural Decisions - use mine\n") {
		t.Errorf("%q", got)
	}
}

// TestTogether: a person who edits the file all the time loses nothing, and
// every entry is there once.
func TestTogether(t *testing.T) {
	path := write(t, people)
	const each = 60
	begins := make(chan struct{}) // an entry is being appended, and the person edits the file meanwhile
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(begins)
		for i := range each {
			begins <- struct{}{}
			if err := decisions.Append(path, decisions.Notes, fmt.Sprint("entry ", i)); err != nil {
				t.Error(err)
			}
		}
	})
	lost := 0
	wg.Go(func() { // as editors do: read, change, write a new file and rename it
		defer func() { // also after a fault: the other side must not wait
			for range begins {
				continue
			}
		}()
		for i := range each {
			<-begins
			line := fmt.Sprintf("- person %d\n", i)
			text := read(t, path)
			next := strings.Replace(text, "## Risks", line+"\n## Risks", 1)
			temp := path + ".person"
			if err := os.WriteFile(temp, []byte(next), 0o640); err != nil {
				t.Error(err)
			}
			if read(t, path) != text { // a careful editor asks; this one leaves it
				lost++
				continue
			}
			if err := os.Rename(temp, path); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	got := read(t, path)
	if persons := strings.Count(got, "- person "); persons != each-lost || persons == 0 {
		t.Errorf("%d lines of the person are there, want %d", persons, each-lost)
	}
	if !strings.Contains(got, "## Architectural Decisions\n- use `yaml`  \n") {
		t.Errorf("what people wrote has changed:\n%s", got)
	}
	for i := range each {
		if n := strings.Count(got, fmt.Sprintf("- entry %d\n", i)); n > 1 {
			t.Errorf("entry %d stands there %d times", i, n)
		}
	}
}

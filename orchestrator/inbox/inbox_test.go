package inbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kanban-run/orchestrator/inbox"
)

const (
	first  = "11111111-1111-4111-8111-111111111111"
	second = "22222222-2222-4222-8222-222222222222"
)

func take(dir string) []inbox.Message {
	all, _ := inbox.Take(dir, 1000)
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestTake: messages come in the order in which they were left, once, and their files are gone.
func TestTake(t *testing.T) {
	dir := t.TempDir()
	must(t, inbox.Post(dir, inbox.Message{ID: second, Step: 1, Text: "one"}))
	must(t, inbox.Post(dir, inbox.Message{ID: first, Choice: "release"}))
	earlier := time.Now().Add(-time.Minute) // both may have been written within a tick of the file system's clock
	must(t, os.Chtimes(filepath.Join(dir, second+".json"), earlier, earlier))
	got, _ := inbox.Take(dir, 10)
	if len(got) != 2 || got[0].Text != "one" || got[1].Choice != "release" {
		t.Errorf("%+v", got)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 || len(take(dir)) > 0 {
		t.Errorf("%v, %v are left", left, err)
	}
	must(t, inbox.Post(dir, inbox.Message{ID: first}))
	if !inbox.Withdraw(dir, first) || inbox.Withdraw(dir, first) || len(take(dir)) > 0 {
		t.Error("a message that was taken back is there still")
	}
	if got := take(filepath.Join(dir, "none")); got != nil {
		t.Errorf("%v", got)
	}
}

// TestHostileFiles: what is no message is not taken for one, waited for or followed;
// half a file has no name yet.
func TestHostileFiles(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(outside, []byte(`{"id":"`+first+`","text":"from outside"}`), 0o600))
	name := func(id string) string { return filepath.Join(dir, id+".json") }
	for what, put := range map[string]func() error{
		"garbage":        func() error { return os.WriteFile(name(first), []byte("{"), 0o600) },
		"a link":         func() error { return os.Symlink(outside, name(first)) },
		"a FIFO":         func() error { return syscall.Mkfifo(name(first), 0o600) },
		"a folder":       func() error { return os.Mkdir(name(first), 0o700) },
		"another's name": func() error { return os.WriteFile(name(first), []byte(`{"id":"`+second+`"}`), 0o600) },
		"too long": func() error {
			return os.WriteFile(name(first), []byte(`{"id":"`+first+`","text":"`+strings.Repeat("x", 200<<10)+`"}`), 0o600)
		},
		"a long text": func() error {
			return os.WriteFile(name(first), []byte(`{"id":"`+first+`","text":"`+strings.Repeat("x", inbox.MaxText+1)+`"}`), 0o600)
		},
		"half a file":  func() error { return os.WriteFile(filepath.Join(dir, ".new-1"), []byte(`{"id":"`+first), 0o600) },
		"another file": func() error { return os.WriteFile(filepath.Join(dir, "note.txt"), nil, 0o600) },
	} {
		must(t, put())
		if got := take(dir); len(got) > 0 {
			t.Errorf("%s: %+v", what, got)
		}
		must(t, os.RemoveAll(name(first)))
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}

// TestManyWriters: each message of several writers is taken once, by one of several readers.
func TestManyWriters(t *testing.T) {
	dir := t.TempDir()
	ids := make([]string, 200)
	for i := range ids {
		ids[i] = strings.ReplaceAll(first, "1111-4111", "1111-4"+string(rune('a'+i%6))+string(rune('0'+i/60))+string(rune('0'+i/6%10)))
	}
	var mu sync.Mutex
	taken := map[string]int{}
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for w := range 4 {
		writers.Go(func() {
			for i := w; i < len(ids); i += 4 {
				if err := inbox.Post(dir, inbox.Message{ID: ids[i]}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	read := func() {
		for _, m := range take(dir) {
			mu.Lock()
			taken[m.ID]++
			mu.Unlock()
		}
	}
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					read()
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	read()
	for _, id := range ids {
		if taken[id] != 1 {
			t.Errorf("%s was taken %d times", id, taken[id])
		}
	}
}

// TestFlood: of more messages than are to be taken the others are removed unread, however many there are.
func TestFlood(t *testing.T) {
	dir := t.TempDir()
	const files = 2500 // more than are looked at at a time
	for i := range files {
		must(t, inbox.Post(dir, inbox.Message{ID: fmt.Sprintf("%08d-1111-4111-8111-111111111111", i)}))
	}
	all, unread := inbox.Take(dir, 7)
	if len(all) != 7 || unread != files-7 {
		t.Errorf("Take = %d messages, %d unread, want 7, %d", len(all), unread, files-7)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
	must(t, inbox.Post(dir, inbox.Message{ID: first}))
	if all, unread := inbox.Take(dir, 0); len(all) != 0 || unread != 1 {
		t.Errorf("Take of none = %v, %d", all, unread)
	}
}

// TestEndlessFlood: a process that leaves files as quickly as they are removed does not keep Take from returning.
func TestEndlessFlood(t *testing.T) {
	dir := t.TempDir()
	for i := range 12_000 {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%08d-1111-4111-8111-111111111111.json", i)), nil, 0o600))
	}
	_, removed := inbox.Take(dir, 0)
	if removed == 0 || removed > 10_000 {
		t.Errorf("one Take has removed %d files, want 10,000 at most", removed)
	}
	for range 10 {
		_, more := inbox.Take(dir, 0)
		removed += more
	}
	if removed != 12_000 {
		t.Errorf("ten more have removed %d in all, want 12,000", removed)
	}
}

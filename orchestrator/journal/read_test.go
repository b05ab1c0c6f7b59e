package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/durable"
)

// The test binary plays the writer that gets killed.
func TestMain(m *testing.M) {
	path := os.Getenv("JOURNAL_TEST_PATH")
	if path == "" {
		os.Exit(m.Run())
	}
	if err := writeForever(path); err != nil {
		fmt.Println("error:", err)
	}
}

// writeForever commits records in groups of one to seven and prints the last of each acknowledged
// group.
func writeForever(path string) error {
	j, err := Open(path, time.Now, ignore)
	if err != nil {
		return err
	}
	if _, err := j.BeginEpoch(); err != nil {
		return err
	}
	for group := 0; ; group++ {
		var last Record
		for i := range 1 + group%7 {
			if last, err = j.Append(draft(i)); err != nil {
				return err
			}
		}
		if err := j.Commit(); err != nil {
			return err
		}
		fmt.Println(last.Seq)
	}
}

// startWriter starts a writer and returns a function for the next record that it acknowledges, 0
// once it is gone.
func startWriter(t *testing.T, path string) (*exec.Cmd, func() uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "JOURNAL_TEST_PATH="+path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	return cmd, func() uint64 {
		if !lines.Scan() {
			return 0
		}
		seq, err := strconv.ParseUint(lines.Text(), 10, 64)
		if err != nil {
			t.Fatalf("writer said %q", lines.Text())
		}
		return seq
	}
}

// Kill -9 at any instant loses nothing that was acknowledged, run after run on
// one journal.
func TestJournalSurvivesKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	var acked uint64
	for round := range 20 {
		cmd, next := startWriter(t, path)
		for range 1 + round%9 {
			if acked = next(); acked == 0 {
				t.Fatal("the writer ended early")
			}
		}
		cmd.Process.Kill()
		for seq := next(); seq > 0; seq = next() { // printed before the signal came
			acked = seq
		}
		cmd.Wait()
		if s, err := Read(path, ignore); err != nil || s.Records < acked {
			t.Fatalf("Read = %+v, %v, want at least %d records", s, err, acked)
		}
	}
}

// A status command that reads beside a writer sees a beginning, never damage.
func TestReadBesideAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	_, next := startWriter(t, path)
	var s Summary
	for round := 0; round < 50 && s.Records < 10_000; round++ { // the writer does not wait for a slow reader
		acked := next()
		seen := uint64(0)
		var err error
		s, err = Read(path, func(r Record) error {
			seen = r.Seq
			return nil
		})
		if err != nil || s.Records < acked || s.Records != seen {
			t.Fatalf("Read = %+v, %v, saw %d, want at least %d records", s, err, seen, acked)
		}
	}
}

func TestReadChangesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "journal.jsonl")
	j := begun(t, path)
	add(t, j, draft(0))
	commit(t, j)
	j.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	torn := string(whole) + "000000"
	if err := durable.WriteFile(path, []byte(torn), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Read(path, ignore)
	want := Summary{Records: 1, Bytes: int64(len(whole)), TornBytes: 6, Epoch: 1, Head: 1}
	if s != want || err != nil {
		t.Errorf("Read = %+v, %v, want %+v", s, err, want)
	}
	if got, _ := os.ReadFile(path); string(got) != torn {
		t.Errorf("Read changed the journal to %q", got)
	}
	if names, _ := os.ReadDir(dir); len(names) != 2 {
		t.Errorf("Read left %v in the folder", names)
	}
}

func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(filepath.Join(dir, "no"), ignore); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read of a missing journal = %v, want fs.ErrNotExist", err)
	}
	if _, err := Read(dir, ignore); err == nil {
		t.Error("Read of a folder = nil, want an error")
	}
	path := filepath.Join(dir, "journal.jsonl")
	j := begun(t, path)
	add(t, j, draft(0))
	add(t, j, draft(1))
	commit(t, j)
	j.Close()
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	var damage *DamageError
	_, err := Read(path, ignore)
	if !errors.As(err, &damage) || damage.Path != path || !strings.Contains(err.Error(), "record 2 was written") {
		t.Errorf("Read of a cut journal = %v, want *DamageError for %s", err, path)
	}
}

// TestEndlessTail: a journal that something made a terabyte long is refused at once,
// by a run and by a reader.
func TestEndlessTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := begun(t, path)
	add(t, j, draft(0))
	commit(t, j)
	j.Close()
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Skip(err) // no file system for sparse files
	}
	var damage *DamageError
	if _, err := Read(path, ignore); !errors.As(err, &damage) || !strings.Contains(err.Error(), "more than a killed run leaves") {
		t.Errorf("Read = %v, want *DamageError", err)
	}
	if _, err := Open(path, time.Now, ignore); !errors.As(err, &damage) {
		t.Errorf("Open = %v, want *DamageError", err)
	}
}

func TestReadStopsAtAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := begun(t, path)
	add(t, j, draft(0))
	add(t, j, draft(1))
	commit(t, j)
	stop := errors.New("enough")
	s, err := Read(path, func(Record) error { return stop })
	if !errors.Is(err, stop) || s.Records != 1 {
		t.Errorf("Read = %+v, %v, want %v after one record", s, err, stop)
	}
}

// Replay holds one record: its memory does not grow with the journal.
func TestReplayStreams(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := begun(t, path)
	for i := range 20_000 {
		add(t, j, draft(i))
	}
	commit(t, j)
	var heap []uint64
	_, err := Read(path, func(r Record) error {
		if r.Seq%5000 == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			heap = append(heap, m.HeapAlloc)
		}
		return nil
	})
	if err != nil || len(heap) != 4 {
		t.Fatal(err, heap)
	}
	if grown := int64(heap[3]) - int64(heap[0]); grown > 256<<10 {
		t.Errorf("the heap grew by %d bytes within 15,000 records, want it to stay", grown)
	}
}

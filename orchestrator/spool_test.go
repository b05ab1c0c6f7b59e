package orchestrator

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

func TestSpool(t *testing.T) {
	long := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	tests := []struct {
		name   string
		write  []byte
		finish func(*spool) error
		want   []byte // nil: no file
	}{
		{"a short stream that is kept", []byte("short"), (*spool).keep, []byte("short")},
		{"a long stream that is kept", long, (*spool).keep, long},
		{"an empty stream leaves no file", nil, (*spool).keep, nil},
		{"a short stream that is dropped", []byte("short"), (*spool).drop, nil},
		{"a long stream that is dropped", long, (*spool).drop, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "steps", "out")
			s := newSpool(filepath.Dir(filepath.Dir(path)), filepath.Join("steps", "out"))
			for i := 0; i < len(tt.write); i += 1000 {
				if _, err := s.Write(tt.write[i:min(i+1000, len(tt.write))]); err != nil {
					t.Fatal(err)
				}
			}
			if err := tt.finish(s); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if tt.want == nil && !os.IsNotExist(err) {
				t.Fatalf("the file is there: %q, %v", got, err)
			}
			if tt.want != nil && !bytes.Equal(got, tt.want) {
				t.Errorf("the file has %d bytes, want %d", len(got), len(tt.want))
			}
		})
	}
}

// TestSpoolShowsALongAttempt: a person can watch an attempt that takes longer than a second.
func TestSpoolShowsALongAttempt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "steps", "out")
	synctest.Test(t, func(t *testing.T) {
		s := newSpool(filepath.Dir(filepath.Dir(path)), filepath.Join("steps", "out"))
		if _, err := s.Write([]byte("working\n")); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("a young short stream has a file: %v", err)
		}
		time.Sleep(spoolDelay + time.Millisecond)
		synctest.Wait()
		if got, err := os.ReadFile(path); string(got) != "working\n" {
			t.Errorf("after %v the file holds %q, %v", spoolDelay, got, err)
		}
		if err := s.keep(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestSpoolOfAnOldAttempt: what is said late in a long attempt can be watched at once.
func TestSpoolOfAnOldAttempt(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newSpool(dir, "out")
		time.Sleep(spoolDelay)
		if _, err := s.Write([]byte("working\n")); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "out")); string(got) != "working\n" {
			t.Errorf("the file holds %q, %v", got, err)
		}
		if err := s.keep(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestSpoolOnAFullDisk: the agent is not disturbed, and the error is not lost.
func TestSpoolOnAFullDisk(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSpool(blocked, "out")
	if n, err := s.Write(make([]byte, spoolMemory+1)); n != spoolMemory+1 || err != nil {
		t.Errorf("Write = %d, %v, want the agent undisturbed", n, err)
	}
	if err := s.keep(); err == nil {
		t.Error("keep says nothing of the stream that could not be kept")
	}
}

package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// followed is a journal that a test writes itself, and the Follower that reads it.
type followed struct {
	*testing.T
	*Follower
	path string
	seqs []uint64 // of the records that the Follower has read
}

func follow(t *testing.T) *followed {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	return &followed{T: t, Follower: Follow(path), path: path}
}

// write replaces the bytes of the journal from an offset on. The file stays the same.
func (f *followed) write(at int, data []byte) {
	f.Helper()
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		_, err = file.WriteAt(data, int64(at))
		err = errors.Join(err, file.Truncate(int64(at+len(data))), file.Close())
	}
	if err != nil {
		f.Fatal(err)
	}
}

// writeHead names a record of the journal as the last one that was acknowledged.
func (f *followed) writeHead(m *memory, seq int) {
	f.Helper()
	if err := os.WriteFile(headName(f.path), head{uint64(seq), crcOf(f.T, m, seq)}.encode(), 0o600); err != nil {
		f.Fatal(err)
	}
}

func (f *followed) read() (Summary, error) {
	return f.Read(func(r Record) error {
		f.seqs = append(f.seqs, r.Seq)
		return nil
	})
}

// wantNew holds what the Follower reads now to the seqs of the records.
func (f *followed) wantNew(name string, want ...uint64) {
	f.Helper()
	f.seqs = nil
	if _, err := f.read(); err != nil || !slices.Equal(f.seqs, want) {
		f.Errorf("%s: Read = %v, records %d, want %d", name, err, f.seqs, want)
	}
}

// committed returns a disk with a journal of n records, which begin with the i-th draft, its bytes and the offset after
// each of its records.
func committed(t *testing.T, n, i int) (m *memory, data []byte, after []int) {
	t.Helper()
	m = newMemory()
	j, err := open(m, testPath, ticker, ignore)
	if err == nil {
		_, err = j.BeginEpoch()
	}
	if err != nil {
		t.Fatal(err)
	}
	for k := range n {
		add(t, j, draft(i+k))
	}
	commit(t, j)
	data = m.names[testPath].data
	return m, data, ends(data)
}

// TestFollowerReadsWhatIsAdded: however a journal grows, also by halves of records and with a torn tail that the next
// writer cuts off, a Follower reads each record once, and ends as a whole Read does.
func TestFollowerReadsWhatIsAdded(t *testing.T) {
	m, data, after := committed(t, 40, 0)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := follow(t)
		for at := 0; at < len(data); {
			next := min(at+1+r.IntN(800), len(data))
			whole, _ := slices.BinarySearch(after, next+1)
			f.write(at, data[at:next])
			if r.IntN(2) == 0 && whole > 0 {
				f.writeHead(m, whole)
			}
			got, err := f.read()
			want, wantErr := Read(f.path, ignore)
			if err != nil || wantErr != nil || got != want || got.Records != uint64(whole) || len(f.seqs) != whole {
				t.Fatalf("seed %d: %d of %d bytes: %+v, %v, %d records, want %+v, %v", seed, next, len(data), got, err, len(f.seqs), want, wantErr)
			}
			if at = next; r.IntN(3) == 0 && whole > 0 { // the writer died, and its heir cuts off the torn tail
				at = after[whole-1]
			}
		}
	}
}

// TestFollowerKeepsItsPlace: a file that looks as before is not read, and of another one only the last record and what
// follows it.
func TestFollowerKeepsItsPlace(t *testing.T) {
	_, data, after := committed(t, 5, 0)
	f := follow(t)
	f.write(0, data[:after[2]])
	f.wantNew("three records", 1, 2, 3)
	was := f.time()
	f.write(after[2]-9, []byte("123456789"))
	f.setTime(was)
	f.wantNew("a file that looks as before")
	early := slices.Clone(data)
	early[after[0]+30] ^= 1
	f.write(0, early[:after[3]])
	f.setTime(was)
	f.wantNew("one more", 4)
	f.write(0, early[:after[3]+5])
	f.wantNew("a torn one")
	f.write(0, early)
	f.wantNew("the rest of it", 5)
}

func (f *followed) time() time.Time {
	f.Helper()
	info, err := os.Stat(f.path)
	if err != nil {
		f.Fatal(err)
	}
	return info.ModTime()
}

// setTime sets the time at which the journal was changed last.
func (f *followed) setTime(at time.Time) {
	f.Helper()
	if err := os.Chtimes(f.path, time.Time{}, at); err != nil {
		f.Fatal(err)
	}
}

// TestFollowerGoesOnInACopy: a file with the same records is the same journal.
func TestFollowerGoesOnInACopy(t *testing.T) {
	m, data, after := committed(t, 5, 0)
	f := follow(t)
	f.write(0, data[:after[1]])
	f.writeHead(m, 2)
	f.wantNew("at first", 1, 2)
	if err := os.Rename(f.path, f.path+".old"); err != nil {
		t.Fatal(err)
	}
	f.write(0, data)
	f.wantNew("in the copy", 3, 4, 5)
}

// TestFollowerSeesAnotherJournal: that a journal is shorter, or has another last record or head is told,
// as are damage and a journal that is gone. The next Read begins anew.
func TestFollowerSeesAnotherJournal(t *testing.T) {
	m, data, after := committed(t, 5, 0)
	_, other, _ := committed(t, 5, 1)
	remove := func(paths ...string) {
		for _, path := range paths {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	move := func(path string) {
		if err := os.Rename(path, path+".old"); err != nil {
			t.Fatal(err)
		}
	}
	damaged := new(DamageError)
	for name, tt := range map[string]struct {
		change func(f *followed)
		want   error
	}{
		"another file that looks alike": {func(f *followed) {
			was := f.time()
			move(f.path)
			f.write(0, other[:after[1]])
			f.setTime(was)
			remove(headName(f.path))
		}, ErrReplaced},
		"shorter":                   {func(f *followed) { f.write(0, data[:after[0]]) }, ErrReplaced},
		"shorter by a byte":         {func(f *followed) { f.write(0, data[:after[1]-1]) }, ErrReplaced},
		"emptied":                   {func(f *followed) { f.write(0, nil) }, ErrReplaced},
		"another journal":           {func(f *followed) { f.write(0, other) }, ErrReplaced},
		"another last record":       {func(f *followed) { f.write(after[1]-3, []byte("x}\n")) }, ErrReplaced},
		"an older head":             {func(f *followed) { f.writeHead(m, 1); f.write(0, data) }, ErrReplaced},
		"a head that is not there":  {func(f *followed) { f.write(0, data[:after[2]+9]); f.writeHead(m, 4) }, damaged},
		"damage behind":             {func(f *followed) { f.write(after[2]+40, append([]byte("x"), data[after[2]+41:]...)) }, damaged},
		"removed":                   {func(f *followed) { remove(f.path, headName(f.path)) }, fs.ErrNotExist},
		"removed, but not its head": {func(f *followed) { remove(f.path) }, damaged},
	} {
		t.Run(name, func(t *testing.T) {
			f := follow(t)
			f.write(0, data[:after[1]])
			f.writeHead(m, 2)
			f.wantNew("at first", 1, 2)
			tt.change(f)
			_, err := f.read()
			if tt.want == damaged && !errors.As(err, new(*DamageError)) || tt.want != damaged && !errors.Is(err, tt.want) {
				t.Errorf("Read = %v, want %v", err, tt.want)
			}
			f.seqs = nil
			got, err := f.read()
			var seqs []uint64
			want, wantErr := Read(f.path, func(r Record) error { seqs = append(seqs, r.Seq); return nil })
			if got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) || !slices.Equal(f.seqs, seqs) {
				t.Errorf("the next Read = %+v, %v, records %d, want %+v, %v, %d", got, err, f.seqs, want, wantErr, seqs)
			}
		})
	}
}

// TestJournalFollow: a Follower that a writer hands out reads only what was committed after that, also by another writer, and
// knows as much as one that has read all. Where records are not committed there is none.
func TestJournalFollow(t *testing.T) {
	f := follow(t)
	write := func(n int) *Follower {
		t.Helper()
		j, err := Open(f.path, time.Now, ignore)
		if err == nil {
			_, err = j.BeginEpoch()
		}
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			if _, err := j.Append(draft(0)); err != nil {
				t.Fatal(err)
			}
		}
		if j.Follow() != nil {
			t.Error("records that are not committed are followed")
		}
		if err := j.Commit(); err != nil {
			t.Fatal(err)
		}
		handed := j.Follow()
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		return handed
	}
	f.Follower = write(3)
	f.wantNew("at once")
	whole, err := Follow(f.path).Read(func(Record) error { return nil })
	if known, _ := f.read(); err != nil || known != whole {
		t.Errorf("it knows %+v, want %+v, %v", known, whole, err)
	}
	write(2)
	f.wantNew("behind another writer", 4, 5)
	if err := os.Truncate(f.path, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := f.read(); err == nil {
		t.Error("it does not notice that its records are gone")
	}
}

package journal

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// memory is a disk that knows what of it would survive a power cut, fails
// operations on demand and counts them.
type memory struct {
	names  map[string]*memFile // what every process sees
	synced map[string]*memFile // what a folder sync made sure of
	log    []string
	fails  func(n int, op string) error
	skips  string // an operation that reports success and does nothing
}

type memFile struct {
	data   []byte
	synced []byte
}

func newMemory() *memory {
	return &memory{names: map[string]*memFile{}, synced: map[string]*memFile{}}
}

// do reports whether the operation is to be done; err says why it failed.
func (m *memory) do(op string) (bool, error) {
	m.log = append(m.log, op)
	if m.fails != nil {
		if err := m.fails(len(m.log), op); err != nil {
			return false, err
		}
	}
	return op != m.skips, nil
}

func (m *memory) put(name string, data []byte) {
	f := &memFile{data: slices.Clone(data), synced: slices.Clone(data)}
	m.names[name], m.synced[name] = f, f
}

func (m *memory) read(path string, max int64) ([]byte, error) {
	f, ok := m.names[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return slices.Clone(f.data[:min(max, int64(len(f.data)))]), nil
}

func (m *memory) open(path string, create bool) (file, error) {
	if _, err := m.do("open " + filepath.Ext(path)); err != nil {
		return nil, err
	}
	if m.names[path] == nil {
		if !create {
			return nil, fs.ErrNotExist
		}
		m.names[path] = &memFile{}
	}
	return &memHandle{disk: m, path: path, file: m.names[path]}, nil
}

func (m *memory) create(path string) (file, error) {
	if m.names[path] != nil {
		return nil, fs.ErrExist
	}
	return m.open(path, true)
}

func (m *memory) syncDir(string) error {
	ok, err := m.do("syncDir")
	if ok {
		m.synced = maps.Clone(m.names)
	}
	return err
}

type memHandle struct {
	disk *memory
	path string
	file *memFile
}

func (h *memHandle) op(name string) (bool, error) {
	return h.disk.do(name + " " + filepath.Ext(h.path))
}

func (h *memHandle) Close() error { return nil }

func (h *memHandle) Named() (int64, error) {
	if h.disk.names[h.path] != h.file {
		return 0, fs.ErrNotExist
	}
	return int64(len(h.file.data)), nil
}

func (h *memHandle) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(h.file.data)) {
		return 0, io.EOF
	}
	n := copy(p, h.file.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (h *memHandle) WriteAt(p []byte, off int64) (int, error) {
	ok, err := h.op("write")
	if err != nil {
		p = p[:len(p)/2] // a full disk takes what still fits
	} else if !ok {
		return len(p), nil
	}
	if grow := off + int64(len(p)) - int64(len(h.file.data)); grow > 0 {
		h.file.data = append(h.file.data, make([]byte, grow)...)
	}
	return copy(h.file.data[off:], p), err
}

func (h *memHandle) Truncate(size int64) error {
	ok, err := h.op("truncate")
	if ok {
		h.file.data = h.file.data[:size:size]
	}
	return err
}

func (h *memHandle) Sync() error {
	ok, err := h.op("sync")
	if ok {
		h.file.synced = slices.Clone(h.file.data)
	}
	return err
}

// Ways in which the power can be cut: what happens to bytes and names that
// were not synced.
var cuts = map[string]func(f *memFile) []byte{
	"only the processes die":    func(f *memFile) []byte { return f.data },
	"unsynced bytes are lost":   func(f *memFile) []byte { return f.synced },
	"half of them are lost":     func(f *memFile) []byte { return half(f) },
	"they come back as zeros":   func(f *memFile) []byte { return zeros(f) },
	"all but one byte are kept": func(f *memFile) []byte { return f.data[:max(len(f.data)-1, min(len(f.synced), len(f.data)))] },
}

func half(f *memFile) []byte {
	if len(f.data) <= len(f.synced) {
		return f.synced
	}
	return f.data[:(len(f.data)+len(f.synced))/2]
}

func zeros(f *memFile) []byte {
	if len(f.data) <= len(f.synced) {
		return f.synced
	}
	return append(slices.Clone(f.synced), make([]byte, len(f.data)-len(f.synced))...)
}

// after returns the disk as it is after a cut, with or without the names that
// no folder sync made sure of.
func (m *memory) after(cut func(*memFile) []byte, keepNames bool) *memory {
	next := newMemory()
	names := m.synced
	if keepNames {
		names = m.names
	}
	for name, f := range names {
		next.put(name, cut(f))
	}
	return next
}

// ticker is a clock that stands still.
func ticker() time.Time { return time.Date(2026, 11, 20, 10, 0, 0, 123456789, time.UTC) }

func ignore(Record) error { return nil }

// collect opens the journal on m and returns what it replays.
func collect(m system) (*Journal, []Record, error) {
	var got []Record
	j, err := open(m, testPath, ticker, func(r Record) error {
		got = append(got, r)
		return nil
	})
	return j, got, err
}

const testPath = "runs/journal.jsonl"

// filled returns a disk with a small committed journal, two epochs long.
func filled(t *testing.T) (*memory, []Record) {
	t.Helper()
	m := newMemory()
	var all []Record
	for epoch := range 2 {
		j, _, err := collect(m)
		if err != nil {
			t.Fatal(err)
		}
		_, err = j.BeginEpoch()
		for i := range 2 {
			r, aerr := j.Append(draft(epoch*2 + i))
			all = append(all, r)
			err = errors.Join(err, aerr)
		}
		if err := errors.Join(err, j.Commit(), j.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return m, all
}

func draft(i int) Draft {
	kinds := []string{"RunStarted", "AgentStarted", "ReplyAccepted", "BoardWritten"}
	data := []string{`{}`, `{"argv":["a","b"]}`, `{"message":"ünïcode \"q\" <b>"}`, `null`}
	return Draft{Type: kinds[i%4], TaskID: "tasks/a.md", Rev: uint64(i), Actor: "runner", Data: []byte(data[i%4])}
}

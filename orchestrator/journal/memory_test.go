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

// memory is a disk that knows what a power cut would leave, fails operations on demand and logs
// them.
type memory struct {
	names  map[string]*memFile // as every process sees them
	synced map[string]*memFile // as of the last folder sync
	log    []string
	fails  func(n int, op string) error
	skips  string // an operation that reports success and does nothing
}

func newMemory() *memory {
	return &memory{names: map[string]*memFile{}, synced: map[string]*memFile{}}
}

// do logs an operation and reports whether to perform it; err is the operation's failure.
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
	f := &memFile{data: slices.Clone(data), synced: slices.Clone(data), dirty: make([]bool, len(data))}
	m.names[name], m.synced[name] = f, f
}

func (m *memory) read(path string, max int64) ([]byte, error) {
	if _, err := m.do("read " + filepath.Ext(path)); err != nil {
		return nil, err
	}
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

func (h *memHandle) Close() error {
	_, err := h.op("close")
	return err
}

func (h *memHandle) Lock() error {
	_, err := h.op("lock")
	return err
}

func (h *memHandle) SizeByPath() (int64, error) {
	if _, err := h.op("stat"); err != nil {
		return 0, err
	}
	if h.disk.names[h.path] != h.file {
		return 0, fs.ErrNotExist
	}
	return int64(len(h.file.data)), nil
}

func (h *memHandle) ReadAt(p []byte, off int64) (int, error) {
	if _, err := h.op("read"); err != nil {
		return 0, err
	}
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
	return h.file.write(p, int(off)), err
}

func (h *memHandle) Truncate(size int64) error {
	ok, err := h.op("truncate")
	if ok {
		h.file.resize(int(size))
	}
	return err
}

func (h *memHandle) Sync() error {
	ok, err := h.op("sync")
	switch {
	case err != nil:
		h.file.forget()
	case ok:
		h.file.sync()
	}
	return err
}

// ticker is a clock that stands still.
func ticker() time.Time { return time.Date(2026, 11, 20, 10, 0, 0, 123456789, time.UTC) }

func ignore(Record) error { return nil }

func ignoreAll(*Record, *position) error { return nil }

// collect opens the journal on m and returns what it replays.
func collect(m system) (*Journal, []Record, error) {
	var got []Record
	j, err := open(m, testPath, ticker, func(r Record) error {
		r.Data = slices.Clone(r.Data)
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

// lineOf is a line with a sound checksum around any JSON.
func lineOf(json []byte) []byte {
	return slices.Concat([]byte(header(len(json), checksum(json))), json, []byte("\n"))
}

func draft(i int) Draft {
	kinds := []string{"RunStarted", "AgentStarted", "ReplyAccepted", "BoardWritten"}
	data := []string{`{}`, `{"argv":["a","b"]}`, `{"message":"ünïcode \"q\" <b>"}`, `null`}
	return Draft{Type: kinds[i%4], TaskID: "tasks/a.md", Rev: uint64(i) + 1, Actor: "runner", Data: []byte(data[i%4])}
}

func same(a, b Record) bool { return equalRecords(&a, &b) }

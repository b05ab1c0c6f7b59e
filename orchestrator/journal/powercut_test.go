package journal

import (
	"slices"
)

// memFile is a file in the cache and on the disk.
type memFile struct {
	data   []byte // the cache: what every process reads
	synced []byte // what the disk has for certain
	dirty  []bool // which bytes of data the next sync writes
}

func (f *memFile) write(p []byte, off int) int {
	f.resize(max(off+len(p), len(f.data)))
	for i := range p {
		f.dirty[off+i] = true
	}
	return copy(f.data[off:], p)
}

func (f *memFile) resize(size int) {
	for len(f.data) < size {
		f.data, f.dirty = append(f.data, 0), append(f.dirty, true)
	}
	f.data, f.dirty = f.data[:size:size], f.dirty[:size:size]
}

func (f *memFile) sync() {
	f.synced = f.flushed()
	clear(f.dirty)
}

// forget is a failed sync: the kernel goes on showing the bytes and takes them for written, so that
// the next sync succeeds without them.
func (f *memFile) forget() { clear(f.dirty) }

// flushed returns what the disk has once all dirty bytes are written.
func (f *memFile) flushed() []byte {
	all := make([]byte, len(f.data))
	copy(all, f.synced)
	for i, dirty := range f.dirty {
		if dirty {
			all[i] = f.data[i]
		}
	}
	return all
}

// The ways in which a power cut treats bytes that were not synced.
var cuts = map[string]func(f *memFile) []byte{
	"unsynced bytes are lost":   func(f *memFile) []byte { return f.synced },
	"half of them are lost":     half,
	"they come back as zeros":   zeros,
	"all but one byte are kept": allButOne,
	"all of them are kept":      (*memFile).flushed,
}

func half(f *memFile) []byte {
	if len(f.data) <= len(f.synced) {
		return f.synced
	}
	return f.flushed()[:(len(f.data)+len(f.synced))/2]
}

func zeros(f *memFile) []byte {
	if len(f.data) <= len(f.synced) {
		return f.synced
	}
	return append(slices.Clone(f.synced), make([]byte, len(f.data)-len(f.synced))...)
}

func allButOne(f *memFile) []byte {
	all := f.flushed()
	return all[:max(len(all)-1, min(len(f.synced), len(all)))]
}

// after returns the disk after a cut, with or without the names that were not synced.
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

// states returns every disk that a power cut may leave.
func (m *memory) states() map[string]*memory {
	all := map[string]*memory{}
	for name, cut := range cuts {
		all[name] = m.after(cut, true)
		all[name+", so are new names"] = m.after(cut, false)
	}
	return all
}

package journal

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A journal of any bytes is opened or refused by name; one that opens takes records and replays
// them.
func FuzzReplay(f *testing.F) {
	m, _ := filled(&testing.T{})
	data, known := m.names[testPath].data, m.names[headName(testPath)].data
	f.Add(data, known)
	f.Add(data[:len(data)-20], []byte{})
	f.Add(data[ends(data)[0]:], []byte{})
	f.Add(slices.Concat(data, make([]byte, 100)), known[:10])
	f.Add([]byte("ffffffff 00000000 {\"seq\":"), known)
	f.Fuzz(func(t *testing.T, data, known []byte) {
		m := newMemory()
		m.put(testPath, data)
		m.put(headName(testPath), known)
		j, got, err := collect(m)
		var damage *DamageError
		if errors.As(err, &damage) {
			return
		}
		if err != nil {
			t.Fatalf("Open = %v, want nil or *DamageError", err)
		}
		j.BeginEpoch()
		added, err := j.Append(draft(0))
		if err != nil {
			return // a clock or a counter at the end of its range
		}
		if err := j.Commit(); err != nil {
			t.Fatalf("Commit = %v", err)
		}
		_, again, err := collect(m)
		if want := append(got, added); err != nil || !cmp.Equal(want, again) {
			t.Fatalf("replayed %v, %v, want %v", again, err, want)
		}
	})
}

// A record that Append accepts is replayed as Append returned it.
func FuzzAppend(f *testing.F) {
	f.Add("T", "tasks/a.md", "runner", []byte(`{"a":1}`), uint64(1), int64(0))
	f.Add("T\x00", "\u2028", `"`, []byte(` [ "\ud800" , 1e999 ] `), uint64(1<<63), int64(-62135596800))
	f.Fuzz(func(t *testing.T, kind, task, actor string, data []byte, rev uint64, unix int64) {
		m := newMemory()
		clock := func() time.Time { return time.Unix(unix, unix) }
		j, err := open(m, testPath, clock, ignore)
		if err != nil {
			t.Fatal(err)
		}
		j.BeginEpoch()
		want, err := j.Append(Draft{Type: kind, TaskID: task, Rev: rev, Actor: actor, Data: data})
		if err != nil {
			return
		}
		if want.Type != kind || want.TaskID != task || want.Actor != actor || want.Rev != rev {
			t.Errorf("Append = %v, want what it was given", want)
		}
		if err := j.Commit(); err != nil {
			t.Fatal(err)
		}
		_, got, err := collect(m)
		if err != nil || !cmp.Equal(got, []Record{want}) {
			t.Errorf("replayed %v, %v, want %v", got, err, want)
		}
	})
}

package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/compact"
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

// decodePlain refuses a line, or reads it as encoding/json does, which would spell it so.
func FuzzDecode(f *testing.F) {
	for i := range 4 {
		d := draft(i)
		r := Record{Seq: 1, Time: ticker(), Type: d.Type, TaskID: d.TaskID, Rev: d.Rev, Actor: d.Actor, Data: d.Data}
		line, err := marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte(`{"seq":01,"prev":"","epoch":18446744073709551616,"time":"2026-01-01T00:00:00+01:00",` +
		`"type":"","task_id":"\u0000","rev":1,"actor":"é","data":1}`))
	const start = `{"seq":1,"prev":"0000000f","epoch":0,"time":"`
	f.Add([]byte(start + `2026-01-01T00:00:00Z","type":"0","task_id":"0","rev":0,"actor":"0","data": "" }`))
	for _, at := range []string{"2026-02-29T00:00:00Z", "2024-02-29T23:59:59.5Z", "2026-01-01T00:00:00.50Z",
		"2026-01-01T00:00:00.Z", "1970-01-01T00:00:00.000000001Z", "2026-01-01T00:00:60Z", "2026-01-01T24:00:00Z",
		"0000-01-01T00:00:00Z", "2026-01-01T00:00:0Z", "2026-01-01T00:00:00.1234567891Z", "2026-01-01T00:00:00,5Z",
		"2026-01-01T00:00:00+00:00"} {
		f.Add([]byte(start + at + `","type":"é","task_id":"日本 ","rev":0,"actor":"\u2028","data":{}}`))
		f.Add([]byte(start + at + `","type":"é","task_id":"日本","rev":0,"actor":"<>&","data":{}}`))
	}
	kept := newDecoder() // as walk keeps it
	f.Fuzz(func(t *testing.T, line []byte) {
		var got, again Record
		ok := newDecoder().decodePlain(line, &got)
		if ok2 := kept.decodePlain(line, &again); ok != ok2 || ok && !equalRecords(&got, &again) {
			t.Fatalf("decodePlain(%s) = %v, %v, and %v, %v after other lines", line, got, ok, again, ok2)
		}
		if !ok || !json.Valid(got.Data) {
			return
		}
		var want Record
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatalf("decodePlain(%s) = %v, encoding/json says %v", line, got, err)
		}
		if !equalRecords(&got, &want) {
			t.Errorf("decodePlain(%s) = %v, want %v", line, got, want)
		}
		if again, err := marshal(want); err == nil && compact.Valid(got.Data) && !bytes.Equal(again, line) {
			t.Errorf("decodePlain(%s) took what is spelled %s", line, again)
		}
	})
}

// marshal is the plain twin of appendJSON.
func marshal(r Record) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(r)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// appendJSON copies the data and writes what encoding/json writes.
func FuzzSpell(f *testing.F) {
	f.Add("T", "tasks/a.md", "runner", []byte(`{"a":1}`), uint64(1), int64(0), int64(0))
	f.Add("T\x00", "\u2028", `"`, []byte("null"), uint64(1<<63), int64(-62135596800), int64(100))
	f.Add("é\u2027", "<&>\x7f", "日本", []byte(`"\u2028"`), uint64(0), int64(253402300799), int64(999999999))
	f.Add("a", "a\u2029", "\xff", []byte("[]"), uint64(0), int64(253402300800), int64(0))
	f.Fuzz(func(t *testing.T, kind, task, actor string, data []byte, n uint64, unix, nanos int64) {
		if !compact.Valid(data) || !utf8.Valid(data) {
			return
		}
		r := Record{Seq: n, Prev: Sum(n), Epoch: n, Time: time.Unix(unix, nanos).UTC(),
			Type: kind, TaskID: task, Rev: n, Actor: actor, Data: data}
		want, wantErr := marshal(r)
		got, err := appendJSON([]byte("x"), &r)
		if (err == nil) != (wantErr == nil) || err == nil && string(got) != "x"+string(want) {
			t.Errorf("appendJSON(%v) = %s, %v, want %s, %v", r, got, err, want, wantErr)
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

package journal

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ends returns the offset behind each record of a journal.
func ends(data []byte) []int {
	var at []int
	for i, b := range data {
		if b == '\n' {
			at = append(at, i+1)
		}
	}
	return at
}

// altered returns a disk with that journal, with the head of m or none.
func altered(m *memory, data []byte, withHead bool) *memory {
	next := newMemory()
	next.put(testPath, data)
	if withHead {
		next.put(headName(testPath), m.names[headName(testPath)].data)
	}
	return next
}

// wantRefused checks that the journal is refused at offset and left alone.
func wantRefused(t *testing.T, what string, m *memory, offset int, written []Record) {
	t.Helper()
	before := fmt.Sprint(m.contents())
	_, got, err := collect(m)
	var damage *DamageError
	if !errors.As(err, &damage) {
		t.Fatalf("%s: Open = %v, want *DamageError", what, err)
	}
	if damage.Path != testPath || damage.Offset != int64(offset) || damage.Reason == "" || damage.Hint() == "" {
		t.Errorf("%s: Open = %+v, want offset %d, a path, a reason and a hint", what, damage, offset)
	}
	if !isPrefix(written, got) {
		t.Errorf("%s: replayed %v before the damage, want a part of what was written", what, got)
	}
	if after := fmt.Sprint(m.contents()); after != before {
		t.Errorf("%s: the disk changed although the journal was refused:\n%s\n%s", what, before, after)
	}
}

// isPrefix reports whether part is a beginning of all.
func isPrefix(all, part []Record) bool {
	return len(part) <= len(all) && slices.EqualFunc(all[:len(part)], part, same)
}

func (m *memory) contents() map[string]string {
	all := map[string]string{}
	for name, f := range m.names {
		all[name] = string(f.data)
	}
	return all
}

// wantRepaired checks that the first whole records are replayed, the rest is kept aside, and the
// journal takes records again.
func wantRepaired(t *testing.T, what string, m *memory, whole int, written []Record) {
	t.Helper()
	before := slices.Clone(m.names[testPath].data)
	j, got, err := collect(m)
	if err != nil {
		t.Fatalf("%s: Open = %v, want nil", what, err)
	}
	if len(got) != whole || !isPrefix(written, got) {
		t.Fatalf("%s: replayed %v, want the first %d of %v", what, got, whole, written)
	}
	kept, n := j.Repaired()
	tail := before[len(before)-int(n):]
	if n > 0 && !bytes.Equal(m.names[kept].data, tail) {
		t.Errorf("%s: Repaired() = %q, %d, which holds %q, want %q", what, kept, n, m.names[kept].data, tail)
	}
	if got := append(slices.Clone(m.names[testPath].data), tail...); !bytes.Equal(got, before) {
		t.Errorf("%s: journal and kept tail are %q, want %q", what, got, before)
	}
	wantWritable(t, what, m, j, whole)
}

func wantWritable(t *testing.T, what string, m *memory, j *Journal, whole int) {
	t.Helper()
	_, err := j.BeginEpoch()
	added, aerr := j.Append(draft(1))
	if err := errors.Join(err, aerr, j.Commit(), j.Close()); err != nil {
		t.Fatalf("%s: write after the repair: %v", what, err)
	}
	_, again, err := collect(m)
	if err != nil || len(again) != whole+1 || !cmp.Equal(again[whole], added) {
		t.Fatalf("%s: replayed %v, %v after the repair, want %d records and %v", what, again, err, whole, added)
	}
}

// A killed writer leaves a beginning of what it wrote. Without the head any beginning is a torn
// tail; with it, a cut into acknowledged records is damage.
func TestJournalCutAtEveryByte(t *testing.T) {
	m, written := filled(t)
	data := m.names[testPath].data
	at := ends(data)
	for cut := range len(data) {
		what := fmt.Sprintf("cut at byte %d of %d", cut, len(data))
		whole := len(slices.DeleteFunc(slices.Clone(at), func(end int) bool { return end > cut }))
		wantRepaired(t, what, altered(m, data[:cut], false), whole, written)
		wantRefused(t, what, altered(m, data[:cut], true), append([]int{0}, at...)[whole], written)
	}
	wantRepaired(t, "whole", altered(m, data, true), len(written), written)
}

func TestJournalWithEveryBitFlipped(t *testing.T) {
	m, written := filled(t)
	data := m.names[testPath].data
	at := append([]int{0}, ends(data)...)
	last := len(written) - 1
	for bit := range len(data) * 8 {
		flipped := slices.Clone(data)
		flipped[bit/8] ^= 1 << (bit % 8)
		what := fmt.Sprintf("bit %d of byte %d flipped", bit%8, bit/8)
		record := 0
		for at[record+1] <= bit/8 {
			record++
		}
		wantRefused(t, what, altered(m, flipped, true), at[record], written)
		if record < last {
			wantRefused(t, what, altered(m, flipped, false), at[record], written)
		} else {
			wantRepaired(t, what, altered(m, flipped, false), last, written)
		}
	}
}

// A damaged head never costs a journal.
func TestHeadDamagedAnyhow(t *testing.T) {
	m, written := filled(t)
	data, good := m.names[testPath].data, m.names[headName(testPath)].data
	for bit := range len(good) * 8 {
		flipped := slices.Clone(good)
		flipped[bit/8] ^= 1 << (bit % 8)
		next := altered(m, data, false)
		next.put(headName(testPath), flipped)
		wantRepaired(t, fmt.Sprintf("bit %d of the head", bit), next, len(written), written)
	}
	for cut := range good {
		next := altered(m, data, false)
		next.put(headName(testPath), good[:cut])
		wantRepaired(t, fmt.Sprintf("head cut at %d", cut), next, len(written), written)
	}
}

func TestHeadBehindIsHarmless(t *testing.T) {
	m, written := filled(t)
	next := altered(m, m.names[testPath].data, false)
	next.put(headName(testPath), head{seq: 2, crc: crcOf(t, m, 2)}.encode())
	wantRepaired(t, "head two records behind", next, len(written), written)
}

func TestHeadOfAnotherJournal(t *testing.T) {
	m, written := filled(t)
	data := m.names[testPath].data
	next := altered(m, data, false)
	next.put(headName(testPath), head{seq: 2, crc: crcOf(t, m, 2) ^ 1}.encode())
	wantRefused(t, "head with another checksum", next, ends(data)[0], written)
}

func TestJournalRemovedButNotItsHead(t *testing.T) {
	m, written := filled(t)
	delete(m.names, testPath)
	wantRefused(t, "no journal beside the head", m, 0, written)
}

func crcOf(t *testing.T, m *memory, seq int) uint32 {
	t.Helper()
	var crc uint32
	data := m.names[testPath].data
	_, err := walk(bytes.NewReader(data), position{}, int64(len(data)), func(r *Record, at *position) error {
		if r.Seq == uint64(seq) {
			crc = at.crc
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return crc
}

func TestTornTails(t *testing.T) {
	m, written := filled(t)
	data := m.names[testPath].data
	header := fmt.Sprintf("%08x %08x ", MaxRecord, 0)
	tails := map[string]string{
		"zeros":                 strings.Repeat("\x00", 5000),
		"a page of noise":       strings.Repeat("\xff\x13", 2048),
		"many lines of text":    strings.Repeat("hello world\n", 20_000),
		"a long line":           strings.Repeat("x", 300_000),
		"only a header":         header,
		"a record that is long": header + `{"seq":5`,
		"headers all the way":   strings.Repeat(header+`{"seq":`, 4000),
		"upper case":            strings.ToUpper(string(data[:headerLen])) + string(data[headerLen:ends(data)[0]]),
		"over the limit":        "ffffffff 00000000 {",
	}
	for name, tail := range tails {
		t.Run(name, func(t *testing.T) {
			torn := append(slices.Clone(data), tail...)
			wantRepaired(t, name, altered(m, torn, true), len(written), written)
		})
	}
}

// A whole record behind a bad one was acknowledged later: no killed writer leaves that.
func TestDamageInTheMiddle(t *testing.T) {
	m, written := filled(t)
	data := m.names[testPath].data
	at := append([]int{0}, ends(data)...)
	line := func(i int) string { return string(data[at[i]:at[i+1]]) }
	other := func(edit func(*Record)) string {
		r := written[2]
		edit(&r)
		b, _, err := appendRecord(nil, &r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	spelled := func(old, new string) []byte { // the second record, spelled in another way
		json := line(1)[headerLen : len(line(1))-1]
		return []byte(strings.Replace(json, old, new, 1))
	}
	tests := map[string]struct {
		data   string
		offset int
	}{
		"first record removed":         {line(1) + line(2) + line(3), 0},
		"record removed":               {line(0) + line(2) + line(3), at[1]},
		"records swapped":              {line(0) + line(2) + line(1) + line(3), at[1]},
		"record twice":                 {line(0) + line(1) + line(1) + line(2), at[2]},
		"last record twice":            {line(0) + line(0), at[1]},
		"record without its end":       {line(0) + strings.TrimSuffix(line(1), "\n") + line(2), at[1]},
		"zeros between":                {line(0) + strings.Repeat("\x00", 4096) + line(1), at[1]},
		"noise between, over a buffer": {line(0) + strings.Repeat("x", 200_000) + line(1), at[1]},
		"record glued to noise":        {line(0) + "{}" + line(1), at[1]},
		"a blank line":                 {line(0) + "\n" + line(1), at[1]},
		"CRLF":                         {strings.ReplaceAll(string(data), "\n", "\r\n"), 0},
		"a text editor's BOM":          {"\ufeff" + string(data), 0},
		"other prev":                   {line(0) + line(1) + other(func(r *Record) { r.Prev = 0 }), at[2]},
		"epoch of an earlier run":      {line(0) + line(1) + other(func(r *Record) { r.Epoch = 0 }), at[2]},
		"seq skipped":                  {line(0) + line(1) + other(func(r *Record) { r.Seq = 4 }), at[2]},
		"time not later": {
			line(0) + line(1) + other(func(r *Record) { r.Time = written[1].Time }), at[2]},
		"sound checksum, not a record":            {line(0) + string(lineOf([]byte(`{"a":1}`))), at[1]},
		"sound checksum, not even JSON":           {line(0) + string(lineOf([]byte(`{`))), at[1]},
		"sound checksum, a field in another case": {line(0) + string(lineOf(spelled("\"type\"", "\"Type\""))), at[1]},
		"sound checksum, a field twice":           {line(0) + string(lineOf(spelled("{", "{\"seq\":9,"))), at[1]},
		"sound checksum, a field of another":      {line(0) + string(lineOf(spelled("{", "{\"more\":9,"))), at[1]},
		"sound checksum, a space":                 {line(0) + string(lineOf(spelled(",", " ,"))), at[1]},
		"sound checksum, nothing at all": {
			line(0) + string(lineOf(nil)), at[1],
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, name, altered(m, []byte(tt.data), false), tt.offset, written)
		})
	}
}

// The record is found at any distance and across every border of the search's buffer.
func TestFindRecordAcrossBuffers(t *testing.T) {
	m, _ := filled(t)
	record := m.names[testPath].data[:ends(m.names[testPath].data)[0]]
	for gap := 64<<10 - 60; gap < 64<<10+60; gap++ {
		data := append(bytes.Repeat([]byte("x"), gap), record...)
		if got, err := findRecord(bytes.NewReader(data), 1, int64(len(data))); err != nil || got != int64(gap) {
			t.Fatalf("findRecord behind %d bytes = %d, %v, want %d", gap, got, err, gap)
		}
	}
	data := bytes.Repeat([]byte("x"), 200_000)
	if got, err := findRecord(bytes.NewReader(data), 0, int64(len(data))); err != nil || got != -1 {
		t.Errorf("findRecord in noise = %d, %v, want -1", got, err)
	}
}

// A record imitated in an agent's reply, torn in its middle, must not pass for one behind the tear.
func TestImitatedRecordInTornData(t *testing.T) {
	m, written := filled(t)
	data := m.names[testPath].data
	fake := string(data[:ends(data)[0]])
	d := draft(0)
	d.Data = fmt.Appendf(nil, "{\"message\":%q}", fake)
	next := altered(m, data, true)
	j, _, err := collect(next)
	if err != nil {
		t.Fatal(err)
	}
	j.BeginEpoch()
	if _, err := j.Append(d); err != nil {
		t.Fatal(err)
	}
	if err := j.Commit(); err != nil {
		t.Fatal(err)
	}
	whole := next.names[testPath].data
	for cut := len(data) + 1; cut < len(whole); cut++ {
		wantRepaired(t, fmt.Sprintf("cut at %d", cut), altered(m, whole[:cut], true), len(written), written)
	}
}

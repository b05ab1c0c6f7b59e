package journal

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// begun opens a journal on the real disk and begins an epoch.
func begun(t *testing.T, path string) *Journal {
	t.Helper()
	j, err := Open(path, ticker, ignore)
	if err != nil {
		t.Fatalf("Open = %v", err)
	}
	t.Cleanup(func() { j.Close() })
	if _, err := j.BeginEpoch(); err != nil {
		t.Fatal(err)
	}
	return j
}

func add(t *testing.T, j *Journal, d Draft) Record {
	t.Helper()
	r, err := j.Append(d)
	if err != nil {
		t.Fatalf("Append(%v) = %v", d, err)
	}
	return r
}

func commit(t *testing.T, j *Journal) {
	t.Helper()
	if err := j.Commit(); err != nil {
		t.Fatalf("Commit = %v", err)
	}
}

func replayed(t *testing.T, path string) []Record {
	t.Helper()
	var got []Record
	_, err := Read(path, func(r Record) error {
		r.Data = slices.Clone(r.Data)
		got = append(got, r)
		return nil
	})
	if err != nil {
		t.Fatalf("Read = %v", err)
	}
	return got
}

func TestJournalRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	var want []Record
	for range 3 {
		j := begun(t, path)
		for i := range 4 {
			want = append(want, add(t, j, draft(i)))
			if i%2 == 1 {
				commit(t, j)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatalf("Close = %v", err)
		}
	}
	if diff := cmp.Diff(want, replayed(t, path)); diff != "" {
		t.Errorf("replayed (-want +got):\n%s", diff)
	}
	for i, r := range want {
		if r.Seq != uint64(i+1) || r.Epoch != uint64(i/4+1) {
			t.Errorf("record %d has seq %d, epoch %d, want %d, %d", i, r.Seq, r.Epoch, i+1, i/4+1)
		}
	}
}

// Every later version has to read this format.
func TestRecordOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := begun(t, path)
	data := json.RawMessage(` { "a" : "<b>" } `)
	add(t, j, Draft{Type: "RunStarted", TaskID: "kanban.md", Rev: 1, Actor: "runner", Data: data})
	add(t, j, Draft{Type: "AgentStarted", TaskID: "tasks/ä.md", Rev: 2, Actor: "runner"})
	commit(t, j)
	got, err := os.ReadFile(path)
	want := `000000a3 b7e471d0 {"seq":1,"prev":"00000000","epoch":1,"time":"2026-11-20T10:00:00.123456789Z","type":"RunStarted","task_id":"kanban.md","rev":1,"actor":"runner","data":{"a":"<b>"}}
0000009f 40c3f455 {"seq":2,"prev":"b7e471d0","epoch":1,"time":"2026-11-20T10:00:00.12345679Z","type":"AgentStarted","task_id":"tasks/ä.md","rev":2,"actor":"runner","data":null}
`
	if err != nil || string(got) != want {
		t.Errorf("journal holds\n%s%v, want\n%s", got, err, want)
	}
	if info, _ := os.Stat(path); info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("mode = %v, want nothing for others", info.Mode())
	}
}

func TestAppendRefuses(t *testing.T) {
	good := Draft{Type: "T", TaskID: "t", Rev: 1, Actor: "a"}
	tests := map[string]struct {
		edit func(*Draft)
		want error
	}{
		"no type":           {func(d *Draft) { d.Type = "" }, ErrAmbiguous},
		"no task_id":        {func(d *Draft) { d.TaskID = "" }, ErrAmbiguous},
		"no actor":          {func(d *Draft) { d.Actor = "" }, ErrAmbiguous},
		"no rev":            {func(d *Draft) { d.Rev = 0 }, ErrAmbiguous},
		"type not UTF-8":    {func(d *Draft) { d.Type = "\xff" }, nil},
		"task_id not UTF-8": {func(d *Draft) { d.TaskID = "tasks/\xc3(.md" }, nil},
		"actor not UTF-8":   {func(d *Draft) { d.Actor = "\xed\xa0\x80" }, nil},
		"data not UTF-8":    {func(d *Draft) { d.Data = json.RawMessage("\"\xff\"") }, nil},
		"data not JSON":     {func(d *Draft) { d.Data = json.RawMessage(`{`) }, nil},
		"two data":          {func(d *Draft) { d.Data = json.RawMessage(`{}{}`) }, nil},
		"data empty":        {func(d *Draft) { d.Data = json.RawMessage{} }, nil},
		"data over the limit": {
			func(d *Draft) { d.Data = json.RawMessage(`"` + strings.Repeat("x", MaxRecord) + `"`) }, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.jsonl")
			j := begun(t, path)
			bad := good
			tt.edit(&bad)
			if _, err := j.Append(bad); err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("Append = %v, want an error like %v", err, tt.want)
			}
			want := add(t, j, good) // a refused draft leaves the journal as it was
			commit(t, j)
			if diff := cmp.Diff([]Record{want}, replayed(t, path)); diff != "" {
				t.Errorf("replayed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDataSurvive(t *testing.T) {
	tests := map[string]string{
		"null":             `null`,
		"escapes":          `{"a":"\u0000\u001b[31m\n\\\"\/"}`,
		"HTML":             `{"a":"<script>&</script>"}`,
		"line separators":  "\"\u2028\u2029\"",
		"lone surrogate":   `"\ud800"`,
		"a great number":   `1e1000000000`,
		"many digits":      `0.1000000000000000055511151231257827`,
		"duplicate keys":   `{"a":1,"a":2}`,
		"looks like ours":  `{"seq":1,"prev":"00000000"}`,
		"deep":             strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		"over two buffers": `"` + strings.Repeat("0123456789", 100_000) + `"`,
	}
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := begun(t, path)
	var want []string
	for name, data := range tests {
		actor := `"quoted" <tag> ünï` + "\u2028\x1b"
		r := add(t, j, Draft{Type: "T", TaskID: name, Rev: 1, Actor: actor, Data: json.RawMessage(data)})
		if string(r.Data) != data {
			t.Errorf("%s: Append returned %.80s, want %.80s", name, r.Data, data)
		}
		want = append(want, data)
	}
	commit(t, j)
	for i, r := range replayed(t, path) {
		if string(r.Data) != want[i] || r.Actor != `"quoted" <tag> ünï`+"\u2028\x1b" {
			t.Errorf("%s: replayed %.80s by %q, want %.80s", r.TaskID, r.Data, r.Actor, want[i])
		}
	}
}

func TestTheJournalKeepsNoReferenceToADraft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := begun(t, path)
	data := json.RawMessage(`"before"`)
	add(t, j, Draft{Type: "T", TaskID: "t", Rev: 1, Actor: "a", Data: data})
	copy(data, `"after!"`)
	commit(t, j)
	if got := replayed(t, path)[0]; string(got.Data) != `"before"` {
		t.Errorf("data became %s, want \"before\"", got.Data)
	}
}

func TestTimesOnlyRise(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.FixedZone("CET", 3600))
	clock := []time.Time{day, day, day.Add(-time.Hour), day.Add(time.Hour), {}, time.Now()}
	want := []time.Time{day, day.Add(1), day.Add(2), day.Add(time.Hour), day.Add(time.Hour + 1), day.Add(time.Hour + 2)}
	want[5] = clock[5].Round(0)
	if !want[5].After(want[4]) {
		want[5] = want[4].Add(1)
	}
	i := 0
	for range clock { // each record by a run of its own
		j, err := Open(path, func() time.Time { return clock[i] }, ignore)
		if err != nil {
			t.Fatal(err)
		}
		j.BeginEpoch()
		r := add(t, j, draft(0))
		if !r.Time.Equal(want[i]) || r.Time.Location() != time.UTC {
			t.Errorf("time of record %d = %v, want %v in UTC", i+1, r.Time, want[i])
		}
		commit(t, j)
		j.Close()
		i++
	}
}

func TestAppendRefusesATimeThatCannotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, err := Open(path, func() time.Time { return time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC) }, ignore)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	j.BeginEpoch()
	if _, err := j.Append(draft(0)); err == nil {
		t.Error("Append in the year 12000 = nil, want an error")
	}
}

func TestUncommittedIsDropped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := begun(t, path)
	want := add(t, j, draft(0))
	commit(t, j)
	add(t, j, draft(1))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Record{want}, replayed(t, path)); diff != "" {
		t.Errorf("replayed (-want +got):\n%s", diff)
	}
	if err := j.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Commit after Close = %v, want fs.ErrClosed", err)
	}
	if _, err := j.Append(draft(1)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Append after Close = %v, want fs.ErrClosed", err)
	}
}

// An empty Commit costs nothing: no write, no sync.
func TestCommitOfNothing(t *testing.T) {
	m := newMemory()
	j, _, err := collect(m)
	if err != nil {
		t.Fatal(err)
	}
	before := len(m.log)
	if err := j.Commit(); err != nil || len(m.log) != before {
		t.Errorf("Commit of nothing = %v, did %v", err, m.log[before:])
	}
}

// A step's records cost one write and one sync, however many there are.
func TestCommitIsOneWriteAndOneSync(t *testing.T) {
	m := newMemory()
	j, _, err := collect(m)
	if err != nil {
		t.Fatal(err)
	}
	j.BeginEpoch()
	for i := range 100 {
		add(t, j, draft(i))
	}
	before := len(m.log)
	commit(t, j)
	want := []string{"stat .jsonl", "open .head", "write .jsonl", "sync .jsonl", "write .head", "close .head"}
	if diff := cmp.Diff(want, m.log[before:]); diff != "" {
		t.Errorf("Commit did (-want +got):\n%s", diff)
	}
}

func TestReplayErrorStopsOpen(t *testing.T) {
	m, _ := filled(t)
	stop := errors.New("unknown event")
	calls := 0
	_, err := open(m, testPath, ticker, func(Record) error {
		calls++
		return stop
	})
	if !errors.Is(err, stop) || calls != 1 || !strings.Contains(err.Error(), "record 1 (RunStarted)") {
		t.Errorf("Open = %v after %d calls, want %v for record 1 after one", err, calls, stop)
	}
}

func TestRepairKeepsEveryTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := begun(t, path)
	add(t, j, draft(0))
	commit(t, j)
	j.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, tail := range []string{"one", "two!", "three"} {
		if err := os.WriteFile(path, append(whole, tail...), 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := Open(path, ticker, ignore)
		if err != nil {
			t.Fatal(err)
		}
		kept, n := j.Repaired()
		if want := path + []string{".torn-1", ".torn-2", ".torn-3"}[i]; kept != want || n != int64(len(tail)) {
			t.Errorf("Repaired() = %q, %d, want %q, %d", kept, n, want, len(tail))
		}
		if got, err := os.ReadFile(kept); string(got) != tail {
			t.Errorf("%s holds %q, %v, want %q", kept, got, err, tail)
		}
		j.Close()
	}
}

func TestSeqAndRevHoldTheirWholeRange(t *testing.T) {
	for _, n := range []uint64{0, 9, 10, math.MaxInt64, math.MaxUint64} {
		r := Record{Seq: max(n, 1), Epoch: n, Time: ticker(),
			Type: "T", TaskID: "t", Rev: n, Actor: "a", Data: json.RawMessage("1")}
		if _, _, err := appendRecord(nil, &r); err != nil {
			t.Errorf("appendRecord with %d = %v, want nil", n, err)
		}
	}
}

func TestSum(t *testing.T) {
	for sum, want := range map[Sum]string{0: "00000000", 0xab: "000000ab", math.MaxUint32: "ffffffff"} {
		text, err := sum.MarshalText()
		var back Sum
		err = errors.Join(err, back.UnmarshalText(text))
		if err != nil || sum.String() != want || string(text) != want || back != sum {
			t.Errorf("%d is %q, %q, which is %d, %v, want %q", uint32(sum), sum, text, back, err, want)
		}
	}
	for _, text := range []string{"", "0", "0000000", "000000000", "0000000A", "0000000g"} {
		if err := new(Sum).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("UnmarshalText(%q) = nil, want an error", text)
		}
	}
}

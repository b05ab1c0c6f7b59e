package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/rundir"
)

// written is a journal of a board b.yaml with the given records, all of one epoch.
func written(t *testing.T, drafts ...journal.Draft) rundir.Dir {
	t.Helper()
	dir := rundir.Dir{Path: filepath.Join(t.TempDir(), "it is mine", "b.yaml")}
	if err := os.MkdirAll(dir.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(dir.Journal(), time.Now, func(journal.Record) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.BeginEpoch(); err != nil {
		t.Fatal(err)
	}
	for i, d := range drafts {
		if d.Rev, d.TaskID, d.Actor = uint64(i+1), "b.yaml", event.ActorRun; d.Type == "STATE_OWNERSHIP_HANDOFF" {
			d.Actor = event.ActorLead
		}
		if _, err := j.Append(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(j.Commit(), j.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

var begun = []journal.Draft{
	{Type: "STATE_OWNERSHIP_HANDOFF", Data: []byte(`{"board":"b.yaml","file":"b.yaml","epoch":1,"owner":"o"}`)},
	{Type: "STATE_OWNERSHIP_ACK", Data: []byte(`{"board":"b.yaml","epoch":1,"owner":"o"}`)},
	{Type: "RUN_STARTED", Data: []byte(`{"board":"b.yaml","workdir":"/w","version":"v2","git":{"board":"b.yaml","branch":"board/b"}}`)},
}

// TestNewerIsShownAndNotRun: a record that needs a later form, of a kind that is known or not, or with data that
// cannot be decoded: the journal is shown whole, and refused to a run, whose hint destroys nothing.
func TestNewerIsShownAndNotRun(t *testing.T) {
	for name, d := range map[string]journal.Draft{
		"another kind": {Type: "TASK_SPLIT", Needs: event.Form + 1, Data: []byte(`{"board":"b.yaml"}`)},
		"another type": {Type: "RUN_FINISHED", Needs: event.Form + 1, Data: []byte(`{"board":7}`)},
		"a field":      {Type: "RUN_FINISHED", Needs: event.Form + 1, Data: []byte(`{"board":"b.yaml","split":7}`)},
	} {
		last := journal.Draft{Type: "RUN_FINISHED", Data: []byte(`{"board":"b.yaml","outcome":"complete"}`)}
		dir := written(t, slices.Concat(begun, []journal.Draft{d, last})...)
		shown := 0
		h, _, err := Fold(dir, func(event.Entry) error { shown++; return nil })
		if err != nil || shown != 5 || h.State.Outcome != event.Complete || h.Newer == nil {
			t.Errorf("%s: shown %d records, %v, outcome %s, newer %v", name, shown, err, h.State.Outcome, h.Newer)
		}
		before, _ := os.ReadFile(dir.Journal())
		l := New("b.yaml", dir, Silent{}, redact.New(nil), time.Now)
		err = l.Open(func(event.Entry) {})
		var newer *flow.Newer
		var invalid *failure.Invalid
		if !errors.As(err, &newer) || newer.Seq != 4 || newer.Needs != event.Form+1 || newer.Version != "v2" || !errors.As(err, &invalid) {
			t.Errorf("%s: Open = %v", name, err)
			continue
		}
		quoted := failure.Quote(dir.Path)
		want := fmt.Sprintf("use kanban-run v2 or a later version; or mv %s %s begins a new run from the board as it stands; "+
			"where checkpoint: git is set, the run then goes on from the state on the branch board/b", quoted, failure.Quote(dir.Path+".old"))
		if got := failure.HintOf(err); got != want {
			t.Errorf("%s: hint %s, want %s", name, got, want)
		}
		if after, _ := os.ReadFile(dir.Journal()); string(after) != string(before) {
			t.Errorf("%s: the journal was changed", name)
		}
	}
}

// TestDamageIsExplained: the part before a damage is shown; the hint names the branch, also where the record that
// tells it stands after the damage, and a name that no folder has.
func TestDamageIsExplained(t *testing.T) {
	dir := written(t, begun...)
	text, err := os.ReadFile(dir.Journal())
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.Replace(string(text), `"owner":"o"`, `"owner":"p"`, 1))
	if err := errors.Join(os.WriteFile(dir.Journal(), text, 0o600), os.Mkdir(dir.Path+".old", 0o700)); err != nil {
		t.Fatal(err)
	}
	_, _, err = Fold(dir, nil)
	hint := failure.HintOf(err)
	if !errors.As(err, new(*UnreadableError)) || !errors.As(err, new(*journal.DamageError)) ||
		!strings.Contains(hint, failure.Quote(dir.Path+".old2")) || !strings.HasSuffix(hint, "branch board/b") {
		t.Errorf("%v; %s", err, hint)
	}
}

// TestMarks: the last mark of each kind of program is found in every record that can still be read, also after a
// damage, and of kinds that only a later version knows; a journal of another board has none.
func TestMarks(t *testing.T) {
	marked := func(kind, call, mark string) journal.Draft {
		return journal.Draft{Type: kind, Needs: event.Form + 1, Data: []byte(fmt.Sprintf(`{"board":"b.yaml","file":7,"call":%q,"mark":%q}`, call, mark))}
	}
	dir := written(t, slices.Concat(begun, []journal.Draft{marked("STEP_STARTED", "ready", "1"), marked("STEP_STARTED", "", "2"),
		marked("STEP_STARTED", "", "3"), marked("JUDGE_ASKED", "task", "4"), marked("SOMETHING_NEW", "", "5")})...)
	text, err := os.ReadFile(dir.Journal())
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ was, is, want string }{
		"sound":               {"", "", "1 3 4 5"},
		"damaged":             {`"ready"`, `"reedy"`, "3 4 5"},
		"damaged before them": {`"workdir":"/w"`, `"workdir":"/v"`, "1 3 4 5"},
		"cut off at the end":  {`"mark":"5"`, "", "1 3 4"},
		"of another board":    {"", "", ""},
	} {
		at := dir
		if name == "of another board" {
			at.Path = filepath.Join(filepath.Dir(dir.Path), "c.yaml")
			if err := os.Mkdir(at.Path, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(at.Journal(), []byte(strings.Replace(string(text), tt.was, tt.is, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		got, _, err := Marks(at)
		slices.Sort(got)
		if strings.Join(got, " ") != tt.want || err != nil {
			t.Errorf("%s: %v, %v, want %s", name, got, err, tt.want)
		}
	}
}

// TestMarksOfAnotherPlace: marks from before a change of the place are not those of this one.
func TestMarksOfAnotherPlace(t *testing.T) {
	record := func(kind, data string) journal.Draft {
		return journal.Draft{Type: kind, Needs: event.Form + 1, Data: []byte(data)}
	}
	dir := written(t, slices.Concat(begun, []journal.Draft{record("RUN_STARTED", `{"place":"b 1:1"}`),
		record("STEP_STARTED", `{"mark":"1"}`), record("PLACE_CHANGED", `{"place":"b 2:2","mark":"2"}`)})...)
	if got, born, err := Marks(dir); strings.Join(got, " ") != "2" || born != "b 2:2" || err != nil {
		t.Errorf("Marks() = %v, %s, %v, want the mark of the place b 2:2", got, born, err)
	}
}

// TestDraftOf: what an entry needs is written with it.
func TestDraftOf(t *testing.T) {
	e := event.Entry{Rev: 3, Actor: "a", Needs: 2, Event: event.RunFinished{Board: "b"}}
	d := draftOf(e, []byte("{}"))
	if d.Needs != 2 || d.Type != "RUN_FINISHED" || d.TaskID != "b" || d.Rev != 3 || d.Actor != "a" || string(d.Data) != "{}" {
		t.Errorf("%+v", d)
	}
}

// TestEncodeRedacts: no secret comes to the journal. A text is redacted, and an event that would name
// a task by a secret is refused with what settles it.
func TestEncodeRedacts(t *testing.T) {
	l := New("b.yaml", rundir.Dir{}, silent{}, redact.New([]string{"hunter2-tok3n"}), time.Now)
	changed := event.FilesChanged{Task: "t.md", Files: []event.ChangedFile{{By: event.RoleFile, File: "roles/hunter2-tok3n.md"}}}
	e, data, err := l.encode(changed)
	if text := string(data); err != nil || strings.Contains(text, "hunter2") || !strings.Contains(text, "roles/[REDACTED_SECRET].md") {
		t.Errorf("encode = %s, %v", data, err)
	}
	if got := e.(event.FilesChanged).Files[0].File; got != "roles/[REDACTED_SECRET].md" {
		t.Errorf("the history has %s", got)
	}
	var invalid *failure.Invalid
	_, data, err = l.encode(event.TaskSetAside{Task: "hunter2-tok3n.md"})
	if !errors.As(err, &invalid) || data != nil || !strings.Contains(err.Error(), "[REDACTED_SECRET].md") || !strings.HasPrefix(invalid.Hint(), "rename the file") {
		t.Errorf("encode = %s, %v, want a refusal", data, err)
	}
}

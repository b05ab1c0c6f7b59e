package divergence_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/divergence"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/guard"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/turns"
	"kanban-run/orchestrator/workspace"
)

const (
	asItWas = "current: a.md\ntasks: [a.md, b.md]\n"
	ended   = "current: null\ntasks: [a.md, b.md]\n"
	longer  = "current: a.md\ntasks: [a.md, b.md, c.md]\n"
	spoiled = "current: [\n"
)

// journal keeps what is recorded.
type journal struct {
	flow.Journal // nil: what a test does not need
	state        flow.State
	said         []event.StateDiverged
	given        []string // tasks that came to a role in turns of other boards, and the turns
}

func (j *journal) State() *flow.State { return &j.state }

func (j *journal) Append(e event.Event) error {
	j.said = append(j.said, e.(event.StateDiverged))
	return j.state.Apply(e)
}

// site is a board on disk, as it was kept before the turn of an agent.
type site struct {
	*testing.T
	path    string
	work    *workspace.Workspace
	journal *journal
	keeper
}

func newSite(t *testing.T, policy string) *site {
	dir := t.TempDir()
	path := filepath.Join(dir, "kanban.yaml")
	write(t, path, asItWas)
	b, err := board.Parse(path, []byte(asItWas))
	if err != nil {
		t.Fatal(err)
	}
	place, err := board.OpenPlace(dir, path)
	if err != nil {
		t.Fatal(err)
	}
	made, _ := redact.NewNamed(nil)
	w := workspace.New(path, path, place, b, made)
	if err := os.MkdirAll(w.Dir().Path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := w.KeepBefore(b); err != nil {
		t.Fatal(err)
	}
	j := &journal{state: flow.State{Step: &flow.Step{Number: 1, Task: "a.md", Role: "Implementor", BoardSHA: b.SHA, Left: b.SHA}}}
	note, all := guard.NewNote(w.Dir()), &turns.Registry{}
	k := divergence.NewKeeper(divergence.Turn{Board: path, Path: path, Journal: j, Workspace: w, Place: place,
		Folder: w.Dir(), Run: config.Run{OnDivergence: policy}, Turns: all, Others: others{}, Kept: note})
	list := guard.NewList(guard.Site{Board: path, Path: path, State: j.State, Turns: all, Look: w.LookAgain, Notice: func(s string) { t.Error(s) }}, note, k)
	return &site{t, path, w, j, keeper{k, list}}
}

// leave has the board left as an agent leaves it, or removed if text is "".
func (s *site) leave(text string) {
	s.Helper()
	s.work.Forget()
	if text != "" {
		write(s.T, s.path, text)
	} else if err := os.Remove(s.path); err != nil {
		s.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// expect compares the board and the policies of the journaled changes.
func (s *site) expect(err error, text string, policies ...string) {
	s.Helper()
	got, lost := os.ReadFile(s.path)
	if err != nil || lost != nil && text != "" || string(got) != text {
		s.Errorf("the board is %q, %v, %v, want %q", got, lost, err, text)
	}
	var said []string
	for _, d := range s.journal.said {
		said = append(said, d.Policy)
	}
	if !slices.Equal(said, policies) {
		s.Errorf("journaled %q, want %q", said, policies)
	}
}

// TestEnd: seed 004, "Communication Model": only the Manager or a person ends a board.
func TestEnd(t *testing.T) {
	tests := map[string]struct {
		policy, left string
		step         func(*flow.State)
		want         string
		policies     []string
	}{
		"nothing changed": {event.PolicyAccept, asItWas, nil, asItWas, nil},
		"the end":         {event.PolicyAccept, ended, nil, asItWas, []string{event.PolicyRestore}},
		"the end, freeze": {event.PolicyFreeze, ended, nil, ended, []string{event.PolicyFreeze}},
		"the list":        {event.PolicyAccept, longer, nil, longer, nil}, // for Note
		"unreadable":      {event.PolicyAccept, spoiled, nil, asItWas, []string{event.PolicyRestore}},
		"removed":         {event.PolicyAccept, "", nil, asItWas, []string{event.PolicyRestore}},
		"removed, freeze": {event.PolicyFreeze, "", nil, "", []string{event.PolicyFreeze}},
		"the Manager's":   {event.PolicyAccept, ended, func(s *flow.State) { s.Step.Before = &event.Baseline{} }, ended, nil},
		"frozen already":  {event.PolicyAccept, ended, func(s *flow.State) { s.Frozen = &flow.Freeze{} }, ended, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, tt.policy)
			if tt.step != nil {
				tt.step(&s.journal.state)
			}
			b, err := s.work.Look()
			if err != nil {
				t.Fatal(err)
			}
			of := s.turn(b, s.journal)
			if _, err := s.guards.Begin(of); err != nil {
				t.Fatal(err)
			}
			s.leave(tt.left)
			s.expect(s.guards.End(of), tt.want, tt.policies...)
			s.expect(s.guards.End(of), tt.want, tt.policies...) // once
		})
	}
}

func (s *site) note() error {
	b, err := s.work.Look()
	return s.keeper.Note(b, s.work.SHA(), err)
}

// TestNote: another change of the board stands, or freezes it, and is journaled once.
func TestNote(t *testing.T) {
	for _, policy := range []string{event.PolicyAccept, event.PolicyFreeze} {
		s := newSite(t, policy)
		s.expect(s.note(), asItWas)
		s.leave(longer)
		s.expect(s.note(), longer, policy)
		s.expect(s.note(), longer, policy)
	}
}

// TestNoteUnreadable: a board that cannot be read does not stand, so that the step goes on without a
// question once its earlier bytes are back.
func TestNoteUnreadable(t *testing.T) {
	for _, left := range []string{spoiled, ""} {
		s := newSite(t, event.PolicyAccept)
		sha := s.journal.state.Step.BoardSHA
		s.leave(left)
		s.expect(s.note(), left, event.PolicyAccept)
		if got := s.journal.state.Step.BoardSHA; got != sha {
			t.Errorf("%q: the step goes on from the board %q, want %q", left, got, sha)
		}
		write(t, s.path, asItWas)
		s.work.Forget()
		s.expect(s.resume(false), asItWas, event.PolicyAccept)
	}
}

func (s *site) resume(isCut bool) error { return s.guards.Resume(s.journal.state.Step, isCut) }

// TestResume: a person is asked about an end that came while no run was there to see it, and an
// agent's is put back.
func TestResume(t *testing.T) {
	died := newSite(t, event.PolicyAccept)
	died.leave(ended)
	died.expect(died.resume(true), ended, event.PolicyAsk)

	reordered := newSite(t, event.PolicyAccept)
	reordered.leave(longer)
	reordered.expect(errors.Join(reordered.resume(true), reordered.note()), longer, event.PolicyAccept)
	if text := reordered.journal.said[0].Text; !strings.Contains(text, " changed since the run died while a.md was worked on ") {
		t.Errorf("it says %q", text)
	}

	edited := newSite(t, event.PolicyAccept)
	edited.leave(ended) // after the turn
	edited.expect(edited.resume(false), ended)

	cut := newSite(t, event.PolicyAccept)
	cut.leave(ended)
	cut.journal.state.Step.Left = cut.work.SHA()
	cut.expect(cut.resume(false), asItWas, event.PolicyRestore)
}

// TestPutBackEnd: the end of a board is put back also where nothing can be journaled any more.
func TestPutBackEnd(t *testing.T) {
	s := newSite(t, event.PolicyAccept)
	s.leave(longer)
	s.expect(s.keeper.PutBackEnd(), longer)
	s.leave(ended)
	s.expect(s.keeper.PutBackEnd(), asItWas)
	s.leave(spoiled)
	s.expect(s.keeper.PutBackEnd(), asItWas)

	frozen := newSite(t, event.PolicyFreeze)
	frozen.leave(ended)
	frozen.expect(frozen.keeper.PutBackEnd(), ended)
}

// TestOurs: what changes the board while programs work for us, such as those that hear of its end, is put back; a
// task that is added stands. A frozen board waits for a person.
func TestOurs(t *testing.T) {
	for _, tt := range []struct{ left, want, told string }{
		{asItWas, asItWas, ""},
		{longer, longer, ""},
		{ended, asItWas, "the end of %s changed while ./tell.sh ran (current); that is the Manager's or a person's, so that is put back"},
		{spoiled, asItWas, "%s was left so that it cannot be read "},
	} {
		for _, policy := range []string{event.PolicyAccept, event.PolicyFreeze} {
			s := newSite(t, policy)
			of := s.guards.BeginOurs("./tell.sh", " ran")
			s.leave(tt.left)
			var policies []string
			if tt.told != "" {
				policies = []string{event.PolicyRestore}
			}
			s.expect(s.guards.EndOurs(of), tt.want, policies...)
			for _, e := range s.journal.said {
				if want := fmt.Sprintf(tt.told, s.path); !strings.HasPrefix(e.Text, want) {
					t.Errorf("it says %q, want %q", e.Text, want)
				}
			}
		}
	}
	s := newSite(t, event.PolicyAccept)
	s.journal.state.Frozen = &flow.Freeze{}
	of := s.guards.BeginOurs("./tell.sh", " ran")
	s.leave(ended)
	s.expect(s.guards.EndOurs(of), ended)
}

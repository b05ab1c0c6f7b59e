package guard_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/guard"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/turns"
)

// watcher is a guard that says what it does.
type watcher struct {
	name   string
	said   *[]string
	kept   any
	refuse error
}

func (w *watcher) Name() string { return w.name }

func (w *watcher) Begin(*guard.Turn) (any, error) {
	*w.said = append(*w.said, "begin "+w.name)
	return w.kept, w.refuse
}

func (w *watcher) End(t *guard.Turn) error {
	*w.said = append(*w.said, "end "+w.name)
	return nil
}

func (w *watcher) Resume(_ *flow.Step, isCut bool, note rundir.Note) error {
	*w.said = append(*w.said, "resume "+w.name+" "+string(note.Parts[w.name]))
	return nil
}

// site is a board with two guards.
type site struct {
	list   *guard.List
	turns  *turns.Registry
	a, b   *watcher
	said   []string
	state  flow.State
	folder rundir.Dir
}

func newSite(t *testing.T) *site {
	s := &site{turns: &turns.Registry{}, folder: rundir.Dir{Path: t.TempDir()}}
	s.a, s.b = &watcher{name: "a", said: &s.said}, &watcher{name: "b", said: &s.said, kept: 1}
	of := guard.Site{Board: "k.yaml", Path: "/k", State: func() *flow.State { return &s.state }, Turns: s.turns,
		Look: func() (*board.Board, error) { return &board.Board{}, nil }, Notice: func(string) {}}
	s.list = guard.NewList(of, guard.NewNote(s.folder), s.a, s.b)
	return s
}

func (s *site) open() int {
	open, _ := s.turns.Since(turns.Look{}, "")
	return len(open)
}

func (s *site) want(t *testing.T, want string) {
	t.Helper()
	if got := strings.Join(s.said, ", "); got != want {
		t.Errorf("the guards did %q, want %q", got, want)
	}
	s.said = nil
}

// TestList: the guards look in their order, and behind a kill each gets what it has kept.
func TestList(t *testing.T) {
	s := newSite(t)
	turn := &guard.Turn{Turn: turns.Turn{Path: "/k"}, Board: &board.Board{}}
	sha, err := s.list.Begin(turn)
	if note := s.folder.ReadNote(); err != nil || sha == "" || note.SHA != sha || note.IsCopy {
		t.Fatalf("Begin = %q, %v, the note is %+v", sha, err, note)
	}
	s.want(t, "begin a, begin b")
	if s.open() != 1 {
		t.Error("other boards do not see the turn")
	}
	if err := s.list.Resume(nil, true); err != nil {
		t.Fatal(err)
	}
	s.want(t, "resume a , resume b 1")
	_, look := s.turns.Since(turns.Look{}, "")
	if err := s.list.End(turn); err != nil {
		t.Fatal(err)
	}
	s.want(t, "end a, end b")
	s.turns.Begin(turns.Turn{Path: "/k"})()
	if open, _ := s.turns.Since(look, ""); len(open) != 2 { // it ended behind the look
		t.Errorf("%d turns, want 2", len(open))
	}
}

// TestRefused: a turn that a guard refuses is not opened, and has no note.
func TestRefused(t *testing.T) {
	s := newSite(t)
	s.a.refuse = errors.New("no")
	if sha, err := s.list.Begin(&guard.Turn{Board: &board.Board{}}); sha != "" || !errors.Is(err, s.a.refuse) {
		t.Errorf("Begin = %q, %v", sha, err)
	}
	s.want(t, "begin a")
	if s.open() != 0 || s.folder.ReadNote().SHA != "" {
		t.Error("there is a turn")
	}
}

// TestFrozen: on a frozen board no agent has a turn, and programs that work for us have one.
func TestFrozen(t *testing.T) {
	s := newSite(t)
	s.state.Frozen = &flow.Freeze{}
	if sha, err := s.list.Begin(&guard.Turn{Player: &roster.Player{}, Board: &board.Board{}}); sha != "" || err != nil || s.open() != 0 {
		t.Errorf("Begin = %q, %v; %d turns are open", sha, err, s.open())
	}
	s.said = nil
	if err := s.list.EndOurs(s.list.BeginOurs("./tell.sh", " ran")); err != nil {
		t.Fatal(err)
	}
	s.want(t, "begin a, begin b, end a, end b")
}

// TestNotStarted: a turn whose agent is not started does not stay open behind the next one.
func TestNotStarted(t *testing.T) {
	s := newSite(t)
	if _, err := s.list.Begin(&guard.Turn{Turn: turns.Turn{Path: "/k"}, Board: &board.Board{}}); err != nil {
		t.Fatal(err)
	}
	if err := s.list.EndOurs(s.list.BeginOurs("./tell.sh", " ran")); err != nil {
		t.Fatal(err)
	}
	_, look := s.turns.Since(turns.Look{}, "")
	if open, _ := s.turns.Since(look, ""); len(open) > 0 {
		t.Errorf("there are open turns: %v", open)
	}
}

// TestOthers: behind a turn the guards know the turns of other boards that were open meanwhile.
func TestOthers(t *testing.T) {
	s := newSite(t)
	s.turns.Begin(turns.Turn{Path: "/over"})()
	s.turns.Begin(turns.Turn{Path: "/open"})
	turn := s.list.BeginOurs("./tell.sh", " ran")
	s.turns.Begin(turns.Turn{Path: "/meanwhile"})()
	if err := s.list.EndOurs(turn); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range turn.Others {
		got = append(got, o.Path)
	}
	if strings.Join(got, " ") != "/open /meanwhile" {
		t.Errorf("others: %q", got)
	}
}

// TestNote: a note is written only when it differs, and anew if an agent may have removed it. A copy of it says that it
// is one.
func TestNote(t *testing.T) {
	dir := rundir.Dir{Path: t.TempDir()}
	n := guard.NewNote(dir)
	save := func(kept any) string {
		t.Helper()
		sha, err := n.Save()
		if err = errors.Join(n.Put("a", kept), err); err == nil {
			sha, err = n.Save()
		}
		if err != nil {
			t.Fatal(err)
		}
		return sha
	}
	first := save([]string{"x"})
	if err := os.Remove(dir.Turn()); err != nil {
		t.Fatal(err)
	}
	if sha := save([]string{"x"}); sha != first || dir.ReadNote().SHA != "" {
		t.Errorf("the same note is written again: %q", sha)
	}
	if err := n.Rewrite(); err != nil || dir.ReadNote().SHA == "" {
		t.Errorf("it is not written anew: %v", err)
	}
	if sha := save([]string{"y"}); sha == first || string(dir.ReadNote().Parts["a"]) != `["y"]` {
		t.Errorf("another note is not written: %q", sha)
	}
	text, err := os.ReadFile(dir.Turn())
	if err != nil || !json.Valid(text) {
		t.Fatal(err)
	}
	copied := rundir.Dir{Path: t.TempDir()}
	if err := os.WriteFile(copied.Turn(), text, 0o600); err != nil || !copied.ReadNote().IsCopy {
		t.Errorf("a copy does not say so: %v", err)
	}
}

package divergence_test

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/divergence"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/guard"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/turns"
	"kanban-run/orchestrator/workspace"
)

// project is a folder with two boards.
type project struct {
	*testing.T
	dir      string
	journals map[string]*journal // of the boards, by their paths
	turns    *turns.Registry
}

func newProject(t *testing.T) project {
	return project{t, t.TempDir(), map[string]*journal{}, &turns.Registry{}}
}

// others are the boards of the project without the one at a path.
type others struct {
	project
	path string
}

func (o others) Claimed() (files []string) {
	for path, j := range o.journals {
		if step := j.state.Step; path != o.path && step != nil {
			files = append(files, filepath.Join(o.dir, step.Task))
		}
	}
	return files
}

func (o others) IsDone(file string) bool {
	for path, j := range o.journals {
		if path != o.path && j.state.IsDone(filepath.Base(file)) {
			return true
		}
	}
	return false
}

// keeper is the keeper of a board's run, the only guard of its turns.
type keeper struct {
	*divergence.Keeper
	guards *guard.List
}

// keeper returns the keeper of a board's run, with the board, in the command that p.turns is of.
func (p project) keeper(name string, tasks ...string) (keeper, *board.Board, *journal) {
	p.Helper()
	p.write(name, "current: "+tasks[0]+"\ntasks: ["+strings.Join(tasks, ", ")+"]\n")
	for _, task := range tasks {
		if _, err := os.Stat(filepath.Join(p.dir, task)); err != nil {
			p.write(task, "Do it.\n")
		}
	}
	return p.keeperOf(name)
}

func (p project) keeperOf(name string) (keeper, *board.Board, *journal) {
	p.Helper()
	path, b := filepath.Join(p.dir, name), p.board(name)
	place, err := board.OpenPlace(p.dir, path)
	if err != nil {
		p.Fatal(err)
	}
	folder := rundir.Of(path)
	if err := folder.Ensure(); err != nil {
		p.Fatal(err)
	}
	made, _ := redact.NewNamed(nil)
	w := workspace.New(path, path, place, b, made)
	j, note := &journal{}, guard.NewNote(folder)
	p.journals[path] = j
	k := divergence.NewKeeper(divergence.Turn{Board: name, Path: path, Journal: j, Workspace: w, Place: place, Folder: folder,
		Begun: divergence.Note(w, place, p.turns), Turns: p.turns, Others: others{p, path}, Kept: note,
		Give: func(task string, by []turns.Turn) error {
			j.given = append(j.given, task+" "+turns.While(path, by))
			return nil
		}})
	site := guard.Site{Board: name, Path: path, State: j.State, Turns: p.turns, Look: w.LookAgain}
	if err := w.KeepBefore(b); err != nil {
		p.Fatal(err)
	}
	return keeper{k, guard.NewList(site, note, k)}, b, j
}

func (p project) board(name string) *board.Board {
	p.Helper()
	b, err := board.Parse(filepath.Join(p.dir, name), []byte(p.read(name)))
	if err != nil {
		p.Fatal(err)
	}
	return b
}

func (p project) write(name, text string) {
	p.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
}

func (p project) read(name string) string {
	p.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.Fatal(err)
	}
	return string(data)
}

func (p project) mark(task string) { p.write(task, "---\nstatus: done\nby: hand\n---\nDo it.\n") }

// want checks which tasks are marked.
func (p project) want(when string, marked ...string) {
	p.Helper()
	var got []string
	for _, task := range []string{"1.md", "2.md", "3.md", "4.md"} {
		if _, err := os.Stat(filepath.Join(p.dir, task)); err == nil && strings.Contains(p.read(task), "done") {
			got = append(got, task)
		}
	}
	if strings.Join(got, " ") != strings.Join(marked, " ") {
		p.Errorf("%s: %v are marked, want %v", when, got, marked)
	}
}

// turn plays a turn of an agent that works on a task. It returns the texts of what is journaled.
func turn(k keeper, b *board.Board, j *journal, task string, agent func()) (said []string) {
	from := len(j.said)
	if j.state.Step == nil || j.state.Step.Task != task {
		j.state.Step = &flow.Step{Number: 1, Task: task, Role: "Implementor", Call: event.TaskCall, BoardSHA: b.SHA}
	}
	fail := func(err error) {
		if err != nil {
			said = append(said, err.Error())
		}
	}
	t := k.turn(b, j)
	_, err := k.guards.Begin(t)
	fail(err)
	if j.state.Frozen == nil {
		j.state.Marks, j.state.Step.Started = k.Marks(), 1
		agent()
		k.Workspace.Forget()
		fail(k.guards.End(t))
	}
	for _, e := range j.said[from:] {
		said = append(said, e.Text)
	}
	return said
}

// turn returns the turn of an agent in the open step.
func (k keeper) turn(b *board.Board, j *journal) *guard.Turn {
	return &guard.Turn{Turn: guard.Of(j.state.Step, k.Board, k.Path), Player: &roster.Player{}, Board: b, IsManager: j.state.Step.Before != nil}
}

func nothing() {}

// pass waits until the clock shows a change of a file as later than the turns so far.
func pass() { time.Sleep(110 * time.Millisecond) }

// TestMarksOfOtherTasks: design of the states of a task: an agent marks no task but its own; what it marks else is put
// back, named with the way that a person has, and accuses nobody.
func TestMarksOfOtherTasks(t *testing.T) {
	p := newProject(t)
	k, b, j := p.keeper("a.yaml", "1.md", "2.md", "3.md")
	said := turn(k, b, j, "1.md", func() { p.mark("1.md"); p.mark("2.md") })
	p.want("at the end of the turn", "1.md")
	want := "2.md was marked as done while 1.md was worked on; "
	if len(said) != 1 || !strings.HasPrefix(said[0], want) || !strings.HasSuffix(said[0], "; if that was you: kanban-run ack a.yaml accept 2.md") {
		t.Errorf("it says %q, want %q", said, want)
	}
	p.mark("2.md") // between two turns, while no agent is at work
	if said := turn(k, b, j, "1.md", nothing); said != nil {
		t.Errorf("a person's mark: it says %q", said)
	}
	p.want("a person's mark", "1.md", "2.md")
}

// TestMarksBetweenTurns: what decides the end of a board and came in a turn of another board of the command does not
// count until a person says so, and nothing is put back; what came while no agent was at work is a person's.
func TestMarksBetweenTurns(t *testing.T) {
	ways := map[string]struct {
		agent func(p project)
		what  string
	}{
		"mark":  {func(p project) { p.mark("3.md") }, "the mark in the header of 3.md"},
		"phase": {func(p project) { p.write("b.yaml", "phase: complete\ncurrent: 2.md\ntasks: [2.md, 3.md]\n") }, "phase"},
		"entry": {func(p project) { p.write("b.yaml", "current: 2.md\ntasks: [2.md]\n") }, "1 task less on the list"},
	}
	for name, way := range ways {
		for _, begun := range []bool{false, true} {
			p := newProject(t)
			a, boardA, ja := p.keeper("a.yaml", "1.md")
			b, boardB, jb := p.keeper("b.yaml", "2.md", "3.md")
			if begun {
				turn(b, boardB, jb, "2.md", nothing)
				pass()
			}
			turn(a, boardA, ja, "1.md", func() { way.agent(p) })
			now := p.board("b.yaml")
			var err error
			if begun {
				err = b.Look(now)
			} else if e, failed := b.Restart(now); e != nil {
				err = errors.Join(failed, jb.Append(e))
			}
			want := "what decides the end of b.yaml came while 1.md of a.yaml was worked on (" + way.what + "); if that was you: kanban-run ack b.yaml accept"
			if f := jb.state.Frozen; err != nil || f == nil || !f.Asks || f.By != event.ByMark || f.Text != want {
				t.Errorf("%s: %v, frozen: %+v, want %q", name, err, f, want)
			}
			if p.read("b.yaml") != string(now.Source) {
				t.Errorf("%s: something is put back", name)
			}

			jb.state.Frozen = nil // a person accepted it, and another command begins
			p.turns = &turns.Registry{}
			next, _, j := p.keeperOf("b.yaml")
			j.state = jb.state
			if e, err := next.Restart(now); e != nil || err != nil {
				t.Errorf("%s: the next command says %+v, %v", name, e, err)
			}
		}
	}
}

// TestPersonBetweenTurns: a change is a person's if the time of the file's last change lies in no turn.
func TestPersonBetweenTurns(t *testing.T) {
	p := newProject(t)
	a, boardA, ja := p.keeper("a.yaml", "1.md")
	b, boardB, jb := p.keeper("b.yaml", "2.md", "3.md", "4.md")
	turn(b, boardB, jb, "2.md", nothing)
	pass()
	p.mark("3.md") // while all boards wait
	pass()
	turn(a, boardA, ja, "1.md", nothing)
	pass()
	p.mark("4.md")
	if err := b.Look(boardB); err != nil || jb.state.Frozen != nil {
		t.Errorf("Look: %v, %+v", err, jb.state.Frozen)
	}
	p.want("a person's", "3.md", "4.md")
}

// TestRoleBetweenTurns: a task that came to its role in a turn of another board is given by that turn, and one that a
// person gives while no agent is at work is not.
func TestRoleBetweenTurns(t *testing.T) {
	p := newProject(t)
	a, boardA, ja := p.keeper("a.yaml", "1.md")
	b, boardB, jb := p.keeper("b.yaml", "2.md", "3.md", "4.md")
	turn(b, boardB, jb, "2.md", nothing)
	pass()
	turn(a, boardA, ja, "1.md", func() { p.write("3.md", "---\nrole: Deployer\n---\nDo it.\n") })
	pass()
	p.write("4.md", "---\nrole: Deployer\n---\nDo it.\n")
	if err := b.Look(boardB); err != nil || jb.state.Frozen != nil {
		t.Errorf("Look: %v, %+v", err, jb.state.Frozen)
	}
	if got, want := strings.Join(jb.given, "; "), "3.md while 1.md of a.yaml was worked on"; got != want {
		t.Errorf("given: %q, want %q", got, want)
	}
}

// TestTaskBetweenTurns: a task that came onto the board in a turn of another board is given to its role by that turn,
// also if no header names the role, or the file is an older one.
func TestTaskBetweenTurns(t *testing.T) {
	p := newProject(t)
	p.write("4.md", "Do it.\n")
	a, boardA, ja := p.keeper("a.yaml", "1.md")
	b, boardB, jb := p.keeper("b.yaml", "2.md")
	turn(b, boardB, jb, "2.md", nothing)
	pass()
	p.write("3.md", "Do it.\n")
	pass()
	turn(a, boardA, ja, "1.md", func() { p.write("b.yaml", "current: 2.md\ntasks: [2.md, 3.md, 4.md]\n") })
	pass()
	if err := b.Look(p.board("b.yaml")); err != nil || jb.state.Frozen != nil {
		t.Errorf("Look: %v, %+v", err, jb.state.Frozen)
	}
	want := "3.md while 1.md of a.yaml was worked on; 4.md while 1.md of a.yaml was worked on"
	if got := strings.Join(jb.given, "; "); got != want {
		t.Errorf("given: %q, want %q", got, want)
	}
}

// TestTaskOfItsOwnTurn: a task that came onto the board in a turn of its own is not given by the turn of another board
// that is still open.
func TestTaskOfItsOwnTurn(t *testing.T) {
	p := newProject(t)
	a, boardA, ja := p.keeper("a.yaml", "1.md")
	b, boardB, jb := p.keeper("b.yaml", "2.md")
	turn(a, boardA, ja, "1.md", func() {
		turn(b, boardB, jb, "2.md", func() {
			p.write("3.md", "---\nrole: Deployer\n---\nDo it.\n")
			p.write("b.yaml", "current: 2.md\ntasks: [2.md, 3.md]\n")
		})
		if err := b.Look(p.board("b.yaml")); err != nil || len(jb.given) > 0 {
			t.Errorf("Look: %v, given: %q", err, jb.given)
		}
	})
}

// TestMarksOfASharedTask: two boards of a command may list one task. Its mark stands where the other board's work replied
// ok, or has it at either look.
func TestMarksOfASharedTask(t *testing.T) {
	p := newProject(t)
	a, boardA, ja := p.keeper("a.yaml", "1.md", "2.md", "3.md")
	b, boardB, jb := p.keeper("b.yaml", "3.md", "4.md")
	said := turn(a, boardA, ja, "1.md", func() {
		said := turn(b, boardB, jb, "3.md", func() { p.mark("3.md") })
		if said != nil {
			t.Errorf("b says %q", said)
		}
	})
	if p.want("while b has it", "3.md"); said != nil {
		t.Errorf("a says %q", said)
	}
	jb.state.Statuses = []flow.TaskStatus{{Task: "3.md", Status: flow.StatusOK}}
	jb.state.Step = nil
	if err := a.Look(boardA); err != nil || ja.state.Frozen != nil {
		t.Errorf("Look: %v, %+v", err, ja.state.Frozen)
	}
	if said := turn(a, boardA, ja, "2.md", nothing); said != nil {
		t.Errorf("a says %q", said)
	}
	p.want("done by b", "3.md")

	p = newProject(t)
	a, boardA, ja = p.keeper("a.yaml", "1.md", "3.md")
	b, boardB, jb = p.keeper("b.yaml", "3.md")
	turn(b, boardB, jb, "3.md", func() { p.mark("3.md") })
	if err := a.Look(boardA); err != nil || ja.state.Frozen != nil { // b's work is reviewed
		t.Errorf("Look: %v, %+v", err, ja.state.Frozen)
	}
	if said := turn(a, boardA, ja, "1.md", nothing); said != nil {
		t.Errorf("a says %q", said)
	}
	p.want("while b has it, between two turns", "3.md")
}

// TestMarksBetweenRuns: what stands on a board when a command begins is a person's, but for the mark of a task in whose
// turn the run died.
func TestMarksBetweenRuns(t *testing.T) {
	for _, killed := range []bool{false, true} {
		p := newProject(t)
		k, b, j := p.keeper("a.yaml", "1.md", "2.md")
		turn(k, b, j, "1.md", func() {})
		p.mark("1.md")
		next, _, after := p.keeper("a.yaml", "1.md", "2.md")
		after.state = j.state
		after.state.Running = killed
		if e, err := next.Restart(b); e != nil || err != nil {
			t.Errorf("Restart = %+v, %v", e, err)
		}
		turn(next, b, after, "1.md", nothing)
		after.state.Step.Work = &event.ReplyAccepted{Status: "blocked"}
		if err := next.EndWork(after.state.Step); err != nil {
			t.Error(err)
		}
		if killed {
			p.want("in the turn that died")
		} else {
			p.want("by a person", "1.md")
		}
	}
}

// TestMarksOfItsOwn: the mark of the step's own task is put back if its work does not reply ok, also when that is seen in
// a later attempt; while the work is reviewed it stays.
func TestMarksOfItsOwn(t *testing.T) {
	p := newProject(t)
	k, b, j := p.keeper("a.yaml", "1.md", "2.md")
	for _, status := range []string{"", "blocked", "ok"} {
		turn(k, b, j, "1.md", func() { p.mark("1.md") })
		p.want("at the end of the turn", "1.md")
		j.state.Step.Work = &event.ReplyAccepted{Status: status}
		if err := k.EndWork(j.state.Step); err != nil {
			t.Fatal(err)
		}
		if status == "ok" {
			p.want(status, "1.md")
		} else {
			p.want(status)
		}
	}
	turn(k, b, j, "1.md", nothing) // of the review
	p.want("reviewed", "1.md")
	j.state.Step.Unsettled = "never content"
	if err := k.EndWork(j.state.Step); err != nil {
		t.Fatal(err)
	}
	p.want("never content")
}

// TestMarksWithoutAJournal: marks of other tasks are put back also where nothing can be journaled any more.
func TestMarksWithoutAJournal(t *testing.T) {
	p := newProject(t)
	k, b, j := p.keeper("a.yaml", "1.md", "2.md")
	turn(k, b, j, "1.md", nothing)
	p.mark("1.md")
	p.mark("2.md")
	if err := k.PutBackEnd(); err != nil || len(j.said) > 0 {
		t.Errorf("%v, it says %+v", err, j.said)
	}
	p.want("but for its own", "1.md")
}

// TestMarkCannotBePutBack: a person is asked, and the mark does not count silently.
func TestMarkCannotBePutBack(t *testing.T) {
	p := newProject(t)
	k, b, j := p.keeper("a.yaml", "1.md", "2.md")
	turn(k, b, j, "1.md", func() {
		p.mark("2.md")
		if err := os.Chmod(filepath.Join(p.dir, "2.md"), 0o400); err != nil {
			t.Fatal(err)
		}
	})
	if os.Geteuid() == 0 { // who may write the file all the same
		p.want("as root")
	} else if j.state.Frozen == nil || !j.state.Frozen.Asks {
		t.Errorf("frozen: %+v, want a question; %+v", j.state.Frozen, j.said)
	}
}

// TestManagersMarks: the marks of a Manager count once its reply does; one without a valid reply marks nothing.
func TestManagersMarks(t *testing.T) {
	for _, accepted := range []bool{true, false} {
		p := newProject(t)
		k, b, j := p.keeper("a.yaml", "1.md", "2.md")
		turn(k, b, j, "1.md", nothing)
		j.state.Step.Before = &event.Baseline{}
		of := k.turn(b, j)
		if _, err := k.guards.Begin(of); err != nil {
			t.Fatal(err)
		}
		p.mark("2.md")
		if err := k.guards.End(of); err != nil {
			t.Fatal(err)
		}
		if accepted {
			j.state.Step = nil
		}
		if k.Leave(b); accepted {
			p.want("accepted", "2.md")
		} else {
			p.want("rejected")
		}
		if len(j.said) != 1 || strings.Contains(j.said[0].Text, "put back") == accepted {
			t.Errorf("accepted %t: it says %+v", accepted, j.said)
		}
	}
}

// TestOwnEntry: an agent that ticks its own entry is taken at its word once its work is accepted as ok, behind its review, and
// without words; else the entry is put back.
func TestOwnEntry(t *testing.T) {
	const first, ticked = "current: 1.md\ntasks: [1.md, 2.md]\n", "current: 1.md\ntasks: ['1.md [done]', 2.md]\n"
	end := func(k keeper, j *journal, w *workspace.Workspace, status, unsettled string) {
		if j.state.Step.Unsettled = unsettled; status != "" {
			j.state.Step.Work = &event.ReplyAccepted{Status: status}
		}
		w.Forget()
		if err := k.EndWork(j.state.Step); err != nil {
			t.Error(err)
		}
	}
	for _, tt := range []struct{ status, unsettled, want, policy string }{
		{"ok", "", ticked, event.PolicyOwn},
		{"blocked", "", first, event.PolicyRestore},
		{"", "", first, event.PolicyRestore}, // no valid reply
		{"ok", "never content", first, event.PolicyRestore},
	} {
		p := newProject(t)
		k, b, j := p.keeper("a.yaml", "1.md", "2.md")
		j.state.Step = nil
		w := k.Workspace.(*workspace.Workspace)
		if said := turn(k, b, j, "1.md", func() { p.write("a.yaml", ticked); w.Forget() }); said != nil {
			t.Errorf("%+v: it says %q", tt, said)
		}
		if tt.unsettled != "" { // while the work is reviewed the mark stays
			end(k, j, w, tt.status, "")
			if got := p.read("a.yaml"); got != ticked {
				t.Errorf("%+v: reviewed: %q", tt, got)
			}
		}
		end(k, j, w, tt.status, tt.unsettled)
		if got := p.read("a.yaml"); got != tt.want || len(j.said) == 0 || j.said[len(j.said)-1].Policy != tt.policy {
			t.Errorf("%+v: %q, %+v", tt, got, j.said)
		}
	}
}

// TestOwnEntryOfAnEarlierStep: a mark about which a step has not decided, because a loop or a person ended it, is not looked
// at in a later step.
func TestOwnEntryOfAnEarlierStep(t *testing.T) {
	p := newProject(t)
	k, b, j := p.keeper("a.yaml", "1.md", "2.md")
	w := k.Workspace.(*workspace.Workspace)
	const ticked = "current: 1.md\ntasks: ['1.md [done]', 2.md]\n"
	turn(k, b, j, "1.md", func() { p.write("a.yaml", ticked); w.Forget() })
	j.state.Step.Work = &event.ReplyAccepted{Status: "ok"}
	w.Forget()
	if err := k.EndWork(j.state.Step); err != nil {
		t.Fatal(err)
	}
	const next = "current: 2.md\ntasks: ['1.md [done]', '2.md [done]']\n" // as a person left it
	p.write("a.yaml", next)
	w.Forget()
	b = p.board("a.yaml")
	if err := w.KeepBefore(b); err != nil {
		t.Fatal(err)
	}
	j.state.Step = &flow.Step{Number: 2, Task: "2.md", Role: "Implementor", Call: event.TaskCall, BoardSHA: b.SHA}
	turn(k, b, j, "2.md", nothing)
	if err := k.EndWork(j.state.Step); err != nil || p.read("a.yaml") != next {
		t.Errorf("%v: %q", err, p.read("a.yaml"))
	}
}

// TestHeadersOfOthers: needs, files, watch and another role of other tasks stand, and are said; approve and source are put
// back, and so is a header that was left broken, but not one that was broken before the turn.
func TestHeadersOfOthers(t *testing.T) {
	const header, broken = "---\nrole: A\nneeds: [1.md]\napprove: person\n---\n", "---\nrole: [\n---\n"
	for left, tt := range map[string]struct{ want, said string }{
		"---\nrole: A\napprove: person\n---\n":                {"", "needs of 2.md changed while 1.md was worked on"},
		"---\nrole: B\nneeds: [1.md]\napprove: person\n---\n": {"", "2.md went from the role A to B while 1.md was worked on"},
		"---\nrole: A\nneeds: [1.md]\n---\n":                  {"---\napprove: person\nrole: A\nneeds: [1.md]\n---\n", "approve of 2.md changed while 1.md was worked on, so that is put back"},
		broken:                                                {header, "the header of 2.md changed while 1.md was worked on, so that is put back"},
	} {
		p := newProject(t)
		p.write("2.md", header)
		k, b, j := p.keeper("a.yaml", "1.md", "2.md")
		said := turn(k, b, j, "1.md", func() { p.write("2.md", left) })
		if len(said) != 1 || !strings.HasPrefix(said[0], tt.said) {
			t.Errorf("%q: it says %q", left, said)
		}
		if got := p.read("2.md"); got != cmp.Or(tt.want, left) {
			t.Errorf("%q became %q", left, got)
		}
	}
	p := newProject(t)
	p.write("2.md", header)
	k, b, j := p.keeper("a.yaml", "2.md", "1.md")
	turn(k, b, j, "2.md", func() { p.write("2.md", broken) }) // its own
	for range 2 {
		if said := turn(k, b, j, "1.md", func() { p.write("2.md", broken+"again\n") }); said != nil || p.read("2.md") != broken+"again\n" {
			t.Errorf("a header that was broken before: it says %q", said)
		}
	}
}

package marks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/rundir"
)

// journal is the state of a board, and the texts of the events that were recorded.
type journal struct {
	state flow.State
	said  []string
}

func (j *journal) State() *flow.State { return &j.state }

func (j *journal) Record(e event.Event) error {
	j.said = append(j.said, e.(event.StateDiverged).Text)
	return j.state.Apply(e)
}

// project is a folder with two boards.
type project struct {
	*testing.T
	dir string
}

// keeper returns the keeper of a board's run, with the board.
func (p project) keeper(name string, tasks ...string) (*Keeper, *board.Board, *journal) {
	p.Helper()
	path := filepath.Join(p.dir, name)
	p.write(name, "current: "+tasks[0]+"\ntasks: ["+strings.Join(tasks, ", ")+"]\n")
	for _, task := range tasks {
		if _, err := os.Stat(filepath.Join(p.dir, task)); err != nil {
			p.write(task, "Do it.\n")
		}
	}
	b, err := board.Parse(path, []byte(p.read(name)))
	if err != nil {
		p.Fatal(err)
	}
	place, err := board.OpenPlace(p.dir, path)
	if err != nil {
		p.Fatal(err)
	}
	folder := rundir.Of(path)
	if err := folder.Ensure(); err != nil {
		p.Fatal(err)
	}
	j := &journal{}
	return NewKeeper(Turn{Board: name, Path: path, Journal: j, Place: place, Folder: folder}), b, j
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

// turn plays a turn of an agent that works on a task.
func turn(k *Keeper, b *board.Board, j *journal, task string, agent func()) {
	j.state.Step = &flow.Step{Number: 1, Task: task, Role: "Implementor", Call: event.TaskCall}
	sha, err := k.Begin(b, task)
	if err != nil {
		k.Journal.(*journal).said = append(j.said, err.Error())
	}
	j.state.Marks, j.state.Step.Started = sha, 1
	agent()
	if err := k.End(j.state.Step); err != nil {
		j.said = append(j.said, err.Error())
	}
}

// TestMarksBetweenTurns: design of the states of a task: a mark counts that came while no work of a board in this
// work tree was open; an agent of another board marks only its own task.
func TestMarksBetweenTurns(t *testing.T) {
	p := project{t, t.TempDir()}
	a, boardA, ja := p.keeper("a.yaml", "1.md", "2.md", "3.md")
	b, boardB, jb := p.keeper("b.yaml", "4.md", "3.md")
	nothing := func() {}

	turn(a, boardA, ja, "1.md", nothing)
	p.mark("2.md") // a person does
	turn(a, boardA, ja, "1.md", nothing)
	p.want("a person's mark", "2.md")

	turn(b, boardB, jb, "3.md", func() { p.mark("1.md"); p.mark("3.md") })
	jb.state.Statuses = []flow.TaskStatus{{Task: "3.md", Status: flow.StatusOK}}
	p.want("an agent of b at work on 3", "1.md", "2.md", "3.md")
	turn(a, boardA, ja, "2.md", nothing)
	p.want("seen by a", "2.md", "3.md")
	if len(ja.said) != 1 || !strings.Contains(ja.said[0], "an agent of another board marked 1.md as done") {
		t.Errorf("a says %q", ja.said)
	}

	turn(b, boardB, jb, "4.md", func() {
		turn(a, boardA, ja, "1.md", func() { p.mark("4.md") }) // which is on no list of a
		p.mark("1.md")
	})
	turn(a, boardA, ja, "2.md", nothing)
	p.want("marked while two agents were at work", "2.md", "3.md", "4.md")

	ja.said, jb.state.Statuses = nil, []flow.TaskStatus{{Task: "4.md", Status: flow.StatusOK}}
	turn(a, boardA, ja, "1.md", func() {
		turn(b, boardB, jb, "3.md", func() { p.write("3.md", "again\n") })
	})
	if p.want("unmarked by its own work", "2.md", "4.md"); ja.said != nil {
		t.Errorf("a says %q", ja.said)
	}
}

// TestMarksBetweenRuns: what an agent of another board marks while no run of this board is at work does not count,
// and what a person marks then does.
func TestMarksBetweenRuns(t *testing.T) {
	for _, other := range []bool{false, true} {
		p := project{t, t.TempDir()}
		a, boardA, ja := p.keeper("a.yaml", "1.md", "2.md")
		b, boardB, jb := p.keeper("b.yaml", "4.md")
		turn(a, boardA, ja, "1.md", func() {})
		ja.state.Step = nil
		sha := a.Leave()
		if other {
			turn(b, boardB, jb, "4.md", func() { p.mark("2.md") })
		} else {
			p.mark("2.md")
		}
		next, _, j := p.keeper("a.yaml", "1.md", "2.md")
		j.state.Marks = sha
		e, err := next.Restart(boardA)
		if err != nil || (e != nil) != other {
			t.Errorf("another board: %t: Restart = %+v, %v", other, e, err)
		}
		if other {
			p.want("by an agent")
		} else {
			p.want("by a person", "2.md")
		}
	}
}

// TestMarksAtTheEnd: design of the states of a task: a mark that an agent of another board sets between the last turn of a
// run and its end does not count, and one that the other board's own work sets, from before that end until after it, is left alone.
func TestMarksAtTheEnd(t *testing.T) {
	p := project{t, t.TempDir()}
	a, boardA, ja := p.keeper("a.yaml", "1.md", "2.md", "3.md")
	b, boardB, jb := p.keeper("b.yaml", "4.md", "3.md")
	turn(a, boardA, ja, "1.md", func() {})
	turn(b, boardB, jb, "4.md", func() { p.mark("2.md") })
	ja.state.Step = nil
	next, _, j := p.keeper("a.yaml", "1.md", "2.md", "3.md")
	j.state.Marks = a.Leave()
	if p.want("marked by an agent of b"); len(ja.said) != 1 {
		t.Errorf("a says %q", ja.said)
	}
	if e, err := next.Restart(boardA); err != nil || e != nil {
		t.Errorf("Restart = %+v, %v", e, err)
	}

	turn(b, boardB, jb, "3.md", func() {
		turn(next, boardA, j, "1.md", func() {})
		j.state.Step = nil
		j.state.Marks = next.Leave()
		p.mark("3.md")
	})
	last, _, j3 := p.keeper("a.yaml", "1.md", "2.md", "3.md")
	j3.state.Marks = j.state.Marks
	if e, err := last.Restart(boardA); err != nil || e != nil {
		t.Errorf("Restart = %+v, %v", e, err)
	}
	p.want("marked by its own work", "3.md")
}

// TestMarksOfARunThatDies: what an agent of another board marks does not count either if it does so before the first turn of
// a run, or if the run dies before it has journaled the attempt for which it has kept the marks.
func TestMarksOfARunThatDies(t *testing.T) {
	p := project{t, t.TempDir()}
	a, boardA, ja := p.keeper("a.yaml", "1.md", "2.md")
	b, boardB, jb := p.keeper("b.yaml", "4.md")
	if e, err := a.Restart(boardA); e != nil || err != nil {
		t.Errorf("Restart = %+v, %v", e, err)
	}
	turn(b, boardB, jb, "4.md", func() { p.mark("2.md") })
	turn(a, boardA, ja, "1.md", func() { p.mark("1.md") })
	p.want("marked before the first turn", "1.md")

	ja.state.Step = nil
	ja.state.Statuses = []flow.TaskStatus{{Task: "1.md", Status: flow.StatusOK}}
	if sha, err := a.Begin(boardA, "2.md"); err != nil || sha == ja.state.Marks {
		t.Fatalf("Begin = %s, %v, want other marks than before", sha, err)
	}
	a.Close() // the run dies
	turn(b, boardB, jb, "4.md", func() { p.mark("2.md") })
	next, _, j := p.keeper("a.yaml", "1.md", "2.md")
	j.state.Marks, j.state.Statuses = ja.state.Marks, ja.state.Statuses
	if e, err := next.Restart(boardA); e == nil || err != nil {
		t.Errorf("Restart = %+v, %v", e, err)
	}
	p.want("marked after the run died", "1.md")
}

// TestMarksOfAnotherBoard: design of the states of a task: two boards may list one task, and the journal of the board that
// has worked on it decides about its mark, also once that board has begun with another task.
func TestMarksOfAnotherBoard(t *testing.T) {
	p := project{t, t.TempDir()}
	a, boardA, ja := p.keeper("a.yaml", "1.md", "2.md", "3.md")
	b, boardB, jb := p.keeper("b.yaml", "3.md", "4.md")
	turn(a, boardA, ja, "1.md", func() {
		turn(b, boardB, jb, "3.md", func() { p.mark("3.md") })
		jb.state.Statuses = []flow.TaskStatus{{Task: "3.md", Status: flow.StatusOK}}
	})
	turn(b, boardB, jb, "4.md", func() {
		turn(a, boardA, ja, "2.md", func() {})
	})
	if p.want("the work of b", "3.md"); ja.said != nil {
		t.Errorf("a says %q", ja.said)
	}
}

// TestMarksOfItsOwn: the mark of the step's own task is put back as long as its work has not replied ok, also when
// that is seen in a later attempt.
func TestMarksOfItsOwn(t *testing.T) {
	p := project{t, t.TempDir()}
	k, b, j := p.keeper("a.yaml", "1.md", "2.md")
	turn(k, b, j, "1.md", func() { p.mark("1.md") })
	p.want("at the end of the turn", "1.md")
	for _, status := range []string{"", "blocked", "ok"} {
		j.state.Step.Work = &event.ReplyAccepted{Status: status}
		p.mark("1.md")
		if _, err := k.reader.read(k.before.list); err != nil {
			t.Fatal(err)
		}
		if err := k.EndWork(j.state.Step); err != nil {
			t.Fatal(err)
		}
		if status == "ok" {
			p.want(status, "1.md")
		} else {
			p.want(status)
		}
	}
	j.state.Step.Unsettled = "no review accepted it"
	if err := k.EndWork(j.state.Step); err != nil {
		t.Fatal(err)
	}
	p.want("never accepted")
}

// TestMarkCannotBePutBack: a person is asked, and the mark does not count silently.
func TestMarkCannotBePutBack(t *testing.T) {
	p := project{t, t.TempDir()}
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
		t.Errorf("frozen: %+v, want a question; %q", j.state.Frozen, j.said)
	}
}

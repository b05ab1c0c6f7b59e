package marks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/rundir"
)

// journal is the state of a board, and the texts of the events that were recorded.
type journal struct {
	state  flow.State
	said   []string
	atWork bool // an agent is at work
}

func (j *journal) State() *flow.State { return &j.state }

func (j *journal) Record(e event.Event) error {
	j.said = append(j.said, e.(event.StateDiverged).Text)
	return j.state.Apply(e)
}

// project is a folder with two boards.
type project struct {
	*testing.T
	dir      string
	journals map[string]*journal // of the boards, by their paths
}

func newProject(t *testing.T) project { return project{t, t.TempDir(), map[string]*journal{}} }

// elsewhere is what the journal of a board says of a task.
func (p project) elsewhere(board, file string) (done, atWork bool) {
	j := p.journals[board]
	if j == nil {
		return false, false
	}
	step := j.state.Step
	return j.state.IsDone(filepath.Base(file)), step != nil && j.atWork && step.Task == filepath.Base(file)
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
	p.journals[path] = j
	return NewKeeper(Turn{Board: name, Path: path, Journal: j, Place: place, Folder: folder, Elsewhere: p.elsewhere}), b, j
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
	j.state.Marks, j.state.Step.Started, j.atWork = sha, 1, true
	agent()
	j.atWork = false
	if err := k.End(j.state.Step); err != nil {
		j.said = append(j.said, err.Error())
	}
}

// TestMarksBetweenTurns: design of the states of a task: a mark counts that came while no work of a board in this
// work tree was open; an agent of another board marks only its own task.
func TestMarksBetweenTurns(t *testing.T) {
	p := newProject(t)
	a, boardA, ja := p.keeper("a.yaml", "1.md", "2.md", "3.md")
	b, boardB, jb := p.keeper("b.yaml", "4.md", "3.md")
	nothing := func() {}

	turn(a, boardA, ja, "1.md", nothing)
	p.mark("2.md") // a person does
	turn(a, boardA, ja, "1.md", nothing)
	p.want("a person's mark", "2.md")
	p.write("2.md", "Do it.\n")
	turn(b, boardB, jb, "4.md", nothing)
	time.Sleep(2 * coarse) // the time of a change of a file lies behind the clock
	p.mark("2.md")
	turn(a, boardA, ja, "1.md", nothing)
	p.want("a person's mark after a turn of b", "2.md")

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
		jb.state.Statuses = append(jb.state.Statuses, flow.TaskStatus{Task: "3.md", Status: flow.StatusOK})
	})
	if p.want("unmarked by its own work", "2.md", "4.md"); ja.said != nil {
		t.Errorf("a says %q", ja.said)
	}
}

// TestMarksBetweenRuns: what an agent of another board marks while no run of this board is at work does not count,
// and what a person marks then does.
func TestMarksBetweenRuns(t *testing.T) {
	for _, other := range []bool{false, true} {
		p := newProject(t)
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
	p := newProject(t)
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
	jb.state.Statuses = append(jb.state.Statuses, flow.TaskStatus{Task: "3.md", Status: flow.StatusOK})
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
	p := newProject(t)
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
	p := newProject(t)
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
	p := newProject(t)
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
		t.Errorf("frozen: %+v, want a question; %q", j.state.Frozen, j.said)
	}
}

// TestForgedTurn: a line in the log of turns is no work of another board, whose journal has to bear it out.
func TestForgedTurn(t *testing.T) {
	p := newProject(t)
	k, b, j := p.keeper("a.yaml", "1.md", "2.md")
	turn(k, b, j, "1.md", func() {
		p.mark("2.md")
		forged := `{"board":"/x","task":"` + filepath.Join(p.dir, "2.md") + `","at":"2026-11-27T00:00:00Z"}` + "\n"
		log := filepath.Join(p.dir, ".kanban-run/claims/turns")
		if data, err := os.ReadFile(log); err != nil || os.WriteFile(log, append(data, forged...), 0o600) != nil {
			t.Fatal(err)
		}
	})
	if p.want("forged"); len(j.said) != 1 {
		t.Errorf("it says %q", j.said)
	}
}

// TestManagersMarks: the marks of a Manager count once its reply does; one without a valid reply marks nothing.
func TestManagersMarks(t *testing.T) {
	for _, accepted := range []bool{true, false} {
		p := newProject(t)
		k, b, j := p.keeper("a.yaml", "1.md", "2.md")
		turn(k, b, j, "1.md", func() {})
		j.state.Step.Before = &event.Baseline{}
		k.BeginManagers()
		p.mark("2.md")
		if err := k.End(j.state.Step); err != nil {
			t.Fatal(err)
		}
		if accepted {
			j.state.Step = nil
		}
		if k.Leave(); accepted {
			p.want("accepted", "2.md")
		} else {
			p.want("rejected")
		}
		if len(j.said) != 1 || strings.Contains(j.said[0], "put back") == accepted {
			t.Errorf("accepted %t: it says %q", accepted, j.said)
		}
	}
}

// TestMarkWhileItIsReviewed: the mark of a task's own work does not count before a review has accepted the work.
func TestMarkWhileItIsReviewed(t *testing.T) {
	p := newProject(t)
	k, b, j := p.keeper("a.yaml", "1.md", "2.md")
	turn(k, b, j, "1.md", func() { p.mark("1.md") })
	j.state.Step.Work = &event.ReplyAccepted{Status: "ok"}
	if err := k.EndWork(j.state.Step); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Begin(b, "1.md"); err != nil { // of the review
		t.Fatal(err)
	}
	if err := k.End(j.state.Step); err != nil {
		t.Fatal(err)
	}
	p.want("reviewed", "1.md")
	j.state.Step.Unsettled = "never content"
	if err := k.EndWork(j.state.Step); err != nil {
		t.Fatal(err)
	}
	p.want("never content")
}

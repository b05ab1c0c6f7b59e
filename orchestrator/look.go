package orchestrator

import (
	"fmt"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/flow"
)

// read looks at the board, the source of truth in every round (seed 004, "Communication Model"), and notices a change that was made
// in somebody else's turn than the Manager's. The board is nil where it cannot be read and the run is frozen.
func (r *run) read() (b *board.Board, view flow.Board, err error) {
	var sha string
	b, err = r.current()
	if err == nil {
		sha = b.SHA
	} else {
		sha = r.sha()
	}
	known := sha != "" || outcomeOf(err) == flow.Invalid // else the machine could not even look
	if step := r.history.State.Step; step != nil && step.Before == nil && known && sha != step.BoardSHA {
		if err := r.record(r.diverged(step, sha, err)); err != nil {
			return nil, view, err
		}
	}
	if r.history.State.Frozen != nil {
		return nil, flow.Board{SHA: sha}, nil
	}
	if err != nil {
		return nil, view, err
	}
	view, err = r.view(b)
	return b, view, err
}

func (r *run) diverged(step *flow.Step, sha string, unreadable error) flow.StateDiverged {
	text := fmt.Sprintf("STATE_DIVERGENCE: %s changed while %s was at work on %s; only the Manager's turn may change it (earlier bytes: %s)",
		r.job.Board, step.Role, step.Task, r.files.before())
	if unreadable != nil {
		text += "; it cannot be read any more"
	}
	return flow.StateDiverged{Source: flow.SourceBoard, Step: step.Number, Task: step.Task, Before: step.BoardSHA, After: sha, Policy: r.setup.OnDivergence, Text: text}
}

// sha names the board's bytes as they are, also when they make no board; "" when there is no file in its place, or another one.
func (r *run) sha() string {
	source, err := board.ReadFile(r.path)
	if err != nil || r.ledElsewhere() != nil {
		return ""
	}
	return board.SHA(source)
}

// current is the board as it is on disk now. A board that a dying Manager left unreadable is put back first.
func (r *run) current() (*board.Board, error) {
	b, err := r.lookAtBoard()
	if err != nil && !durable.IsShortage(err) && r.history.State.Step != nil && r.history.State.Step.Before != nil && r.history.State.Step.Reply == nil {
		if back := r.putBack(); back == nil {
			b, err = r.lookAtBoard()
		}
	}
	if err != nil {
		return nil, &InvalidError{Err: err}
	}
	return b, nil
}

// lookAtBoard reads the board once after every turn, an agent's or the runner's own: between turns only a person could change it, who
// is then heard after the next one. The board must still be the file that it was when the run was prepared: agents and the runner would
// speak of different files otherwise, and the runner would write to one outside.
func (r *run) lookAtBoard() (*board.Board, error) {
	if r.fresh != nil {
		return r.fresh, nil
	}
	if err := r.ledElsewhere(); err != nil {
		return nil, err
	}
	b, err := r.reader.Read()
	r.fresh = b
	return b, err
}

// ledElsewhere is an error when the user's name of the board leads to another file now. Links are followed only where the name itself is
// one, or does not plainly mean the same file.
func (r *run) ledElsewhere() error {
	if r.job.DryRun {
		return nil
	}
	if named, err := os.Lstat(r.job.Board); err == nil && named.Mode().IsRegular() {
		if known, err := os.Lstat(r.path); err == nil && os.SameFile(named, known) {
			return nil
		}
	}
	real, err := filepath.EvalSymlinks(r.job.Board)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err == nil && real != r.path {
		return &board.FileError{Op: "read board", File: r.job.Board, Err: fmt.Errorf("it leads to %s now", real), Fix: "put the file back in the link's place"}
	}
	return nil
}

// rest is for the time of a turn, in which nobody looks at the board: of so many that run side by side none is kept in memory.
func (r *run) rest() {
	if r.desk.isOnly() {
		r.reader.Forget()
		r.fresh, r.listed = nil, nil
	}
}

// lookAgain reads the board although nobody had a turn.
func (r *run) lookAgain() (*board.Board, error) {
	r.fresh = nil
	return r.lookAtBoard()
}

// view is the board as flow looks at it, with the roles of this run.
func (r *run) view(b *board.Board) (flow.Board, error) {
	if err := r.setup.noSecretIn(b.Current.Path); err != nil {
		return flow.Board{}, err
	}
	return look(b, &r.history.State, r.place, func(role string) (string, error) {
		p, err := r.player(role)
		if err != nil {
			return "", err
		}
		return p.Role.Name, nil
	})
}

// look is a board as flow looks at it. Once a Manager attempt was started, only bytes and ending count: whose task is next is
// the Manager's to say. roleOf names the role that a task, or the phase, spells in its own way.
func look(b *board.Board, s *flow.State, place *board.Place, roleOf func(string) (string, error)) (flow.Board, error) {
	v := flow.Board{Terminal: b.Terminal(), SHA: b.SHA}
	if v.Terminal || s.Step != nil && (s.Step.Before != nil || s.Step.Reply != nil) {
		return v, nil
	}
	if !b.Current.Set {
		return v, &InvalidError{Err: b.MissingCurrent()}
	}
	task, err := place.ReadTask(b.Current.Path)
	if err != nil {
		return v, &InvalidError{Err: b.CurrentProblem(err)}
	}
	v.Task = task.Ref.Path
	if v.Role, err = roleOf(board.RoleFor(b, task)); err != nil {
		return v, &InvalidError{Err: task.RoleProblem(err)}
	}
	return v, nil
}

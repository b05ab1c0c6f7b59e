package orchestrator

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/flow"
)

// maxJournaled is how long an input may be that is journaled as it is, in bytes. A longer one is the Manager's: of it the journal
// has what stands before the list of tasks, and a SHA-256: the list is the one in the board's bytes, of which a copy is kept aside.
const maxJournaled = 4 << 10

// input is what an agent gets on standard input: one JSON object. Seed 004, "Input Specification (Supervisor → Agent)".
type input struct {
	text []byte
	sum  string // see newInput
	list *list  // of the Manager's; nil in others
}

// newInput makes an input of its text, in which the list stands. Its sum is the SHA-256, in hex, of the text with the SHA-256 of the
// list, in hex, in the list's place: that of a long list is made once for many steps.
func newInput(text []byte, l *list) input {
	h := sha256.New()
	if head, ok := l.before(text); ok {
		h.Write(head)
		h.Write([]byte(l.sum()))
		h.Write([]byte{'}'})
	} else {
		h.Write(text)
	}
	return input{text: text, sum: hex.EncodeToString(h.Sum(nil)), list: l}
}

// given is the input of the open call, as far as it is in memory.
type given struct {
	step int
	call flow.Call
	input
}

type taskInput struct {
	TaskFile   string `json:"task_file"`
	KanbanFile string `json:"kanban_file"`
}

// managerInput is for reading. Only the Manager gets the list of tasks.
type managerInput struct {
	KanbanFile string   `json:"kanban_file"`
	DoneTask   string   `json:"done_task"`
	Tasks      []string `json:"tasks"`
}

// managerHead is what is journaled of a long input.
type managerHead struct {
	KanbanFile string `json:"kanban_file"`
	DoneTask   string `json:"done_task"`
}

func (r *run) kanbanFile() string {
	if r.job.DryRun {
		return r.path
	}
	return r.place.KanbanFile()
}

// newInput is the input of a call that starts afresh, on the board as it is. Its paths hold no secret: it is journaled, and a
// retry must get the same bytes.
func (r *run) newInput(e flow.StartAgent, b *board.Board) (input, error) {
	if err := r.setup.noSecretIn(e.Task, r.kanbanFile()); err != nil {
		return input{}, err
	}
	if e.Call == flow.TaskCall {
		text, err := json.Marshal(taskInput{e.Task, r.kanbanFile()})
		return newInput(text, nil), err
	}
	l := r.listOf(b)
	if p := l.vet(r.setup.Redactor); p != "" {
		return input{}, r.setup.noSecretIn(p)
	}
	return newInput(l.input(r.kanbanFile(), e.Task), l), nil
}

// callInput is the input of the open call: a new one for its first attempt, of which the intent then tells, the same for all others.
func (r *run) callInput(e flow.StartAgent, b *board.Board, intent *flow.AttemptStarted) (input, error) {
	if r.history.State.Step.Input != nil {
		return r.sameInput()
	}
	in, err := r.newInput(e, b)
	if err != nil {
		return in, err
	}
	intent.Input = in.text
	if len(in.text) > maxJournaled && in.list != nil && r.place.Flat() { // elsewhere paths depend on which files there are
		intent.Input, err = json.Marshal(managerHead{r.kanbanFile(), e.Task})
		intent.SHA = in.sum
	}
	r.given = given{e.Step, e.Call, in}
	return in, err
}

// errInputLost says that an input that was not journaled cannot be made again.
var errInputLost = errors.New("the input cannot be made again")

// sameInput is the input that the attempts of the open call got before, from memory, from the journal, or made again.
func (r *run) sameInput() (input, error) {
	step := r.history.State.Step
	if r.given.step == step.Number && r.given.call == step.Call {
		return r.given.input, nil
	}
	again := r.journaled
	if step.InputSHA != "" {
		again = r.madeAgain
	}
	in, err := again(step)
	if err == nil {
		r.given = given{step.Number, step.Call, in}
	}
	return in, err
}

// journaled is an input that the journal has as it is.
func (r *run) journaled(step *flow.Step) (input, error) {
	if step.Call != flow.ManagerCall {
		return newInput(step.Input, nil), nil
	}
	var in managerInput
	if err := json.Unmarshal(step.Input, &in); err != nil {
		return input{}, fmt.Errorf("decode the Manager's journaled input: %w", err)
	}
	return newInput(step.Input, newList(in.Tasks)), nil
}

// madeAgain makes a Manager's input from the board as it was before the Manager's first attempt. Errors: errInputLost.
func (r *run) madeAgain(step *flow.Step) (input, error) {
	b, err := r.boardBefore(step.Before.BoardSHA)
	if durable.IsShortage(err) {
		return input{}, err
	}
	if err != nil {
		return input{}, fmt.Errorf("%w: %w", errInputLost, err)
	}
	var head managerHead
	if err := json.Unmarshal(step.Input, &head); err != nil {
		return input{}, fmt.Errorf("decode the Manager's journaled input: %w", err)
	}
	l := newList(b.TaskPaths())
	in := newInput(l.input(head.KanbanFile, head.DoneTask), l)
	if in.sum != step.InputSHA {
		return input{}, fmt.Errorf("%w: it does not come out as it was", errInputLost)
	}
	return in, nil
}

// boardBefore is the board with the given SHA-256: the one on disk, or the copy that was kept of it.
func (r *run) boardBefore(sha string) (*board.Board, error) {
	if b, err := r.lookAtBoard(); err == nil && b.SHA == sha {
		return b, nil
	}
	source, err := r.files.kept(sha)
	if err != nil {
		return nil, err
	}
	return board.Parse(r.job.Board, source)
}

// missInput restarts the open call where its input is lost. What is done then needs a copy of the board that a kill leaves whole, and
// a power cut may not.
func (r *run) missInput(sha string) error {
	step := r.history.State.Step
	if step == nil || step.Reply != nil || step.InputSHA == "" {
		return nil
	}
	_, err := r.sameInput()
	if !errors.Is(err, errInputLost) {
		return err
	}
	return r.note(flow.InputLost{Step: step.Number, Task: step.Task, BoardSHA: sha, Reason: err.Error()})
}

package flow

import "kanban-run/orchestrator/event"

// Effect is one thing to do next; see [Next].
type Effect interface{ effect() }

// Spawn starts one program, for one attempt of a call of a step. The number Attempt counts
// interrupted attempts, too.
type Spawn struct {
	event.AttemptRef
	From string // the session to go on in; "": the program starts a new one
	Fork bool   // the program goes on in a copy of session From, and From stays as it is

	GoesOn bool // the program goes on with work that was cut short, in session From

	Checkpoint *event.Checkpoint // the checkpoint of a supervisor's step that begins; otherwise nil
}

// EndBoard writes onto the board that a checkpoint has ended it.
type EndBoard struct{ Text string }

// GiveUpCheckpoint ends the open checkpoint without a verdict.
type GiveUpCheckpoint struct{ Reason string }

// SuspectLoop puts a task into quarantine. Step is the open step, whose work was sent back, or 0 if
// no step is open.
type SuspectLoop struct {
	Step int
	Task string
	Role string
	event.Suspicion
}

// WriteBoard records the Manager's accepted reply: it writes onto the board what the Manager did
// not write itself.
type WriteBoard struct{ Step int }

// Finish ends the run.
type Finish struct {
	Outcome event.Outcome
	Text    string
}

func (Spawn) effect()            {}
func (Walk) effect()             {}
func (SuspectLoop) effect()      {}
func (WriteBoard) effect()       {}
func (EndBoard) effect()         {}
func (GiveUpCheckpoint) effect() {}
func (Finish) effect()           {}

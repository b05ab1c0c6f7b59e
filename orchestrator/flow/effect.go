package flow

import "kanban-run/orchestrator/event"

// Effect is what a run has to do next, see [Next].
type Effect interface{ effect() }

// Spawn starts one program, for one attempt of a call of a step. The number in Attempt counts
// interrupted attempts, too.
type Spawn struct {
	event.AttemptRef
	From string // ID of the session that the program resumes; "": it starts a new one
	Fork bool   // the program resumes a copy of the session; the session itself does not change

	GoesOn bool // the program resumes work that was cut short in the session

	Checkpoint *event.Checkpoint // checkpoint of a new step of the supervisor; nil: none
}

// EndBoard ends the board because of a checkpoint, and writes this end onto the board.
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

// failure is a reason for which the open call cannot go on, with the end of the run that it means.
type failure struct {
	Finish
	status string // what the task gets if the board goes on without it
	stays  bool   // the call stays with its agent
}

// WriteBoard writes the Manager's accepted reply onto the board, except for what the Manager wrote
// itself.
type WriteBoard struct{ Step int }

// Finish ends the run.
type Finish struct {
	Outcome event.Outcome
	By      event.By // what ends it; "": what follows from Outcome
	Text    string

	Remarked bool   // Text has a remark besides the outcome
	Undone   string // what is undone of a board that ends incomplete, in words: the rest of Text
	Quotes   bool   // Text has the last words of the agent that worked on the board's last task
}

func (Spawn) effect()            {}
func (Walk) effect()             {}
func (SuspectLoop) effect()      {}
func (WriteBoard) effect()       {}
func (EndBoard) effect()         {}
func (GiveUpCheckpoint) effect() {}
func (Finish) effect()           {}

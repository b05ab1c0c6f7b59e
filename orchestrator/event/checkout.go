package event

import "fmt"

// CheckoutMoved reports that git moved the checkout while the attempt was at work, for example to
// another branch. The board and the work of other tasks may then be lost. It is journaled before
// the end of the attempt. The event changes no state.
type CheckoutMoved struct {
	AttemptRef
	Moves []string `json:"moves"` // the moves as git's logs have them
}

func (CheckoutMoved) Kind() string { return "CHECKOUT_MOVED" }

func (e CheckoutMoved) Sentence() Sentence {
	return inStep(e.Step, Warning, "the checkout was moved while %s was at work on %s: %s", e.Player(), e.Task,
		List(e.Moves, mostNamed))
}

// LeftOut reports files that the checkpoints leave out from now on, because git cannot take them.
// The event changes no state.
type LeftOut struct {
	Board  string   `json:"board"`
	Branch string   `json:"branch"`
	Names  []string `json:"names"` // paths from the top of the repository, each with its reason
}

func (LeftOut) Kind() string { return "CHECKPOINT_LEFT_OUT" }

// Subject returns the board.
func (e LeftOut) Subject() string { return e.Board }

func (e LeftOut) Sentence() Sentence {
	return say(Warning, "left out of the checkpoints, and so only in this folder: "+List(e.Names, mostNamed))
}

// PushFailed reports that a checkpoint did not get to the remote, which did not answer or refused
// it. A later checkpoint takes it along, see [Pushed].
type PushFailed struct {
	Board  string `json:"board"`
	Branch string `json:"branch"` // branch of this clone that has the checkpoint
	Reason string `json:"reason"` // the words of git
}

func (PushFailed) Kind() string { return "PUSH_FAILED" }

// Subject returns the board.
func (e PushFailed) Subject() string { return e.Board }

func (e PushFailed) Sentence() Sentence {
	return say(Warning, fmt.Sprintf("the checkpoint waits here, in the branch %s: %s", e.Branch, e.Reason))
}

// Pushed reports that the checkpoints have reached the remote after a failure.
type Pushed struct {
	Board  string `json:"board"`
	Branch string `json:"branch"`
}

func (Pushed) Kind() string { return "PUSHED" }

// Subject returns the board.
func (e Pushed) Subject() string { return e.Board }

func (e Pushed) Sentence() Sentence {
	return say(Note, fmt.Sprintf("all checkpoints of the branch %s are at the remote", e.Branch))
}

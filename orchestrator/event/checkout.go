package event

import "fmt"

// CheckoutMoved reports that git moved the checkout while the attempt was at work, for example to
// another branch. The board and the work of other tasks may then be lost. It is journaled before
// the end of the attempt. The event changes no state.
type CheckoutMoved struct {
	AttemptRef
	Moves []string `json:"moves" text:"free"` // the moves as git's logs have them
}

// Kind implements [Event].
func (CheckoutMoved) Kind() string { return "CHECKOUT_MOVED" }

// Sentence implements [Event].
func (e CheckoutMoved) Sentence() Sentence {
	return inStep(e.Step, Warning, "the checkout was moved while %s was at work on %s: %s", e.Player(), e.Task,
		List(e.Moves, mostNamed))
}

// PushFailed reports that a checkpoint did not get to the remote, which did not answer or refused
// it. A later checkpoint takes it along. The event changes no state.
type PushFailed struct {
	Board  string `json:"board" text:"free"`
	Branch string `json:"branch" text:"free"` // branch of this clone that has the checkpoint
	Reason string `json:"reason" text:"free"` // the words of git
}

// Kind implements [Event].
func (PushFailed) Kind() string { return "PUSH_FAILED" }

// Subject returns the board.
func (e PushFailed) Subject() string { return e.Board }

// Sentence implements [Event].
func (e PushFailed) Sentence() Sentence {
	return say(Warning, fmt.Sprintf("the checkpoint waits here, in the branch %s: %s", e.Branch, e.Reason))
}

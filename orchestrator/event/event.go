package event

import (
	"fmt"
	"time"
)

// Event is something that happened to a run, as the journal keeps it. The events of seed 002 have
// the names of that seed.
type Event interface {
	Kind() string       // the record's type in the journal
	Subject() string    // the task that it is about, or the board
	Sentence() Sentence // for people
}

// Entry is an event with its place in the journal.
type Entry struct {
	Seq   uint64
	Epoch uint64
	Rev   uint64 // the revision of the board's records that it makes (seed 002, "rev")
	Time  time.Time
	Actor string
	Event Event
}

// AttemptRef names one attempt: one start of one program for one call of a step. Attempts count
// from 1. Its fields come first in the JSON of the events that embed it.
type AttemptRef struct {
	Step    int    `json:"step"`
	Call    Call   `json:"call"`
	Task    string `json:"task"`
	Role    string `json:"role"` // of the step's agent, also in a review of its work
	Attempt int    `json:"attempt"`
	Round   int    `json:"round,omitempty"` // of work and review, from 1; 0: before the first review, or without one
}

// Subject returns the task.
func (r AttemptRef) Subject() string { return r.Task }

// About returns r. The events that embed an AttemptRef, and only they, have this method.
func (r AttemptRef) About() AttemptRef { return r }

// Player returns the program of the attempt in words.
func (r AttemptRef) Player() string { return r.Call.Player(r.Role) }

// Short returns the program of the attempt in few words, for a line of a terminal.
func (r AttemptRef) Short() string {
	switch r.Call {
	case ReviewCall:
		return fmt.Sprintf("review %d", r.Round)
	case CommandCall:
		return fmt.Sprintf("check %d", r.Round)
	default:
		return r.Player()
	}
}

// Aim returns in words why the run makes the attempt, in the imperative.
func (r AttemptRef) Aim() string {
	switch r.Call {
	case ManagerCall:
		return "ask the Manager what follows " + r.Task
	case ReadyCall:
		return "have " + r.Role + " get ready"
	case CheckpointCall:
		return "have " + r.Role + " look at " + r.Task
	case CommandCall, ReviewCall:
		return "have the work of " + r.Role + " on " + r.Task + " reviewed"
	default:
		return "give " + r.Task + " to " + r.Role
	}
}

// Name names the attempt at the beginning of a sentence about it.
func (r AttemptRef) Name() string {
	if r.Call.IsReview() {
		return fmt.Sprintf("%s, attempt %d,", r.Player(), r.Attempt)
	}
	return fmt.Sprintf("%s attempt %d", r.Role, r.Attempt)
}

// Again returns the number of the attempt as the end of a sentence, or "" for the first attempt.
func (r AttemptRef) Again() string {
	if r.Attempt == 1 {
		return ""
	}
	return fmt.Sprintf(" (attempt %d)", r.Attempt)
}

// ManagerRole is the one role whose reply moves the board.
const ManagerRole = "Manager"

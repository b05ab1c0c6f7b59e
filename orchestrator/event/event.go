package event

import (
	"fmt"
	"time"
)

// Event is something that happened to a run, as the journal keeps it. The events of seed 002 have
// the names of that seed.
type Event interface {
	Kind() string // type of the record in the journal
	// Subject returns the task that the event is about. For an event without a task it returns the
	// board, the checkpoint or the supervisor's role.
	Subject() string
	Sentence() Sentence // the event in words, for people
}

// Entry is an event with its place in the journal.
type Entry struct {
	Seq   uint64
	Epoch uint64
	Rev   uint64 // number of the revision that this event makes (seed 002, "rev")
	Time  time.Time
	Actor string
	Needs int // least form of journals that a program has to know to run this one; 0: form 1
	Event Event
}

// AttemptRef names an attempt, which is one start of a program for a call of a step. Attempts count
// from 1. The fields of AttemptRef come first in the JSON of the events that embed it.
type AttemptRef struct {
	Step    int    `json:"step"`
	Call    Call   `json:"call"`
	Task    string `json:"task" text:"name"`
	Role    string `json:"role" text:"fact"` // role of the step's agent, also in a review of its work
	Attempt int    `json:"attempt"`
	// Round is the round of work and review, from 1; 0 until the first review begins.
	Round int `json:"round,omitempty"`
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

// Name returns a name of the attempt as the beginning of a sentence.
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

// ManagerRole is the only role whose reply decides the next task.
const ManagerRole = "Manager"

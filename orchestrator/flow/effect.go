package flow

// Effect is one thing to do next; see [Next].
type Effect interface{ effect() }

// StartAgent starts one attempt of one call of a step. Attempt counts from 1 within the call and includes attempts that were
// interrupted.
type StartAgent struct {
	Step    int
	Call    Call
	Task    string
	Role    string
	Attempt int
}

// WriteBoard records the Manager's accepted reply: it writes onto the board what the Manager did not write itself.
type WriteBoard struct{ Step int }

// Finish ends the run.
type Finish struct {
	Outcome Outcome
	Text    string
}

func (StartAgent) effect() {}
func (WriteBoard) effect() {}
func (Finish) effect()     {}

// Call tells the two agent calls of a step apart.
type Call string

const (
	TaskCall    Call = "task"
	ManagerCall Call = "manager"
)

// Outcome is how a run of a board ended.
type Outcome string

const (
	Complete     Outcome = "complete"      // the board is terminal and nobody asked for help
	NeedsPerson  Outcome = "needs_person"  // a person has to look: the Manager said so, or a loop is suspected
	Exhausted    Outcome = "exhausted"     // no valid reply within the retries
	Frozen       Outcome = "frozen"        // the board and the journal cannot both be right
	LimitReached Outcome = "limit_reached" // a limit of the run was reached
	Interrupted  Outcome = "interrupted"   // stopped by a signal; the next run goes on
	Later        Outcome = "later"         // the provider's own limit is reached; a run after it goes on
	Invalid      Outcome = "invalid"       // the input or the set-up is wrong
	Owned        Outcome = "owned"         // another run owns the board
	Failed       Outcome = "failed"        // an internal or I/O error
)

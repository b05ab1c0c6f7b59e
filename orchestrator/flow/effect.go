package flow

// Effect is one thing to do next; see [Next].
type Effect interface{ effect() }

// Spawn starts one program: an attempt of a call of a step. Its Attempt includes attempts that were
// interrupted.
type Spawn struct {
	AttemptRef
	From string // the session to go on in; "": the program starts a new one
	Fork bool   // it goes on in a copy of that session, which stays as it is

	GoesOn bool // with work that was cut short, in the session itself

	Checkpoint *Checkpoint // of a supervisor's step that begins with it; nil: there is none
}

// EndBoard has the board say that a checkpoint has ended it.
type EndBoard struct{ Text string }

// GiveUpCheckpoint ends the open checkpoint without a verdict.
type GiveUpCheckpoint struct{ Reason string }

// SuspectLoop puts a task into quarantine. Step is the open step, whose work was
// sent back; 0: none is open.
type SuspectLoop struct {
	Step int
	Task string
	Role string
	Suspicion
}

// WriteBoard records the Manager's accepted reply: it writes onto the board what the Manager did
// not write itself.
type WriteBoard struct{ Step int }

// Finish ends the run.
type Finish struct {
	Outcome Outcome
	Text    string
}

func (Spawn) effect()            {}
func (SuspectLoop) effect()      {}
func (WriteBoard) effect()       {}
func (EndBoard) effect()         {}
func (GiveUpCheckpoint) effect() {}
func (Finish) effect()           {}

// Call tells the calls of a step apart. Each attempt of a call is one program that is started.
type Call string

// A task call and its reviews take turns until all of them are content; then the Manager is called.
const (
	TaskCall    Call = "task"
	CommandCall Call = "command" // a program looks at the work, before the supervisor does
	ReviewCall  Call = "review"  // a supervisor looks at the work: seed 003
	ManagerCall Call = "manager"

	ReadyCall      Call = "ready"      // the supervisor reads what has happened so far: seed 001, "Init Phase"
	CheckpointCall Call = "checkpoint" // it looks in: seed 001, "Wake Cycle"
)

// IsSupervision says whether the call is one of the resident supervisor.
func (c Call) IsSupervision() bool { return c == ReadyCall || c == CheckpointCall }

// IsReview says whether the call looks at the work of a task call.
func (c Call) IsReview() bool { return c == CommandCall || c == ReviewCall }

// Outcome is how a run of a board ended.
type Outcome string

const (
	Complete     Outcome = "complete"      // the board is terminal, and its Manager asked for no help
	NeedsPerson  Outcome = "needs_person"  // the Manager or a review said so, or a loop is suspected
	Exhausted    Outcome = "exhausted"     // no valid reply within the retries
	Frozen       Outcome = "frozen"        // the board and the journal cannot both be right
	LimitReached Outcome = "limit_reached" // a limit of the run was reached
	Interrupted  Outcome = "interrupted"   // stopped by a signal; the next run goes on
	Later        Outcome = "later"         // the provider's own limit is reached; a run after it goes on
	Invalid      Outcome = "invalid"       // the input or the set-up is wrong
	Owned        Outcome = "owned"         // another run owns the board
	Failed       Outcome = "failed"        // an internal or I/O error
)

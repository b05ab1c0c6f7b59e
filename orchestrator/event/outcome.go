package event

import "strings"

// Outcome is the ending of a run of a board.
type Outcome string

const (
	Complete     Outcome = "complete"      // the board is over, and its Manager asked for no help
	Incomplete   Outcome = "incomplete"    // the Manager ended the board with tasks undone
	NeedsPerson  Outcome = "needs_person"  // a person has to decide or to mend something
	Exhausted    Outcome = "exhausted"     // no valid reply within the retries
	Frozen       Outcome = "frozen"        // the board and the journal cannot both be right
	LimitReached Outcome = "limit_reached" // a limit of the run was reached
	Interrupted  Outcome = "interrupted"   // stopped by a signal; the next run goes on
	Later        Outcome = "later"         // the provider's limit is reached; a later run goes on
	Invalid      Outcome = "invalid"       // the input or the set-up is wrong
	Owned        Outcome = "owned"         // another run owns the board
	Failed       Outcome = "failed"        // an internal or I/O error
	Unsaved      Outcome = "unsaved"       // checkpoints have not reached the remote, in a job whose machine is thrown away
)

// Who is who has to act next, in two or three words.
type Who string

// The values of Who.
const (
	Nobody   Who = "nobody"
	Decide   Who = "decide"    // a person has to look before the board is worth running again
	Mend     Who = "mend"      // a person has to mend what stands in the way
	RunAgain Who = "run_again" // the same command goes on
)

// Words returns who acts for use in a table of boards; "" for nobody.
func (w Who) Words() string {
	return map[Who]string{Decide: "you decide", Mend: "you mend it", RunAgain: "run it again"}[w]
}

// AsksPerson reports whether a person has to act before the board is worth running again.
func (w Who) AsksPerson() bool { return w == Decide || w == Mend }

// ending is what follows from an outcome: who acts, the exit code, the weight of the end and the topic
// of the message about it.
type ending struct {
	who    Who
	code   int
	weight Weight
	topic  Topic // "" for an end of which nobody needs to hear
	words  string
}

// endings is the table of the ends of a board. A run that a signal ended has an exit code of its own.
var endings = map[Outcome]ending{
	Complete:     {Nobody, 0, Success, AboutComplete, ""},
	Incomplete:   {Decide, 3, Warning, AboutPerson, ""},
	NeedsPerson:  {Decide, 3, Critical, AboutPerson, "needs a person"},
	Exhausted:    {Decide, 4, Critical, AboutPerson, "no valid reply"},
	Frozen:       {Decide, 5, Critical, AboutPerson, ""},
	LimitReached: {RunAgain, 7, Warning, AboutLimit, ""},
	Later:        {RunAgain, 75, Warning, AboutLater, "waits for the provider"},
	Interrupted:  {RunAgain, 130, Warning, "", ""},
	Owned:        {RunAgain, 6, Critical, "", "another run has it"},
	Invalid:      {Mend, 2, Critical, AboutPerson, "not started"},
	Failed:       {Mend, 1, Critical, AboutPerson, ""},
	Unsaved:      {Mend, 1, Critical, AboutPerson, ""},
}

// Outcomes lists all outcomes, the end that needs nobody first.
func Outcomes() []Outcome {
	return []Outcome{Complete, Incomplete, NeedsPerson, Exhausted, Frozen, LimitReached, Later, Interrupted, Owned, Invalid, Failed, Unsaved}
}

// Weigh returns the weight of the end of a run. The parameter remarked tells that the text about the end
// has a remark besides the outcome.
func Weigh(o Outcome, remarked bool) Weight {
	if o == Complete && remarked {
		return Warning
	}
	return o.Weight()
}

// Who returns who acts after a run with this outcome.
func (o Outcome) Who() Who { return endings[o].who }

// Exit returns the exit code of a run with this outcome, unless a signal has ended it.
func (o Outcome) Exit() int { return endings[o].code }

// Weight returns the weight of an end with this outcome.
func (o Outcome) Weight() Weight { return endings[o].weight }

// AsksPerson reports whether a person has to decide after a run with this outcome, before the board
// goes on.
func (o Outcome) AsksPerson() bool { return endings[o].who == Decide }

// Words returns the outcome for use in a sentence.
func (o Outcome) Words() string {
	if words := endings[o].words; words != "" {
		return words
	}
	return strings.ReplaceAll(string(o), "_", " ")
}

// topic returns the topic of the message about a run with this outcome, or "" for an end of which
// nobody needs to hear: a person stopped it, or another run has the board.
func (o Outcome) topic() Topic { return endings[o].topic }

// By names what ended a run, or what ended work on a task. It is an open list: a reader takes a value
// that it does not know as text.
type By string

// The values of By.
const (
	ByOK         By = "ok"          // all tasks are done
	ByStatus     By = "status"      // a reply that is not ok
	ByNoReply    By = "no_reply"    // no valid reply within the retries
	ByCrash      By = "crash"       // the agent's program failed
	ByLimit      By = "limit"       // a limit of the run
	ByTaskLimit  By = "task_limit"  // a limit of a task or of a role
	ByProvider   By = "provider"    // the provider's limit, its fault, or its refusal of the work
	BySignal     By = "signal"      // a signal
	ByKilled     By = "killed"      // the run, or its git, was killed
	ByWatch      By = "watch"       // a hung agent that nothing helped
	ByLoop       By = "loop"        // work that goes round in circles
	ByReview     By = "review"      // a review that is never content
	ByCheckpoint By = "checkpoint"  // a checkpoint that blocks, or has no verdict
	ByNeed       By = "need"        // a task that needs another one
	ByTool       By = "tool"        // a tool that is not there
	BySecret     By = "secret"      // a secret that a checkpoint in git would hold
	ByUnknownEnd By = "unknown_end" // an end of the board by nobody knows whom
	ByDiverged   By = "diverged"    // a board that is not as the run or the Manager left it
	BySetAside   By = "set_aside"   // tasks that are set aside
	ByUndone     By = "undone"      // tasks that the Manager left undone
	ByMark       By = "mark"        // a mark on the list in spite of the reply
	BySetting    By = "setting"     // a setting, a role or a flag
	ByLogin      By = "login"       // a login that an agent lacks
	ByFile       By = "file"        // a file that cannot be read or written
	ByJournal    By = "journal"     // records that contradict one another
	ByOwner      By = "owner"       // another run
	ByDecision   By = "decision"    // a decision of a person
	ByEdit       By = "edit"        // an edit of the board by a person
	ByChanged    By = "changed"     // a file that decides, which an agent has changed
	ByClone      By = "clone"       // a clone that does not stand where the work does
	ByLand       By = "land"        // work that does not come into its branch
	ByUnsaved    By = "unsaved"     // checkpoints that have not reached the remote
)

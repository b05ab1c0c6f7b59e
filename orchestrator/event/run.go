package event

import (
	"fmt"
	"strings"
)

// Outcome is the ending of a run of a board.
type Outcome string

const (
	Complete     Outcome = "complete"      // the board is terminal, and its Manager asked for no help
	Incomplete   Outcome = "incomplete"    // the Manager ended the board with tasks undone
	NeedsPerson  Outcome = "needs_person"  // the Manager or a review said so, or a loop is suspected
	Exhausted    Outcome = "exhausted"     // no valid reply within the retries
	Frozen       Outcome = "frozen"        // the board and the journal cannot both be right
	LimitReached Outcome = "limit_reached" // a limit of the run was reached
	Interrupted  Outcome = "interrupted"   // stopped by a signal; the next run goes on
	Later        Outcome = "later"         // the provider's own limit is reached; a later run goes on
	Invalid      Outcome = "invalid"       // the input or the set-up is wrong
	Owned        Outcome = "owned"         // another run owns the board
	Failed       Outcome = "failed"        // an internal or I/O error
)

// Words returns the outcome for use in a sentence.
func (o Outcome) Words() string {
	switch o {
	case NeedsPerson:
		return "needs a person"
	case Exhausted:
		return "no valid reply"
	case Later:
		return "waits for the provider"
	case Invalid:
		return "not started"
	case Owned:
		return "another run has it"
	default:
		return strings.ReplaceAll(string(o), "_", " ")
	}
}

// topic returns the topic of the message about a run with this outcome, or "" for a run that a
// person interrupted.
func (o Outcome) topic() Topic {
	switch o {
	case Complete:
		return AboutComplete
	case LimitReached:
		return AboutLimit
	case Later:
		return AboutLater
	case Interrupted:
		return ""
	default:
		return AboutPerson
	}
}

// RunStarted opens a run. After an interrupted run it goes on with that run's counters.
type RunStarted struct {
	Board        string   `json:"board" text:"free"`
	Workdir      string   `json:"workdir" text:"free"`
	Version      string   `json:"version"`
	Form         string   `json:"form"` // of the journal, a digest of its events and states
	Limits       Limits   `json:"limits"`
	OnDivergence string   `json:"on_divergence"`
	Tasks        int      `json:"tasks"`
	Withheld     []string `json:"withheld,omitempty"`                // names of environment variables that agents do not get
	Lenient      bool     `json:"lenient,omitempty"`                 // an incomplete board is no failure of the run
	DoneBefore   []string `json:"done_before,omitempty" text:"free"` // of the first run: tasks that were done when it began

	Supervision *Supervision `json:"supervision,omitempty" text:"free"` // nil: no supervisor looks in
	Memory      Memory       `json:"supervisor_memory,omitempty"`
	Adapter     string       `json:"supervisor_adapter,omitempty"`

	Manager   string        `json:"manager_adapter,omitempty"`
	Told      bool          `json:"manager_is_told,omitempty"` // the Manager's role accepts anomalies
	KeepGoing bool          `json:"keep_going,omitempty"`      // a task that fails is set aside
	ByNeeds   bool          `json:"by_needs,omitempty"`        // tasks need others, so that the next one may be anywhere on the list
	Reassign  []Substitutes `json:"reassign,omitempty"`

	// Tasks that were set aside, and that a person has since marked as done, or taken off the list.
	Marked  []string `json:"aside_marked,omitempty" text:"free"`
	Removed []string `json:"aside_removed,omitempty" text:"free"`

	Git       *GitWay  `json:"git,omitempty"`                       // nil: no checkpoints are made
	Elsewhere bool     `json:"elsewhere,omitempty"`                 // the files come from a checkpoint of another clone
	Allowed   []string `json:"secrets_allow,omitempty" text:"free"` // may be in checkpoints despite a likely secret

	NoGit   bool `json:"no_git,omitempty"` // of the first run: loops of work are found late, because git does not tell what changes
	Carried Used `json:"carried,omitzero"` // use by killed runs before this one, which counts for its limits
}

func (RunStarted) Kind() string { return "RUN_STARTED" }

func (e RunStarted) Subject() string { return e.Board }

// Sentence implements [Event].
func (e RunStarted) Sentence() Sentence {
	s := say(Note, fmt.Sprintf("%s in %s", Count(e.Tasks, "task"), e.Workdir))
	if len(e.Withheld) > 0 {
		s.Add(Note, WithheldText(e.Withheld, ".kanban-run.yaml or in a role"))
	}
	if e.NoGit {
		s.Add(Note, NoGitText)
	}
	return s
}

// NoGitText says what is missing where the work directory is in no repository: only git tells whether work
// changes a file.
const NoGitText = "the folder is in no git repository: work that goes round in circles is found late"

// RunInterrupted ends a run that is to be continued. The next run keeps the counters and attempts.
type RunInterrupted struct {
	Board       string     `json:"board" text:"free"`
	Outcome     Outcome    `json:"outcome"`
	Reason      string     `json:"reason" text:"free"`
	Quarantined []TaskFile `json:"quarantined,omitempty"` // the files of tasks in quarantine, as the run leaves them

	Until  string `json:"until,omitempty"`  // with outcome later: when to ask the provider again, RFC 3339; "": not said
	Waited int64  `json:"waited,omitempty"` // in ms, for a provider, in a wait that this end broke off
}

func (RunInterrupted) Kind() string { return "RUN_INTERRUPTED" }

func (e RunInterrupted) Subject() string { return e.Board }

// Sentence implements [Event].
func (e RunInterrupted) Sentence() Sentence {
	return say(Trace, fmt.Sprintf("run interrupted (%s): %s", e.Outcome.Words(), e.Reason)).tell(0, e.Outcome.topic())
}

// RunFinished ends a run. The next run has fresh attempts and limits.
type RunFinished struct {
	Board   string  `json:"board" text:"free"`
	Outcome Outcome `json:"outcome"`
	Text    string  `json:"text" text:"free"`
	Steps   int     `json:"steps"`
}

func (RunFinished) Kind() string { return "RUN_FINISHED" }

func (e RunFinished) Subject() string { return e.Board }

// Sentence implements [Event].
func (e RunFinished) Sentence() Sentence {
	s := say(Trace, fmt.Sprintf("run finished (%s): %s", e.Outcome.Words(), e.Text))
	if e.Outcome == Complete || e.Outcome == LimitReached {
		return s.tell(0, e.Outcome.topic())
	}
	return s.tell(Lead|Team, e.Outcome.topic())
}

// Acknowledged is a decision of the Lead about what the board waits for.
type Acknowledged struct {
	Board    string  `json:"board" text:"free"`
	BoardSHA string  `json:"board_sha256"` // of the board as the decision leaves it
	Note     string  `json:"note" text:"free"`
	About    Subject `json:"about"`
	Choice   Choice  `json:"choice"`
	Task     string  `json:"task,omitempty"`             // that it is about; "": about the board, its step or all tasks
	Text     string  `json:"text" text:"free"`           // what was decided
	Left     string  `json:"left,omitempty" text:"free"` // what the board waits for after the acceptance of Task
}

func (Acknowledged) Kind() string { return "LEAD_ACK" }

func (e Acknowledged) Subject() string { return e.Board }

// Sentence implements [Event].
func (e Acknowledged) Sentence() Sentence {
	return say(Note, e.Text+noteSuffix(e.Note))
}

// Subject is what a board waits for a person about.
type Subject string

// The values of Subject.
const (
	AboutConsent    Subject = "consent"    // the end of an agent that hangs
	AboutWay        Subject = "way"        // another address or other settings of git
	AboutFile       Subject = "file"       // a change of the board's file, of which it is not known who made it or may
	AboutJournal    Subject = "journal"    // records that contradict one another
	AboutCheckpoint Subject = "checkpoint" // one that blocks, or came to no verdict
	AboutQuarantine Subject = "quarantine" // of a task
	AboutRefusal    Subject = "refusal"    // something that a person has to mend
	AboutStep       Subject = "step"       // an agent that is stuck, or gave no valid reply, or whose work was never accepted
	AboutEnd        Subject = "end"        // tasks that are undone, or a status other than ok
	AboutAside      Subject = "aside"      // tasks that are set aside
	AboutTeam       Subject = "team"       // a member that never answered the request to shut down
)

// Choice is a word of the Lead about what a board waits for.
type Choice string

// The values of Choice.
const (
	Accept   Choice = "accept"   // the board, its file, the work or a task counts as it stands
	Retry    Choice = "retry"    // it is tried again
	Override Choice = "override" // the board goes on in spite of a checkpoint

	ForcedFinalize Choice = "forced-finalize" // the team may be deleted without the members that have never answered

	ReleaseTasks Choice = "release" // tasks in quarantine may be worked on again, also while a run is at work

	Skip Choice = "skip" // the board goes on without a task, which stays undone
)

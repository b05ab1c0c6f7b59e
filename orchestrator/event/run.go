package event

import "fmt"

// RunStarted opens a run. After an interrupted run the counters of that run go on.
type RunStarted struct {
	Board   string `json:"board"`
	Workdir string `json:"workdir"`
	// FromBoard is the same folder as a slash path from that of the board, both without links; "" in records of
	// earlier versions.
	FromBoard string `json:"workdir_from_board,omitempty"`
	Version   string `json:"version" text:"fact"` // version of kanban-run
	// Form is the form of journals that the program of this run writes, see [Form]; 0: it has no
	// number.
	Form         int    `json:"journal_form,omitempty"`
	Limits       Limits `json:"limits"`
	OnDivergence string `json:"on_divergence" text:"fact"`
	Tasks        int    `json:"tasks"` // number of tasks on the list
	// Withheld are the names of environment variables that agents do not get.
	Withheld []string `json:"withheld,omitempty"`
	// PartlyWithheld has those of Withheld that some agents of the run get, and others do not.
	PartlyWithheld []PartlyWithheld `json:"partly_withheld,omitempty"`
	Lands          bool             `json:"lands,omitempty"`   // the work of a complete board comes into the branch that is checked out
	Lenient        bool             `json:"lenient,omitempty"` // the end of an incomplete board is no failure
	// DoneBefore are the tasks that were done before the first run. The field is set only in the
	// first run.
	DoneBefore []string `json:"done_before,omitempty"`

	Supervision *Supervision `json:"supervision,omitempty"` // nil without a supervisor
	Memory      Memory       `json:"supervisor_memory,omitempty"`
	Adapter     string       `json:"supervisor_adapter,omitempty" text:"fact"`

	Manager   string `json:"manager_adapter,omitempty" text:"fact"`
	Told      bool   `json:"manager_is_told,omitempty"` // the Manager's role accepts anomalies
	KeepGoing bool   `json:"keep_going,omitempty"`      // a failed task is set aside
	// ByNeeds reports that some tasks need other tasks. The next task may then be anywhere on the
	// list.
	ByNeeds  bool          `json:"by_needs,omitempty"`
	Reassign []Substitutes `json:"reassign,omitempty"`

	// Marked and Removed are tasks that earlier runs set aside. A person has since marked the tasks
	// in Marked as done, and has taken the tasks in Removed off the list. Marked also has the task that the
	// Manager has named next, if a person has marked it in its header.
	Marked  []string `json:"aside_marked,omitempty"`
	Removed []string `json:"aside_removed,omitempty"`
	// Named is a task that is set aside and that a person has made current since the last step; ""
	// for none.
	Named string `json:"aside_named,omitempty"`

	// Place identifies the files of the run, see durable.Place; "": not known.
	Place string `json:"place,omitempty" text:"fact"`

	Git       *GitWay `json:"git,omitempty"`       // nil if no checkpoints are made
	Elsewhere bool    `json:"elsewhere,omitempty"` // the files are from another clone's checkpoint
	// Allowed are the files that checkpoints may hold although they look like secrets.
	Allowed []string `json:"secrets_allow,omitempty"`

	Command *Command `json:"command,omitempty"` // nil in records of earlier versions

	// NoGit reports that the folder is in no git repository, see [NoGitText]. The field
	// is set only in the first run.
	NoGit bool `json:"no_git,omitempty"`
	// Discarded reports that the files of the run's folder are thrown away behind the run, with the machine
	// of a CI job.
	Discarded bool `json:"discarded,omitempty"`
	// Carried is the use by earlier runs that were interrupted or killed. It counts toward the
	// limits of this run.
	Carried Used `json:"carried,omitzero"`
}

// Command is the command line of a run, as far as it decides how the run goes on.
type Command struct {
	Flags []string `json:"flags"` // each with its value, such as --agent=claude
	Dir   string   `json:"dir"`   // the folder in which it was given, as a path from the board's folder
	Board string   `json:"board"` // the board, as it was named
}

// PartlyWithheld has environment variables that the agents of some roles do not get.
type PartlyWithheld struct {
	Roles []string `json:"roles"`
	Names []string `json:"names"`
}

func (RunStarted) Kind() string { return "RUN_STARTED" }

func (e RunStarted) Subject() string { return e.Board }

// Needs returns the form of a journal that the next run has to know: an earlier version would land nothing.
func (e RunStarted) Needs() int {
	if e.Lands {
		return 4
	}
	return 0
}

func (e RunStarted) Sentence() Sentence {
	s := say(Note, fmt.Sprintf("%s in %s", Count(e.Tasks, "task"), e.Workdir)).at(OpensRun)
	if len(e.Withheld) > 0 {
		s.Add(Note, WithheldText(e.Withheld, e.PartlyWithheld, ".kanban-run.yaml or in a role"))
	}
	if e.NoGit {
		s.Add(Note, NoGitText)
	}
	return s
}

// NoGitText is the notice for a work directory outside of any repository. Without git a run does
// not know whether work changes a file.
const NoGitText = "the folder is in no git repository: work that goes round in circles is found late (git init)"

// RunInterrupted ends a run that is to be continued. The next run keeps the counters and attempts.
type RunInterrupted struct {
	Board       string     `json:"board"`
	Outcome     Outcome    `json:"outcome"`
	Reason      string     `json:"reason"`
	Quarantined []TaskFile `json:"quarantined,omitempty"` // the files of the tasks in quarantine

	// Until is the time to ask the provider again, in RFC 3339. It is "" if the provider named
	// no time, or if Outcome is not Later.
	Until string `json:"until,omitempty" text:"fact"`
	By    By     `json:"by,omitempty"`        // what ended the run; "": not known
	Exit  int    `json:"exit_code,omitempty"` // exit code of a run that a signal ended; 0: that of Outcome
	Hint  string `json:"hint,omitempty"`      // what mends it; "": nothing is to be mended
	// Unsaved reports that the last checkpoint failed: the work since the one before is only in this clone.
	Unsaved bool `json:"unsaved,omitempty"`
	// Changed reports that the run has ended because of a change that a person has to accept, see
	// [FilesChanged].
	Changed bool `json:"changed,omitempty"`
	// Uncommitted are files in the checkout that no commit has; at most 20.
	Uncommitted []string `json:"uncommitted,omitempty"`
	// Clone is what a person may decide about the board's clone; nil: nothing.
	Clone  *CloneAsks `json:"clone,omitempty"`
	Behind string     `json:"behind,omitempty" text:"fact"` // see RunFinished
	// Waited is the length in ms of the wait for a provider during which the run ended; 0 if the
	// run did not wait.
	Waited int64  `json:"waited,omitempty"`
	Marks  string `json:"marks_sha256,omitempty" text:"fact"` // SHA-256 of the marks of tasks at the end of the run
}

// Code returns the exit code of the run.
func (e RunInterrupted) Code() int {
	if e.Exit != 0 {
		return e.Exit
	}
	return e.Outcome.Exit()
}

func (RunInterrupted) Kind() string { return "RUN_INTERRUPTED" }

func (e RunInterrupted) Subject() string { return e.Board }

func (e RunInterrupted) Sentence() Sentence {
	s := say(Trace, fmt.Sprintf("run interrupted (%s): %s", e.Outcome.Words(), e.Reason)).tell(0, e.Outcome.topic()).at(ClosesRun)
	s.End = Warning
	return s
}

// RunFinished ends a run. The next run has fresh attempts and limits.
type RunFinished struct {
	Board   string  `json:"board"`
	Outcome Outcome `json:"outcome"`
	Text    string  `json:"text"`
	By      By      `json:"by,omitempty"` // what ended the run; "": not known
	// Remarked reports whether Text has a remark besides the outcome; nil in records of earlier versions.
	Remarked *bool  `json:"remarked,omitempty"`
	Steps    int    `json:"steps"`
	Marks    string `json:"marks_sha256,omitempty" text:"fact"` // SHA-256 of the marks of tasks at the end of the run

	Uncommitted []string `json:"uncommitted,omitempty"` // see RunInterrupted
	// Behind is the SHA-256 of the board if programs that hear of the end may still change it; a
	// [BoardLeft] follows. It is "" if there are none.
	Behind string `json:"behind,omitempty" text:"fact"`
}

func (RunFinished) Kind() string { return "RUN_FINISHED" }

func (e RunFinished) Subject() string { return e.Board }

func (e RunFinished) Sentence() Sentence {
	s := say(Trace, fmt.Sprintf("run finished (%s): %s", e.Outcome.Words(), e.Text)).at(ClosesRun)
	s.End = Weigh(e.Outcome, e.IsRemarked())
	if e.Outcome == Complete || e.Outcome == LimitReached {
		return s.tell(0, e.Outcome.topic())
	}
	return s.tell(Lead|Team, e.Outcome.topic()).alertOfEnd(e)
}

// IsRemarked reports whether Text has a remark besides the outcome. A record of an earlier version says it
// by its text alone.
func (e RunFinished) IsRemarked() bool {
	if e.Remarked == nil {
		return e.Outcome == Complete && e.Text != "the board is complete"
	}
	return *e.Remarked
}

// Acknowledged is a decision of the Lead about what the board waits for.
type Acknowledged struct {
	Board    string  `json:"board"`
	BoardSHA string  `json:"board_sha256" text:"fact"` // SHA-256 of the board after the decision
	Note     string  `json:"note"`
	About    Subject `json:"about"`
	Choice   Choice  `json:"choice"`
	// Task is the task that the decision is for; "" if it is for the board, its step or all tasks.
	Task string `json:"task,omitempty" text:"name"`
	Text string `json:"text"` // the decision in words
	// Left is what the board still waits for after the acceptance of Task; "" for nothing.
	Left string `json:"left,omitempty"`
	// Dropped are undone tasks that an agent took off the list of a board that is accepted as it is.
	Dropped []string `json:"dropped,omitempty"`

	ID string `json:"id,omitempty"` // the message with the decision; "" if no run was at work
}

func (Acknowledged) Kind() string { return "LEAD_ACK" }

func (e Acknowledged) Subject() string { return e.Board }

func (e Acknowledged) Sentence() Sentence {
	return say(Note, e.Text+noteSuffix(e.Note))
}

// Subject is the subject of a decision for which a board waits.
type Subject string

// The values of Subject.
const (
	AboutConsent    Subject = "consent"    // the end of an agent that hangs
	AboutWay        Subject = "way"        // a new address or new settings of the git remote
	AboutFile       Subject = "file"       // a change of the board by an unknown or wrong author
	AboutJournal    Subject = "journal"    // records that contradict one another
	AboutCheckpoint Subject = "checkpoint" // a checkpoint that blocks, or has no verdict
	AboutQuarantine Subject = "quarantine" // a task in quarantine
	AboutChanged    Subject = "changed"    // files that decide, which an agent changed
	AboutRefusal    Subject = "refusal"    // a fault that a person has to mend
	AboutStep       Subject = "step"       // a stuck agent, or work that was never accepted
	AboutEnd        Subject = "end"        // the end of a board with undone tasks or a bad status
	AboutAside      Subject = "aside"      // tasks that are set aside
	AboutClone      Subject = "clone"      // a clone, or its board, that does not stand where the work does
	AboutLand       Subject = "land"       // work that does not come into its branch
	AboutTask       Subject = "task"       // a task on which no agent is at work
	AboutTeam       Subject = "team"       // a member that never answered the request to shut down
)

// Choice is a decision of the Lead, as a word of the command "kanban-run ack".
type Choice string

// The values of Choice.
const (
	Accept Choice = "accept" // the board, its file, the work or a task is accepted as it is
	Retry  Choice = "retry"  // the work is done again, or the file is put back
	Skip   Choice = "skip"   // the board goes on without a task, which stays undone

	// Words of earlier versions, which ack still takes: people have accept and retry for all subjects. A run
	// at work still gets a release as a message.
	Override       Choice = "override"        // the board goes on in spite of a checkpoint
	ForcedFinalize Choice = "forced-finalize" // the team is deleted although some members never answered
	ReleaseTasks   Choice = "release"         // agents may work on tasks in quarantine again, at once
)

// Word returns the word that stands for a word of an earlier version.
func (c Choice) Word() Choice {
	switch c {
	case Override, ForcedFinalize:
		return Accept
	case ReleaseTasks:
		return Retry
	default:
		return c
	}
}

// Settles returns the text that is journaled when a person settles a task by Accept or Skip.
func (c Choice) Settles(task string) string {
	if c == Skip {
		return "the board goes on without " + task + ", as you decided"
	}
	return task + " counts as done, as you decided"
}

// BoardLeft reports that all programs of a run have ended, also those that hear of its end: the
// checkpoint's push with its hooks, and the commands for notifications. What comes after it is a
// person's doing.
type BoardLeft struct {
	Board    string `json:"board"`
	BoardSHA string `json:"board_sha256" text:"fact"`
	Text     string `json:"text,omitempty"` // what such a program did to the board, and what became of that; "": nothing
}

func (BoardLeft) Kind() string { return "BOARD_LEFT" }

// Subject returns the board.
func (e BoardLeft) Subject() string { return e.Board }

func (e BoardLeft) Sentence() Sentence {
	if e.Text == "" {
		return say(Trace, "the programs that hear of the end have ended")
	}
	return say(Warning, e.Text)
}

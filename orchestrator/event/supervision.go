package event

import (
	"fmt"
	"strings"
)

// OnBlock is what becomes of a run whose supervisor says block, or says nothing.
type OnBlock string

// The values of OnBlock.
const (
	BlockPerson   OnBlock = "person"   // the run ends, and a person decides
	BlockRevise   OnBlock = "revise"   // the Manager is told what was found, and plans anew
	BlockOverride OnBlock = "override" // the run goes on, and says so
	BlockAbort    OnBlock = "abort"    // the run ends, and so does the board
)

// Supervision is how a resident supervisor looks in on a board: seed 001. It is read
// once, at the start of a run.
type Supervision struct {
	Role        string         `json:"role"`
	Requirement string         `json:"requirement,omitempty" text:"free"` // what the board is for; "": its first task says it
	Every       int            `json:"every,omitempty"`                   // a checkpoint after so many finished tasks, and after the last; 0: none
	At          []CheckpointAt `json:"at,omitempty"`
	OnBlock     OnBlock        `json:"on_block"`
}

// CheckpointAt is a checkpoint after a certain task.
type CheckpointAt struct {
	ID    string   `json:"id"`
	After string   `json:"after"`           // the task, as the board writes its path
	Scope []string `json:"scope,omitempty"` // tasks to look at; nil: those finished since the last checkpoint
}

// Memory is how a supervisor remembers what it was told at earlier checkpoints.
type Memory string

// The values of Memory.
const (
	InProcess Memory = "process" // its program stays for the whole run
	InSession Memory = "session" // each checkpoint goes on in its tool's session
	InReports Memory = "reports" // it is told all anew, with its own earlier reports
)

// Checkpoint is one look of the supervisor at the board.
type Checkpoint struct {
	ID    string   `json:"id"`
	Scope []string `json:"scope"`           // tasks
	After string   `json:"after,omitempty"` // the task behind which it came
	Again string   `json:"again,omitempty"` // the checkpoint that has blocked, and whose scope it looks at once more
}

// CheckpointHeld is the outcome of a checkpoint at which the supervisor came to a verdict. Data is
// seed 001's state update, "Step 7: Publish State".
type CheckpointHeld struct {
	AttemptRef
	Data  StateUpdate `json:"data" text:"free"`
	Risks []string    `json:"risks" text:"free"`
	Trend string      `json:"quality_trend" text:"free"`
	Read  []string    `json:"artifacts_read" text:"free"` // what it says that it has read

	Then OnBlock `json:"on_block,omitempty"` // of a block: what follows

	End `text:"free"`
}

// Kind is the record's type in the journal.
func (CheckpointHeld) Kind() string { return "CHECKPOINT_HELD" }

// tag stands in front of each line of the resident supervisor: seed 001, "Output Tag".
const tag = "[supervisor] "

// Sentence is seed 001's "Step 9: Report to Coordinator".
func (e CheckpointHeld) Sentence() Sentence {
	d, found := e.Data, "none"
	if len(d.Findings) > 0 {
		found = strings.Join(d.Findings, ", ")
	}
	s := say(map[string]Weight{"pass": Success, "warn": Warning, "block": Critical}[d.Verdict], tag+d.ID+" complete.")
	for _, text := range []string{
		fmt.Sprintf("Verdict: %s (score: %.2f) in %s%s", d.Verdict, d.Score, Took(e.Millis), e.Spent.suffix()), "Findings: " + Brief(OneLine(found)),
		fmt.Sprintf("Risks: %d logged", len(e.Risks)), "Quality trend: " + Brief(OneLine(e.Trend)), "Artifact: " + d.Report,
	} {
		s.Add(Note, tag+text)
	}
	if d.Verdict == "block" {
		s.For = Lead | Team
	}
	return e.Then.follow(s)
}

// follow adds what follows from a checkpoint that is not content.
func (then OnBlock) follow(s Sentence) Sentence {
	switch then {
	case BlockOverride:
		s.Add(Warning, tag+"the run goes on in spite of it (on_block: override)")
	case BlockRevise:
		s.Add(Warning, tag+"the Manager plans anew (on_block: revise)")
	}
	return s
}

// StateUpdate is what the supervisor publishes of a checkpoint.
type StateUpdate struct {
	Status       string   `json:"status"` // task_complete
	ID           string   `json:"task_id"`
	Report       string   `json:"ref" text:"free"` // path of the report, from the board's folder
	Findings     []string `json:"key_findings" text:"free"`
	Decisions    []string `json:"decisions" text:"free"`
	Verification string   `json:"verification"` // self-validated
	Verdict      string   `json:"supervision_verdict"`
	Score        float64  `json:"supervision_score"`
}

// CheckpointMissed ends a checkpoint, or the start of the supervisor, without a verdict.
type CheckpointMissed struct {
	Step   int    `json:"step"`
	Task   string `json:"task"` // the checkpoint, or the supervisor's role
	Reason string `json:"reason" text:"free"`

	Then     OnBlock `json:"on_block,omitempty"` // what follows
	BoardSHA string  `json:"board_sha256,omitempty"`
}

// Kind is the record's type in the journal.
func (CheckpointMissed) Kind() string { return "CHECKPOINT_MISSED" }

// Subject is the checkpoint, or the supervisor's role.
func (e CheckpointMissed) Subject() string { return e.Task }

// Sentence is what a person reads of it.
func (e CheckpointMissed) Sentence() Sentence {
	return e.Then.follow(say(Critical, fmt.Sprintf("%s%s: no verdict: %s", tag, e.Task, Brief(OneLine(e.Reason)))))
}

// SupervisorFailed is the outcome of a checkpoint at which the supervisor reported an error of its
// own: seed 001, "Error Handling". It stays.
type SupervisorFailed struct {
	AttemptRef
	Reason string `json:"reason" text:"free"`
	Errors int    `json:"errors"` // in this run, with this one

	Then OnBlock `json:"on_block,omitempty"` // what follows

	End `text:"free"`
}

// Kind is the record's type in the journal.
func (SupervisorFailed) Kind() string { return "SUPERVISOR_FAILED" }

// Sentence is what a person reads of it.
func (e SupervisorFailed) Sentence() Sentence {
	s := say(Critical, fmt.Sprintf("%s%s: no verdict, it reports an error: %s", tag, e.Task, Brief(OneLine(e.Reason))))
	if e.Errors >= MaxErrors {
		s.Add(Critical, fmt.Sprintf("%sALERT: %s of its own in this run; it stays", tag, Count(e.Errors, "error")))
	}
	return e.Then.follow(s)
}

// ScopeViolated is the outcome of a checkpoint at which the supervisor changed what it may only
// read: seed 001, "Role Isolation Rules". Its verdict does not count.
type ScopeViolated struct {
	AttemptRef
	Files []string `json:"files" text:"free"`
	Text  string   `json:"text" text:"free"`

	End `text:"free"`
}

// Kind is the record's type in the journal.
func (ScopeViolated) Kind() string { return "SUPERVISOR_SCOPE_VIOLATION" }

// Sentence is what a person reads of it.
func (e ScopeViolated) Sentence() Sentence {
	return say(Critical, tag+e.Text)
}

// SupervisorLost says that the supervisor's program died between two checkpoints.
type SupervisorLost struct {
	Task   string `json:"task"` // the supervisor's role
	Reason string `json:"reason" text:"free"`
}

// Kind is the record's type in the journal.
func (SupervisorLost) Kind() string { return "SUPERVISOR_LOST" }

// Subject is the checkpoint, or the supervisor's role.
func (e SupervisorLost) Subject() string { return e.Task }

// Sentence is what a person reads of it.
func (e SupervisorLost) Sentence() Sentence {
	return say(Warning, fmt.Sprintf("%sits program has died (%s)", tag, Brief(OneLine(e.Reason))))
}

// SupervisorDismissed says that the supervisor was told to shut down at the end of the run: seed
// 001, "Shutdown Protocol".
type SupervisorDismissed struct {
	Task     string `json:"task"` // the supervisor's role
	Request  string `json:"request_id"`
	Approved bool   `json:"approve"` // it has answered so; else it was ended
}

// Kind is the record's type in the journal.
func (SupervisorDismissed) Kind() string { return "SUPERVISOR_DISMISSED" }

// Subject is the checkpoint, or the supervisor's role.
func (e SupervisorDismissed) Subject() string { return e.Task }

// Sentence is what a person reads of it.
func (e SupervisorDismissed) Sentence() Sentence {
	if e.Approved {
		return say(Note, tag+"shut down")
	}
	return say(Warning, tag+"has not answered the request to shut down, and was ended")
}

// CheckpointReopened says that a board that waited because of a checkpoint was edited
// since: it is looked at anew.
type CheckpointReopened struct {
	Task  string `json:"task"`            // that checkpoint, or the supervisor's role
	Later bool   `json:"later,omitempty"` // behind the work that goes on, and not before it
}

// Kind is the record's type in the journal.
func (CheckpointReopened) Kind() string { return "CHECKPOINT_REOPENED" }

// Subject is the checkpoint, or the supervisor's role.
func (e CheckpointReopened) Subject() string { return e.Task }

// Sentence is what a person reads of it.
func (e CheckpointReopened) Sentence() Sentence {
	return say(Note, fmt.Sprintf("%sthe board was edited since %s stopped it: it is looked at anew", tag, e.Task))
}

// NoVerdict stands in the place of a verdict that the supervisor has not given.
const NoVerdict = "none"

// MaxErrors is how many errors of its own a supervisor may report before a person is told:
// seed 001, "Error Handling".
const MaxErrors = 3

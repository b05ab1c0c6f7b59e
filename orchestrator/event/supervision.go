package event

import (
	"fmt"
	"strings"
)

// OnBlock is what follows for the run if a checkpoint blocks or has no verdict.
type OnBlock string

// The values of OnBlock.
const (
	BlockPerson   OnBlock = "person"   // the run ends, and a person decides
	BlockRevise   OnBlock = "revise"   // the Manager is told what was found, and plans anew
	BlockOverride OnBlock = "override" // the run goes on with a warning
	BlockAbort    OnBlock = "abort"    // the run ends, and the board ends too
)

// Supervision is the plan by which a resident supervisor looks in on a board: seed 001. It is read
// once, at the start of a run.
type Supervision struct {
	Role string `json:"role" text:"fact"`
	// Requirement is the purpose of the board; "" if the first task states it.
	Requirement string `json:"requirement,omitempty"`
	// Every is the number of finished tasks after which a checkpoint is due. A checkpoint is also
	// due after the last task. If Every is 0, only the checkpoints in the list At are due.
	Every   int            `json:"every,omitempty"`
	At      []CheckpointAt `json:"at,omitempty"`
	OnBlock OnBlock        `json:"on_block"`
}

// CheckpointAt is a checkpoint after a certain task.
type CheckpointAt struct {
	ID    string `json:"id" text:"name"`
	After string `json:"after" text:"name"` // the task, as the board writes its path
	// Scope are the tasks to look at; nil for those finished since the last checkpoint.
	Scope []string `json:"scope,omitempty" text:"name"`
}

// Memory is the place in which a supervisor remembers earlier checkpoints.
type Memory string

// The values of Memory.
const (
	InProcess Memory = "process" // its program, which runs from the first checkpoint to the last
	InSession Memory = "session" // the session of its tool; each checkpoint is held in that session
	InReports Memory = "reports" // its reports, which are in the input of each checkpoint
)

// Checkpoint is one look of the supervisor at the board.
type Checkpoint struct {
	ID    string   `json:"id" text:"name"`
	Scope []string `json:"scope" text:"name"`           // tasks to look at
	After string   `json:"after,omitempty" text:"name"` // the task after which this checkpoint was due
	// Again is the ID of a checkpoint that blocked and is repeated by this one; "" for none.
	Again string `json:"again,omitempty" text:"name"`
}

// CheckpointHeld is the outcome of a checkpoint with a verdict. Data is the state update of seed
// 001, "Step 7: Publish State".
type CheckpointHeld struct {
	AttemptRef
	Data  StateUpdate `json:"data"`
	Risks []string    `json:"risks"`
	Trend string      `json:"quality_trend"`
	Read  []string    `json:"artifacts_read"` // files read, as the supervisor claims

	Then OnBlock `json:"on_block,omitempty"` // consequence if the verdict is "block"
	// Kept has the notes in wisdom/, and ReportSHA the SHA-256 of the report, as the checkpoint left
	// them. What is different later is not the supervisor's.
	Kept      []KeptFile `json:"kept,omitempty"`
	ReportSHA string     `json:"report_sha256,omitempty" text:"fact"`

	End
}

// KeptFile is a file of the supervisor in the folder of the board's runs.
type KeptFile struct {
	Name string `json:"name"` // path from that folder
	Size int    `json:"size"` // bytes
	SHA  string `json:"sha256" text:"fact"`
}

func (CheckpointHeld) Kind() string { return "CHECKPOINT_HELD" }

// tag is the beginning of each line of the resident supervisor: seed 001, "Output Tag".
const tag = "[supervisor] "

// Sentence returns seed 001's "Step 9: Report to Coordinator".
func (e CheckpointHeld) Sentence() Sentence {
	d, found := e.Data, "none"
	if len(d.Findings) > 0 {
		found = strings.Join(d.Findings, ", ")
	}
	s := say(map[string]Weight{"pass": Success, "warn": Warning, "block": Critical}[d.Verdict], tag+d.ID+" complete.")
	for _, text := range []string{
		fmt.Sprintf("Verdict: %s (score: %.2f) in %s%s", d.Verdict, d.Score, Took(e.Millis), e.Spent.suffix()),
		"Findings: " + Brief(OneLine(found)),
		fmt.Sprintf("Risks: %d logged", len(e.Risks)),
		"Quality trend: " + Brief(OneLine(e.Trend)),
		"Artifact: " + d.Report,
	} {
		s.Add(Note, tag+text)
	}
	if d.Verdict == "block" {
		s.For = Lead | Team
	}
	return e.warn(e.Then.follow(s))
}

// follow returns the sentence s about a checkpoint. If the run goes on after a block or without a
// verdict, follow adds a line with the consequence.
func (then OnBlock) follow(s Sentence) Sentence {
	switch then {
	case BlockOverride:
		s.Add(Warning, tag+"the run goes on in spite of it (on_block: override)")
	case BlockRevise:
		s.Add(Warning, tag+"the Manager plans anew (on_block: revise)")
	}
	return s
}

// StateUpdate is the published result of a checkpoint.
type StateUpdate struct {
	Status       string   `json:"status" text:"fact"` // the constant "task_complete"
	ID           string   `json:"task_id"`
	Report       string   `json:"ref"` // path of the report, from the board's folder
	Findings     []string `json:"key_findings"`
	Decisions    []string `json:"decisions"`
	Verification string   `json:"verification" text:"fact"` // the constant "self-validated"
	Verdict      string   `json:"supervision_verdict" text:"fact"`
	Score        float64  `json:"supervision_score"`
}

// CheckpointMissed ends a checkpoint, or the start of the supervisor, without a verdict.
type CheckpointMissed struct {
	Step   int    `json:"step"`
	Task   string `json:"task" text:"name"` // ID of the checkpoint; if there is none, the supervisor's role
	Reason string `json:"reason"`

	Then     OnBlock `json:"on_block,omitempty"` // consequence for the run
	BoardSHA string  `json:"board_sha256,omitempty" text:"fact"`
}

func (CheckpointMissed) Kind() string { return "CHECKPOINT_MISSED" }

// Subject returns the ID of the checkpoint. Without a checkpoint it returns the supervisor's role.
func (e CheckpointMissed) Subject() string { return e.Task }

func (e CheckpointMissed) Sentence() Sentence {
	return e.Then.follow(say(Critical, fmt.Sprintf("%s%s: no verdict: %s", tag, e.Task, Brief(OneLine(e.Reason)))))
}

// SupervisorFailed is the outcome of a checkpoint at which the supervisor reported an error of its
// own: seed 001, "Error Handling". The supervisor keeps running and keeps its session.
type SupervisorFailed struct {
	AttemptRef
	Reason string `json:"reason"`
	Errors int    `json:"errors"` // number of the supervisor's errors in this run, including this error

	Then OnBlock `json:"on_block,omitempty"` // consequence for the run

	End
}

func (SupervisorFailed) Kind() string { return "SUPERVISOR_FAILED" }

func (e SupervisorFailed) Sentence() Sentence {
	s := say(Critical, fmt.Sprintf("%s%s: no verdict, it reports an error: %s", tag, e.Task, Brief(OneLine(e.Reason))))
	if e.Errors >= MaxErrors {
		s.Add(Critical, fmt.Sprintf("%sALERT: %s of its own in this run; it stays", tag, Count(e.Errors, "error")))
	}
	return e.warn(e.Then.follow(s))
}

// ScopeViolated is the outcome of a checkpoint at which the supervisor wrote files that it may only
// read, or left a process running: seed 001, "Role Isolation Rules". The supervisor's verdict does not
// count.
type ScopeViolated struct {
	AttemptRef
	Files []string `json:"files"`
	Text  string   `json:"text"`

	End
}

func (ScopeViolated) Kind() string { return "SUPERVISOR_SCOPE_VIOLATION" }

func (e ScopeViolated) Sentence() Sentence {
	return say(Critical, tag+e.Text)
}

// SupervisorLost is the death of the supervisor's program between two checkpoints.
type SupervisorLost struct {
	Task   string `json:"task" text:"name"` // the supervisor's role
	Reason string `json:"reason"`
}

func (SupervisorLost) Kind() string { return "SUPERVISOR_LOST" }

// Subject returns the supervisor's role.
func (e SupervisorLost) Subject() string { return e.Task }

func (e SupervisorLost) Sentence() Sentence {
	return say(Warning, fmt.Sprintf("%sits program has died (%s)", tag, Brief(OneLine(e.Reason))))
}

// SupervisorDismissed is the request to the supervisor to shut down at the end of a run, with the
// answer: seed 001, "Shutdown Protocol".
type SupervisorDismissed struct {
	Task     string `json:"task" text:"name"` // the supervisor's role
	Request  string `json:"request_id"`
	Approved bool   `json:"approve"` // the supervisor agreed; otherwise its program was ended
}

func (SupervisorDismissed) Kind() string { return "SUPERVISOR_DISMISSED" }

// Subject returns the supervisor's role.
func (e SupervisorDismissed) Subject() string { return e.Task }

func (e SupervisorDismissed) Sentence() Sentence {
	if e.Approved {
		return say(Note, tag+"shut down")
	}
	return say(Warning, tag+"has not answered the request to shut down, and was ended")
}

// CheckpointReopened lets the supervisor look again at a board that a checkpoint had stopped and
// that was edited since then.
type CheckpointReopened struct {
	Task string `json:"task" text:"name"` // ID of the checkpoint; if there is none, the supervisor's role
	// Later reports that the supervisor looks at the board after the next task, and not before it.
	Later bool `json:"later,omitempty"`
}

func (CheckpointReopened) Kind() string { return "CHECKPOINT_REOPENED" }

// Subject returns the ID of the checkpoint. Without a checkpoint it returns the supervisor's role.
func (e CheckpointReopened) Subject() string { return e.Task }

func (e CheckpointReopened) Sentence() Sentence {
	return say(Note, fmt.Sprintf("%sthe board was edited since %s stopped it: it is looked at anew", tag, e.Task))
}

// NoVerdict stands in place of a verdict if the supervisor has given none.
const NoVerdict = "none"

// MaxErrors is a number of errors. After that many errors of a supervisor in one run, a person is
// told: seed 001, "Error Handling".
const MaxErrors = 3

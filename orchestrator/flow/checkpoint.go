package flow

// Supervision is how a resident supervisor looks in on a board: seed 001. It is read once, at the start of a
// run.
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

// OnBlock is what becomes of a run whose supervisor says block, or says nothing.
type OnBlock string

// The values of OnBlock.
const (
	BlockPerson   OnBlock = "person"   // the run ends, and a person decides
	BlockRevise   OnBlock = "revise"   // the Manager is told what was found, and plans anew
	BlockOverride OnBlock = "override" // the run goes on, and says so
	BlockAbort    OnBlock = "abort"    // the run ends, and so does the board
)

// Package call makes the calls of a board's run: the work on a task, the reviews of it, the
// Manager, and the checkpoints of the resident supervisor. Each kind of call has its own file, with
// its input and the handling of its end. kind.go has the parts that all kinds have in common.
//
//	flow.Spawn ─► Caller.Player ─► Caller.Prepare ─► Attempt ─► Caller.Start ─► attempt.Attempt
//	                                  └ Kind.Prepare                               │
//	the journal ◄─ event.Event ◄─ Kind.Settle ◄─ Caller.Settle ◄─ attempt.Ended ◄──┘
package call

import (
	"context"
	"maps"
	"slices"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/briefing"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// Turn has the parts of a run that a kind of call may use.
type Turn struct {
	Board      string // the path as the user wrote it, which is the name in messages, too
	Journal    Journal
	Workspace  *workspace.Workspace
	Folder     rundir.Dir
	Roster     Roster
	Supervisor Supervisor
	Observer   ledger.Observer
	Redactor   *redact.Redactor
	Used       *event.Used // use by the attempts of this run; each call adds to it
	Now        func() time.Time
	Stop       context.Context // when it is done, agents are asked to end

	DryRun     bool
	KeepOutput bool  // output is also kept for attempts whose replies count
	Carried    bool  // commits carry the state of the board to other clones
	TotalCost  bool  // max_cost_total is set
	SharedDir  bool  // another board of this process uses the same folder
	MaxOutput  int64 // the most output of an attempt, in bytes; 0: no bound
}

// Journal is the journal of the board.
type Journal interface {
	State() *flow.State
	Append(event.Event) error // the event is on disk with the next commit
	Record(event.Event) error // the event is on disk when Record returns
	Commit() error
	FinishStep(event.StepFinished) error
}

// Roster has the programs that play the roles.
type Roster interface {
	Player(role string) (*roster.Player, error)
	ReadOnlyPlayer(role string) (*roster.Player, error)
	Substitute(role, to string) (*roster.Player, error)
}

// Supervisor is the resident supervisor of the run.
type Supervisor interface {
	Briefing() *briefing.Briefing // what the supervisor is told; nil: there is no supervisor
	Resident() *attempt.Resident  // its program; nil: the program does not stay between calls
}

// Caller makes the calls of one run, one after the other.
type Caller struct {
	Turn

	input    contract.Input // input of the call inputOf
	inputOf  event.AttemptRef
	accounts attempt.Accounts // accounts of the open step's sessions
	watched  attempt.Accounts // accounts of the supervisor's sessions
	emptied  []event.Call     // calls whose streams are emptied once their replies are on disk
	said     string           // reply of the last task agent in the open step
	printed  string           // see Caller.Printed
	opened   time.Time        // when the open step began; zero if it began in an earlier run
	paused   time.Duration    // time for which Ctrl-Z has paused the open step
	steps    int              // steps finished in this run
	warned   bool             // warnOfCost has given its warning
	near     []string         // warnings about limits that were already given
	tree     workspace.Tree   // the files before the supervisor's step treeOf
	treeOf   int              // see tree
}

// NewCaller returns the caller of a run.
func NewCaller(t Turn) *Caller {
	left := slices.Collect(maps.Keys(kinds())) // names of the streams that an earlier run may have left
	return &Caller{Turn: t, accounts: attempt.Accounts{}, watched: attempt.Accounts{}, emptied: left}
}

// boardLeft returns the SHA-256 of the board as an attempt of the open step left it.
func (t *Turn) boardLeft() string { return t.Workspace.Left(t.Journal.State().Step) }

// projectHash returns a hash of the state of the project's files, or "" if the state is not known.
func (t *Turn) projectHash() string {
	if t.DryRun {
		return ""
	}
	return t.Workspace.ProjectHash(t.Stop, agent.ParseMark(t.Journal.State().Step.Mark))
}

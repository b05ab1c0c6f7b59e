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
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// Turn has the parts of a run that its calls may use.
type Turn struct {
	Board      string // path of the board as the user wrote it, also shown in messages
	Journal    flow.Journal
	Workspace  *workspace.Workspace
	Folder     rundir.Dir
	Roster     Roster
	Supervisor Supervisor
	Trust      Trust
	Observer   ledger.Observer
	Redactor   *redact.Redactor
	Used       *event.Used // time, tokens and cost of this run's attempts so far
	Now        func() time.Time
	Stop       context.Context // when it is done, agents are asked to end

	Run       config.Run
	TotalCost bool // the setting max_cost_total is set
}

// Roster finds the programs that play the roles.
type Roster interface {
	Player(role string) (*roster.Player, error)
	ReadOnlyPlayer(role string) (*roster.Player, error)
	Substitute(role, to string) (*roster.Player, error)
}

// Supervisor is the resident supervisor of the run.
type Supervisor interface {
	Briefing() *briefing.Briefing // what the supervisor is told; nil: there is no supervisor
	Resident() *attempt.Resident  // the supervisor's program; nil: it does not stay between calls
}

// Trust knows what agents have changed of the files that decide.
type Trust interface {
	ReviewedBy(role string) string // in words; "": nothing was changed
}

// Caller makes the calls of one run, one after the other.
type Caller struct {
	Turn

	input     contract.Input // input of the call that inputOf identifies
	inputOf   event.AttemptRef
	accounts  attempt.Accounts   // accounts of the open step's sessions
	watched   attempt.Accounts   // accounts of the supervisor's sessions
	emptied   []event.Call       // calls whose streams are to be emptied when their replies are on disk
	keptStep  int                // the step of which keptFirst is
	keptFirst map[event.Call]int // the first attempt of each call whose output this run has kept
	unwritten *Attempt           // the last attempt, if its output could not be written to files; or nil
	opened    time.Time          // when the open step began; zero if it began in an earlier run
	paused    time.Duration      // time for which Ctrl-Z has paused the open step
	steps     int                // steps finished in this run
	warned    bool               // warnOfCost has given its warning
	near      []string           // warnings that WarnOfLimits has given
	tree      workspace.Tree     // project's files before the supervisor's last step
	treeOf    int                // number of that step; 0: none
	ran       map[string]bool    // adapters whose programs have been started in this run
}

// NewCaller returns the caller of a run.
func NewCaller(t Turn) *Caller {
	left := slices.Collect(maps.Keys(kinds())) // calls whose streams an earlier run may have left
	return &Caller{Turn: t, accounts: attempt.Accounts{}, watched: attempt.Accounts{}, emptied: left, ran: map[string]bool{}}
}

// boardLeft returns the SHA-256 of the board as the last attempt of the open step left it.
func (t *Turn) boardLeft() string { return t.Workspace.Left(t.Journal.State().Step) }

// filesLeft lists files that the open step has left, if it is the run's first. A fresh checkout
// beside an old journal can lose the files of such a step without a trace on the board.
func (c *Caller) filesLeft() []event.LeftFile {
	if c.steps > 0 {
		return nil
	}
	left := c.Workspace.FilesLeft(c.Stop, agent.ParseMark(c.Journal.State().Step.Mark))
	return slices.DeleteFunc(left, func(f event.LeftFile) bool { return c.Redactor.String(f.Name) != f.Name })
}

// projectHash returns a hash of the state of the project's files, or "" if the state is not known.
func (t *Turn) projectHash() string {
	return t.Workspace.ProjectHash(t.Stop, agent.ParseMark(t.Journal.State().Step.Mark))
}

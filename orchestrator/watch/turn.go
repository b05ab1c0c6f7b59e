package watch

import (
	"context"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
)

// Turn has the parts of a run that the watch uses.
type Turn struct {
	Board    string // path as the user wrote it; messages name the board by it
	Kanban   string // path of the board's file as agents see it
	Journal  flow.Journal
	Tasks    Tasks
	Folder   rundir.Dir
	Roster   Roster
	Crowd    *health.Crowd     // anomalies of the agents of all boards that this process runs
	Notice   func(text string) // gets warnings that are not events of the run
	Redactor *redact.Redactor
	Used     *event.Used // use of all attempts of the run; the watch adds the use of judges
	Now      func() time.Time
	// Listed returns a task as the board's list spells it, or "" if the list does not have it.
	Listed func(task string) string
	Trust  Trust
	Bound  func() string   // limit of the whole command that is reached, in words; "" for none
	Stop   context.Context // when it is done, agents are asked to end
	Kill   context.Context // when it is done, agents are killed
	Run    config.Run
	Ask    Asker
}

// Tasks reads the files of tasks.
type Tasks interface {
	ReadBrief(task string) board.Brief
}

// Roster finds the program that plays a role.
type Roster interface {
	Player(role string) (*roster.Player, error)
	ReadOnlyPlayer(role string) (*roster.Player, error)
}

// Trust knows what agents have changed of the files that decide.
type Trust interface {
	RefuseInTurn(*roster.Player) error // an error: a judge must not be started
}

// Asker runs a judge until the judge ends; see [attempt.Run].
type Asker func(stop, kill context.Context, s attempt.Spec) (*attempt.Ended, error)

// Program is the agent's program; see [attempt.Attempt].
type Program interface {
	Check(now time.Time, m *health.Monitor) health.Report
	Ask(id, question string) bool
	Tell(id, text string) bool
	EndCall(tool string) bool
	EndCalls(kill bool)
	Continue()
	End(graceful, kill time.Duration)
	Refusal() string // provider's error while the agent waits to try a refused call again; otherwise ""
	EndRefused(why string, graceful, kill time.Duration)
	Obstacle() string
	Took() time.Duration
	Frozen() time.Duration   // time in which the agent could not work because nothing could run
	TimedOut() time.Duration // after the agent's end: the timeout that has ended it; 0: none
}

// Agent is the running agent.
type Agent struct {
	event.AttemptRef
	Program Program
	Player  *roster.Player
	Duty    roster.Duty
	Listens bool              // the agent takes messages while it works
	Signs   chan *agent.Event // the agent's signs that have to be journaled
}

// Package supervisor has the resident supervisor of one board's run: the plan of its checkpoints,
// the life of its program, and the request to shut down (seed 001). Package call makes the calls of
// the supervisor.
package supervisor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/briefing"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
)

// Turn has the parts of a run that the supervisor may use.
type Turn struct {
	Board    string             // path as the user wrote it; messages name the board by it
	Settings *event.Supervision // nil: the run has no supervisor
	// AckTimeout is the time for the supervisor to answer a request to shut down: seed 002, "Retry
	// budget constants".
	AckTimeout     time.Duration
	Journal        flow.Journal
	ReportTeardown func(ledger.Gate) // writes a report of the team's end
	Place          *board.Place
	Workspace      Workspace
	Folder         rundir.Dir
	Roster         Roster
	Notice         func(text string) // gets warnings that are not events of the run
	Redactor       *redact.Redactor
	Stop           context.Context // when it is done, agents are asked to end
	Kill           context.Context // when it is done, agents are killed
}

// Workspace is the board of the run.
type Workspace interface {
	Look() (*board.Board, error)
	SHA() string                              // SHA-256 of the board's bytes
	Seen(task string) string                  // the path of a task as agents see it
	End(b *board.Board) (*board.Board, error) // the board with its end
	Save(b *board.Board) error
}

// Roster finds the program that plays the supervisor.
type Roster interface {
	ReadOnlyPlayer(role string) (*roster.Player, error)
}

// Supervisor is the supervisor of a run. If Turn.Settings is nil, the run has no supervisor, and
// all methods but GiveUp and EndBoard do nothing.
type Supervisor struct {
	Turn
	briefing *briefing.Briefing // what the supervisor is told; nil if the run has no supervisor
	resident *attempt.Resident  // the program that stays between calls; nil: no program stays
	program  Program            // the field resident, or nil if no program stays
}

// Program is a program that stays between calls; see [attempt.Resident].
type Program interface {
	Runs() bool
	Exited() <-chan struct{}
	Ask(stop context.Context, message []byte, wait time.Duration, s attempt.Sinks) (string, error)
	Close(kill context.Context) error
}

// New returns the supervisor of a run.
func New(t Turn) *Supervisor {
	s := &Supervisor{Turn: t}
	if t.Settings != nil {
		s.briefing = briefing.New(t.Folder, t.Place, t.Redactor)
	}
	return s
}

// Note adds a journaled event to the supervisor's briefing.
func (s *Supervisor) Note(e event.Entry) {
	if s.briefing != nil {
		s.briefing.Add(e)
	}
}

// Briefing returns the supervisor's briefing, or nil if there is no supervisor.
func (s *Supervisor) Briefing() *briefing.Briefing { return s.briefing }

// Plan returns the plan of the supervisor's checkpoints, and the program that plays the supervisor.
// The plan has the paths of tasks as agents see them. Both results are nil if the run has no
// supervisor.
func (s *Supervisor) Plan() (*event.Supervision, *roster.Player, error) {
	if s.Settings == nil {
		return nil, nil, nil
	}
	p, err := s.Roster.ReadOnlyPlayer(s.Settings.Role)
	if err != nil {
		return nil, nil, &failure.Invalid{Err: err}
	}
	if p.Memory() == event.InProcess {
		s.resident = attempt.NewResident(p.Assignment.Grace)
		s.program = s.resident
	}
	plan := *s.Settings
	plan.Role, plan.At = p.Role.Name, slices.Clone(plan.At)
	for i, at := range plan.At {
		plan.At[i].After, plan.At[i].Scope = s.Workspace.Seen(at.After), nil
		for _, task := range at.Scope {
			if seen := s.Workspace.Seen(task); !slices.Contains(plan.At[i].Scope, seen) {
				plan.At[i].Scope = append(plan.At[i].Scope, seen)
			}
		}
	}
	return &plan, p, nil
}

// Resident returns the supervisor's program, or nil if that program does not stay between calls.
func (s *Supervisor) Resident() *attempt.Resident { return s.resident }

// RecordLoss journals the death of the supervisor's program between two calls.
func (s *Supervisor) RecordLoss() error {
	v := s.Journal.State().Supervisor
	if v == nil || v.Memory != event.InProcess || !v.Ready || s.program.Runs() {
		return nil
	}
	return s.Journal.Record(event.SupervisorLost{Task: v.Plan.Role, Reason: "it ended between two checkpoints"})
}

// Exited returns a channel that is closed when the supervisor's program dies during the call c of
// another agent. It returns nil for the supervisor's own calls, which end with the program.
func (s *Supervisor) Exited(c event.Call) <-chan struct{} {
	if s.program == nil || c.IsSupervision() {
		return nil
	}
	return s.program.Exited()
}

// Close ends the supervisor's program if it still runs, for instance after a fault of the run.
func (s *Supervisor) Close() error {
	if s.program == nil {
		return nil
	}
	return s.program.Close(s.Kill)
}

// GiveUp journals a checkpoint that ends without a verdict.
func (s *Supervisor) GiveUp(reason string) error {
	v := s.Journal.State().Supervisor
	missed := event.CheckpointMissed{Task: v.Plan.Role, Reason: reason, Then: v.Plan.OnBlock,
		BoardSHA: s.Workspace.SHA()}
	step := s.Journal.State().Step
	if step != nil {
		missed.Step, missed.Task = step.Number, step.Task
	}
	if missed.Then == event.BlockRevise && (step == nil || step.Checkpoint == nil) {
		missed.Then = event.BlockPerson // the Manager has no work to plan anew
	}
	return s.Journal.Record(missed)
}

// EndBoard ends the board because of a checkpoint. It journals the end before it writes the board.
func (s *Supervisor) EndBoard(b *board.Board) error {
	after, err := s.Workspace.End(b)
	if err != nil {
		return err
	}
	ended := event.BoardEnded{Task: s.Journal.State().Supervisor.Subject(), Before: b.SHA, BoardSHA: after.SHA,
		Current: b.Current.Path}
	if err := s.Journal.Record(ended); err != nil {
		return err
	}
	return s.Workspace.Save(after)
}

// WarnOfUnheld gives a notice if a board is over, but some declared checkpoints were never held.
func (s *Supervisor) WarnOfUnheld(end flow.Finish) {
	isOver := end.Outcome == event.Complete || end.Outcome == event.Incomplete
	if ids := s.Journal.State().Supervisor.NeverHeld(); len(ids) > 0 && isOver {
		s.Notice(fmt.Sprintf("checkpoints that were never held, since no run has finished their tasks: %s",
			event.List(ids, 5)))
	}
}

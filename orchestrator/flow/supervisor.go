package flow

import (
	"cmp"
	"fmt"
)

// CheckpointHeld is the outcome of a checkpoint at which the supervisor came to a verdict. Data is
// seed 001's state update, "Step 7: Publish State".
type CheckpointHeld struct {
	AttemptRef
	Data  StateUpdate `json:"data" text:"free"`
	Risks []string    `json:"risks" text:"free"`
	Trend string      `json:"quality_trend" text:"free"`
	Read  []string    `json:"artifacts_read" text:"free"` // what it says that it has read

	Then    OnBlock   `json:"on_block,omitempty"`     // of a block: what follows
	Left    string    `json:"board_sha256,omitempty"` // the board as the supervisor left it
	Millis  int64     `json:"millis"`
	Session string    `json:"session,omitempty" text:"free"`
	Spent   *Spending `json:"spent,omitempty"`
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

// SupervisorFailed is the outcome of a checkpoint at which the supervisor reported an error of its
// own: seed 001, "Error Handling". It stays.
type SupervisorFailed struct {
	AttemptRef
	Reason string `json:"reason" text:"free"`
	Errors int    `json:"errors"` // in this run, with this one

	Then    OnBlock   `json:"on_block,omitempty"` // what follows
	Left    string    `json:"board_sha256,omitempty"`
	Millis  int64     `json:"millis"`
	Session string    `json:"session,omitempty" text:"free"`
	Spent   *Spending `json:"spent,omitempty"`
}

// ScopeViolated is the outcome of a checkpoint at which the supervisor changed what it may only
// read: seed 001, "Role Isolation Rules". Its verdict does not count.
type ScopeViolated struct {
	AttemptRef
	Files []string `json:"files" text:"free"`
	Text  string   `json:"text" text:"free"`

	Left    string    `json:"board_sha256,omitempty"`
	Millis  int64     `json:"millis"`
	Session string    `json:"session,omitempty" text:"free"`
	Spent   *Spending `json:"spent,omitempty"`
}

// SupervisorLost says that the supervisor's program died between two checkpoints.
type SupervisorLost struct {
	Task   string `json:"task"` // the supervisor's role
	Reason string `json:"reason" text:"free"`
}

// SupervisorDismissed says that the supervisor was told to shut down at the end of the run: seed
// 001, "Shutdown Protocol".
type SupervisorDismissed struct {
	Task     string `json:"task"` // the supervisor's role
	Request  string `json:"request_id"`
	Approved bool   `json:"approve"` // it has answered so; else it was ended
}

// CheckpointReopened says that a board that waited because of a checkpoint was edited
// since: it is looked at anew.
type CheckpointReopened struct {
	Task  string `json:"task"`            // that checkpoint, or the supervisor's role
	Later bool   `json:"later,omitempty"` // behind the work that goes on, and not before it
}

// BoardEnded is the intent to write onto the board that a checkpoint has ended it.
type BoardEnded struct {
	Task     string `json:"task"` // the checkpoint, or the supervisor's role
	Before   string `json:"before_sha256"`
	BoardSHA string `json:"board_sha256"`
	Current  string `json:"current,omitempty"` // the task that was current
}

// Kind is the record's type in the journal.
func (BoardEnded) Kind() string { return "BOARD_ENDED" }

// Subject is the checkpoint, or the supervisor's role.
func (e BoardEnded) Subject() string { return e.Task }

func (e BoardEnded) apply(s *State) error {
	if s.Supervisor.Waits() == "" {
		return refuse(e, "no checkpoint stops the board")
	}
	s.Supervisor = s.Supervisor.clone()
	block := *s.Supervisor.Block
	block.Ended, block.Current, s.Supervisor.Block = e.BoardSHA, cmp.Or(e.Current, block.Current), &block
	return nil
}

// Kind is the record's type in the journal.
func (CheckpointHeld) Kind() string { return "CHECKPOINT_HELD" }

// Kind is the record's type in the journal.
func (CheckpointMissed) Kind() string { return "CHECKPOINT_MISSED" }

// Kind is the record's type in the journal.
func (SupervisorFailed) Kind() string { return "SUPERVISOR_FAILED" }

// Kind is the record's type in the journal.
func (ScopeViolated) Kind() string { return "SUPERVISOR_SCOPE_VIOLATION" }

// Kind is the record's type in the journal.
func (SupervisorLost) Kind() string { return "SUPERVISOR_LOST" }

// Kind is the record's type in the journal.
func (SupervisorDismissed) Kind() string { return "SUPERVISOR_DISMISSED" }

// Kind is the record's type in the journal.
func (CheckpointReopened) Kind() string { return "CHECKPOINT_REOPENED" }

// Subject is the checkpoint, or the supervisor's role.
func (e CheckpointMissed) Subject() string { return e.Task }

// Subject is the checkpoint, or the supervisor's role.
func (e SupervisorLost) Subject() string { return e.Task }

// Subject is the checkpoint, or the supervisor's role.
func (e SupervisorDismissed) Subject() string { return e.Task }

// Subject is the checkpoint, or the supervisor's role.
func (e CheckpointReopened) Subject() string { return e.Task }

// endCheckpoint ends an attempt of a checkpoint.
func (s *State) endCheckpoint(e Event, r AttemptRef, millis int64, spent *Spending, session, left string) error {
	if !r.Call.IsSupervision() || s.Supervisor == nil || s.Step == nil {
		return refuse(e, "no checkpoint is open")
	}
	if _, violated := e.(ScopeViolated); !violated && (r.Call != CheckpointCall || s.Step.Checkpoint == nil) {
		return refuse(e, "no checkpoint is open")
	}
	if err := s.endAttempt(e, r, millis, spent, session); err != nil {
		return err
	}
	s.Supervisor = s.Supervisor.clone()
	s.Supervisor.Deaths = 0
	s.keepThread(session)
	if left != "" {
		s.Step.BoardSHA = left
	}
	return nil
}

// keepThread notes the session in which the supervisor goes on.
func (s *State) keepThread(session string) {
	if v := s.Supervisor; v.Memory == InSession && session != "" {
		v.Thread = &Thread{Session: session}
	}
}

func (e CheckpointHeld) apply(s *State) error {
	if err := s.endCheckpoint(e, e.AttemptRef, e.Millis, e.Spent, e.Session, e.Left); err != nil {
		return err
	}
	c, d := *s.Step.Checkpoint, e.Data
	s.Supervisor.hold(Held{ID: c.ID, Verdict: d.Verdict, Score: d.Score, Trend: e.Trend, Report: d.Report})
	if d.Verdict == "block" {
		s.block(c, e.blockText())
	} else {
		s.Step = nil
	}
	return nil
}

// blockText says why a checkpoint blocks.
func (e CheckpointHeld) blockText() string {
	text := fmt.Sprintf("%s blocks (score %.2f)", e.Data.ID, e.Data.Score)
	if len(e.Data.Findings) > 0 {
		text += ": " + headline(e.Data.Findings[0])
	}
	if e.Data.Report != "" {
		text += "; its report is " + e.Data.Report
	}
	return text
}

func (e SupervisorFailed) apply(s *State) error {
	if err := s.endCheckpoint(e, e.AttemptRef, e.Millis, e.Spent, e.Session, e.Left); err != nil {
		return err
	}
	s.Supervisor.Errors++
	s.missCheckpoint(e.Reason)
	return nil
}

func (e ScopeViolated) apply(s *State) error {
	if err := s.endCheckpoint(e, e.AttemptRef, e.Millis, e.Spent, e.Session, e.Left); err != nil {
		return err
	}
	v := s.Supervisor
	v.Block = &Block{Text: e.Text, BoardSHA: s.Step.BoardSHA}
	if c := s.Step.Checkpoint; c != nil { // else it was only to get ready
		v.hold(Held{ID: c.ID, Verdict: NoVerdict})
		v.Block.Checkpoint = *c
	}
	s.Step = nil
	return nil
}

// missCheckpoint ends the open checkpoint without a verdict.
func (s *State) missCheckpoint(reason string) {
	c := *s.Step.Checkpoint
	s.Supervisor.hold(Held{ID: c.ID, Verdict: NoVerdict})
	s.block(c, fmt.Sprintf("%s came to no verdict: %s", c.ID, headline(reason)))
}

// A supervisor that does not even start is as one that blocks: the Manager could not mend that.
func (e CheckpointMissed) apply(s *State) error {
	if s.Supervisor == nil || s.Step != nil && (!s.Step.Call.IsSupervision() || s.Step.Running != 0) {
		return refuse(e, "no checkpoint is open")
	}
	s.Supervisor = s.Supervisor.clone()
	v, step := s.Supervisor, s.Step
	v.Deaths = 0
	if step != nil && step.Checkpoint != nil {
		if v.Memory == InSession { // the next look begins in a new one, with the reports
			v.Ready, v.Thread = false, nil
		}
		s.missCheckpoint(e.Reason)
		return nil
	}
	s.Step, v.Gone = nil, true
	if v.Plan.OnBlock == BlockOverride {
		return nil
	}
	v.Block = &Block{Text: "the supervisor cannot be had: " + headline(e.Reason), Ends: v.Plan.OnBlock == BlockAbort, BoardSHA: e.BoardSHA}
	return nil
}

func (e SupervisorLost) apply(s *State) error {
	if s.Supervisor == nil {
		return refuse(e, "there is no supervisor")
	}
	s.Supervisor = s.Supervisor.clone()
	s.Supervisor.Deaths++
	s.forgetSupervisor()
	return nil
}

func (e SupervisorDismissed) apply(s *State) error {
	if s.Supervisor == nil {
		return refuse(e, "there is no supervisor")
	}
	s.Supervisor = s.Supervisor.clone()
	s.Supervisor.Ready = false
	return nil
}

func (e CheckpointReopened) apply(s *State) error {
	if s.Supervisor == nil || s.Supervisor.Block == nil {
		return refuse(e, "no checkpoint stops the board")
	}
	if e.Later {
		s.Supervisor = s.Supervisor.clone()
		s.Supervisor.settle(Retry)
		return nil
	}
	s.lookAnew()
	return nil
}

// acceptReady takes the word of a supervisor that it is ready.
func (s *State) acceptReady(e ReplyAccepted) error {
	if s.Supervisor == nil {
		return refuse(e, "there is no supervisor")
	}
	s.Supervisor = s.Supervisor.clone()
	s.Supervisor.Ready, s.Supervisor.Started, s.Supervisor.Excused = true, true, false
	s.keepThread(e.Session)
	if s.Step.Checkpoint == nil {
		s.Step = nil
		return nil
	}
	s.Step.begin(CheckpointCall)
	return nil
}

// loseSupervisor has the supervisor recovered before the checkpoint is tried again: its session is
// lost, or its program died.
func (s *State) loseSupervisor(e ReplyRejected) {
	s.Supervisor = s.Supervisor.clone()
	if e.Died {
		s.Supervisor.Deaths++
	}
	if e.Lost {
		s.Step.Lost++
	}
	s.forgetSupervisor()
}

// openSupervision opens a step of the supervisor's.
func (s *State) openSupervision(e StepStarted) error {
	if s.Supervisor == nil {
		return refuse(e, "there is no supervisor")
	}
	s.Supervisor = s.Supervisor.clone()
	s.Step.Call, s.Step.Checkpoint = e.Call, e.Checkpoint
	if s.Supervisor.Memory == InProcess && e.Call == ReadyCall {
		s.Supervisor.Mark = e.Mark
	}
	if e.Checkpoint != nil {
		s.Supervisor.openCheckpoint(*e.Checkpoint)
	}
	return nil
}

// finishRevision ends the step of a checkpoint behind which the Manager was called. One that ends
// the board has passed the block over.
func (s *State) finishRevision(e StepFinished) error {
	if v := s.Supervisor.clone(); v != nil {
		if e.NextTask == nil {
			v.passOver(s.Step.Checkpoint.ID)
		} else if v.Plan.Every == 0 { // else the next one comes by itself
			v.lookAgain(*s.Step.Checkpoint)
		}
		s.Supervisor = v
	}
	s.Last = Ending{Status: e.Manager, Message: e.Message, BoardSHA: e.BoardSHA, Task: s.Step.Task}
	s.Step = nil
	return nil
}

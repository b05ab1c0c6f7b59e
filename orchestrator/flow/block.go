package flow

import (
	"cmp"
	"fmt"
	"slices"

	"kanban-run/orchestrator/event"
)

// Block is a checkpoint that stops the run. Its ID is "" if the supervisor failed while no
// checkpoint was open.
type Block struct {
	event.Checkpoint
	Text     string `json:"text"`
	BoardSHA string `json:"board_sha256"`           // SHA-256 of the board at the checkpoint
	Ends     bool   `json:"ends"`                   // the checkpoint ends the board, and not only the run
	Ended    string `json:"ended_sha256,omitempty"` // SHA-256 of the board after [EndBoard]; "": not written yet
	Current  string `json:"current,omitempty"`      // path of the current task before [EndBoard]
	Written  bool   `json:"written,omitempty"`      // the run that wrote the end onto the board has finished
}

// block applies the plan's OnBlock after a checkpoint without a good verdict, and closes the step.
// With BlockRevise the step stays open for a call of the Manager, if the checkpoint follows a task.
func (s *State) block(c event.Checkpoint, text string) {
	v, step := s.Supervisor, s.Step
	s.Step = nil
	switch v.Plan.OnBlock {
	case event.BlockOverride:
		v.passOver(c.ID)
	case event.BlockRevise:
		if step != nil && c.After != "" {
			step.Task, step.TaskStatus = c.After, ""
			step.callManager()
			step.Anomaly = &event.Anomaly{
				Type: "checkpoint_block", Check: c.ID, Severity: "critical", Details: text, Advice: "replan",
			}
			s.Step = step
			return
		}
		v.Block = &Block{Checkpoint: c, Text: text}
	default:
		v.Block = &Block{Checkpoint: c, Text: text, Ends: v.Plan.OnBlock == event.BlockAbort}
	}
	if v.Block != nil && step != nil {
		v.Block.BoardSHA = step.BoardSHA
	}
}

// missCheckpoint ends the open checkpoint without a verdict.
func (s *State) missCheckpoint(reason string) {
	c := *s.Step.Checkpoint
	s.Supervisor.hold(Held{ID: c.ID, Verdict: event.NoVerdict})
	s.block(c, fmt.Sprintf("%s came to no verdict: %s", c.ID, event.Headline(reason)))
}

// blockText returns why a checkpoint blocks.
func blockText(e event.CheckpointHeld) string {
	text := fmt.Sprintf("%s blocks (score %.2f)", e.Data.ID, e.Data.Score)
	if len(e.Data.Findings) > 0 {
		text += ": " + event.Headline(e.Data.Findings[0])
	}
	if e.Data.Report != "" {
		text += "; its report is " + e.Data.Report
	}
	return text
}

// lookAnew removes the block, and puts a new checkpoint in front of all due checkpoints. The new
// checkpoint has the scope of the checkpoint that stopped the board.
func (s *State) lookAnew() {
	s.Supervisor = s.Supervisor.clone()
	v := s.Supervisor
	c := v.Block.Checkpoint
	v.Block = nil
	if len(c.Scope) > 0 {
		v.Named = v.number()
		again := event.Checkpoint{ID: checkpointID(v.Named), Scope: c.Scope, After: c.After, Again: c.ID}
		v.Due = append([]event.Checkpoint{again}, v.Due...)
	}
}

// passOver notes that the run goes on in spite of the checkpoint with this ID.
func (v *Supervisor) passOver(id string) {
	v.Passed = append(slices.Clip(v.Passed), id)
	v.Passed = v.Passed[max(0, len(v.Passed)-mostHeld):]
}

// settle removes the block. After Retry the next checkpoint looks again at the whole scope of the
// checkpoint that blocked. After any other choice the run goes on in spite of the block.
func (v *Supervisor) settle(c event.Choice) {
	b := v.Block
	v.Block = nil
	switch {
	case c == event.Retry:
		v.lookAgain(b.Checkpoint)
	case b.ID == "":
		v.Excused = true
	default:
		v.passOver(b.ID)
	}
}

// lookAgain adds the tasks of checkpoint c to the next checkpoint, because the work on these tasks
// is done again. The verdict of c becomes void.
func (v *Supervisor) lookAgain(c event.Checkpoint) {
	v.giveBack(c.Scope)
	for i := range v.Held {
		v.Held[i].Void = v.Held[i].Void || v.Held[i].ID == c.ID
	}
}

// passed returns in words the checkpoints that were passed over, or "" if there are none.
func (v *Supervisor) passed() string {
	const most = 3
	if v == nil || v.Off || len(v.Passed) == 0 {
		return ""
	}
	return event.List(v.Passed, most)
}

// Subject returns the ID of the checkpoint that makes the run wait. If the supervisor failed while
// no checkpoint was open, it returns the supervisor's role.
func (v *Supervisor) Subject() string { return cmp.Or(v.Block.ID, v.Plan.Role) }

// Waits returns why a checkpoint makes the run wait for a person, or "" if the run does not wait.
func (v *Supervisor) Waits() string {
	if v == nil || v.Block == nil {
		return ""
	}
	return v.Block.Text
}

// isEdited reports whether a person has edited the board since the block. A board that still
// records its end counts as unedited, because it waits for the Lead to choose the next task.
func (b *Block) isEdited(now Board) bool {
	switch {
	case b.Ended == "":
		return b.BoardSHA != "" && b.BoardSHA != now.SHA
	case !b.Written && b.BoardSHA == now.SHA:
		return false // the run died before it wrote the end
	default:
		return b.Ended != now.SHA && now.Ended == ""
	}
}

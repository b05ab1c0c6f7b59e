package flow

import (
	"fmt"
	"path"
	"slices"

	"kanban-run/orchestrator/event"
)

// Supervisor is the state of a board's supervisor and its checkpoints.
type Supervisor struct {
	Plan    event.Supervision  `json:"plan"`
	Memory  event.Memory       `json:"memory"`
	Ready   bool               `json:"ready"`             // the supervisor was briefed, and still remembers
	Started bool               `json:"started"`           // the supervisor was ready once
	Crashed bool               `json:"crashed,omitempty"` // the supervisor's program or session was lost since it was last ready
	Thread  *Thread            `json:"thread,omitempty"`  // the supervisor's session; nil: none
	Mark    string             `json:"mark,omitempty"`    // mark of the supervisor's processes, if its program stays between calls
	Since   []string           `json:"since,omitempty"`   // tasks finished since a checkpoint last became due
	Due     []event.Checkpoint `json:"due,omitempty"`     // due checkpoints, in the order in which they are held
	Named   int                `json:"named"`             // last number that the runner gave to a checkpoint
	Held    []Held             `json:"held,omitempty"`    // the last verdicts, at most [mostHeld]
	Errors  int                `json:"errors"`            // errors that the supervisor reported in this run
	Deaths  int                `json:"deaths"`            // how often in a row the supervisor's program died
	Gone    bool               `json:"gone"`              // the supervisor could not start, and only a due checkpoint starts it again
	Excused bool               `json:"excused,omitempty"` // the Lead lets the run go on without a supervisor
	Adapter string             `json:"adapter,omitempty"` // adapter of the supervisor's last program
	Off     bool               `json:"off,omitempty"`     // the last run was started without a supervisor
	// Kept has the notes in wisdom/ as the last checkpoint left them; nil: not known.
	Kept []event.KeptFile `json:"kept,omitempty"`
	// Passed has the IDs of the last checkpoints after which the run went on without a good
	// verdict, at most [mostHeld].
	Passed []string   `json:"passed,omitempty"`
	Block  *Block     `json:"block,omitempty"` // the checkpoint that stops the run; nil: none
	Used   event.Used `json:"used"`            // time, tokens and cost of the supervisor's attempts, over all runs
}

// Held is a checkpoint that has ended.
type Held struct {
	ID      string  `json:"id"`
	Verdict string  `json:"verdict"` // pass, warn or block, or [event.NoVerdict]
	Score   float64 `json:"score"`   // from 0 to 1
	Trend   string  `json:"trend,omitempty"`
	Report  string  `json:"report,omitempty"`        // path of the report, relative to the work directory
	Void    bool    `json:"void,omitempty"`          // the verdict does not count, because the work is done again
	SHA     string  `json:"report_sha256,omitempty"` // SHA-256 of the report; "": not known
}

const mostHeld = 256

// maxDeaths is the number of consecutive deaths of the supervisor's program after which the
// supervisor is given up.
const maxDeaths = 3

// clone returns a copy, so that an event can change the copy and leave the earlier state as it was.
func (v *Supervisor) clone() *Supervisor {
	if v == nil {
		return nil
	}
	c := *v
	c.Since, c.Due = slices.Clip(v.Since), slices.Clip(v.Due)
	c.Held, c.Passed = slices.Clone(v.Held), slices.Clip(v.Passed)
	return &c
}

// superviseBy sets the supervision of a run that starts. A nil plan turns the supervision off. If
// the supervisor's memory was in its program, this memory is lost, because the program ended with
// the earlier run. killed is true if the earlier run has no end.
func (s *State) superviseBy(plan *event.Supervision, memory event.Memory, adapter string, killed bool) {
	v := s.Supervisor.clone()
	switch {
	case plan == nil && v == nil:
		return
	case plan == nil: // keep the verdicts for a later run with a supervisor
		v.Off, v.Ready, v.Block, v.Due, v.Since = true, false, nil, nil, nil
		s.Supervisor = v
		return
	case v == nil:
		v = &Supervisor{}
	}
	v.Off = false
	if v.Plan.Role != plan.Role || v.Memory != memory || v.Adapter != adapter {
		v.Thread, v.Ready = nil, false
	}
	v.Plan, v.Memory, v.Adapter, v.Deaths, v.Errors, v.Gone = *plan, memory, adapter, 0, 0, v.Excused
	var due []event.Checkpoint
	for _, c := range v.Due {
		if v.names(c.ID) {
			due = append(due, c)
		} else {
			v.giveBack(c.Scope)
		}
	}
	v.Due = due
	s.Supervisor = v
	if memory == event.InProcess || v.mustRecover() {
		v.Crashed = v.Crashed || killed
		s.forgetSupervisor()
	}
}

// Again returns a RUN_STARTED with the limits, the substitutes and the supervision of the last run.
func (s *State) Again() event.RunStarted {
	e := event.RunStarted{Limits: s.Limits, Reassign: s.Reassign}
	if v := s.Supervisor; v != nil && !v.Off {
		e.Supervision, e.Memory, e.Adapter = &v.Plan, v.Memory, v.Adapter
	}
	return e
}

// forgetSupervisor notes that the supervisor has lost its memory. The supervisor has to be
// recovered before the next checkpoint.
func (s *State) forgetSupervisor() {
	if s.Supervisor == nil {
		return
	}
	s.Supervisor.Ready, s.Supervisor.Thread = false, nil
	if s.Step != nil && s.Step.Call == event.CheckpointCall && s.Step.Running == 0 {
		s.Step.begin(event.ReadyCall)
	}
}

// keepThread notes the session in which the supervisor goes on, if the supervisor's memory is
// InSession.
func (s *State) keepThread(session string) {
	if v := s.Supervisor; v.Memory == event.InSession && session != "" {
		v.Thread = &Thread{Session: session}
	}
}

// Recovers reports whether the supervisor's next start is a recovery: seed 001, "Crash Recovery". A
// start after an orderly end is none.
func (v *Supervisor) Recovers() bool { return v.Started && v.Crashed }

// mustRecover reports whether the supervisor has to get ready before a checkpoint, because it is
// new or has lost its memory. A supervisor with the memory InReports has nothing to lose.
func (v *Supervisor) mustRecover() bool { return v != nil && !v.Ready && v.Memory != event.InReports }

// endTask notes a task whose step is finished. If the task is ok, the checkpoints after it become
// due, and the tasks in their scopes are taken off the list Since. If the task is not ok, it stays
// in that list for a later checkpoint. The parameter "unfinished" has the tasks that are not ok.
func (v *Supervisor) endTask(task string, unfinished []TaskStatus) {
	failed := func(task string) bool {
		return slices.ContainsFunc(unfinished, func(t TaskStatus) bool { return t.Task == task })
	}
	if v.Plan.Every == 0 && len(v.Unheld()) == 0 {
		v.Since = nil // no checkpoint will follow
		return
	}
	if !slices.Contains(v.Since, task) {
		v.Since = append(v.Since, task)
	}
	if failed(task) {
		return
	}
	since, seen := v.Since, map[string]bool{}
	for _, at := range v.Plan.At {
		if path.Clean(at.After) != path.Clean(task) || v.isSettledOrDue(at.ID) {
			continue
		}
		scope := at.Scope
		if len(scope) == 0 {
			scope = since
		}
		v.Due = append(v.Due, event.Checkpoint{ID: at.ID, Scope: scope, After: task})
		for _, t := range scope {
			seen[path.Clean(t)] = true
		}
	}
	v.Since = slices.DeleteFunc(slices.Clone(since), func(t string) bool { return seen[path.Clean(t)] })
	finished := slices.DeleteFunc(slices.Clone(v.Since), failed)
	if v.Plan.Every > 0 && len(finished) >= v.Plan.Every {
		v.Due = append(v.Due, v.next())
		v.Named, v.Since = v.number(), nil
	}
}

// Unheld returns the declared checkpoints that are neither held nor due.
func (v *Supervisor) Unheld() (ids []string) {
	if v == nil || v.Off {
		return nil
	}
	for _, at := range v.Plan.At {
		if !v.isSettledOrDue(at.ID) {
			ids = append(ids, at.ID)
		}
	}
	return ids
}

// NeverHeld returns the declared checkpoints that are not due and that no supervisor has looked at.
func (v *Supervisor) NeverHeld() []string {
	return slices.DeleteFunc(v.Unheld(), func(id string) bool {
		return slices.ContainsFunc(v.Held, func(h Held) bool { return h.ID == id })
	})
}

// isSettledOrDue reports whether a checkpoint was held or is due. A held checkpoint does not count
// if it is to be held once more, because its work is done again or the Manager revised the plan.
func (v *Supervisor) isSettledOrDue(id string) bool {
	settled := func(h Held) bool {
		revised := v.Plan.OnBlock == event.BlockRevise && (h.Verdict == "block" || h.Verdict == event.NoVerdict)
		return h.ID == id && !h.Void && !revised
	}
	return slices.ContainsFunc(v.Held, settled) ||
		slices.ContainsFunc(v.Due, func(c event.Checkpoint) bool { return c.ID == id })
}

// next returns a checkpoint about all tasks finished since the last checkpoint.
func (v *Supervisor) next() event.Checkpoint {
	return event.Checkpoint{ID: checkpointID(v.number()), Scope: v.Since, After: v.Since[len(v.Since)-1]}
}

// number returns the next number for a checkpoint that the runner names. It skips the numbers in
// declared IDs.
func (v *Supervisor) number() int {
	for n := v.Named + 1; ; n++ {
		taken := func(at event.CheckpointAt) bool { return at.ID == checkpointID(n) }
		if !slices.ContainsFunc(v.Plan.At, taken) {
			return n
		}
	}
}

// names reports whether a checkpoint ID is declared in the plan, or was given by the runner before.
func (v *Supervisor) names(id string) bool {
	for n := 1; n <= v.Named; n++ {
		if id == checkpointID(n) {
			return true
		}
	}
	return slices.ContainsFunc(v.Plan.At, func(at event.CheckpointAt) bool { return at.ID == id })
}

func checkpointID(n int) string { return fmt.Sprintf("CHECKPOINT-%03d", n) }

// session returns the session that the next checkpoint resumes, or "" if there is no such session.
func (v *Supervisor) session() string {
	if v == nil || v.Thread == nil {
		return ""
	}
	return v.Thread.Session
}

// openCheckpoint removes checkpoint c from the due checkpoints. If c has the runner's next number,
// c is about all tasks in the list Since, and this list is emptied.
func (v *Supervisor) openCheckpoint(c event.Checkpoint) {
	v.Due = slices.DeleteFunc(slices.Clone(v.Due), func(d event.Checkpoint) bool { return d.ID == c.ID })
	if c.ID == checkpointID(v.number()) {
		v.Named, v.Since = v.number(), nil
	}
}

// hold notes the end of a checkpoint.
func (v *Supervisor) hold(h Held) {
	v.Held = append(v.Held, h)
	v.Held = v.Held[max(0, len(v.Held)-mostHeld):]
}

// giveBack adds tasks to the scope of the next checkpoint.
func (v *Supervisor) giveBack(tasks []string) {
	for _, task := range tasks {
		if !slices.Contains(v.Since, task) {
			v.Since = append(v.Since, task)
		}
	}
}

// looksAtEnd reports whether the tasks in Since get a checkpoint after the last task.
func (v *Supervisor) looksAtEnd() bool {
	void := func(h Held) bool { return h.Void }
	return len(v.Since) > 0 && (v.Plan.Every > 0 || slices.ContainsFunc(v.Held, void) && len(v.Unheld()) > 0)
}

package orchestrator

import (
	"fmt"

	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/gitstore"
)

// openStore brings the files to the last checkpoint of the board's branch, if that has come further than this folder.
func (r *run) openStore() error {
	if !r.Git.On || r.DryRun {
		return nil
	}
	notice := func(text string) { r.Observer.Notice(r.Board, text) }
	store, err := gitstore.Open(r.kill, gitstore.Options{Dir: real(r.Dir()), Board: r.Workspace.Path, Runs: r.dir.Path, Kept: r.dir.Carried(),
		Branch: r.Git.Branch, Remote: r.Git.Remote, Signed: r.Git.Signed, HasSecret: r.Redactor.ChangesBytes, Notice: notice})
	if err != nil {
		return err
	}
	restored, err := store.Start(r.kill)
	if err != nil {
		return err
	}
	if restored != "" {
		r.elsewhere = true
		r.Workspace.Forget()
		notice(fmt.Sprintf("the files are now those of the checkpoint %.12s on %s", restored, store.Branch))
	}
	r.store = store
	return nil
}

// carry makes a checkpoint of what was journaled, before it is told: after an accepted reply, and where a run begins and ends. After an
// error there is no other.
func (r *run) carry(entries []flow.Entry) error {
	if r.store == nil || r.storeErr != nil {
		return r.storeErr
	}
	subject := ""
	point := gitstore.Point{Step: r.ledger.State().LastStep, Base: r.Workspace.SHA()}
	for _, e := range entries {
		if text, reply := carried(e.Event); text != "" {
			subject, point.Reply = text, reply
		}
		point.Last = point.Last || isEnd(e.Event)
	}
	if subject == "" {
		return nil
	}
	point.Subject = fmt.Sprintf("%s: %s", r.Redactor.String(r.Board), subject)
	r.slots.release()
	defer r.slots.acquire()
	r.storeErr = r.store.Save(r.kill, point)
	return r.storeErr
}

// unpushed is the branch of which the remote lacks checkpoints; "": it has all, or is to have none.
func (r *run) unpushed() string {
	if r.store == nil || !r.store.Waits() {
		return ""
	}
	return r.store.Branch
}

func isEnd(e flow.Event) bool {
	switch e.(type) {
	case flow.RunFinished, flow.RunInterrupted:
		return true
	default:
		return false
	}
}

// carried says in a few words what a checkpoint is made for; "": for this event there is none.
func carried(e flow.Event) (subject, reply string) {
	switch e := e.(type) {
	case flow.RunStarted:
		return "a run begins", ""
	case flow.ReplyAccepted:
		return fmt.Sprintf("step %d: %s %s", e.Step, e.Role, e.Status), e.Status
	case flow.ReviewHeld:
		return fmt.Sprintf("step %d: review of round %d", e.Step, e.Round), ""
	case flow.CheckpointHeld:
		return fmt.Sprintf("step %d: %s", e.Step, e.Data.ID), e.Data.Verdict
	case flow.RunFinished:
		return "the run ends: " + string(e.Outcome), ""
	case flow.RunInterrupted:
		return "the run is interrupted", ""
	default:
		return "", ""
	}
}

package gitstore

import (
	"errors"
	"fmt"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/run"
)

// Carrier makes checkpoints of one run, if its settings ask for them.
type Carrier struct {
	run       *run.Run
	store     *Store        // nil: there are none
	way       *event.GitWay // by which they go; nil: there are none
	err       error         // why there are no more
	elsewhere bool
}

// Start brings the files to the last checkpoint of the board's branch, if that has come
// further than this folder.
func Start(r *run.Run) (*Carrier, error) {
	c := &Carrier{run: r}
	if !r.IsCarried() {
		return c, nil
	}
	notice := func(text string) { r.Observer.Notice(r.Board, text) }
	store, err := Open(r.Kill, Options{Dir: durable.RealPath(r.Dir()), Board: r.Workspace.Path, Runs: r.Folder.Path, Kept: r.Folder.Carried(),
		Branch: r.Git.Branch, Remote: r.Git.Remote, Signed: r.Git.Signed, Environ: r.Roster.Environ,
		AgentEnv: r.Roster.AgentEnviron(), HasSecret: r.Redactor.ChangesBytes, Allow: r.Git.Allow, Notice: notice})
	if err != nil {
		return nil, explain(err)
	}
	c.way = store.Way()
	if err := store.restoreJournal(r.Kill); err != nil {
		return nil, explain(err)
	}
	if c.isOtherWay() {
		return c, nil // which the journal says, and the run ends
	}
	restored, err := store.Start(r.Kill)
	if err != nil {
		return nil, explain(err)
	}
	if restored != "" {
		c.elsewhere = true
		r.Workspace.Forget()
		notice(fmt.Sprintf("the files are now those of the checkpoint %.12s on %s", restored, store.Branch))
	}
	c.store = store
	return c, nil
}

// explain gives a hint to an error of git's that has none.
func explain(err error) error {
	failed := (*git.Error)(nil)
	if !errors.As(err, &failed) || errors.As(err, new(interface{ Hint() string })) {
		return err
	}
	if failed.Exit.TimedOut {
		return &UnfitError{oneLine(failed), "something holds git up, such as a FIFO in the place of a file below .git, or of a .gitignore: see whether git status ends"}
	}
	return &UnfitError{oneLine(failed), "git status and git fsck say what is wrong with the repository; once that is mended, the same command goes on"}
}

// isOtherWay says whether checkpoints would go another way than before, by the journal that is here:
// an agent can have changed that. Nothing is asked of a remote then.
func (c *Carrier) isOtherWay() bool {
	s, err := c.run.Recorded()
	if err != nil {
		return false // there is none yet, or what is wrong with it is told where it is opened
	}
	return s.Apply(event.RunStarted{Git: c.way}) == nil && s.Frozen != nil && s.Frozen.Git != nil
}

// Way is by what way checkpoints go, for the journal; nil: there are none.
func (c *Carrier) Way() *event.GitWay { return c.way }

// IsElsewhere says whether the journal is that of a run in another clone: its processes, on this
// machine or another, may be at work.
func (c *Carrier) IsElsewhere() bool { return c.elsewhere }

// Save makes a checkpoint of what was journaled, before it is told: after an accepted reply, and
// where a run begins and ends. After an error there is no other.
func (c *Carrier) Save(entries []event.Entry) error {
	if c.store == nil || c.err != nil {
		return c.err
	}
	r, subject := c.run, ""
	point := Point{Step: r.State().LastStep, Base: r.Workspace.SHA()}
	for _, e := range entries {
		if text, reply := subjectOf(e.Event); text != "" {
			subject, point.Reply = text, reply
		}
		point.Last = point.Last || isEnd(e.Event)
	}
	if subject == "" {
		return nil
	}
	point.Subject = fmt.Sprintf("%s: %s", r.Redactor.String(r.Board), subject)
	r.Slots.Release()
	c.err = explain(c.store.Save(r.Kill, point))
	r.Slots.Acquire()
	r.Workspace.Forget() // a push takes seconds, in which a person, or another board's agent, may change a task
	return c.err
}

// Unpushed is the branch of which the remote lacks checkpoints; "": it has all, or is to have none.
func (c *Carrier) Unpushed() string {
	if c.store == nil || !c.store.Waits() {
		return ""
	}
	return c.store.Branch
}

// IsUnsaved says whether the last checkpoint could not be made.
func (c *Carrier) IsUnsaved() bool { return c.err != nil }

func isEnd(e event.Event) bool {
	switch e.(type) {
	case event.RunFinished, event.RunInterrupted:
		return true
	default:
		return false
	}
}

// subjectOf says in a few words what a checkpoint is made for; "": for this event there is none.
func subjectOf(e event.Event) (subject, reply string) {
	switch e := e.(type) {
	case event.RunStarted:
		return "a run begins", ""
	case event.ReplyAccepted:
		return fmt.Sprintf("step %d: %s %s", e.Step, e.Role, e.Status), e.Status
	case event.ManagerWalked:
		return fmt.Sprintf("step %d: %s %s", e.Step, event.ManagerRole, e.Status), e.Status
	case event.ReviewHeld:
		return fmt.Sprintf("step %d: review of round %d", e.Step, e.Round), ""
	case event.CheckpointHeld:
		return fmt.Sprintf("step %d: %s", e.Step, e.Data.ID), e.Data.Verdict
	case event.RunFinished:
		return "the run ends: " + string(e.Outcome), ""
	case event.RunInterrupted:
		return "the run is interrupted", ""
	default:
		return "", ""
	}
}

package gitstore

import (
	"context"
	"errors"
	"fmt"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// Turn has the parts of a run that a carrier may use.
type Turn struct {
	Board     string // as its user wrote it, also its name in messages
	Settings  Settings
	Journal   Journal
	Workspace *workspace.Workspace
	Folder    rundir.Dir
	Roster    *roster.Roster    // whose environment git gets
	Notice    func(text string) // tells of what is no event of the run
	Redactor  *redact.Redactor
	Slots     Slots
	Kill      context.Context // its end ends git
	DryRun    bool
}

// Settings say where the state of a board is kept as commits.
type Settings struct {
	On             bool
	Branch, Remote string
	Signed         bool
	Allow          []string // what may be in them although it holds what looks like a secret
}

// Journal is the journal of the board, which need not be open before the first checkpoint.
type Journal interface {
	State() *flow.State
}

// Slots bound how many runs of this process work at the same time.
type Slots interface {
	Acquire()
	Release()
}

// Carrier makes checkpoints of one run, if its settings ask for them.
type Carrier struct {
	Turn
	store     *Store        // nil: there are none
	way       *event.GitWay // by which they go; nil: there are none
	err       error         // why there are no more
	elsewhere bool
}

// Start brings the files to the last checkpoint of the board's branch, if that has come
// further than this folder.
func Start(t Turn) (*Carrier, error) {
	c := &Carrier{Turn: t}
	if !t.Settings.On || t.DryRun {
		return c, nil
	}
	store, err := Open(t.Kill, Options{Dir: durable.RealPath(t.Workspace.Place.Dir()), Board: t.Workspace.Path, Runs: t.Folder.Path, Kept: t.Folder.Carried(),
		Branch: t.Settings.Branch, Remote: t.Settings.Remote, Signed: t.Settings.Signed, Environ: t.Roster.Environ,
		AgentEnv: t.Roster.AgentEnviron(), HasSecret: t.Redactor.ChangesBytes, Allow: t.Settings.Allow, Notice: t.Notice})
	if err != nil {
		return nil, explain(err)
	}
	c.way = store.Way()
	if err := store.restoreJournal(t.Kill); err != nil {
		return nil, explain(err)
	}
	if c.isOtherWay() {
		return c, nil // which the journal says, and the run ends
	}
	restored, err := store.Start(t.Kill)
	if err != nil {
		return nil, explain(err)
	}
	if restored != "" {
		c.elsewhere = true
		t.Workspace.Forget()
		t.Notice(fmt.Sprintf("the files are now those of the checkpoint %.12s on %s", restored, store.Branch))
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
	h, _, err := ledger.Fold(c.Folder, func(event.Entry) error { return nil })
	if err != nil {
		return false // there is none yet, or what is wrong with it is told where it is opened
	}
	s := &h.State
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
	subject := ""
	point := Point{Step: c.Journal.State().LastStep, Base: c.Workspace.SHA()}
	for _, e := range entries {
		if text, reply := subjectOf(e.Event); text != "" {
			subject, point.Reply = text, reply
		}
		point.Last = point.Last || isEnd(e.Event)
	}
	if subject == "" {
		return nil
	}
	point.Subject = fmt.Sprintf("%s: %s", c.Redactor.String(c.Board), subject)
	c.Slots.Release()
	c.err = explain(c.store.Save(c.Kill, point))
	c.Slots.Acquire()
	c.Workspace.Forget() // a push takes seconds, in which a person, or another board's agent, may change a task
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

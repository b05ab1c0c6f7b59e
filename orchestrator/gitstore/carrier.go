package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
)

// Turn has the parts of a run that a carrier uses.
type Turn struct {
	Board     string // the board's path as the user wrote it, for messages
	Settings  Settings
	Journal   flow.Journal
	Path      string // path of the board's file, without links
	Dir       string // the work directory
	Workspace Workspace
	Folder    rundir.Dir
	Roster    *roster.Roster    // has the environment for git
	Notice    func(text string) // shows a text that is not an event of the run
	Redactor  *redact.Redactor
	Kill      context.Context // git is killed when this context is done
}

// Workspace is the board of the run.
type Workspace interface {
	SHA() string // of the board's bytes
	Forget()     // the next look at the board reads the file again
}

// Settings are the settings of a board for its checkpoints.
type Settings struct {
	On             bool
	Branch, Remote string
	Signed         bool
	Allow          []string // paths and names of objects in which secrets are ignored
}

// Carrier makes the checkpoints of one run, if the board's settings ask for checkpoints.
type Carrier struct {
	Turn
	store     *Store        // nil: no checkpoints are made
	way       *event.GitWay // route to the remote, for the journal; nil: no checkpoints are made
	err       error         // error of the first failed checkpoint; nil: none has failed
	elsewhere bool          // see IsElsewhere
	pending   []event.Event // what happened at a checkpoint and is not journaled yet
	arrived   bool          // an event in pending says that the remote has all checkpoints
}

// Start restores the files of the last checkpoint of the board's branch, if that checkpoint is
// newer than the local journal.
func Start(t Turn) (*Carrier, error) {
	c := &Carrier{Turn: t}
	if !t.Settings.On {
		return c, nil
	}
	store, err := Open(t.Kill, Options{
		Dir:       durable.RealPath(t.Dir),
		Board:     t.Path,
		Runs:      t.Folder.Path,
		Kept:      t.Folder.Carried(),
		Branch:    t.Settings.Branch,
		Remote:    t.Settings.Remote,
		Signed:    t.Settings.Signed,
		Environ:   t.Roster.Environ,
		AgentEnv:  t.Roster.AgentEnviron(),
		HasSecret: t.Redactor.ForFiles().ChangesBytes,
		Allow:     t.Settings.Allow,
		Notice:    t.Notice,
	})
	if err != nil {
		return nil, t.Roster.Settings.Fault("checkpoint", explain(err))
	}
	c.way = store.Way()
	if err := store.restoreJournal(t.Kill); err != nil {
		return nil, explain(err)
	}
	if err := c.noteOtherWay(); err != nil {
		return nil, err
	}
	restored, err := store.Start(t.Kill)
	if err != nil {
		return nil, explain(err)
	}
	if restored != "" {
		c.elsewhere = true
		t.Workspace.Forget()
		t.Notice(fmt.Sprintf("the files are now those of the checkpoint %.12s on %s", restored, store.Branch))
		if lost := store.Lost(); len(lost) > 0 {
			t.Notice("no checkpoint has " + event.List(lost, mostNamed) +
				"; tasks that need its files find them only where they were written")
		}
	}
	c.store = store
	return c, nil
}

// explain adds a hint to an error of git that has no hint.
func explain(err error) error {
	failed := (*git.Error)(nil)
	if !errors.As(err, &failed) || errors.As(err, new(interface{ Hint() string })) || durable.MachineHint(err) != "" {
		return err
	}
	if wasSignaled(err) {
		return &KilledError{failed}
	}
	if failed.Exit.TimedOut {
		return &UnfitError{oneLine(failed), "something holds git up, " +
			"such as a FIFO in the place of a file below .git, or of a .gitignore: see whether git status ends"}
	}
	return &UnfitError{oneLine(failed), "git status and git fsck say what is wrong with the repository; " +
		"once that is mended, the same command goes on"}
}

// KilledError is the error for a git that was ended from outside.
type KilledError struct{ err error }

func (e *KilledError) Error() string { return "checkpoint: " + oneLine(e.err) }

// Hint says that a new run makes the checkpoint.
func (*KilledError) Hint() string { return "the same command goes on" }

// Resumes marks the hint as one that says how the run goes on.
func (*KilledError) Resumes() {}

// noteOtherWay says if the route to the remote is another one than that of the last run. Errors: those of
// [ledger.RequireForm].
func (c *Carrier) noteOtherWay() error {
	h, _, err := ledger.Fold(c.Folder, nil)
	if err != nil {
		return nil // no journal yet, or an error that the ledger will report
	}
	if was := h.State.Git; was != nil {
		now := event.Redacted(event.RunStarted{Git: c.way}, c.Redactor.String) // as the journal has it
		same := *now.Git
		same.Settings = was.Settings // the guard of the turns looks at them
		if changes := same.ChangesSince(was); changes != "" {
			c.Notice("checkpoints go another way than those of the last run: " + changes)
		}
	}
	return ledger.RequireForm(c.Folder, h)
}

// Way returns the route of the checkpoints to the remote, for the journal. It returns nil if the
// run makes no checkpoints.
func (c *Carrier) Way() *event.GitWay { return c.way }

// IsElsewhere reports whether Start restored the journal of a run in another clone. The processes
// of that run may still be at work, on this machine or another.
func (c *Carrier) IsElsewhere() bool { return c.elsewhere }

// Save makes a checkpoint if subjectOf lists one of the journaled events, such as an accepted reply
// or the end of a run. The observer gets the events only afterwards. After an error Save makes no
// other checkpoint, and returns the same error again.
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
	err := c.store.Save(c.Kill, point)
	if wasSignaled(err) && c.Kill.Err() == nil {
		err = errors.Join(c.store.unlockRef(), c.store.Save(c.Kill, point))
	}
	c.err = explain(err)
	c.pending = append(c.pending, c.takeEvents()...)
	// A push takes seconds. Meanwhile a person or another board's agent might have changed a task,
	// so the files have to be read again.
	c.Workspace.Forget()
	return c.err
}

// mostNamed bounds the names in a notice.
const mostNamed = 5

// takeEvents returns the events about what has just happened at a checkpoint.
func (c *Carrier) takeEvents() (all []event.Event) {
	if left := c.store.TakeLeftOut(); len(left) > 0 {
		all = append(all, event.LeftOut{Board: c.Board, Branch: c.store.Branch, Names: left})
	}
	if reason := c.store.TakeFailure(); reason != "" {
		all = append(all, event.PushFailed{Board: c.Board, Branch: c.store.Branch, Reason: reason})
		c.arrived = false
	} else if c.Journal.State().Unpushed != "" && !c.store.Waits() && !c.arrived {
		c.arrived = true
		all = append(all, event.Pushed{Board: c.Board, Branch: c.store.Branch})
	}
	return all
}

// RecordEvents journals what happened at the last checkpoint: a push that failed or came through, or
// files that were left out. Save cannot do that, because the journal calls it. What happened at the
// checkpoint of a run's end is journaled behind that end.
func (c *Carrier) RecordEvents() error {
	defer func() { c.arrived = false }()
	for len(c.pending) > 0 {
		e := c.pending[0]
		c.pending = c.pending[1:]
		if err := c.Journal.Record(e); err != nil {
			return err
		}
	}
	return nil
}

// Branch returns the name of the branch if it has checkpoints of the board, and "" otherwise.
func (c *Carrier) Branch() string {
	if c.store == nil || c.store.tip == "" {
		return ""
	}
	return c.store.Branch
}

// Hook names the programs that a push may start.
const Hook = "a hook of git"

// Hearers names the programs that hear of the end of a run: the command for notifications, and hooks if
// there are checkpoints, which may be pushed.
func (c *Carrier) Hearers() string {
	command := strings.Join(c.Roster.NotifyCommand(), " ")
	switch {
	case command == "":
		return Hook
	case c.Branch() == "":
		return command
	}
	return command + " or " + Hook
}

// Unpushed returns the name of the branch if the remote may lack some of its checkpoints, and ""
// otherwise.
func (c *Carrier) Unpushed() string {
	if c.store == nil || !c.store.Waits() {
		return ""
	}
	return c.store.Branch
}

// Unreached returns the reason why the remote may lack checkpoints, or "".
func (c *Carrier) Unreached() string {
	if c.Unpushed() == "" {
		return ""
	}
	return c.store.told
}

// IsUnsaved reports whether the last checkpoint failed.
func (c *Carrier) IsUnsaved() bool { return c.err != nil }

func isEnd(e event.Event) bool {
	switch e.(type) {
	case event.RunFinished, event.RunInterrupted:
		return true
	default:
		return false
	}
}

// subjectOf returns the subject of the checkpoint for an event, and the status or verdict of the
// reply that the event holds. The subject is "" if the event gets no checkpoint.
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

package call

import (
	"path"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/briefing"
	"kanban-run/orchestrator/contract"
)

// brief returns what the supervisor is told about the board. It first saves the journal and the
// session, because a supervisor that dies in this call is briefed again from the disk.
func (c *Caller) brief(a *Attempt, b *board.Board) (briefing.About, error) {
	if err := c.Journal.Commit(); err != nil {
		return briefing.About{}, err
	}
	about := c.surroundings(a, b)
	var err error
	if about.RoleSpec, err = c.Supervisor.Briefing().SaveRoleSpec(a.Player.Role); err != nil {
		return about, err
	}
	return about, c.Supervisor.Briefing().SaveSession(about, false)
}

func (c *Caller) surroundings(a *Attempt, b *board.Board) briefing.About {
	state := c.Journal.State()
	v, tasks := state.Supervisor, c.Workspace.Tasks(b)
	finished := map[string]bool{}
	for _, t := range state.Statuses {
		finished[path.Clean(t.Task)] = t.IsDone()
	}
	done := make([]bool, b.Len())
	for i := range done {
		done[i] = b.Entry(i).Done() || finished[path.Clean(tasks[i])]
	}
	about := briefing.About{Board: c.Board, Done: done, RoleSpec: a.Player.Role.File, Requirement: v.Plan.Requirement,
		Tasks: tasks, Supervisor: v}
	if about.Requirement == "" && len(about.Tasks) > 0 {
		about.Requirement = about.Tasks[0]
	}
	return about
}

// redacted hides the secrets in an input of the supervisor. redacted is called before the first
// attempt, because the input is journaled and a retry gets the same bytes.
func (c *Caller) redacted(in contract.Input, err error) (contract.Input, error) {
	if in.Text = c.Redactor.String(in.Text); in.JSON != nil {
		in.JSON = []byte(c.Redactor.String(string(in.JSON)))
	}
	return in, err
}

// readsText reports whether the supervisor gets text. A model that goes on in a conversation gets
// text, and any other program gets JSON.
func (c *Caller) readsText(a *Attempt) bool {
	return a.Intent.From != "" || c.Supervisor.Resident() != nil && a.Player.Adapter.Tool().Signals.Session
}

// saveSession writes the memory of the supervisor to team-session.json.
func (c *Caller) saveSession(a *Attempt) error {
	b, err := c.Workspace.Look()
	if err != nil {
		return nil // the next round of the loop reports the error
	}
	return c.Supervisor.Briefing().SaveSession(c.surroundings(a, b), true)
}

// noticeNotes passes on to people what the supervisor was told about its own files.
func (c *Caller) noticeNotes() {
	for _, text := range c.Supervisor.Briefing().Notes() {
		c.Observer.Notice(c.Board, text)
	}
}

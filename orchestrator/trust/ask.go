package trust

import (
	"errors"
	"slices"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
)

// ChangedError is the error for a start of what an agent changed, until a person accepts it.
type ChangedError struct {
	Board   string // the board that is refused
	Changes []flow.Changed
	IsOfOne bool // only this call is refused, others are not
}

func (e *ChangedError) Error() string {
	byTask := map[string][]event.ChangedFile{}
	var tasks []string
	for _, c := range e.Changes {
		task := c.Task
		if c.Board != e.Board && c.Board != "" && !strings.Contains(task, c.Board) {
			task += " of " + c.Board
		}
		if byTask[task] == nil {
			tasks = append(tasks, task)
		}
		byTask[task] = append(byTask[task], c.ChangedFile)
	}
	var parts []string
	for _, t := range tasks {
		parts = append(parts, t+" changed "+event.NamesOf(byTask[t]))
	}
	return "changed: " + strings.Join(parts, "; ") + ", which gets or decides more than the agent that had the turn"
}

// matters reports whether a change can ever count: a program that gets no more than the agent did
// does not.
func (k *Keeper) matters(f event.ChangedFile, reach event.Reach) bool {
	switch f.By {
	case event.ProgramFile, event.PathFile, event.ServersFile, event.TaskRole:
		return k.exceeds(f.Roles, reach, anyPlayer)
	default:
		return true
	}
}

// isAsked reports whether a person has to accept a change of an earlier turn before a run starts
// anything with it. The parameter of selects the players that the run starts.
func (k *Keeper) isAsked(c flow.Changed, of func(*roster.Player) bool) bool {
	switch {
	case c.By == event.SettingsFile && isForOneRole(c.ChangedFile):
		return k.exceeds(c.Roles, c.Reach, of)
	case c.By == event.RoleFile && slices.Contains([]string{body, "review", "watch.judge"}, c.Field):
		return k.has(c.Roles, of)
	case c.By == event.RoleFile && slices.Contains([]string{"args", "mcp_config", "disallowedTools"}, c.Field):
		return k.exceeds(c.Roles, c.Reach, of) || k.has(c.Roles, func(p *roster.Player) bool { return of(p) && p.IsHeld() })
	case c.By == event.RoleFile, c.By == event.ProgramFile, c.By == event.PathFile, c.By == event.ServersFile:
		return k.exceeds(c.Roles, c.Reach, of)
	case c.By == event.ReviewFile:
		return k.has(c.Roles, func(p *roster.Player) bool { return of(p) && k.asksOfReview(p, c.Reach) })
	case c.By == event.PromptFile:
		return k.Prompts || slices.ContainsFunc(k.Roster.Loaded(k.Dir), func(p *roster.Player) bool { return of(p) && p.Supervisor != nil })
	case c.By == event.TaskRole:
		return false // Refuse asks when it is due
	default:
		return true
	}
}

// asksOfReview reports whether a person has to accept a change of the command that reviews a role's
// work: the role says so, or the command gets more than the agent that changed it.
func (k *Keeper) asksOfReview(p *roster.Player, changer event.Reach) bool {
	reach := k.reach(p)
	reach.Decides = false
	return p.Role.Review.AsksOfChange || reach.Exceeds(changer)
}

// GiveTasks journals that a turn has given other tasks to their roles: the turn of an agent with this
// reach, at work on the task by. It has an effect only with a Manager that is no model, since a model
// decides about a task in its own turn.
func (k *Keeper) GiveTasks(by, player string, reach event.Reach, tasks []string) (err error) {
	if k == nil {
		return nil
	}
	if manager, err := k.Roster.Player(event.ManagerRole, k.Dir); err != nil || !manager.Pretends {
		return nil
	}
	for _, task := range tasks {
		role := k.RoleOf(task)
		if role == "" {
			continue // it has no file yet, or cannot be read
		}
		err = errors.Join(err, k.record(event.FilesChanged{Board: k.Board, Task: by, Role: player, Reach: reach,
			Files: []event.ChangedFile{{By: event.TaskRole, File: task, Field: "role", Roles: []string{role}, SHA: board.SHA([]byte(role))}}}))
	}
	return err
}

// Reach returns what the agent of a player gets and decides.
func (k *Keeper) Reach(p *roster.Player) event.Reach {
	if k == nil {
		return event.Reach{}
	}
	return k.reach(p)
}

// Refuse returns a *ChangedError if the program of a call may not be started: an agent has changed
// it, and it gets or decides more than that agent.
func (k *Keeper) Refuse(task string, p *roster.Player) error {
	if k == nil {
		return nil
	}
	refused := slices.Clone(k.asks)
	this := func(o *roster.Player) bool { return strings.EqualFold(o.Role.Name, p.Role.Name) }
	for _, c := range k.Journal.State().Changed {
		isFresh := contains(k.fresh, c.ChangedFile)
		asked := false
		switch {
		case slices.ContainsFunc(refused, func(o flow.Changed) bool { return o.Is(c.ChangedFile) }):
		case c.By == event.TaskRole:
			asked = c.File == task && isOf(p, c.Roles) && k.exceeds(c.Roles, c.Reach, this)
		case isFresh: // this run goes on with what it has read, but for programs
			asked = c.By == event.ProgramFile && !p.Reviews && isOf(p, c.Roles) && k.exceeds(c.Roles, c.Reach, this) ||
				c.By == event.ReviewFile && p.Reviews && isOf(p, c.Roles) && k.asksOfReview(p, c.Reach)
		default: // the role was not used when the run began
			asked = k.isAsked(c, this)
		}
		if asked {
			refused = append(refused, c)
		}
	}
	if refused == nil {
		return nil
	}
	return &ChangedError{Board: k.Board, Changes: refused, IsOfOne: k.asks == nil}
}

// RefuseInTurn returns a *ChangedError if the program of a judge may not be started while an agent is
// at work, because it was changed in this turn or before.
func (k *Keeper) RefuseInTurn(p *roster.Player) error {
	if k == nil {
		return nil
	}
	for _, f := range difference(k.known, k.look()) {
		if f.By == event.ProgramFile && isOf(p, f.Roles) {
			return &ChangedError{Changes: []flow.Changed{{ChangedFile: f, Task: "the agent at work"}}}
		}
	}
	return k.Refuse("", p)
}

// ReviewedBy returns what agents changed of the command that reviews a role's work, in words such as
// "check.sh, which tasks/1.md changed"; "": nothing. The first time it gives a warning, too.
func (k *Keeper) ReviewedBy(role string) (text string) {
	if k == nil {
		return ""
	}
	var parts []string
	for _, c := range k.Journal.State().Changed {
		if c.By == event.ReviewFile && slices.Contains(c.Roles, role) {
			parts = append(parts, c.File+", which "+c.Task+" changed")
		}
	}
	if text = event.List(parts, 3); text != "" && !k.warned {
		k.warned = true
		k.Notice("the work of " + role + " is judged by " + text + "; review: {changed: ask} in its role file has a person look first")
	}
	return text
}

// reach returns what the agent of a player gets and decides on this board.
func (k *Keeper) reach(p *roster.Player) event.Reach {
	reach := p.Reach()
	reach.Decides = k.decides(p.Role.Name)
	return reach
}

func (k *Keeper) decides(role string) bool {
	return k.Roster.Decides(role) || k.Supervisor != "" && strings.EqualFold(role, k.Supervisor)
}

func anyPlayer(*roster.Player) bool { return true }

// isUsed reports whether the board needs the player's role, as it stood when the run began.
func (k *Keeper) isUsed(p *roster.Player) bool { return isOf(p, k.Used) }

// exceeds reports whether a player of the roles that is selected gets or decides more than an agent of
// this reach.
func (k *Keeper) exceeds(roles []string, reach event.Reach, of func(*roster.Player) bool) bool {
	return k.has(roles, func(p *roster.Player) bool { return of(p) && k.reach(p).Exceeds(reach) })
}

// has reports whether a program that a run would start plays one of the roles, and is selected.
func (k *Keeper) has(roles []string, of func(*roster.Player) bool) bool {
	return slices.ContainsFunc(k.Roster.Loaded(k.Dir), func(p *roster.Player) bool { return !p.Pretends && isOf(p, roles) && of(p) })
}

// isOf reports whether a program plays one of the roles. A redacted role may be any.
func isOf(p *roster.Player, roles []string) bool {
	return slices.ContainsFunc(roles, func(r string) bool {
		return strings.EqualFold(r, p.Role.Name) || strings.Contains(r, redact.Mark)
	})
}

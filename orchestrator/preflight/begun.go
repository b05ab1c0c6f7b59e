package preflight

import (
	"cmp"
	"path/filepath"
	"slices"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/roster"
)

// Begun returns the event for the start of a run, with the settings of the run. If no Manager is
// needed, as at the end of a board, it is no error that none can be started. Errors: *failure.Invalid.
func (p *Prepared) Begun(b *board.Board, needsManager bool) (e event.RunStarted, err error) {
	manager, err := p.Player(event.ManagerRole)
	if err != nil && needsManager {
		return e, &failure.Invalid{Err: err}
	}
	e = event.RunStarted{
		Board: p.Board, Workdir: p.Workspace.HomeDir(), FromBoard: p.Workspace.Place.FromBoard(), Version: p.Version, Form: event.Form, Limits: p.Limits,
		OnDivergence: p.Run.OnDivergence, Tasks: b.Len(), Lenient: !p.Run.Strict, Reassign: p.Run.Reassign,
		KeepGoing: p.KeepsGoing(), ByNeeds: p.HasNeeds(), Allowed: p.Run.Git.Allow, Discarded: p.Run.Discarded, Lands: p.Run.Land,
	}
	e.Withheld, e.PartlyWithheld = p.Withheld()
	e.Command = p.Command()
	if manager != nil {
		e.Manager, e.Told = manager.Adapter.Name(), manager.Role.Anomalies
	}
	return e, nil
}

// Command returns the command line of the run without secrets.
func (p *Prepared) Command() *event.Command {
	board := p.Board
	if !filepath.IsAbs(board) {
		board = filepath.Join(p.StartDir, board)
	}
	dir, err := filepath.Rel(filepath.Dir(board), p.GivenIn)
	if err != nil {
		return nil
	}
	flags := append([]string{}, p.Flags...)
	for i := range flags {
		flags[i] = p.Redactor.String(flags[i])
	}
	return &event.Command{Flags: flags, Dir: filepath.ToSlash(dir), Board: p.Board}
}

// Withheld returns the environment variables that at least one of the run's agents does not get,
// and those of them that other agents get, by role. The agents are those of the open tasks, who also
// review them, the Manager unless it pretends, and the supervisor.
func (p *Prepared) Withheld() (names []string, partly []event.PartlyWithheld) {
	players := p.players()
	missing := map[string][]string{} // the roles that miss a variable
	for _, player := range players {
		for _, name := range player.Withheld {
			missing[name] = append(missing[name], player.Role.Name)
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		if len(missing[name]) == len(players) {
			continue
		}
		same := func(o event.PartlyWithheld) bool { return slices.Equal(o.Roles, missing[name]) }
		if i := slices.IndexFunc(partly, same); i >= 0 {
			partly[i].Names = append(partly[i].Names, name)
		} else {
			partly = append(partly, event.PartlyWithheld{Roles: missing[name], Names: []string{name}})
		}
	}
	return names, partly
}

// players returns one player for each role that the run is sure to need, sorted by role. It leaves
// out the judges, which only a hung agent needs. A task that was worked on may have a role that is
// gone.
func (p *Prepared) players() (all []*roster.Player) {
	for d := range p.checked {
		player, err := p.Player(d.role)
		judges := d.readOnly && (p.Supervision == nil || d.role != p.Supervision.Role)
		if err != nil || judges || player.Role.Name == event.ManagerRole && player.Pretends {
			continue
		}
		all = append(all, player)
	}
	byRole := func(a, b *roster.Player) int { return cmp.Compare(a.Role.Name, b.Role.Name) }
	slices.SortFunc(all, byRole)
	return slices.CompactFunc(all, func(a, b *roster.Player) bool { return byRole(a, b) == 0 })
}

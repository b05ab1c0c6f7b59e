package trust

import (
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/roster"
)

func (k *Keeper) look() []event.ChangedFile { return k.watch.values(k.sources()) }

// sources returns the files that decide, for the roles that the run has loaded so far.
func (k *Keeper) sources() []source {
	players := k.Roster.Loaded(k.Dir)
	if k.all == nil || len(players) != k.players {
		k.all, k.players = k.findSources(players), len(players)
	}
	return k.all
}

func (k *Keeper) findSources(players []*roster.Player) (all []source) {
	add := func(by event.Decider, role string, paths ...string) {
		for _, p := range paths {
			if s := (source{by, p, role}); !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	add(event.SettingsFile, "", k.Roster.Places.Settings)
	add(event.RoleFile, "", k.Roster.Places.Roles...)
	add(event.NotifyFile, "", Files(k.Roster.NotifyCommand(), "", k.Dir, k.watch.top)...)
	add(event.PromptFile, "", k.Roster.SupervisorPrompts(k.Dir)...)
	for _, p := range players {
		if _, known := k.files[p]; !known {
			k.files[p] = k.filesOf(p)
		}
		for _, s := range k.files[p] {
			add(s.by, s.role, s.path)
		}
	}
	return all
}

// filesOf returns the files of one role's programs.
func (k *Keeper) filesOf(p *roster.Player) (files []source) {
	add := func(by event.Decider, paths ...string) {
		for _, path := range paths {
			if !k.Skip(path) {
				files = append(files, source{by, path, p.Role.Name})
			}
		}
	}
	a := p.Assignment
	add(event.ProgramFile, Files(slices.Concat(a.Command, a.Args), a.Path, k.Dir, k.watch.top)...)
	add(event.ProgramFile, p.ProjectFiles()...)
	if a.MCP != "" {
		add(event.ServersFile, a.MCP)
	}
	if p.Command != nil {
		add(event.ReviewFile, Files(p.Command.Assignment.Command, p.Command.Assignment.Path, k.Dir, k.watch.top)...)
	}
	add(event.PathFile, k.placesBefore(p)...)
	return files
}

// placesBefore returns the paths in the work tree at which the next run would find the program of a
// player instead of the one that this run has found.
func (k *Keeper) placesBefore(p *roster.Player) (paths []string) {
	name := p.Adapter.Tool().Program
	if argv := p.Assignment.Command; len(argv) > 0 {
		name = argv[0]
	}
	if name == "" || strings.ContainsRune(name, filepath.Separator) {
		return nil
	}
	for _, folder := range filepath.SplitList(roster.Variable(p.Assignment.Env, "PATH")) {
		path := resolve(k.Dir, filepath.Join(folder, name))
		if path == p.Assignment.Path {
			break
		}
		if isBelow(k.watch.top, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

package roster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/failure"
)

// CheckSettings returns an error if a setting names what does not exist: an adapter, a role, the file
// of the stub, or a command that cannot be split into words, even if no role of a board uses it. The
// error has the place of the setting.
func (r *Roster) CheckSettings() error {
	return cmp.Or(r.checkAdapters(), r.checkCommands(), r.checkReassign(), r.checkJudge(), r.checkStub())
}

func (r *Roster) checkAdapters() error {
	adapters := map[string]string{"agent": r.Settings.Agent}
	for role, name := range r.Settings.Agents {
		adapters["agent."+role] = name
	}
	for _, setting := range slices.Sorted(maps.Keys(adapters)) {
		name := adapters[setting]
		if name != "" && !r.DryRun && r.adapter(name) == nil {
			return r.Settings.Fault(setting, fmt.Errorf("%s: %w", setting, unknownAdapter(name)))
		}
	}
	return nil
}

func (r *Roster) checkCommands() error {
	commands := map[string]string{"exec": r.Settings.Exec, "notify.command": r.Settings.Notify.Command}
	for role, command := range r.Settings.Execs {
		commands["exec."+role] = command
	}
	for _, setting := range slices.Sorted(maps.Keys(commands)) {
		if commands[setting] == "" {
			continue
		}
		if _, err := agent.SplitCommand(commands[setting]); err != nil {
			return r.Settings.Fault(setting, fmt.Errorf("%s: %w", setting, err))
		}
	}
	return nil
}

func (r *Roster) checkReassign() error {
	for _, one := range r.Settings.Reassign {
		for _, to := range one.Agents {
			if _, err := r.Roles.Lookup(to); err != nil && r.adapter(to) == nil {
				return r.Settings.Fault("reassign."+one.Role+"."+to, &failure.Invalid{
					Err: fmt.Errorf("reassign: %s: %w", one.Role, err),
					Fix: "name adapters, or roles that kanban-run roles lists",
				})
			}
		}
	}
	return nil
}

func (r *Roster) checkJudge() error {
	if r.Settings.Watch.Judge == "" {
		return nil
	}
	if _, err := r.Roles.Lookup(r.Settings.Watch.Judge); err != nil {
		return r.Settings.Fault("watch.judge", fmt.Errorf("watch.judge: %w", err))
	}
	return nil
}

func (r *Roster) checkStub() error {
	if r.Settings.Stub == "" {
		return nil
	}
	return r.Settings.Fault("stub", r.stub().Check(agent.Assignment{}))
}

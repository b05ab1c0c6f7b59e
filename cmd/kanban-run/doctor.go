package main

import (
	"fmt"
	"os"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/trust"
)

// examine prints its findings about the programs of all roles, and returns the exit code.
func (u *setup) examine(t *terminal) (int, error) {
	r, err := u.resolve(u.dir)
	if err != nil {
		return 0, err
	}
	executable, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("find kanban-run itself: %w", err)
	}
	if err := proc.Adopt(); err != nil {
		return 0, err
	}
	stop, _, release := t.contexts(func(bool) {})
	defer release()
	agents := u.roster(r, executable, "", false)
	u.redactor(agents)
	agents.LoadAll(u.dir) // the examination reports what is wrong
	if err := trust.RefuseHere(u.dir, agents, false); err != nil {
		return 0, err
	}
	errs, warnings := 0, 0
	for _, e := range agents.Examine(stop, u.dir) {
		if stop.Err() != nil {
			return 0, e.Err
		}
		bad, odd := t.printExamination(e)
		errs, warnings = errs+bad, warnings+odd
	}
	for _, a := range roster.FindInstallable() {
		if a.Path == "" {
			_ = t.stdout.Printf("not installed: %-9s %s\n", a.Agent, a.Install)
		}
	}
	_ = t.stdout.Printf("agents: %s, %s\n", event.Count(errs, "error"), event.Count(warnings, "warning"))
	if errs > 0 {
		return exitInvalid, nil
	}
	return exitComplete, nil
}

// printExamination prints the findings about one program, and returns the number of errors and of
// warnings.
func (t *terminal) printExamination(e roster.Examination) (errs, warnings int) {
	names := strings.Join(e.Roles, ", ")
	if e.Err == nil && e.Project != nil {
		_ = t.stdout.Printf("warning: %s: %s is not confined by the permission of the role: it may run what %s names\n", names, e.Agent,
			strings.Join(e.Project, " or "))
		warnings++
	}
	switch {
	case e.Err != nil:
		_ = t.stdout.Printf("error: %s: %s\n", names, e.Err.Error())
		if hint := failure.HintOf(e.Err); hint != "" {
			_ = t.stdout.Printf("  hint: %s\n", hint)
		}
		return 1, 0
	case e.Agent == event.Walker:
		_ = t.stdout.Printf("%s: walk, which is no program\n", names)
		return 0, 0
	case !e.Known():
		_ = t.stdout.Printf("%s: %s: %s; nothing is known of its version\n", names, e.Agent, e.Shown)
		return 0, 0
	case len(e.Missing) > 0:
		_ = t.stdout.Printf("error: %s: %s %s at %s has no %s\n", names, e.Agent, e.Version, e.Shown,
			strings.Join(e.Missing, ", "))
		_ = t.stdout.Printf("  hint: install the version that kanban-run was tested with, %s\n", e.Tested)
		return 1, warnings
	case !e.SameVersion():
		_ = t.stdout.Printf("warning: %s: %s %s at %s; kanban-run was tested with %s\n", names, e.Agent,
			e.Version, e.Shown, e.Tested)
		return 0, warnings + 1
	default:
		_ = t.stdout.Printf("%s: %s %s at %s, the version that kanban-run was tested with\n", names, e.Agent,
			e.Version, e.Shown)
		return 0, warnings
	}
}

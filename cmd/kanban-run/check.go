package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/frontmatter"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/workspace"
)

func checkCommand() command {
	return command{
		name:    "check",
		args:    "[--fix] [--plan] [--agents] BOARD...",
		summary: "say what is wrong or odd about boards, or the agents' programs",
		long: `
Exit code 0 means that a run would start. A warning is something odd that a run puts up with, or something that is
missing on this machine, such as an agent's command. Exit code 2 means that a run would refuse the board, or that a
field of a task says what it cannot mean.

--fix repairs what is safe: an unquoted value that holds a colon becomes a | block, a bare current gets the folder of
the board. All other bytes stay.

--plan also says in which order the open tasks would be worked on if every one were ok.

--agents looks at the program of every role, with a board or without one: whether it is there, which version it has,
and whether it has the options that are needed. That costs nothing.`,
		examples: `
  kanban-run check nightly/*.yaml   before a night
  kanban-run check --agents         are the agents installed, and which versions?`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir", "roles", "agent", "exec", "stub", "keep_going")
			var o checkOptions
			flags.BoolVar(&o.fix, "fix", false, "repair what is safe")
			flags.BoolVar(&o.plan, "plan", false, "say in which order the open tasks would be worked on")
			flags.BoolVar(&o.agents, "agents", false, "look at the program of every role")
			flags.BoolVar(&o.json, "json", false, "print what was found about boards as JSON")
			return func(t *terminal, args []string) (int, error) {
				if len(args) > 0 || !o.agents || o.fix {
					if err := boardArgs("check", args, false); err != nil {
						return 0, err
					}
				}
				if o.json && o.agents {
					return 0, &usageError{text: "--json is about boards, and not about --agents", hint: "leave one of them out"}
				}
				if err := refuseAgents(!o.fix); err != nil {
					return 0, err
				}
				u, err := s.load(t)
				if err != nil {
					return 0, err
				}
				return u.checkAll(t, args, o)
			}
		},
	}
}

type checkOptions struct{ fix, plan, agents, json bool }

// checkAll looks at boards and at agents, prints what it finds, and returns the exit code.
func (u *setup) checkAll(t *terminal, boards []string, o checkOptions) (int, error) {
	found := []checked{}
	for _, name := range boards {
		found = append(found, u.check(name, o.fix, o.plan))
	}
	code := codeOfChecks(found)
	if o.json {
		return code, t.stdout.JSON(checks{1, found}, "  ")
	}
	if slices.ContainsFunc(boards, u.isOutsideGit) {
		_ = t.stdout.Printf("note: %s\n", event.NoGitText)
	}
	for i := range found {
		t.printChecked(&found[i])
	}
	if !o.agents {
		return code, nil
	}
	examined, err := u.examine(t)
	return worst([]int{code, examined}), err
}

// checks is what check --json prints.
type checks struct {
	Version int       `json:"version"`
	Boards  []checked `json:"boards"`
}

// checked is what check says of a board.
type checked struct {
	Board    string        `json:"board"`
	Fixed    []string      `json:"fixed,omitempty"` // what --fix has repaired
	Problems []problem     `json:"problems"`
	Plan     []plannedStep `json:"plan,omitempty"` // the order of --plan
	err      error         // the board cannot be read; nil: it can
	fixes    bool          // --fix was given
}

// problem is something wrong or odd. A run would refuse the board for an error.
type problem struct {
	Severity string `json:"severity"` // "error" or "warning"
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Text     string `json:"text"`
	Hint     string `json:"hint,omitempty"`
}

// plannedStep is a task of the plan, and the tasks that have to be done before it.
type plannedStep struct {
	Task  string   `json:"task"`
	Role  string   `json:"role"`
	Needs []string `json:"needs,omitempty"`
}

// check looks at one board.
func (u *setup) check(name string, fix, plan bool) (c checked) {
	c = checked{Board: name, Problems: []problem{}, fixes: fix}
	if fix {
		c.Fixed, c.err = u.fix(name)
	}
	var found []*frontmatter.Problem
	if c.err == nil {
		if found, c.err = u.problems(name); c.err != nil {
			c.err = &invalidSettings{c.err}
		}
	}
	if p, ok := errors.AsType[*frontmatter.Problem](c.err); ok {
		found = []*frontmatter.Problem{p}
	} else if c.err != nil {
		found = []*frontmatter.Problem{{Text: c.err.Error(), Fix: failure.HintOf(c.err)}}
	}
	for _, p := range found {
		if fix {
			p.Fix = strings.ReplaceAll(p.Fix, frontmatter.FixHint, "") // it was not safe
		}
		severity := "error"
		if p.Warning {
			severity = "warning"
		}
		c.Problems = append(c.Problems, problem{severity, p.File, p.Line, p.Column, p.Text, p.Fix})
	}
	if plan && c.err == nil {
		c.Plan = u.plan(name)
	}
	return c
}

func codeOfChecks(all []checked) int {
	codes := []int{exitComplete}
	for i := range all {
		switch c := &all[i]; {
		case c.err != nil:
			codes = append(codes, codeOfError(c.err))
		case c.count("error") > 0:
			codes = append(codes, exitInvalid)
		}
	}
	return worst(codes)
}

// printChecked prints what check says of a board.
func (t *terminal) printChecked(c *checked) {
	for _, note := range c.Fixed {
		_ = t.stdout.Printf("fixed: %s\n", note)
	}
	if c.fixes && len(c.Fixed) == 0 && c.count("error") > 0 {
		_ = t.stdout.Printf("fixed: nothing, because it is not safe to mend what follows\n")
	}
	if c.err != nil {
		t.explain(c.err)
		return
	}
	for _, p := range c.Problems {
		place := frontmatter.Problem{File: p.File, Line: p.Line, Column: p.Column, Text: p.Text}
		_ = t.stdout.Printf("%s: %s\n", p.Severity, place.Error())
		if p.Hint != "" {
			_ = t.stdout.Printf("  hint: %s\n", p.Hint)
		}
	}
	_ = t.stdout.Printf("%s: %s, %s\n", c.Board, event.Count(c.count("error"), "error"), event.Count(c.count("warning"), "warning"))
	for i, step := range c.Plan {
		text := fmt.Sprintf("%3d  %s  %s", i+1, step.Task, step.Role)
		if len(step.Needs) > 0 {
			text += "  needs " + strings.Join(step.Needs, ", ")
		}
		_ = t.stdout.Printf("%s\n", text)
	}
}

// count returns the number of problems with a severity.
func (c *checked) count(severity string) (n int) {
	for _, p := range c.Problems {
		if p.Severity == severity {
			n++
		}
	}
	return n
}

// isOutsideGit reports whether the work directory of a board is outside of every Git repository.
func (u *setup) isOutsideGit(name string) bool {
	_, place, err := u.open(name)
	if err != nil {
		return false // check reports the error
	}
	return !workspace.IsInGit(place.Dir())
}

// plan returns the order in which a run would work on the open tasks of a board, and nothing for a board
// that cannot be read.
func (u *setup) plan(name string) (all []plannedStep) {
	b, place, err := u.open(name)
	if err != nil {
		return nil // check has reported the error
	}
	for _, step := range board.Plan(b, place, pastOf(name, b, place)) {
		all = append(all, plannedStep{step.Task, step.Role, step.Needs})
	}
	return all
}

// pastOf returns the facts from a board's journal that matter to the plan. It leaves out what
// cannot be read, because check has reported that.
func pastOf(name string, b *board.Board, place *board.Place) board.Past {
	p := board.Past{Done: map[int]bool{}, Skipped: map[int]bool{}}
	now, _ := inspect.Looker{Keep: keepLast}.Look(name)
	state := &now.History.State
	p.Never = now.State == projection.NeverRun
	taskSHA := func(task string) string { return workspace.TaskSHA(place, task) }
	_, marked, _ := state.AsidesOn(workspace.ListOf(b, place.ReadTask))
	for i, t := range now.Tasks {
		if t.Left != "" {
			break // those behind are not on the list
		}
		task := cmp.Or(t.Seen, t.Task)
		p.Done[i] = t.State.IsDone() || t.State == projection.Settled || state.IsDecided(task) || slices.Contains(marked, task)
		q := state.Quarantined(task)
		stays := q != nil && state.WhyReleased(*q, workspace.Bare(b), taskSHA) == ""
		p.Skipped[i] = stays
	}
	return p
}

// problems returns the errors and warnings of a board. It fails if the board cannot be read.
func (u *setup) problems(name string) ([]*frontmatter.Problem, error) {
	b, place, err := u.open(name)
	if err != nil {
		return nil, err
	}
	r, err := u.resolve(place.Dir())
	if err != nil {
		return nil, err
	}
	found := append(board.Check(b, place), watchProblems(b, place, r.settings.Watch)...)
	found = append(found, u.refusal(name, found)...)
	if err := refusedJournal(name); err != nil {
		found = append(found, &frontmatter.Problem{File: name, Text: err.Error(), Fix: failure.HintOf(err)})
	}
	return found, nil
}

// open reads a board and opens its work directory.
func (u *setup) open(name string) (*board.Board, *board.Place, error) {
	source, err := board.ReadFile(name)
	if err != nil {
		return nil, nil, cmp.Or(inspect.ExplainMissing(name), err)
	}
	b, err := board.Parse(name, source)
	if err != nil {
		return nil, nil, err
	}
	place, err := u.place(name, b)
	return b, place, err
}

// place opens the work directory of a board.
func (u *setup) place(name string, b *board.Board) (*board.Place, error) {
	dir, err := inspect.Workdir(u.workdir, name, u.dir, b)
	if err != nil {
		return nil, err
	}
	place, err := board.OpenPlace(dir, name)
	if err == nil {
		place.Lookup, _ = u.lookup(dir) // the callers that need the settings report the error
	}
	return place, err
}

// lookup returns a function that returns an error for a role that is unknown in a work directory. Errors:
// those of its settings and role files.
func (u *setup) lookup(workdir string) (func(role string) error, error) {
	r, err := u.resolve(workdir)
	if err != nil {
		return nil, err
	}
	return func(role string) error { _, err := r.roles.Lookup(role); return err }, nil
}

// watchProblems returns the faults in the watch settings that tasks declare for themselves. A run
// ignores such settings.
func watchProblems(b *board.Board, place *board.Place, w config.Watch) (found []*frontmatter.Problem) {
	for i := range b.Len() {
		e := b.Entry(i)
		values := place.ReadBrief(e.Path).Watch
		if e.Done() || len(values) == 0 {
			continue
		}
		if task, err := place.ReadTask(e.Path); err != nil || task.Done() {
			continue
		}
		_, err := w.With(e.Path, values)
		if wrong, ok := errors.AsType[*frontmatter.Problem](err); ok {
			found = append(found, wrong)
		}
	}
	return found
}

// refusal returns the reason why a run would refuse the board. If a run would accept the board,
// refusal returns the run's warnings. A command that is missing on this machine is only a warning,
// because it is no fault of the board. Any other reason is an error. If the parameter "found"
// already holds an error, refusal does not return a second error.
func (u *setup) refusal(name string, found []*frontmatter.Problem) []*frontmatter.Problem {
	executable, err := os.Executable()
	if err != nil {
		return nil
	}
	prepared, err := preflight.Prepare(preflight.Job{
		Board:     name,
		StartDir:  u.dir,
		Workdir:   u.workdir,
		Observer:  ledger.Silent{},
		Now:       time.Now,
		Configure: u.configure(executable, "", false),
	})
	if err == nil {
		return oddities(name, prepared)
	}
	var setup *agent.ConfigError
	here := errors.As(err, &setup) && setup.Missing
	known := slices.ContainsFunc(found, func(p *frontmatter.Problem) bool { return !p.Warning })
	if known && !here {
		return nil
	}
	if p, ok := errors.AsType[*frontmatter.Problem](err); ok && (p.File == name || p.Error() == err.Error()) {
		p.Warning = here
		return []*frontmatter.Problem{p}
	}
	return []*frontmatter.Problem{{File: name, Text: err.Error(), Fix: failure.HintOf(err), Warning: here}}
}

// refusedJournal returns the error with which a run would refuse the board's journal, or nil.
func refusedJournal(name string) error {
	dir, err := inspect.Locate(name)
	if err != nil {
		return err
	}
	h, _, err := inspect.History(name, nil)
	if errors.As(err, new(*ledger.NoRunError)) {
		return nil
	}
	return cmp.Or(err, ledger.RequireForm(dir, h))
}

// oddities returns the warnings of a run that would accept the board.
func oddities(name string, prepared *preflight.Prepared) (found []*frontmatter.Problem) {
	for _, text := range prepared.Warnings {
		found = append(found, &frontmatter.Problem{File: name, Text: text, Warning: true})
	}
	return found
}

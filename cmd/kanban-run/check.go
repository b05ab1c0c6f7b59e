package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
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
	"kanban-run/orchestrator/plainfile"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/workspace"
)

func checkCommand() command {
	return command{
		name:    "check",
		args:    "[--fix] [--agents] BOARD...",
		summary: "say what is wrong or odd about boards, or about the agents",
		long: `
Exit code 0: nothing about the board or its tasks stops a run. A warning is something odd that a run puts up with, or
something that is missing on this machine, such as an agent's command. Exit code 2: a run would refuse the board, also because
this user cannot replace its file here, or a field of a task says what it cannot mean, so that a run leaves it out.
--fix repairs what is safe: an unquoted value that holds a colon becomes a | block, a bare current gets its folder. All other
bytes stay as they are.
--plan also says in which order the open tasks would be worked on if every one were ok: the current task first, then the first of
the list whose needs are done.
--agents looks at the program of every role, with a board or without one: whether it is there, whether its version is the one
that kanban-run was tested with (another is a warning), and whether it has the options that are needed. It is asked for its
version and its help, which costs nothing.`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir", "roles", "agent", "exec", "stub", "keep_going")
			fix := flags.Bool("fix", false, "repair what is safe")
			plan := flags.Bool("plan", false, "say in which order the open tasks would be worked on")
			agents := flags.Bool("agents", false, "look at the program of every role")
			return func(t *terminal, args []string) (int, error) {
				if len(args) == 0 && *agents && !*fix {
					args = nil
				} else if err := boardArgs("check", args, false); err != nil {
					return 0, err
				}
				if err := refuseAgents(!*fix); err != nil {
					return 0, err
				}
				u, err := s.load(t)
				if err != nil {
					return 0, err
				}
				var codes []int
				if slices.ContainsFunc(args, u.isOutsideGit) {
					_ = t.stdout.Printf("note: %s\n", event.NoGitText)
				}
				for _, name := range args {
					codes = append(codes, u.check(t, name, *fix))
					if *plan {
						u.plan(t, name)
					}
				}
				if *agents {
					code, err := u.examine(t)
					if err != nil {
						return 0, err
					}
					codes = append(codes, code)
				}
				return worst(codes), nil
			}
		},
	}
}

// check prints the problems of one board, and returns its exit code.
func (u *setup) check(t *terminal, name string, fix bool) int {
	if fix {
		if err := u.fix(t, name); err != nil {
			return t.explain(err)
		}
	}
	problems, err := u.problems(name)
	if err != nil {
		return t.explain(&invalidSettings{err})
	}
	errs, warnings := 0, 0
	for _, p := range problems {
		kind := "error"
		if errs++; p.Warning {
			kind = "warning"
			errs, warnings = errs-1, warnings+1
		}
		_ = t.stdout.Printf("%s: %s\n", kind, p.Error())
		if p.Fix != "" {
			_ = t.stdout.Printf("  hint: %s\n", p.Fix)
		}
	}
	_ = t.stdout.Printf("%s: %s, %s\n", name, event.Count(errs, "error"), event.Count(warnings, "warning"))
	if errs > 0 {
		return exitInvalid
	}
	return exitComplete
}

// isOutsideGit reports whether the work directory of a board is outside of every Git repository.
func (u *setup) isOutsideGit(name string) bool {
	_, place, err := u.open(name)
	if err != nil {
		return false // check reports the error
	}
	return !workspace.IsInGit(place.Dir())
}

// plan prints the order in which a run would work on the open tasks of a board. It prints nothing
// for a board that cannot be read.
func (u *setup) plan(t *terminal, name string) {
	b, place, err := u.open(name)
	if err != nil {
		return // check has reported the error
	}
	for i, step := range board.Plan(b, place, pastOf(name, b, place)) {
		text := fmt.Sprintf("%3d  %s  %s", i+1, step.Task, step.Role)
		if len(step.Needs) > 0 {
			text += "  needs " + strings.Join(step.Needs, ", ")
		}
		_ = t.stdout.Printf("%s\n", text)
	}
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
	dir, err := board.ChooseWorkdir(u.workdir, name, u.dir, b)
	if err != nil {
		return nil, err
	}
	place, err := board.OpenPlace(dir, name)
	if err == nil {
		place.Lookup = u.lookup(dir)
	}
	return place, err
}

// lookup returns a function that returns an error for a role that is unknown in a work directory.
// If the settings or the role files cannot be read, lookup returns nil.
func (u *setup) lookup(workdir string) func(role string) error {
	r, err := u.resolve(workdir)
	if err != nil {
		return nil // the callers that need the settings report the error
	}
	return func(role string) error { _, err := r.roles.Lookup(role); return err }
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

// fix repairs a board and prints its changes.
func (u *setup) fix(t *terminal, name string) error {
	source, err := board.ReadFile(name)
	if err != nil {
		return &invalidSettings{err}
	}
	fixed, notes, err := board.Fix(name, source, u.findFolder(name))
	if err != nil {
		return &invalidSettings{err}
	}
	if len(notes) > 0 {
		if err := board.Save(name, fixed); err != nil {
			return fmt.Errorf("fix %s: %w", name, err)
		}
	}
	for _, note := range notes {
		if err := t.stdout.Printf("fixed: %s\n", note); err != nil {
			return err
		}
	}
	return u.fixTasks(t, name, fixed)
}

// fixTasks repairs the headers of a board's tasks, and prints its changes.
func (u *setup) fixTasks(t *terminal, name string, source []byte) error {
	b, err := board.Parse(name, source)
	if err != nil {
		return nil // check reports the error
	}
	place, err := u.place(name, b)
	if err != nil {
		return nil
	}
	for i := range b.Len() {
		ref, err := place.Resolve(b.Entry(i).Path)
		if err != nil {
			continue
		}
		file := filepath.Join(place.Dir(), filepath.FromSlash(ref.Path))
		text, err := plainfile.Read(file, maxTask)
		if err != nil {
			continue
		}
		fixed, notes, ok := board.FixTask(ref.Path, text)
		if !ok {
			continue
		}
		if err := board.Save(file, fixed); err != nil {
			return fmt.Errorf("fix %s: %w", ref.Path, err)
		}
		for _, note := range notes {
			if err := t.stdout.Printf("fixed: %s: %s\n", ref.Path, note); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxTask is the greatest length of a task file that --fix repairs, in bytes.
const maxTask = 1 << 20

// findFolder returns a function for the case that the board's key `current` is a bare file name.
// The function puts the board's folder, relative to u.dir, before the name. It returns true only if
// the file is in the board's folder and is missing in u.dir.
func (u *setup) findFolder(name string) func(string) (string, bool) {
	abs, absErr := filepath.Abs(name)
	folder, relErr := filepath.Rel(u.dir, filepath.Dir(abs))
	return func(bare string) (string, bool) {
		if absErr != nil || relErr != nil || folder == "." || !filepath.IsLocal(folder) ||
			exists(filepath.Join(u.dir, bare)) {
			return "", false
		}
		info, err := os.Stat(filepath.Join(u.dir, folder, bare))
		if err != nil || !info.Mode().IsRegular() {
			return "", false
		}
		return path.Join(filepath.ToSlash(folder), bare), true
	}
}

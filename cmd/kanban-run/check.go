package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/matter"
	"kanban-run/orchestrator/redact"
)

func checkCommand() command {
	return command{
		name: "check", args: "[--fix] BOARD...", summary: "say what is wrong or odd about boards, with file:line",
		long: `
Exit code 0: a run would start; warnings are odd things that a run puts up with. Exit code 2: a run would refuse the board.
--fix repairs what is safe: an unquoted value that holds a colon becomes a | block, a bare current gets its folder. All other
bytes stay as they are.`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir", "roles")
			fix := flags.Bool("fix", false, "repair what is safe")
			return func(t *terminal, args []string) (int, error) {
				if err := boardArgs("check", args, false); err != nil {
					return 0, err
				}
				u, err := s.load(t)
				if err != nil {
					return 0, err
				}
				codes := make([]int, len(args))
				for i, name := range args {
					codes[i] = u.check(t, name, *fix)
				}
				return worst(codes), nil
			}
		},
	}
}

// check tells what it finds about one board and returns its exit code.
func (u *setup) check(t *terminal, name string, fix bool) int {
	if fix {
		if err := u.fix(t, name); err != nil {
			return explain(t.stderr, err)
		}
	}
	problems, err := u.problems(name)
	if err != nil {
		return explain(t.stderr, &invalidSettings{err})
	}
	errs, warnings := 0, 0
	for _, p := range problems {
		kind := "error"
		if errs++; p.Warning {
			kind = "warning"
			errs, warnings = errs-1, warnings+1
		}
		_, _ = fmt.Fprintf(t.stdout, "%s: %s\n", kind, redact.Inert(p.Error()))
		if p.Fix != "" {
			_, _ = fmt.Fprintf(t.stdout, "  hint: %s\n", redact.Inert(p.Fix))
		}
	}
	_, _ = fmt.Fprintf(t.stdout, "%s: %d errors, %d warnings\n", redact.Inert(name), errs, warnings)
	if errs > 0 {
		return exitInvalid
	}
	return exitComplete
}

// problems are what is wrong or odd about a board that can be read; an error is why it cannot.
func (u *setup) problems(name string) ([]*matter.Problem, error) {
	source, err := board.ReadFile(name)
	if err != nil {
		return nil, err
	}
	b, err := board.Parse(name, source)
	if err != nil {
		return nil, err
	}
	dir, err := board.ChooseWorkdir(u.workdir, name, u.dir, b)
	if err != nil {
		return nil, err
	}
	r, err := u.resolve(dir)
	if err != nil {
		return nil, err
	}
	place, err := board.OpenPlace(dir, name)
	if err != nil {
		return nil, err
	}
	known := func(role string) bool { _, err := r.roles.Lookup(role); return err == nil }
	return board.Check(b, place, known), place.Close()
}

// fix repairs a board and says what it did.
func (u *setup) fix(t *terminal, name string) error {
	source, err := board.ReadFile(name)
	if err != nil {
		return &invalidSettings{err}
	}
	fixed, notes, err := board.Fix(name, source, u.withFolder(name))
	if err != nil {
		return &invalidSettings{err}
	}
	if len(notes) == 0 {
		return nil
	}
	if err := board.Save(name, fixed); err != nil {
		return fmt.Errorf("fix %s: %w", name, err)
	}
	for _, note := range notes {
		if _, err := fmt.Fprintln(t.stdout, "fixed: "+redact.Inert(note)); err != nil {
			return err
		}
	}
	return nil
}

// withFolder finds the folder that a bare `current` lacks: the way from the current folder to the board's, if the file is there
// and not here.
func (u *setup) withFolder(name string) func(string) (string, bool) {
	abs, absErr := filepath.Abs(name)
	folder, relErr := filepath.Rel(u.dir, filepath.Dir(abs))
	return func(bare string) (string, bool) {
		if absErr != nil || relErr != nil || folder == "." || !filepath.IsLocal(folder) || exists(filepath.Join(u.dir, bare)) {
			return "", false
		}
		info, err := os.Stat(filepath.Join(u.dir, folder, bare))
		if err != nil || !info.Mode().IsRegular() {
			return "", false
		}
		return path.Join(filepath.ToSlash(folder), bare), true
	}
}

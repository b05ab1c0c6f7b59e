package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
	"kanban-run/roles"
)

// settingFlags holds those flags of a command that set settings. The other settings come from the
// settings file and from environment variables.
type settingFlags struct{ flags *pflag.FlagSet }

// addSettings declares the flags of the named settings, or of all settings if names is empty.
func addSettings(flags *pflag.FlagSet, names ...string) *settingFlags {
	for _, s := range config.Table() {
		if s.Flag == "" || len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		usage := s.Help
		if s.Value != "" && s.Default != "" && s.Default != "0" && s.Default != "none" {
			usage += " (default " + s.Default + ")"
		}
		switch {
		case s.Value == "":
			flags.BoolP(s.Flag, s.Short, false, usage)
			if name, usage, found := strings.Cut(s.Opposite, ": "); found {
				flags.Bool(name, false, usage)
			}
		case s.Repeated:
			flags.VarP(&valueFlag{kind: s.Value, repeated: true}, s.Flag, s.Short, usage)
		default:
			flags.VarP(&valueFlag{kind: s.Value}, s.Flag, s.Short, usage)
		}
	}
	for _, name := range []string{"strict", "no-keep-going", "stub"} { // the default, its opposite, and one for tests
		if f := flags.Lookup(name); f != nil {
			f.Hidden = true
		}
	}
	return &settingFlags{flags}
}

// valueFlag keeps a flag's values as written, for package config to parse. Values are not split at
// commas, because a command may hold commas.
type valueFlag struct {
	kind     string // the value's placeholder in the help
	repeated bool
	values   []string
}

// Set adds a value to a repeated flag, and replaces the value of any other flag.
func (v *valueFlag) Set(value string) error {
	if v.repeated {
		v.values = append(v.values, value)
	} else {
		v.values = []string{value}
	}
	return nil
}

// String returns the last value, or "" if the flag was not given.
func (v *valueFlag) String() string {
	if len(v.values) == 0 {
		return ""
	}
	return v.values[len(v.values)-1]
}

// Type returns the placeholder of the value in the help.
func (v *valueFlag) Type() string { return v.kind }

// agentSettings returns the settings of a command that starts agents without a board.
func agentSettings() []string {
	return []string{"workdir", "roles", "agent", "exec", "stub", "timeout", "patience", "max_retries", "max_attempt_cost"}
}

// values returns the values of the given flags, keyed by the name of the setting.
func (s *settingFlags) values() map[string][]string {
	given := map[string][]string{}
	for _, setting := range config.Table() {
		opposite, _, _ := strings.Cut(setting.Opposite, ": ")
		if f := s.flags.Lookup(opposite); f != nil && f.Changed {
			given[setting.Name] = []string{fmt.Sprint(f.Value.String() != "true")}
		}
		f := s.flags.Lookup(setting.Flag)
		if setting.Flag == "" || f == nil || !f.Changed {
			continue
		}
		if v, ok := f.Value.(*valueFlag); ok {
			given[setting.Name] = v.values
		} else {
			given[setting.Name] = []string{f.Value.String()}
		}
	}
	return given
}

// given returns the flags of settings that were given, each with its value, in the order of the help.
func (u *setup) given() (all []string) {
	for _, setting := range config.Table() {
		for _, value := range u.flags[setting.Name] {
			switch {
			case setting.Value != "":
				all = append(all, "--"+setting.Flag+"="+value)
			case value == "true":
				all = append(all, "--"+setting.Flag)
			default:
				opposite, _, _ := strings.Cut(setting.Opposite, ": ")
				all = append(all, "--"+cmp.Or(opposite, setting.Flag+"=false"))
			}
		}
	}
	return all
}

// setup resolves the settings and roles of work directories, because boards in different folders
// may have different settings and roles.
type setup struct {
	term    *terminal
	flags   map[string][]string
	dir     string // the current folder, after -C
	workdir string // the folder of -C, or "" if there is no -C

	noRole fs.FileInfo // a file that is no role, even if it is in a folder of roles; nil: none

	redactors map[string]*redact.Redactor // keyed by the secrets that they hide
}

// load reads the flags and the environment variables. Then it changes into the folder of -C, before
// the command does anything else, as git and make do.
func (s *settingFlags) load(t *terminal) (*setup, error) {
	u := &setup{term: t, flags: s.values(), dir: t.startDir, redactors: map[string]*redact.Redactor{}}
	first, _, err := config.Load(config.Input{Flags: u.flags, Environ: t.environ, Partial: true, StartDir: t.startDir})
	if err != nil {
		return nil, &invalidSettings{err}
	}
	if first.Workdir == "" {
		return u, nil
	}
	if err := os.Chdir(first.Workdir); err != nil {
		return nil, &usageError{text: "work directory: " + err.Error(), hint: "-C names a folder that exists"}
	}
	u.dir, u.workdir = first.Workdir, first.Workdir
	return u, nil
}

// invalidSettings is an error in settings, role files or boards, which the user has to mend. Its
// exit code is 2.
type invalidSettings struct{ err error }

func (e *invalidSettings) Error() string { return e.err.Error() }
func (e *invalidSettings) Unwrap() error { return e.err }

// resolved are the settings and roles of one work directory.
type resolved struct {
	settings *config.Settings
	origins  []config.Origin
	roles    *roles.Set
	places   roster.Places
}

// resolve reads the settings file and the role files of a work directory. It loads the settings
// twice, because the settings name the folder of the role files, and the role files decide which
// roles the settings may name.
func (u *setup) resolve(dir string) (*resolved, error) {
	in := config.Input{
		Flags:    u.flags,
		Environ:  u.term.environ,
		File:     filepath.Join(dir, config.FileName),
		StartDir: u.term.startDir,
	}
	first, _, err := config.Load(in)
	if err != nil {
		return nil, &invalidSettings{err}
	}
	dirs, err := roleFolders(first, dir)
	if err != nil {
		return nil, err
	}
	r := &resolved{places: roster.Places{Settings: in.File, Roles: dirs}}
	if r.roles, err = roles.LoadWithout(u.noRole, dirs...); err != nil {
		return nil, &invalidSettings{err}
	}
	in.KnownRole = func(name string) bool { _, err := r.roles.Lookup(name); return err == nil }
	if r.settings, r.origins, err = config.Load(in); err != nil {
		return nil, &invalidSettings{err}
	}
	return r, nil
}

// roleFolders returns the folders of role files. A folder that the settings name must exist.
func roleFolders(s *config.Settings, workdir string) ([]string, error) {
	named, project := s.Roles, filepath.Join(workdir, ".kanban-run", "roles")
	if named == "" {
		return []string{project}, nil
	}
	if info, err := os.Stat(named); err != nil || !info.IsDir() {
		return nil, s.Fault("roles", &usageError{
			text: fmt.Sprintf("roles: %s is not a folder", named),
			hint: "--roles names a folder with role files; kanban-run roles shows the built-in ones",
		})
	}
	return []string{named, project}, nil
}

// configure returns a function for [preflight.Job.Configure]. Boards of one work directory share a
// setup, because a copy of the roles and prompts for each of a thousand boards would take much
// memory.
func (u *setup) configure(executable, stubState string, dry bool) func(string) (*preflight.Setup, error) {
	made := map[string]*preflight.Setup{}
	return func(dir string) (s *preflight.Setup, err error) {
		if s = made[dir]; s == nil {
			s, err = u.configuration(dir, executable, stubState, dry)
			made[dir] = s
		}
		return s, err
	}
}

func (u *setup) configuration(dir, executable, stubState string, dry bool) (*preflight.Setup, error) {
	r, err := u.resolve(dir)
	if err != nil {
		return nil, err
	}
	agents := u.roster(r, executable, stubState, dry)
	run := r.settings.Run
	if run.Discarded = u.term.isCI(); dry {
		run = run.Dry()
	}
	return &preflight.Setup{Run: run, Limits: limits(r.settings, dry), Checkpoints: r.settings.Checkpoints,
		Redactor: u.redactor(agents), Roster: agents}, nil
}

// limits returns the limits of a run in the form of the journal. A dry run does not wait for a
// provider.
func limits(s *config.Settings, dry bool) event.Limits {
	l := s.Limits
	if dry {
		l.Patience = config.Patience{}
	}
	return event.Limits{
		MaxRetries:     s.MaxRetries,
		MaxSteps:       l.Steps,
		MaxCost:        l.Cost,
		MaxMillis:      event.Millis(l.Duration),
		MaxTaskSteps:   l.TaskSteps,
		MaxTaskCost:    l.TaskCost,
		MaxTaskMillis:  event.Millis(l.TaskDuration),
		MaxAttemptCost: l.AttemptCost,
		BusyMillis:     event.Millis(l.Patience.Busy),
		LimitMillis:    event.Millis(l.Patience.Limit),
		Until:          l.Until,
	}
}

func (u *setup) roster(r *resolved, executable, stubState string, dry bool) *roster.Roster {
	return &roster.Roster{
		Settings:   r.settings,
		Places:     r.places,
		Roles:      r.roles,
		Environ:    u.term.environ,
		Executable: executable,
		StubState:  stubState,
		DryRun:     dry,
		MaxGrace:   u.term.job.maxGrace(),
	}
}

// redactor returns the redactor for the roster's secrets. From now on the output of this process
// hides these secrets too. redactor warns of secrets that are too short to be hidden.
func (u *setup) redactor(c *roster.Roster) *redact.Redactor {
	secrets := c.Secrets()
	key := fmt.Sprintf("%q", secrets)
	if known := u.redactors[key]; known != nil {
		return known
	}
	made, short := redact.NewNamed(secrets)
	if len(short) > 0 {
		_ = u.term.stderr.Printf("warning: too short to be redacted, under 6 characters: %s\n",
			strings.Join(short, ", "))
	}
	u.term.secrets.Add(made)
	u.term.job.mask(secrets, short)
	u.redactors[key] = made
	return made
}

// stubFolder returns the path of a folder in which stubs count their calls. The first stub creates
// the folder, so that a run without stubs leaves no folder, however the run ends. A folder that
// cannot be removed is a warning.
func stubFolder(t *terminal) (dir string, remove func()) {
	dir = filepath.Join(os.TempDir(), "kanban-run-stub-"+rand.Text())
	return dir, func() {
		if _, err := os.Lstat(dir); err != nil {
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			_ = t.stderr.Printf("warning: not tidied up: %v\n", err)
		}
	}
}

func rolesCommand() command {
	return command{
		name: "roles", args: "[NAME]", summary: "list the roles, or print a role's file",
		long: `
The text of a built-in role is the beginning of a variant of your own.`,
		examples: `
  kanban-run roles
  kanban-run roles implementor > .kanban-run/roles/implementor.md`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir", "roles")
			return func(t *terminal, args []string) (int, error) {
				u, err := s.load(t)
				if err != nil {
					return 0, err
				}
				// The shell has emptied the file to which a role is printed.
				if u.noRole, err = t.screen.Stat(); err != nil {
					u.noRole = nil
				}
				r, err := u.resolve(u.dir)
				if err != nil {
					return 0, err
				}
				return exitComplete, u.printRoles(t, r, args)
			}
		},
	}
}

func (u *setup) printRoles(t *terminal, r *resolved, args []string) error {
	if len(args) > 0 {
		role, err := r.roles.Lookup(args[0])
		if err != nil {
			return &invalidSettings{err}
		}
		source, err := role.Source()
		if err != nil {
			return fmt.Errorf("read role %s: %w", role.File, err)
		}
		return t.stdout.Printf("%s", console.Lines(source))
	}
	agents := u.roster(r, "", "", false)
	for _, role := range r.roles.All() {
		head := t.stdout.Sprintf("%-14s %-24s %-28s ", role.Name, agents.Shown(role, u.dir), role.File)
		if err := t.printWrapped(head, role.Description); err != nil {
			return err
		}
	}
	return nil
}

// exists reports whether a path exists. It returns true also for a dangling link, and for a path
// that this process has no permission to look up.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

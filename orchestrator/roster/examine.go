package roster

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"kanban-run/orchestrator/agent"
)

// Examination is what was found about the program that plays one or more roles.
type Examination struct {
	Roles    []string
	Agent    string // name of the adapter
	Shown    string // the command, or the program's path
	Version  string // "" where the program tells none, or nothing is known of it
	Tested   string // the version that the adapter was tested with
	Missing  []string
	Err      error // why the roles cannot be played, or nil
	examined string
}

// Known says whether anything is known about the program, so that more than its presence could be looked at.
func (e Examination) Known() bool { return e.Tested != "" }

// SameVersion says whether the program is of the version that the adapter was tested with.
func (e Examination) SameVersion() bool { return e.Version == e.Tested }

// Examine asks the program of every role for its version and its help, which costs nothing, and compares them with what its adapter
// needs. Roles that are played by one program in one way are told together.
func (r *Roster) Examine(stop context.Context, dir string) []Examination {
	var all []*Examination
	for _, role := range r.Roles.All() {
		e, a, tool := r.presence(role.Name, dir)
		same := slices.IndexFunc(all, func(o *Examination) bool { return o.examined == e.examined })
		if same >= 0 {
			all[same].Roles = append(all[same].Roles, role.Name)
			continue
		}
		e.Roles = []string{role.Name}
		if e.Err == nil && e.Known() {
			e.ask(stop, tool, a)
		}
		all = append(all, e)
	}
	found := make([]Examination, len(all))
	for i, e := range all {
		found[i] = *e
	}
	return found
}

// presence finds a role's program.
func (r *Roster) presence(role, dir string) (*Examination, agent.Assignment, agent.Tool) {
	p, err := r.Player(role, dir)
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil {
			err = cause // which role it is about is said once
		}
		return &Examination{Err: err, examined: "error: " + err.Error()}, agent.Assignment{}, agent.Tool{}
	}
	tool := p.Adapter.Tool()
	e := &Examination{Agent: p.Adapter.Name(), Shown: p.Shown, Tested: tool.Tested}
	if argv, err := tool.Start(p.Assignment); e.Known() && err == nil {
		e.Shown = strings.Join(argv, " ")
	}
	e.examined = e.Agent + "\x00" + e.Shown
	return e, p.Assignment, tool
}

var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+(\.\d+){1,3}`) })

// ask has the program tell its version and its options.
func (e *Examination) ask(stop context.Context, tool agent.Tool, a agent.Assignment) {
	version, err := tool.Question(stop, a, "--version")
	if err != nil {
		e.Err = err
		return
	}
	e.Version = versionNumber().FindString(version)
	help, err := tool.Question(stop, a, tool.Help...)
	if err != nil {
		e.Err = err
		return
	}
	for _, option := range tool.Options {
		if !regexp.MustCompile(regexp.QuoteMeta(option) + `([^\w-]|$)`).MatchString(help) {
			e.Missing = append(e.Missing, option)
		}
	}
}

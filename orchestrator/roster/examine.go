package roster

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/frontmatter"
)

// Examination describes the program that plays one or more roles.
type Examination struct {
	Roles   []string
	Agent   string   // name of the adapter
	Shown   string   // command of the program; it has the program's full path if Known is true
	Version string   // "" if the program or its version is unknown
	Tested  string   // the version that the adapter was tested with
	Missing []string // options that the adapter needs and the program lacks
	// Project lists files of the project by which the program may run commands although the roles
	// have a permission; see [agent.Tool.Project].
	Project []string
	Err     error // reason why the program cannot play the roles, or nil
	key     string
}

// Known reports whether the adapter is for one specific program. Only such an adapter has a version
// that it was tested with and options that it needs.
func (e Examination) Known() bool { return e.Tested != "" }

// SameVersion reports whether the adapter was tested with this version of the program.
func (e Examination) SameVersion() bool { return e.Version == e.Tested }

// Examine asks the program of every role for its version and its help, and compares them with the
// needs of the role's adapter. Neither question costs money. Roles with the same command share an
// Examination.
func (r *Roster) Examine(stop context.Context, dir string) []Examination {
	var all []*Examination
	for _, role := range r.Roles.All() {
		e, a, tool := r.findProgram(role.Name, dir)
		same := slices.IndexFunc(all, func(o *Examination) bool { return o.key == e.key })
		if same >= 0 {
			all[same].Roles = append(all[same].Roles, role.Name)
			continue
		}
		e.Roles = []string{role.Name}
		if e.Err == nil && e.Known() {
			e.query(stop, tool, a)
		}
		all = append(all, e)
	}
	found := make([]Examination, len(all))
	for i, e := range all {
		found[i] = *e
	}
	return found
}

func (r *Roster) findProgram(role, dir string) (*Examination, agent.Assignment, agent.Tool) {
	p, err := r.Player(role, dir)
	if err != nil {
		if placed, ok := errors.AsType[*frontmatter.Problem](err); ok && placed.Err != nil {
			err = placed.Err
		}
		if cause := errors.Unwrap(err); cause != nil {
			err = cause // without the name of the role, which the caller adds
		}
		return &Examination{Err: err, key: "error: " + err.Error()}, agent.Assignment{}, agent.Tool{}
	}
	tool := p.Adapter.Tool()
	e := &Examination{Agent: p.Adapter.Name(), Shown: p.Shown, Tested: tool.Tested}
	if argv, err := tool.Start(p.Assignment); e.Known() && err == nil {
		e.Shown = strings.Join(argv, " ")
	}
	if p.IsHeld() {
		e.Project = tool.Project
	}
	e.key = e.Agent + "\x00" + e.Shown + "\x00" + strings.Join(e.Project, ",")
	a := p.Assignment
	a.Env = PublicEnviron(r.Environ, r.envRule(p.Role, tool))
	return e, a, tool
}

var versionNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+(\.\d+){1,3}`) })

// query asks the program for its version and its help, and sets Version and Missing. If the program
// gives no answer, query sets Err.
func (e *Examination) query(stop context.Context, tool agent.Tool, a agent.Assignment) {
	version, err := tool.Query(stop, a, "--version")
	if err != nil {
		e.Err = err
		return
	}
	e.Version = versionNumber().FindString(version)
	help, err := tool.Query(stop, a, tool.Help...)
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

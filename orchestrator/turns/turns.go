// Package turns has the turns of the boards of one command, in memory. What is found changed after a
// turn may be the work of each program whose turn was open, or of a person.
package turns

import (
	"slices"
	"strings"
	"sync"
	"time"

	"kanban-run/orchestrator/event"
)

// Turn is the turn of an agent, an attempt from its start to its recorded end, or that of a program that
// works for us.
type Turn struct {
	Board    string      // as the user named it
	Path     string      // path of the board's file, without links
	Task     string      // the task that is worked on; "": see Doing
	Doing    string      // what is done else, in words such as "Lead looked at tasks/1.md"
	Reach    event.Reach // what the role of the turn gets
	Apart    bool        // it works in a clone of its own, which has no other board's files
	From, To time.Time   // To is zero while the turn is open
}

// coarse is by how much the time of a change of a file may lie behind the clock.
const coarse = 50 * time.Millisecond

// has reports whether the turn was open at a time.
func (t Turn) has(at time.Time) bool {
	return !at.Before(t.From.Add(-coarse)) && (t.To.IsZero() || !at.After(t.To.Add(coarse)))
}

// Registry has the turns of one command. It is safe for concurrent use. The zero value has none.
type Registry struct {
	mu  sync.Mutex
	all []numbered
	now int // number of the turns that have begun and of those that have ended
}

type numbered struct {
	Turn
	id    int
	ended int // 0: the turn is open
}

// Begin opens a turn. The function end closes it.
func (r *Registry) Begin(t Turn) (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now++
	id := r.now
	t.From, t.To = time.Now(), time.Time{}
	r.all = append(r.all, numbered{Turn: t, id: id})
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.now++
		i := slices.IndexFunc(r.all, func(t numbered) bool { return t.id == id })
		r.all[i].ended, r.all[i].To = r.now, time.Now()
	}
}

// Look is a look at a board's files.
type Look struct {
	At     time.Time
	number int
}

// Since returns the turns of other boards than the given one that were open at some time since a look,
// and the present look. A board's first look is the zero value: no turn was open before the command.
func (r *Registry) Since(last Look, path string) (open []Turn, now Look) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.all {
		if t.Path != path && (t.ended == 0 || t.ended > last.number) {
			open = append(open, t.Turn)
		}
	}
	return open, Look{time.Now(), r.now}
}

// During returns those of some turns in which a file may have changed that has changed since a look. at
// is the time of its last change, which no program can set; a time before the look is of another clock.
func During(open []Turn, at time.Time, last Look) []Turn {
	if at.Before(last.At.Add(-coarse)) {
		return open
	}
	return slices.DeleteFunc(slices.Clone(open), func(t Turn) bool { return !t.has(at) })
}

// mostNamed is the number of tasks that a text names.
const mostNamed = 3

// Tasks names the tasks that are worked on in turns, with their boards but for that of the path own. If
// own is "", boards are named if there are several.
func Tasks(own string, all []Turn) (names []string) {
	for _, t := range all {
		name := t.Task
		isOther := func(o Turn) bool { return o.Path != t.Path }
		if name != "" && t.Path != own && (own != "" || slices.ContainsFunc(all, isOther)) {
			name += " of " + t.Board
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// While says in words when turns were open, see [Tasks].
func While(own string, all []Turn) string {
	var clauses []string
	switch names := Tasks(own, all); len(names) {
	case 0:
	case 1:
		clauses = append(clauses, names[0]+" was worked on")
	default:
		clauses = append(clauses, event.List(names, mostNamed)+" were worked on")
	}
	var doing []string
	for _, t := range all {
		if t.Doing != "" && !slices.Contains(doing, t.Doing) {
			doing = append(doing, t.Doing)
		}
	}
	clauses = append(clauses, doing[:min(len(doing), mostNamed)]...)
	if more := len(doing) - mostNamed; more > 0 {
		clauses = append(clauses, event.Count(more, "more program")+" ran")
	}
	return "while " + strings.Join(clauses, " and ")
}

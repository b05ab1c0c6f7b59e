package flow

import (
	"fmt"

	"kanban-run/orchestrator/event"
)

// rules is the number of the rules by which events lead to a State, and of the fields of a State.
// Raise it when the same events lead to another state than before, or when a State gets another
// field. A snapshot of other rules is not compared with the state that the events before it lead to
// now, because the two may differ: what an older state lacks has the zero value.
const rules = 39

// Newer is a record that only a later version of this program may run. This program shows the
// journal to people, as far as it knows the records, and does not run it.
type Newer struct {
	Seq     uint64
	Kind    string
	Needs   int    // form of journals that a program has to know
	Version string // the program that wrote the record; "": not known
}

func (n *Newer) Error() string {
	text := fmt.Sprintf("record %d (%s) needs form %d of the journal, and this version of kanban-run runs form %d",
		n.Seq, n.Kind, n.Needs, event.Form)
	if n.Version != "" {
		text += "; it was written by kanban-run " + n.Version
	}
	return text
}

// noteNewer keeps the record that needs the latest version, the first of several.
func (h *History) noteNewer(e event.Entry) {
	if e.Needs > event.Form && (h.Newer == nil || e.Needs > h.Newer.Needs) {
		h.Newer = &Newer{Seq: e.Seq, Kind: e.Event.Kind(), Needs: e.Needs, Version: h.State.Version}
	}
}

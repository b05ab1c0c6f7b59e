package trust

import (
	"fmt"
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/asked"
	"kanban-run/orchestrator/event"
)

// begin opens a turn. What was changed since the last look belongs to the turns that are open already;
// without one it is nobody's.
func (t *Tree) begin(n *turn) []event.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	events := t.judge(t.look())
	if t.Upstream != nil {
		n.upstream = t.Upstream()
	}
	t.turns = append(t.turns, n)
	return events
}

// end closes a turn.
func (t *Tree) end(n *turn) []event.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	events := t.judge(t.look())
	t.turns = slices.DeleteFunc(t.turns, func(o *turn) bool { return o == n })
	return events
}

// refresh takes what has changed since the last look, for the turns that are open.
func (t *Tree) refresh() []event.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.judge(t.look())
}

// judge decides what follows from changes in the turns that are open. The caller holds t.mu.
func (t *Tree) judge(changes []change) (events []event.Event) {
	if len(t.turns) == 0 || len(changes) == 0 {
		return nil
	}
	return t.record(changes, t.reaches(), t.while(), t.turns[0])
}

// record decides what follows from changes, and returns the events about them. What a person has to accept
// is added to the list of the work tree, and what is back is taken off.
func (t *Tree) record(changes []change, reaches []event.Reach, while string, of *turn) (events []event.Event) {
	said := event.FilesChanged{Board: of.board, Task: t.tasks(), Role: of.role, Reach: of.reach, While: while}
	settled := event.FilesSettled{Board: of.board}
	err := asked.Update(t.Dir, func(items []asked.Item, known bool) []asked.Item {
		if !known { // an agent may have removed the file
			items = slices.Clone(t.waiting)
		}
		for i := range changes {
			c := &changes[i]
			at := slices.IndexFunc(items, func(o asked.Item) bool { return o.Is(c.ChangedFile) })
			item := t.itemOf(c, while)
			if at >= 0 { // it is compared with what was there before the first change
				c.Was, c.before = items[at].Was, asked.Value{SHA: items[at].Was, Parts: items[at].WasParts}
				item.ChangedFile, item.WasParts, item.Earlier = c.ChangedFile, items[at].WasParts, items[at].Earlier
				items = slices.Delete(items, at, at+1)
			}
			if at >= 0 && c.SHA == c.Was {
				settled.Files = append(settled.Files, c.ChangedFile)
			}
			w := t.weigh(c, reaches)
			if c.SHA == c.Was || w == isAsked && t.isUpstream(c) {
				w = isNothing
			}
			item.Asks = w == isAsked
			if w == isAsked || w == isSaidAgain {
				items = append(items, item)
			}
			t.find(c, item.ChangedFile, while, w)
			if w != isNothing {
				said.Files = append(said.Files, item.ChangedFile)
			}
		}
		t.waiting = slices.Clone(items)
		return items
	})
	if err != nil && t.Notice != nil {
		t.Notice("the next command does not hear of what was changed " + while + ": " + err.Error())
	}
	if settled.Files != nil {
		events = append(events, settled)
	}
	if said.Files != nil {
		events = append(events, said)
	}
	return events
}

// find notes a change for the end of the command, and for what is started and accepted until then. A
// value that is back from the begin of the command is no change.
func (t *Tree) find(c *change, f event.ChangedFile, while string, w weight) {
	isBack := t.begun[c.source] != nil && t.begun[c.source].Values[c.Field].SHA == c.SHA
	for i := range t.found {
		if old := &t.found[i]; old.Is(f) && !isBack && old.While != while && w == isReview {
			while = old.While // the first one was before all that was accepted since
		}
	}
	t.found = slices.DeleteFunc(t.found, func(o Found) bool { return o.Is(f) })
	if w != isNothing && !isBack {
		t.found = append(t.found, Found{f, while, w})
	}
}

// itemOf returns the item about a change, with the lines as they were before.
func (t *Tree) itemOf(c *change, while string) asked.Item {
	item := asked.Item{ChangedFile: c.ChangedFile, WasParts: c.before.Parts, Words: c.Name() + " changed " + while}
	if text := c.was.Text; text != nil {
		item.Earlier = asked.TextOf(c.By, c.source.Path, c.Field, text)
		item.Earlier = event.Clip(item.Earlier)
		if t.Redact != nil {
			item.Earlier = t.Redact(item.Earlier)
		}
	}
	return item
}

// isUpstream reports whether the branch's upstream had the value already when the turns began.
func (t *Tree) isUpstream(c *change) bool {
	if t.AtUpstream == nil || !isBelow(t.top, c.source.Path) {
		return false
	}
	return !slices.ContainsFunc(t.turns, func(n *turn) bool {
		return n.upstream == "" || asked.ValueIn(c.source, c.Field, t.AtUpstream(n.upstream, c.source.Path)).SHA != c.SHA
	})
}

func (t *Tree) reaches() (all []event.Reach) {
	for _, n := range t.turns {
		all = append(all, n.reach)
	}
	return all
}

// tasks names the tasks that are worked on.
func (t *Tree) tasks() string {
	boards := map[string]bool{}
	for _, n := range t.turns {
		boards[n.board] = true
	}
	var names []string
	for _, n := range t.turns {
		name := n.task
		if len(boards) > 1 && n.board != "" && n.task != "" {
			name += " of " + n.board
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return event.List(names, 3)
}

// while says in words which turns are open.
func (t *Tree) while() string {
	var clauses []string
	if tasks := t.tasks(); tasks != "" {
		verb := " was worked on"
		if strings.Contains(tasks, ", ") {
			verb = " were worked on"
		}
		clauses = append(clauses, tasks+verb)
	}
	for _, n := range t.turns {
		if n.ran != "" {
			clauses = append(clauses, n.ran+" ran")
		}
	}
	return "while " + strings.Join(clauses, " and ")
}

// serverCommands returns the commands of the servers in a role's mcp_config.
func serverCommands(a agent.Assignment) (all [][]string) {
	servers, _ := a.Servers() // the adapter's check reports the error
	for _, text := range servers {
		if argv := agent.ServerCommand(text); argv != nil {
			all = append(all, argv)
		}
	}
	slices.SortFunc(all, func(a, b []string) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return all
}

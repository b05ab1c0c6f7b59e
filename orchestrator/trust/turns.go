package trust

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/asked"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/turns"
)

// begin opens a turn, in all work directories of the command. What was changed since the last look belongs to
// the turns that are open already; without one it is nobody's.
func (t *Tree) begin(n *turn) []event.Event {
	return t.each(func(o *Tree) {
		own := *n
		o.begins++
		own.number = o.begins
		if o.Upstream != nil {
			own.upstream = o.Upstream()
		}
		o.turns[n] = &own
	})
}

// end closes a turn.
func (t *Tree) end(n *turn) []event.Event { return t.each(func(o *Tree) { delete(o.turns, n) }) }

// refresh takes what has changed since the last look, for the turns that are open.
func (t *Tree) refresh() []event.Event { return t.each(func(*Tree) {}) }

// each looks in all work directories of the command, and then changes their turns.
func (t *Tree) each(change func(*Tree)) (events []event.Event) {
	for _, o := range t.group {
		o.mu.Lock()
		if changes := o.look(); len(changes) > 0 && len(o.turns) > 0 {
			open := o.open()
			events = append(events, o.record(changes, open, turns.While("", listed(open)))...)
		}
		change(o)
		o.mu.Unlock()
	}
	return events
}

// open returns the turns that are open, in the order of their begin.
func (t *Tree) open() []*turn {
	return slices.SortedFunc(maps.Values(t.turns), func(a, b *turn) int { return cmp.Compare(a.number, b.number) })
}

// record decides what follows from changes in turns, and returns the events about them. What a person has to
// accept is added to the list of the work tree, and what is back is taken off.
func (t *Tree) record(changes []change, open []*turn, while string) (events []event.Event) {
	of := open[0]
	tasks := event.List(turns.Tasks("", listed(open)), 3)
	said := event.FilesChanged{Board: of.Board, Task: cmp.Or(tasks, of.role), Role: of.role, Reach: of.Reach, While: while}
	settled := event.FilesSettled{Board: of.Board}
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
			w := t.weigh(c, reachesOf(open))
			if c.SHA == c.Was || w == isAsked && t.isUpstream(c, open) {
				w = isNothing
			}
			item.Asks, item.Roles = w == isAsked, c.Roles
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
func (t *Tree) isUpstream(c *change, open []*turn) bool {
	if t.AtUpstream == nil || !isBelow(t.top, c.source.Path) {
		return false
	}
	return !slices.ContainsFunc(open, func(n *turn) bool {
		return n.upstream == "" || asked.ValueIn(c.source, c.Field, t.AtUpstream(n.upstream, c.source.Path)).SHA != c.SHA
	})
}

func reachesOf(open []*turn) (all []event.Reach) {
	for _, n := range open {
		all = append(all, n.Reach)
	}
	return all
}

// listed returns turns as their words name them.
func listed(all []*turn) (list []turns.Turn) {
	for _, n := range all {
		list = append(list, n.Turn)
	}
	return list
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

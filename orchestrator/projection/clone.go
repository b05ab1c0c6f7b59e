package projection

import (
	"cmp"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
)

// Clone is the clone in which the agents of a board work, and what came of that.
type Clone struct {
	Dir    string `json:"dir"`    // its top
	Branch string `json:"branch"` // has a commit for each task: a branch, or the hidden reference where a person has moved the branch
	Base   string `json:"base"`   // commit from which the first clone was made
	Tip    string `json:"tip"`    // last commit of accepted work; the same as base: there is none

	from string // branch that was checked out then; "": none was
}

func newClone(c *flow.Clone) *Clone {
	if c == nil {
		return nil
	}
	short := func(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }
	branch := c.Branch
	if c.Unmoved {
		branch = c.Ref
	}
	return &Clone{Dir: c.Dir, Branch: short(branch), Base: c.Base, Tip: c.Tip, from: short(c.From)}
}

// left returns the files that the board has left in the checkout.
func (f *Fold) left(s *flow.State) []string {
	if s.Clone != nil {
		return nil
	}
	return f.uncommitted
}

// Work returns the command that shows the work of the board, with what it shows, or "" if nothing is known of it.
func (b *Board) Work() string {
	switch {
	case b.Clone != nil:
		return b.Clone.Diff()
	case len(b.Uncommitted) > 0:
		names := slices.DeleteFunc(slices.Clone(b.Uncommitted), func(name string) bool { return strings.HasPrefix(name, ".kanban-run") })
		words := strings.Join(names[:min(3, len(names))], ", ")
		if len(names) > 3 { // the list may be cut
			words += " and more"
		}
		return "git status; in no commit when the run ended: " + cmp.Or(words, "the settings")
	default:
		return ""
	}
}

// Diff returns the command that shows the work in the checkout, or "" if there is none.
func (c *Clone) Diff() string {
	if c == nil || c.Tip == c.Base {
		return ""
	}
	return "git diff " + failure.Quote(cmp.Or(c.from, c.Base)+"..."+c.Branch)
}

// cloneChoices returns the choices about a clone that does not stand where the work does.
func cloneChoices(s *flow.State) []Choice {
	c := s.Clone
	if c.Asks.Why == event.CloneTakenBack {
		tasks := event.List(c.Asks.Tasks, 3)
		return []Choice{
			{Word: event.Accept, Does: "has the board stand as it is, with " + tasks + " marked as done"},
			{Word: event.Retry, Does: "has " + tasks + " done again"},
		}
	}
	anew := "sets the clone aside, and has it made anew from its last commit"
	if c.Due != nil {
		anew += "; " + c.Due.Task + " is done again"
	}
	retry := Choice{Word: event.Retry, Does: anew}
	if c.Asks.Why == event.CloneSpoiled {
		return []Choice{retry}
	}
	return []Choice{{Word: event.Accept, Does: "has the files of the clone count as they are"}, retry}
}

package projection

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
)

// Landing is how the work of a board stands with the branch that is to have it.
type Landing struct {
	State string   `json:"state"`          // landed, started, or why it does not land: conflict, rebased, way, red, protected, leftover, moved, taken_back
	Tip   string   `json:"tip"`            // commit with the work
	Onto  string   `json:"onto"`           // branch
	From  string   `json:"from,omitempty"` // commit of the branch before
	To    string   `json:"to,omitempty"`   // and behind
	Files []string `json:"files,omitempty"`
	Text  string   `json:"text,omitempty"` // why it does not land
	Fix   string   `json:"fix,omitempty"`  // what a person can do about that

	Verified string `json:"verified,omitempty"` // the command that the merge has passed; "": none was asked for

	Answer event.Choice `json:"answer,omitempty"` // a person's decision about it; "": none

	Said              string `json:"-"` // how the work stands, in words
	isOut, isLandable bool
}

func newLanding(l *flow.Landing) *Landing {
	if l == nil {
		return nil
	}
	return &Landing{State: l.State, Tip: l.Tip, Onto: strings.TrimPrefix(l.Onto, "refs/heads/"), From: l.From, To: l.To, Files: l.Files, Text: l.Text, Fix: l.Fix, Answer: l.Answer, Verified: l.Verified, Said: l.Said(), isOut: l.IsOut(), isLandable: l.IsLandable()}
}

// Lands returns in a word how the work of the board stands with the branch that is to have it, and what there is to say or to
// do; "" if the board has none in a clone.
func (b *Board) Lands() (state, words string) {
	l, land := b.Landing, "kanban-run land "+failure.Quote(b.Board)
	switch {
	case l == nil && b.Clone == nil:
		return "", ""
	case l == nil && b.Outcome != event.Complete:
		return "open", ""
	case l == nil:
		return "open", land + " brings it in"
	case l.State == flow.LandStarted:
		return "started", "it was killed; " + land + " ends it"
	case l.isOut:
		return "out", "it stays out, as you decided"
	case l.Answer == event.Accept && l.isLandable:
		return "open", land + " brings it in, as you decided"
	case l.Answer == event.Accept:
		return "open", land + " counts it as landed, as you decided"
	case l.State == flow.Landed:
		return l.State, fmt.Sprintf("on %s as %.12s, %s", l.Onto, l.To, cmp.Or(l.Verified, "not verified"))
	default:
		ack := "kanban-run ack " + failure.Quote(b.Board)
		return l.State, l.Text + ": " + cmp.Or(l.Fix, ack+" accept lands it as it is, skip leaves it out")
	}
}

// landChoices returns the choices about work that does not land.
func landChoices(l *flow.Landing) []Choice {
	skip := Choice{Word: event.Skip, Does: "leaves it out; its commits stay"}
	switch {
	case l.IsLandable():
		return []Choice{{Word: event.Accept, Does: "has it land as it is; kanban-run land does it"}, skip}
	case l.State == event.LandTakenBack:
		return []Choice{{Word: event.Accept, Does: "leaves it out"}}
	case l.State == event.LandWay:
		return []Choice{skip}
	default:
		return []Choice{{Word: event.Accept, Does: "counts it as landed, because you brought it in by hand"}, skip}
	}
}

// LandingTotals returns in words how the work of boards stands, such as "5 of 8 landed, 2 conflict, 1 open", or "" if none has any in
// a clone.
func LandingTotals(boards []*Board) string {
	of, all := map[string]int{}, 0
	for _, b := range boards {
		if state, _ := b.Lands(); state != "" {
			of[state]++
			all++
		}
	}
	if all == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d landed", of[flow.Landed], all)
	for _, state := range slices.Sorted(maps.Keys(of)) {
		if state != flow.Landed {
			text += fmt.Sprintf(", %d %s", of[state], state)
		}
	}
	return text
}

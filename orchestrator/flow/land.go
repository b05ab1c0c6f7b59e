package flow

import (
	"fmt"
	"slices"

	"kanban-run/orchestrator/event"
)

// Landing is how the work of a board stands with the branch that is to have it.
type Landing struct {
	State string   `json:"state"`          // [LandStarted], [Landed], or why it does not land, such as event.LandConflict
	Tip   string   `json:"tip"`            // commit with the work
	Onto  string   `json:"onto"`           // branch, with refs/heads/
	From  string   `json:"from,omitempty"` // commit of the branch before
	To    string   `json:"to,omitempty"`   // and behind
	Ref   string   `json:"ref,omitempty"`  // holds work that has landed
	Files []string `json:"files,omitempty"`
	Text  string   `json:"text,omitempty"`

	Verified string `json:"verified,omitempty"` // the command that the merge has passed; "": none

	Answer event.Choice `json:"answer,omitempty"` // a person's decision about it; "": none

	Granted []Grant `json:"granted,omitempty"` // what a person has accepted of this work
	Fix     string  `json:"fix,omitempty"`
}

// Land brings the work of the complete board into the branch that is checked out.
type Land struct{}

func (Land) effect() {}

// land returns the effect that brings the work of a board with this end in, and then the end of a board whose work stays out
// against the wish of its user; nil: neither is due.
func (s *State) land(b Board, end Finish) Effect {
	switch {
	case !s.Lands || end.Outcome != event.Complete || len(b.Rest.Open) > 0:
		return nil
	case s.Clone != nil && !s.LandTried && !s.Landing.IsOut() && b.Bound != "":
		return Finish{Outcome: event.LimitReached, By: event.ByLimit, Text: b.Bound + "; the work has not landed yet"}
	case s.Clone != nil && !s.LandTried && !s.Landing.IsOut():
		return Land{}
	case s.LandTried && s.Landing.Asks():
		return Finish{Outcome: event.NeedsPerson, By: event.ByLand, Text: s.Landing.Said()}
	default:
		return nil
	}
}

// Said says in words how the work stands.
func (l *Landing) Said() string {
	switch {
	case l.IsOut():
		return "it stays out, as you decided"
	case l.State == Landed:
		return event.LandedText(l.Onto, l.From, l.To, l.Verified)
	case l.State == LandStarted:
		return "a landing was killed"
	case l.State == event.LandTakenBack:
		return l.Text
	default:
		return event.RefusedText(l.Onto, l.Text)
	}
}

// Grant is what a person has accepted: for this reason, commit and branch, and no more than these files.
type Grant struct {
	Why   string   `json:"why"`
	Tip   string   `json:"tip"`
	Onto  string   `json:"onto"`
	Files []string `json:"files"`
}

// Has reports whether a person has accepted this.
func (l *Landing) Has(why, tip, onto string, files []string) bool {
	return l != nil && slices.ContainsFunc(l.Granted, func(g Grant) bool {
		isNew := func(f string) bool { return !slices.Contains(g.Files, f) }
		return g.Why == why && g.Tip == tip && g.Onto == onto && !slices.ContainsFunc(files, isNew)
	})
}

// granted returns what a person has accepted so far.
func (s *State) granted() []Grant {
	if s.Landing == nil {
		return nil
	}
	return s.Landing.Granted
}

// Values of Landing.State besides those of event.LandRefused.
const (
	LandStarted = "started"
	Landed      = "landed"
)

// IsOut reports whether a person has decided that the work stays out.
func (l *Landing) IsOut() bool {
	return l != nil && (l.Answer == event.Skip || l.Answer == event.Accept && l.State == event.LandTakenBack)
}

// IsLandable reports whether the work lands as it is once a person says so.
func (l *Landing) IsLandable() bool {
	return l.State == event.LandProtected || l.State == event.LandLeftover || l.State == event.LandMoved
}

// Asks reports whether a person may decide about it.
func (l *Landing) Asks() bool {
	return l != nil && l.State != Landed && l.State != LandStarted && l.Answer == ""
}

// settleLanding carries out a person's decision about work that does not land. The next "land" acts by it.
func (s *State) settleLanding(e event.Acknowledged) error {
	if !s.Landing.Asks() {
		return refuse(e, "nothing is asked about a landing")
	}
	landing := *s.Landing
	landing.Answer = e.Choice
	if e.Choice == event.Accept {
		landing.Granted = append(slices.Clip(landing.Granted), Grant{landing.State, landing.Tip, landing.Onto, landing.Files})
	}
	s.Landing = &landing
	return nil
}

// canLand reports whether the board has work that no agent is at.
func (s *State) canLand() bool { return s.Clone != nil && (s.Step == nil || s.Step.Running == 0) }

func (s *State) applyLandStarted(e event.LandStarted) error {
	if !s.canLand() {
		return refuse(e, "nothing can land")
	}
	s.Landing = &Landing{State: LandStarted, Tip: e.Tip, Onto: e.Onto, From: e.From, To: e.To, Granted: s.granted()}
	return nil
}

// applyLanded ends the clone: the board has no work of its own any more.
func (s *State) applyLanded(e event.Landed) error {
	if !s.canLand() && !s.hasLanded() {
		return refuse(e, "nothing can land")
	}
	s.Clone, s.LandTried = nil, true
	s.Landing = &Landing{State: Landed, Tip: e.Tip, Onto: e.Onto, From: e.From, To: e.To, Ref: e.Ref, Verified: e.Verified}
	if e.From != e.To {
		s.Landing.Fix = fmt.Sprintf("git reset --keep %.12s takes it back", e.From)
	}
	return nil
}

// hasLanded reports whether the work of the last clone has landed, whatever became of it since.
func (s *State) hasLanded() bool {
	return s.Clone == nil && s.Landing != nil && (s.Landing.State == Landed || s.Landing.State == event.LandTakenBack)
}

func (s *State) applyLandRefused(e event.LandRefused) error {
	s.LandTried = true
	switch {
	case e.Why == event.LandTakenBack && s.hasLanded():
		landing := *s.Landing
		landing.State, landing.Text, landing.Fix = e.Why, e.Text, e.Fix
		s.Landing = &landing
	case s.canLand():
		s.Landing = &Landing{State: e.Why, Tip: e.Tip, Onto: e.Onto, Files: e.Files, Text: e.Text, Fix: e.Fix, Granted: s.granted()}
	default:
		return refuse(e, "nothing can land")
	}
	return nil
}

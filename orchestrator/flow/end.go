package flow

import (
	"fmt"
	"slices"

	"kanban-run/orchestrator/event"
)

// IncompleteText begins the text about a board with tasks undone. The undone tasks follow it.
const IncompleteText = "the board is incomplete: "

// CompleteText is the text about a board whose tasks are all ok.
const CompleteText = "the board is complete"

// EndedIncomplete is the value of a board's field "ended" if the Manager ended the board with tasks
// undone.
const EndedIncomplete = "incomplete"

// End returns the end of a run on a terminal board. If the board still has the bytes that the last
// step left, the Manager has ended it. Otherwise a person has ended it.
//
// The board's field "ended" decides first. If it says incomplete, the board is incomplete. If it
// says blocked, error or escalate, a person is needed. Without such a value, a board that a person
// has ended is complete even with open tasks. A board that the Manager has ended with status ok is
// complete if each task is done. With another status of the Manager a person is needed. A board that
// ends incomplete counts as complete if the last run was lenient, and if no open task asks for a person.
func End(s *State, b Board) Finish {
	end := s.end(b)
	asks := func(t TaskStatus) bool {
		return !slices.Contains([]string{"", StatusDropped, StatusLimit}, t.Status)
	}
	if end.Outcome == event.Incomplete && s.Lenient && !slices.ContainsFunc(b.Rest.Open, asks) {
		end.Outcome = event.Complete
	}
	return end
}

// endOver ends a run on a terminal board, or returns nil.
func (s *State) endOver(b Board) Effect {
	if !b.Terminal {
		return nil
	}
	end := End(s, b)
	if e := s.land(b, end); e != nil {
		return e
	}
	return end
}

func (s *State) end(b Board) Finish {
	managers := s.Last.BoardSHA == b.SHA
	left := managers && s.Last.Status != "" && s.Last.Status != StatusOK && !s.Last.Acknowledged
	switch {
	case left && (b.Ended == "" || b.Ended == s.Last.Status):
		return s.endByReply()
	case b.Ended == EndedIncomplete && len(b.Rest.Open) == 0:
		return Finish{Outcome: event.Incomplete, By: event.ByUndone, Text: "the board ended incomplete, as it says itself"}
	case b.Ended != "" && b.Ended != EndedIncomplete:
		text := fmt.Sprintf("the board ended with status %s, as it says itself", b.Ended)
		return Finish{Outcome: event.NeedsPerson, By: event.ByStatus, Text: text}
	case s.Last.Accepted != "" && managers:
		return Finish{Outcome: event.Complete, By: event.ByDecision, Text: s.Last.Accepted, Remarked: true}
	}
	end := Finish{Outcome: event.Complete, By: event.ByOK, Text: CompleteText}
	var more []string
	if len(b.Rest.Open) > 0 {
		if b.Ended == EndedIncomplete || managers {
			end = Finish{Outcome: event.Incomplete, By: event.ByUndone, Undone: b.Rest.Undone()}
		} else {
			more = append(more, b.passedOver())
		}
	}
	if marks := b.Rest.marks(); marks != "" && managers {
		end.By, more = event.ByMark, append(more, marks)
	}
	more = append(more, b.Rest.skips(), s.remarks())
	if passed := s.Supervisor.passed(); passed != "" {
		more = append(more, "it went on in spite of "+passed)
	}
	if len(s.Quarantine) > 0 {
		end.Outcome, more = event.NeedsPerson, append(more, s.quarantines())
	}
	return end.with(more)
}

// with returns the end with remarks in its text.
func (e Finish) with(more []string) Finish {
	for _, text := range more {
		switch {
		case text == "":
		case e.Undone != "":
			e.Undone += "; " + text
		default:
			e.Text, e.Remarked = e.Text+"; "+text, true
		}
	}
	if e.Undone != "" {
		e.Text, e.Remarked = IncompleteText+e.Undone, true
	}
	return e
}

// endByReply returns the end of a board that the Manager has ended because of a reply. The words of the agent
// come first, since they tell a person what to do: those of the task's agent if its task is not ok, else the
// Manager's own.
func (s *State) endByReply() Finish {
	end := Finish{Outcome: event.NeedsPerson, By: event.ByStatus}
	i := slices.IndexFunc(s.Statuses, func(t TaskStatus) bool { return t.Task == s.Last.Task })
	failed := i >= 0 && !s.Statuses[i].IsDone()
	switch {
	case s.Last.Walked:
		end.Quotes = failed && s.Statuses[i].Status == s.Last.Status
		end.Text = s.Last.Message + " (the Manager ended the board)"
	case failed && s.Last.Said != "":
		end.Quotes = true
		end.Text = fmt.Sprintf("%s %s: %s (the Manager ended the board with status %s: %s)",
			s.Last.Task, s.Statuses[i].Is(), event.Headline(s.Last.Said), s.Last.Status, event.Headline(s.Last.Message))
	default:
		end.Text = fmt.Sprintf("%s (the Manager ended the board with status %s)", s.Last.Message, s.Last.Status)
	}
	return end
}

// passedOver returns in words the open tasks of a board that a person ended.
func (b Board) passedOver() string {
	bare := !slices.ContainsFunc(b.Rest.Open, func(t TaskStatus) bool { return t.Status != "" })
	n := event.Count(len(b.Rest.Open), "task")
	switch {
	case !bare:
		return b.Rest.Undone()
	case b.Over:
		return wasWere(len(b.Rest.Open)) + " not worked on here"
	case len(b.Rest.Open) == 1:
		return n + " bears no mark: name it as current to begin, or set phase: complete"
	default:
		return n + " bear no mark: name the first as current to begin, or set phase: complete"
	}
}

// settleEnd carries out a person's decision about a board that has ended: it is accepted, or the next
// run goes on.
func (s *State) settleEnd(e event.Acknowledged) {
	if e.Choice == event.Accept {
		s.acceptEnd(e)
		return
	}
	s.removeAside(e.Task)
	s.goOn(e)
}

// acceptEnd accepts a board that has ended, or only one of its tasks if e names a task. An accepted
// task counts as done. An accepted board stays ended, and no checkpoint follows.
func (s *State) acceptEnd(e event.Acknowledged) {
	s.Last.BoardSHA = e.BoardSHA
	if e.Task != "" {
		s.decide(e.Task, StatusAccepted)
		if e.Left != "" {
			s.Last.Acknowledged = true
			s.endAsDecided(s.Outcome, e.Left)
			return
		}
	} else {
		s.Last.Accepted = e.Text
		s.superviseNoMore()
	}
	if len(s.Quarantine) > 0 {
		s.release("")
	}
	s.Last.Acknowledged = true
	s.endAsDecided(event.Complete, e.Text)
}

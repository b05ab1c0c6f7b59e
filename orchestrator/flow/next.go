package flow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
)

// Board has the facts about a board that [Next] needs. They were just read from the board.
type Board struct {
	Terminal bool   // the field "phase" is complete, completed or done, or the field "current" is null
	Ended    string // the field "ended" of a terminal board; "": it is not set
	Over     bool   // the field "phase" is complete, completed or done
	Taken    bool   // the field "ended" has a value of the author, which the runner must not replace
	Task     string // path of the current task as agents see it; "" on a terminal board
	Role     string // the role of the current task, in the spelling of its role file
	SHA      string // SHA-256 of the board's bytes, in hex
	Bound    string // the reached limit of the whole command, in words; "": none

	Rest Rest // what a terminal board leaves undone
}

// Next returns the effect to perform next, and changes nothing. It does the work of supervisor_loop
// in seed 004, "State Machine". That loop keeps its place in the program counter. Next keeps its
// place in s, so the place survives a crash. The comments below quote the steps of the seed.
func Next(s *State, b Board) Effect {
	switch {
	// A frozen board waits for its Lead, even if its file has been mended in the meantime.
	case s.Frozen != nil:
		return Finish{Outcome: s.Frozen.Outcome(), Text: s.Frozen.Text}
	case s.isSupervisorLost():
		return GiveUpCheckpoint{Reason: s.lossOfSupervisor()}
	case s.Step != nil:
		return s.nextCall(b.Bound)
	default:
		return s.nextStep(b)
	}
}

// nextCall returns the effect with which the open step goes on. bound is the reached limit of the
// whole command, or "".
func (s *State) nextCall(bound string) Effect {
	step := s.Step
	aside, passed := s.passOver()
	switch {
	// Seed steps 5 and 7, "if not validate_output(...): log_retry(...); continue": the call was
	// rejected, or lost its session, more than MAX_RETRIES times.
	case step.isExhausted(s.Limits):
		end := step.exhausted()
		return s.orSetAside(s.handOver(end, end.Text), step.failure())

	// The rounds of review (seed 003's loop) are used up, or an agent hangs, so a person has to
	// look.
	case step.Unsettled != "":
		end := Finish{Outcome: event.NeedsPerson, By: step.unsettledBy(), Text: event.Headline(step.Unsettled)}
		if !step.isStuck() {
			return s.orSetAside(end, StatusNotAccepted)
		}
		return s.orSetAside(s.handOver(end, end.Text), StatusStuck)
	case step.Declined != "":
		end := Finish{Outcome: event.NeedsPerson, By: event.ByProvider, Text: step.declined()}
		return s.orSetAside(s.handOver(end, end.Text), StatusDeclined)
	case step.OwnLimit != "":
		return s.orSetAside(Finish{Outcome: event.LimitReached, By: event.ByTaskLimit, Text: step.OwnLimit}, StatusLimit)
	case passed:
		return aside

	// Seed 002, "Review Loop": work is sent back again and again without progress.
	case step.suspect() != nil:
		return SuspectLoop{Step: step.Number, Task: step.Task, Role: step.Role, Suspicion: *step.suspect()}

	// Limits are checked before every spawn. The step stays open, because the next run goes on with
	// it and has limits of its own.
	case step.isDue() && cmp.Or(bound, s.reached()) != "":
		return Finish{Outcome: event.LimitReached, Text: cmp.Or(bound, s.reached())}
	case step.isDue() && s.reachedBy(step.Task) != "" && (step.IsWork() || !s.KeepGoing):
		return s.orSetAside(Finish{Outcome: event.LimitReached, By: event.ByTaskLimit, Text: s.reachedBy(step.Task)}, StatusLimit)
	case s.isRefused():
		return s.waitForProvider()

	// Seed step 4, "result = spawn_agent(agent_role, task_file)", then the reviews of its work,
	// then seed step 6, "manager_result = spawn_agent("Manager", {...})".
	case step.isDue():
		return s.start(s.spawn())

	// Seed step 8, "Manager returns updated task list and next_task": the runner writes the parts
	// that the Manager did not write itself.
	default:
		return WriteBoard{Step: step.Number}
	}
}

// nextStep returns the effect between two steps, when no step is open.
func (s *State) nextStep(b Board) Effect {
	switch {
	// Seed 001: between two steps, and after the last one, the supervisor looks in.
	case s.Supervisor.Waits() != "":
		return s.waitForPerson(b)
	case s.isSupervisionDue(b):
		return s.beginSupervision(b)

	// Seed step 2, "if kanban.current is None or kanban.phase == "complete": break". The break of
	// seed step 8, "if manager_result.get("next_task") is None", ends here, too, because WriteBoard
	// has set current to null.
	case b.Terminal:
		return End(s, b)

	case s.isTried(b):
		return s.leaveAside()

	// A task in quarantine waits for a person if the Manager names it again, or if the Manager
	// cannot be told of the quarantine.
	case s.mayNotWork(b) != "":
		return Finish{Outcome: event.NeedsPerson, By: event.ByLoop, Text: s.mayNotWork(b)}
	case s.Quarantined(b.Task) == nil && s.suspect(b) != nil:
		return SuspectLoop{Task: b.Task, Role: b.Role, Suspicion: *s.suspect(b)}

	case cmp.Or(b.Bound, s.reachedSteps(b.Task), s.Reached(b.Task)) != "":
		return Finish{Outcome: event.LimitReached, Text: cmp.Or(b.Bound, s.reachedSteps(b.Task), s.Reached(b.Task))}

	// Seed step 3, "agent_role = determine_role(task_file)".
	default:
		return s.start(s.begin(b))
	}
}

// isDue reports whether a call of the step is due. That is so until a reply of the Manager is
// accepted.
func (s *Step) isDue() bool { return s != nil && s.Reply == nil }

// isExhausted reports whether the due call was rejected, or the session of its work was lost, more
// than MaxRetries times.
func (s *Step) isExhausted(l event.Limits) bool {
	return s.isDue() && (s.Rejected > l.MaxRetries || s.Lost > l.MaxRetries)
}

// spawn returns the next attempt of the call that is due. Work that was cut short goes on in its
// session.
func (s *State) spawn() Spawn {
	e := s.Afresh()
	if t := s.Step.GoesOn; t != nil {
		e.From, e.Fork, e.GoesOn = t.Session, false, true
	}
	return e
}

// Afresh returns the next attempt of the due call as if no work had been cut short. A reviewer gets
// a copy of the work's session. Work that was sent back goes on in its own session if it has one.
// The resident supervisor goes on in its own session, too.
func (s *State) Afresh() Spawn {
	step := s.Step
	e := Spawn{AttemptRef: event.AttemptRef{
		Step: step.Number, Call: step.Call, Task: step.Task, Role: step.CallRole(), Attempt: step.Started + 1,
	}}
	if step.Call == event.CheckpointCall {
		e.From = s.Supervisor.session()
		return e
	}
	if step.Work != nil && step.Call != event.ManagerCall {
		e.Round = step.Round
	}
	if e.Round > 0 && step.Call != event.CommandCall {
		e.From, e.Fork = step.Work.Session, step.Call == event.ReviewCall
	}
	return e
}

// failure returns the status that a task gets when the last retry has failed.
func (s *Step) failure() string {
	if s.Work != nil {
		return StatusNotAccepted
	}
	return StatusNoReply
}

// declined returns the text about a call that its provider declined.
func (s *Step) declined() string {
	return fmt.Sprintf("the provider of %s declines %s, and would again: %s", s.Player(), s.Task, event.Headline(s.Declined))
}

// unsettledBy returns what has stopped the step.
func (s *Step) unsettledBy() event.By {
	switch {
	case s.isStuck():
		return event.ByWatch
	case strings.HasPrefix(s.Unsettled, suspectedPrefix):
		return event.ByLoop
	default:
		return event.ByReview
	}
}

// exhausted returns the end of a run after the last retry. If the Manager's last reply contradicts
// the board that the Manager wrote, neither can be trusted, and the board is frozen. If the work
// has no verdict, a person is needed.
func (s *Step) exhausted() Finish {
	last := ""
	if s.Started != s.Rejected { // other attempts were cut short, or belong to an earlier call
		last = fmt.Sprintf(", attempt %d,", s.Started)
	}
	text := fmt.Sprintf("%s gave no valid reply in %s for %s; the last%s was rejected: %s",
		s.CallRole(), event.Count(s.Rejected, "attempt"), s.Task, last, s.LastReason)
	switch {
	case s.Rejected == 0:
		text = fmt.Sprintf("the session of %s was lost %s: %s", s.Role, event.Count(s.Lost, "time"), s.LastReason)
		return Finish{Outcome: event.Exhausted, Text: text}
	case s.Call == event.ReviewCall:
		text = fmt.Sprintf("the reviewer of %s gave no verdict in %s; the last: %s",
			s.Role, event.Count(s.Rejected, "attempt"), s.LastReason)
		return Finish{Outcome: event.NeedsPerson, By: event.ByReview, Text: text}
	case s.Disagreed:
		return Finish{Outcome: event.Frozen, Text: text}
	default:
		return Finish{Outcome: event.Exhausted, Text: text}
	}
}

// IncompleteText begins the text about a board with tasks undone. The undone tasks follow it.
const IncompleteText = "the board is incomplete: "

// CompleteText is the text about a board whose tasks are all ok.
const CompleteText = event.CompleteText

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
		return !slices.Contains([]string{"", StatusDropped, StatusSkipped, StatusLimit}, t.Status)
	}
	if end.Outcome == event.Incomplete && s.Lenient && !slices.ContainsFunc(b.Rest.Open, asks) {
		end.Outcome = event.Complete
	}
	return end
}

func (s *State) end(b Board) Finish {
	managers := s.Last.BoardSHA == b.SHA
	left := managers && s.Last.Status != "" && s.Last.Status != StatusOK && !s.Last.Acknowledged
	switch {
	case left && (b.Ended == "" || b.Ended == s.Last.Status):
		text := fmt.Sprintf("the Manager ended the board with status %s: %s", s.Last.Status, s.Last.Message)
		return Finish{Outcome: event.NeedsPerson, By: event.ByStatus, Text: text}
	case b.Ended == EndedIncomplete && len(b.Rest.Open) == 0:
		return Finish{Outcome: event.Incomplete, By: event.ByUndone, Text: "the board ended incomplete, as it says itself"}
	case b.Ended != "" && b.Ended != EndedIncomplete:
		text := fmt.Sprintf("the board ended with status %s, as it says itself", b.Ended)
		return Finish{Outcome: event.NeedsPerson, By: event.ByStatus, Text: text}
	case s.Last.Accepted != "" && managers:
		return Finish{Outcome: event.Complete, By: event.ByDecision, Text: s.Last.Accepted}
	}
	end := Finish{Outcome: event.Complete, By: event.ByOK, Text: CompleteText}
	if len(b.Rest.Open) > 0 {
		if b.Ended == EndedIncomplete || managers {
			end = Finish{Outcome: event.Incomplete, By: event.ByUndone, Text: IncompleteText + b.Rest.Undone()}
		} else {
			end.Text += "; " + b.passedOver()
		}
	}
	if marks := b.Rest.marks(); marks != "" && managers {
		end.By, end.Text = event.ByMark, end.Text+"; "+marks
	}
	if passed := s.Supervisor.passed(); passed != "" {
		end.Text += "; it went on in spite of " + passed
	}
	if len(s.Quarantine) > 0 {
		end.Outcome = event.NeedsPerson
		end.Text += "; " + s.quarantines()
	}
	return end
}

// EndedIncomplete is the value of a board's field "ended" if the Manager ended the board with tasks
// undone.
const EndedIncomplete = "incomplete"

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

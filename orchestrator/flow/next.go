package flow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
)

// Board is the part of a board, as just read, on which [Next] decides.
type Board struct {
	Terminal bool   // phase is complete, completed or done, or current is null
	Ended    string // on a terminal board: the status, other than ok, with which the Manager ended it
	Taken    bool   // its field ended is the author's
	Task     string // the current task as agents see its path; "" on a terminal board
	Role     string // the role of the current task, in the spelling of its role file
	SHA      string // SHA-256 of the board's bytes, in hex

	// NotOK are, on a terminal board, the unmarked tasks of its list whose last reply was not ok.
	NotOK []TaskStatus
	Tasks int // in its list
}

// Next returns the effect to perform next. It is seed 004's supervisor_loop, "State Machine",
// turned inside out: the loop there holds its place in the program counter, here the place is s,
// which survives a crash. The numbers are the seed's. Next changes nothing.
func Next(s *State, b Board) Effect {
	switch {
	// A frozen board waits for its Lead, also if it was mended since.
	case s.Frozen != nil:
		return Finish{Outcome: s.Frozen.Outcome(), Text: s.Frozen.Text}
	case s.isSupervisorLost():
		return GiveUpCheckpoint{Reason: s.lossOfSupervisor()}
	case s.Step != nil:
		return s.nextCall()
	default:
		return s.nextStep(b)
	}
}

// nextCall goes on with the open step.
func (s *State) nextCall() Effect {
	step := s.Step
	switch {
	// Seed steps 5 and 7, "if not validate_output(...): log_retry(...); continue": the call was
	// rejected, or lost its session, more than MAX_RETRIES times.
	case step.isExhausted(s.Limits):
		end := step.exhausted()
		return s.handOver(end, end.Text)

	// Seed 003's loop did not end within its rounds: a person has to look at the work.
	case step.Unsettled != "":
		end := Finish{Outcome: event.NeedsPerson, Text: event.Headline(step.Unsettled)}
		if !step.isStuck() {
			return end
		}
		return s.handOver(end, end.Text)

	// Seed 002, "Review Loop": work is sent back again and again without progress.
	case step.suspect() != nil:
		return SuspectLoop{Step: step.Number, Task: step.Task, Role: step.Role, Suspicion: *step.suspect()}

	// Limits are looked at before every spawn. The step stays open: the next run goes on with it,
	// with limits of its own.
	case step.isDue() && s.Reached(step.Task) != "":
		return Finish{Outcome: event.LimitReached, Text: s.Reached(step.Task)}

	// 4. "result = spawn_agent(agent_role, task_file)", the reviews of its work, and after them
	// 6. "manager_result = spawn_agent("Manager", {...})".
	case step.isDue():
		return s.start(s.spawn())

	// 8. "Manager returns updated task list and next_task": what it left to us goes onto the board.
	default:
		return WriteBoard{Step: step.Number}
	}
}

// nextStep decides between two steps.
func (s *State) nextStep(b Board) Effect {
	switch {
	// Seed 001: between two steps, and after the last one, the supervisor looks in.
	case s.Supervisor.Waits() != "":
		return s.waitForPerson(b)
	case s.isSupervisionDue(b):
		return s.beginSupervision(b)

	// 2. "if kanban.current is None or kanban.phase == "complete": break".
	// 8. "if manager_result.get("next_task") is None: break" ends here too: WriteBoard left null.
	case b.Terminal:
		return ended(s, b)

	// A task in quarantine waits for a person, if the Manager knows no other.
	case s.mayNotWork(b) != "":
		return Finish{Outcome: event.NeedsPerson, Text: s.mayNotWork(b)}
	case s.Quarantined(b.Task) == nil && s.suspect(b) != nil:
		return SuspectLoop{Task: b.Task, Role: b.Role, Suspicion: *s.suspect(b)}

	case cmp.Or(s.reachedSteps(b.Task), s.Reached(b.Task)) != "":
		return Finish{Outcome: event.LimitReached, Text: cmp.Or(s.reachedSteps(b.Task), s.Reached(b.Task))}

	// 3. "agent_role = determine_role(task_file)".
	default:
		return s.start(s.begin(b))
	}
}

// isDue reports whether the step has a call due: its Manager has not replied.
func (s *Step) isDue() bool { return s != nil && s.Reply == nil }

// isExhausted reports whether the call that is due was rejected once more than it may be tried
// again, or the session of the work was lost that often.
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

// Afresh returns the next attempt of the call that is due, from its beginning. A reviewer sees the
// work in a copy of its session; work that was sent back goes on in the session itself, where it
// has one, and so does the resident supervisor.
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

// GoesOn reports whether the next run of a board that needs a person works on, with fresh counts,
// without an acknowledgement: the Manager has not ended the board.
func (s *State) GoesOn() bool {
	return s.Step != nil && (s.Step.Unsettled != "" || s.Step.Call == event.ReviewCall) &&
		s.Quarantined(s.Step.Task) == nil
}

// Choices are a person's options for a board that needs one.
type Choices struct {
	GoesOn  bool   // the next run works on without an acknowledgement
	Undone  string // a task that can be done again; "": no task can
	Blocked bool   // a checkpoint stops the board, which an acknowledgement overrides
	NewWay  bool   // checkpoints would go another way than before, which a person may accept
	Asks    bool   // the author of the board's end is unknown: a person decides if it stands

	Quarantined string // a task in quarantine, for which the board waits; "": it waits for no task
}

// Choices returns a person's options.
func (s *State) Choices() Choices {
	blocked := s.Supervisor.Waits() != "" && s.Supervisor.Block.Ended == ""
	w := Choices{
		GoesOn:  s.GoesOn(),
		Undone:  s.Undone(),
		Blocked: blocked,
		Asks:    s.Frozen != nil && s.Frozen.Asks,
		NewWay:  s.Frozen != nil && s.Frozen.Git != nil,
	}
	if len(s.Quarantine) > 0 && (s.Last.Status == "" || s.Last.Status == "ok") {
		w.Quarantined = s.Quarantine[0].Task
	}
	return w
}

// Undone returns the task that a person can have done again on a board that has ended, "" without
// one.
func (s *State) Undone() string {
	isLast := func(t TaskStatus) bool { return t.Task == s.Last.Task }
	switch {
	case s.Step != nil:
		return ""
	case s.Last.Status != "" && s.Last.Status != "ok" &&
		(len(s.NotOK) == 0 || slices.ContainsFunc(s.NotOK, isLast)):
		return s.Last.Task
	case len(s.NotOK) > 0:
		return s.NotOK[0].Task
	default:
		return ""
	}
}

// exhausted ends a run after the last retry. A Manager that kept contradicting its own board leaves
// nothing to trust, so the board is frozen; work without a verdict is a person's to look at.
func (s *Step) exhausted() Finish {
	last := ""
	if s.Started != s.Rejected { // others were cut short, or came before
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
		return Finish{Outcome: event.NeedsPerson, Text: text}
	case s.Disagreed:
		return Finish{Outcome: event.Frozen, Text: text}
	default:
		return Finish{Outcome: event.Exhausted, Text: text}
	}
}

// CompleteText is the whole text about a board whose tasks are ok.
const CompleteText = "the board is complete"

// ended ends a run on a terminal board. The Manager's own last status decides nothing but this
// outcome. The board records it, so that a clone without the journal knows it too; where the author
// has a field of that name, only the journal does, as long as the board has the bytes that it was
// left with.
func ended(s *State, b Board) Effect {
	left := s.Last.BoardSHA == b.SHA && s.Last.Status != "" && s.Last.Status != "ok" && !s.Last.Acknowledged
	switch {
	case left && (b.Ended == "" || b.Ended == s.Last.Status):
		text := fmt.Sprintf("the Manager ended the board with status %s: %s", s.Last.Status, s.Last.Message)
		return Finish{Outcome: event.NeedsPerson, Text: text}
	case b.Ended != "":
		text := fmt.Sprintf("the board ended with status %s, as it says itself", b.Ended)
		return Finish{Outcome: event.NeedsPerson, Text: text}
	case s.Last.Accepted != "" && s.Last.BoardSHA == b.SHA:
		return Finish{Outcome: event.Complete, Text: s.Last.Accepted}
	}
	end := Finish{Outcome: event.Complete, Text: CompleteText}
	if len(b.NotOK) > 0 {
		end.Text += "; " + b.undone()
	}
	if passed := s.Supervisor.passed(); passed != "" {
		end.Text += "; it went on in spite of " + passed
	}
	if len(s.Quarantine) > 0 {
		end.Text += "; " + s.quarantines()
	}
	if len(s.Quarantine) > 0 || s.Strict && len(b.NotOK) > 0 {
		end.Outcome = event.NeedsPerson
	}
	return end
}

// undone names the tasks that are not ok: "1 of 5 tasks is blocked: tasks/4.md".
func (b Board) undone() string {
	const most = 3
	status := adjectives[b.NotOK[0].Status]
	if slices.ContainsFunc(b.NotOK, func(t TaskStatus) bool { return t.Status != b.NotOK[0].Status }) {
		status = "not ok"
	}
	var names []string
	for _, t := range b.NotOK[:min(most, len(b.NotOK))] {
		if status == "not ok" {
			t.Task += " (" + adjectives[t.Status] + ")"
		}
		names = append(names, t.Task)
	}
	verb := "are"
	if len(b.NotOK) == 1 {
		verb = "is"
	}
	text := fmt.Sprintf("%d of %s %s %s: %s",
		len(b.NotOK), event.Count(b.Tasks, "task"), verb, status, strings.Join(names, ", "))
	if more := len(b.NotOK) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// adjectives are the statuses of replies as they are said of a task.
var adjectives = map[string]string{"blocked": "blocked", "error": "in error", "escalate": "escalated"}

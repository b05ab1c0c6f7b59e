package flow

import (
	"cmp"

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
		end := Finish{Outcome: event.NeedsPerson, Text: event.Headline(step.Unsettled)}
		if !step.isStuck() {
			return s.orSetAside(end, StatusNotAccepted)
		}
		return s.orSetAside(s.handOver(end, end.Text), StatusStuck)
	case step.Declined != "":
		end := Finish{Outcome: event.NeedsPerson, Text: step.declined()}
		return s.orSetAside(s.handOver(end, end.Text), StatusDeclined)
	case step.OwnLimit != "":
		return s.orSetAside(Finish{Outcome: event.LimitReached, Text: step.OwnLimit}, StatusLimit)
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
		return s.orSetAside(Finish{Outcome: event.LimitReached, Text: s.reachedBy(step.Task)}, StatusLimit)
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
		return Finish{Outcome: event.NeedsPerson, Text: s.mayNotWork(b)}
	case s.Quarantined(b.Task) == nil && s.suspect(b) != nil:
		return SuspectLoop{Task: b.Task, Role: b.Role, Suspicion: *s.suspect(b)}

	case cmp.Or(b.Bound, s.reachedSteps(b.Task), s.Reached(b.Task)) != "":
		return Finish{Outcome: event.LimitReached, Text: cmp.Or(b.Bound, s.reachedSteps(b.Task), s.Reached(b.Task))}

	// Seed step 3, "agent_role = determine_role(task_file)".
	default:
		return s.start(s.begin(b))
	}
}

// begin returns the first attempt of the board's next step (seed 004, "agent_role =
// determine_role(task_file)"). A task for the Manager, a task in quarantine and a task about which
// a person has decided go only to the Manager.
func (s *State) begin(b Board) Spawn {
	e := Spawn{AttemptRef: event.AttemptRef{
		Step: s.LastStep + 1, Call: event.TaskCall, Task: b.Task, Role: b.Role, Attempt: 1,
	}}
	if b.Role == event.ManagerRole || s.Quarantined(b.Task) != nil || s.IsDecided(b.Task) {
		e.Call, e.Role = event.ManagerCall, event.ManagerRole
	}
	return e
}

// start returns e, or a Walk if e is a Manager's call and package walk plays the Manager.
func (s *State) start(e Spawn) Effect {
	if e.Call == event.ManagerCall && s.isWalked() {
		return Walk{e}
	}
	return e
}

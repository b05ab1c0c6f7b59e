package flow

import (
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
	if e := first(b,
		s.endFrozen, // even if the file has been mended in the meantime
		s.giveUpSupervisor,
		s.keepWork,
	); e != nil {
		return e
	}
	if s.Step != nil {
		return s.nextCall(b)
	}
	return s.nextStep(b)
}

// nextCall returns the effect with which the open step goes on.
func (s *State) nextCall(b Board) Effect {
	return first(b,
		// Seed steps 5 and 7, "if not validate_output(...): log_retry(...); continue": the call was
		// rejected, or lost its session, more than MAX_RETRIES times.
		s.failing(s.exhausted),

		// The rounds of review (seed 003's loop) are used up, or an agent hangs, so a person has to
		// look.
		s.failing(s.notAccepted),
		s.failing(s.stuck),
		s.failing(s.declined),
		s.failing(s.atOwnLimit),
		s.passOver,

		// Seed 002, "Review Loop": work is sent back again and again without progress.
		s.suspectReviews,

		// Limits are checked before every spawn. The step stays open, because the next run goes on
		// with it and has limits of its own.
		s.endAtLimit,
		s.failing(s.atTaskLimit),
		s.waitForProvider,

		// Seed step 4, "result = spawn_agent(agent_role, task_file)", then the reviews of its work,
		// then seed step 6, "manager_result = spawn_agent("Manager", {...})".
		s.startCall,

		// Seed step 8, "Manager returns updated task list and next_task": the runner writes the parts
		// that the Manager did not write itself.
		s.writeBoard,
	)
}

// nextStep returns the effect between two steps, when no step is open.
func (s *State) nextStep(b Board) Effect {
	return first(b,
		// Seed 001: between two steps, and after the last one, the supervisor looks in.
		s.waitForPerson,
		s.beginSupervision,

		// Seed step 2, "if kanban.current is None or kanban.phase == "complete": break". The break of
		// seed step 8, "if manager_result.get("next_task") is None", ends here, too, because WriteBoard
		// has set current to null.
		s.endOver,

		s.leaveAside,

		// A task in quarantine waits for a person if the Manager names it again, or if the Manager
		// cannot be told of the quarantine.
		s.endQuarantined,
		s.suspectLoop,

		s.endAtStepLimit,

		// Seed step 3, "agent_role = determine_role(task_file)".
		s.startStep,
	)
}

// proposal is what a subject proposes to do next; nil: nothing.
type proposal func(Board) Effect

// first returns the first effect that is proposed.
func first(b Board, proposals ...proposal) Effect {
	for _, propose := range proposals {
		if e := propose(b); e != nil {
			return e
		}
	}
	return nil
}

// failing returns what follows a failure of the open call, if there is one: another agent takes the
// call over, or the board goes on without the task. Otherwise the run ends.
func (s *State) failing(of func() *failure) proposal {
	return func(Board) Effect {
		f := of()
		if f == nil {
			return nil
		}
		if e := s.handOver(f.Finish); e != nil && !f.stays {
			return e
		}
		return s.orSetAside(f.Finish, f.status)
	}
}

// startCall starts the next attempt of the call that is due.
func (s *State) startCall(Board) Effect {
	if !s.Step.isDue() {
		return nil
	}
	return s.start(s.spawn())
}

// writeBoard writes the Manager's accepted reply.
func (s *State) writeBoard(Board) Effect { return WriteBoard{Step: s.Step.Number} }

// startStep starts the first attempt of the board's next step.
func (s *State) startStep(b Board) Effect { return s.start(s.begin(b)) }

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

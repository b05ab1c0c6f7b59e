package flow

import (
	"kanban-run/orchestrator/event"
)

// transition applies one kind of event to the state, or refuses an event that cannot happen in that
// state.
type transition struct {
	kind  string
	apply func(s *State, e event.Event) error
}

// transitions has every kind of event. A test compares these kinds with those of package event.
var transitions = byKind(
	// run
	on((*State).applyRunStarted),
	on((*State).applyRunInterrupted),
	on((*State).applyRunFinished),
	on((*State).applyBoardLeft),
	on((*State).applyAcknowledged),

	// place
	on((*State).applyPlaceChanged),

	// step
	on((*State).applyStepStarted),
	on((*State).applyCallRestarted),
	on((*State).applyStepFinished),
	on((*State).applyStepAbandoned),

	// attempt
	on((*State).applyAttemptStarted),
	on((*State).applySessionNamed),
	on((*State).applyReplyAccepted),
	on((*State).applyReplyRejected),
	on((*State).applyAttemptStopped),

	// provider
	on((*State).applyProviderWait),
	on((*State).applyProviderBack),

	// review
	on((*State).applyReviewHeld),

	// board
	on((*State).applyBoardWriteStarted),
	on((*State).applyBoardWritten),
	on((*State).applyBoardEnded),
	on((*State).applyManagerWalked),

	// watch
	on((*State).applyConsentAsked),
	on((*State).applyConsentGiven),
	on(during[event.IdleBreach]),
	on(during[event.ReviewBreach]),
	on(during[event.Recovered]),
	on(during[event.AnomalyFound]),
	on((*State).applyRebootTested),

	// judge
	on((*State).applyJudgeAsked),
	on((*State).applyJudgeAnswered),

	// message
	on(during[event.MessageSent]),
	on(during[event.MessageHeard]),
	on(during[event.MessageLost]),

	// tool
	on((*State).applyToolUnavailable),
	on(during[event.ToolsUsed]),

	// checkout
	on(during[event.CheckoutMoved]),
	on((*State).applyPushFailed),
	on((*State).applyPushed),
	on((*State).applyWorkUndone),
	on(nothing[event.LeftOut]),

	// clone
	on((*State).applyCloneMade),
	on((*State).applyCloneReady),
	on((*State).applyWorkKept),
	on((*State).applyLandStarted),
	on((*State).applyLanded),
	on((*State).applyLandRefused),
	on(nothing[event.KeptHome]),

	// changed
	on((*State).applyFilesChanged),
	on((*State).applyFilesSettled),

	// supervision
	on((*State).applyCheckpointHeld),
	on((*State).applySupervisorFailed),
	on((*State).applyScopeViolated),
	on((*State).applyCheckpointMissed),
	on((*State).applySupervisorLost),
	on((*State).applySupervisorDismissed),
	on((*State).applyCheckpointReopened),

	// quarantine
	on((*State).applyLoopSuspected),
	on((*State).applyQuarantineEnded),

	// playbook
	on((*State).applyReassigned),
	on((*State).applyTaskSetAside),
	on(blocked[event.DuplicateTask]),
	on(blocked[event.ScopeOverlaps]),
	on(nothing[event.MarkerMissing]),
	on(nothing[event.DecisionsViolated]),
	on(nothing[event.ReassignProposed]),

	// teardown
	on((*State).applyTeardownMoved),
	on((*State).applyForcedFinalizeCandidate),
	on((*State).applyForcedFinalizeAcked),
	on(nothing[event.TeardownBlocked]),

	// custody
	on((*State).applyStateDiverged),
	on((*State).applyHandoffMissing),
	on((*State).applySplitBrain),
	on((*State).applySnapshotNotFound),
	on((*State).applySnapshotConflict),
	on((*State).applyReconcileConflict),
	on(nothing[event.HandoffOffered]),
	on(nothing[event.HandoffAcked]),
	on(nothing[event.HandoffDuplicate]),
	on(nothing[event.SnapshotTaken]),
	on(nothing[event.LockEntered]),
	on(nothing[event.LockExited]),
)

func on[E event.Event](apply func(*State, E) error) transition {
	var kind E
	return transition{kind.Kind(), func(s *State, e event.Event) error { return apply(s, e.(E)) }}
}

func byKind(all ...transition) map[string]func(*State, event.Event) error {
	m := map[string]func(*State, event.Event) error{}
	for _, t := range all {
		m[t.kind] = t.apply
	}
	return m
}

// nothing[E] is the transition of an event of type E, which changes no state.
func nothing[E event.Event](*State, E) error { return nil }

// during is the transition of an event that is about an attempt and changes no state. It refuses
// the event if that attempt is not running.
func during[E interface {
	event.Event
	About() event.AttemptRef
}](s *State, e E) error {
	return s.checkRunning(e, e.About())
}

// apply ignores an event of an unknown kind. If the event mattered to Next, its record would need a
// later form of journals, and no run would get here.
func (s *State) apply(e event.Event) error {
	if _, ok := e.(event.Unknown); ok {
		return nil
	}
	apply := transitions[e.Kind()]
	if apply == nil {
		return refuse(e, "it has no transition")
	}
	return apply(s, e)
}

// Apply makes e part of the state, or returns a *TransitionError and leaves the state as it was.
func (s *State) Apply(e event.Event) error {
	next := *s
	if s.Step != nil {
		step := *s.Step
		next.Step = &step
	}
	if err := next.apply(e); err != nil {
		return err
	}
	*s = next
	return nil
}

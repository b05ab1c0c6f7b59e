package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// ErrUnknownKind is wrapped by the error of [Decode] for a kind that this version does not know.
var ErrUnknownKind = errors.New("unknown kind of event")

// types has the type of every kind of event. A test compares the list with the source.
var types = byKind(
	RunStarted{}, BoardLeft{}, RunInterrupted{}, RunFinished{}, Acknowledged{},
	StepStarted{}, CallRestarted{}, StepFinished{}, StepAbandoned{},
	AttemptStarted{}, SessionNamed{}, ReplyAccepted{}, ReplyRejected{}, AttemptStopped{},
	ProviderWait{}, ProviderBack{},
	AnomalyFound{}, RebootTested{}, Recovered{}, IdleBreach{}, ReviewBreach{}, ConsentAsked{},
	ConsentGiven{},
	JudgeAsked{}, JudgeAnswered{},
	MessageSent{}, MessageHeard{}, MessageLost{},
	ReviewHeld{},
	DuplicateTask{}, ScopeOverlaps{}, MarkerMissing{}, DecisionsViolated{},
	ToolUnavailable{}, ToolsUsed{},
	CheckoutMoved{}, PushFailed{}, Pushed{}, LeftOut{},
	CloneMade{}, CloneReady{}, WorkKept{}, KeptHome{},
	LandStarted{}, Landed{}, LandRefused{},
	FilesChanged{}, FilesSettled{},
	WorkUndone{},
	TaskSetAside{},
	Reassigned{}, ReassignProposed{},
	TeardownMoved{}, TeardownBlocked{}, ForcedFinalizeCandidate{}, ForcedFinalizeAcked{},
	LoopSuspected{}, QuarantineEnded{},
	BoardEnded{}, BoardWriteStarted{}, BoardWritten{},
	CheckpointHeld{}, CheckpointMissed{}, CheckpointReopened{}, SupervisorFailed{}, SupervisorLost{},
	SupervisorDismissed{}, ScopeViolated{},
	StateDiverged{}, HandoffOffered{}, HandoffAcked{}, HandoffDuplicate{}, HandoffMissing{},
	SplitBrain{}, SnapshotTaken{}, SnapshotNotFound{}, SnapshotConflict{}, LockEntered{},
	LockExited{}, ReconcileConflict{}, PlaceChanged{},
	ManagerWalked{},
)

func byKind(all ...Event) map[string]reflect.Type {
	m := map[string]reflect.Type{}
	for _, e := range all {
		m[e.Kind()] = reflect.TypeOf(e)
	}
	return m
}

// Kinds returns every kind of event, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(types)) }

// Decode reverses encoding/json's Marshal for an event of the given kind. Errors: one that wraps
// ErrUnknownKind, or an error of encoding/json.
func Decode(kind string, data []byte) (Event, error) {
	t, ok := types[kind]
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrUnknownKind, kind)
	}
	e := reflect.New(t)
	if err := json.Unmarshal(data, e.Interface()); err != nil {
		return nil, fmt.Errorf("decode %s: %w", kind, err)
	}
	return e.Elem().Interface().(Event), nil
}

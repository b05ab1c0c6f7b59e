package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrUnknownKind is wrapped by the error of [Decode] for a kind that this version does not know.
var ErrUnknownKind = errors.New("unknown kind of event")

// decoders has a decoder for every kind of event. A test compares decoders with the source.
var decoders = map[string]func(data []byte) (Event, error){
	"RUN_STARTED":                decoderOf[RunStarted](),
	"STEP_STARTED":               decoderOf[StepStarted](),
	"ATTEMPT_STARTED":            decoderOf[AttemptStarted](),
	"SESSION_NAMED":              decoderOf[SessionNamed](),
	"REPLY_ACCEPTED":             decoderOf[ReplyAccepted](),
	"REPLY_REJECTED":             decoderOf[ReplyRejected](),
	"ATTEMPT_STOPPED":            decoderOf[AttemptStopped](),
	"PROVIDER_WAIT":              decoderOf[ProviderWait](),
	"PROVIDER_BACK":              decoderOf[ProviderBack](),
	"ANOMALY_FOUND":              decoderOf[AnomalyFound](),
	"REBOOT_TESTED":              decoderOf[RebootTested](),
	"RECOVERED":                  decoderOf[Recovered](),
	"IDLE_BREACH":                decoderOf[IdleBreach](),
	"REVIEW_SLA_BREACH":          decoderOf[ReviewBreach](),
	"JUDGE_ASKED":                decoderOf[JudgeAsked](),
	"JUDGE_ANSWERED":             decoderOf[JudgeAnswered](),
	"CONSENT_ASKED":              decoderOf[ConsentAsked](),
	"CONSENT_GIVEN":              decoderOf[ConsentGiven](),
	"MESSAGE_SENT":               decoderOf[MessageSent](),
	"MESSAGE_HEARD":              decoderOf[MessageHeard](),
	"MESSAGE_LOST":               decoderOf[MessageLost](),
	"REVIEW_HELD":                decoderOf[ReviewHeld](),
	"DUPLICATE_TASK_KEY":         decoderOf[DuplicateTask](),
	"OVERLAP_SCOPE":              decoderOf[ScopeOverlaps](),
	"TOOL_UNAVAILABLE":           decoderOf[ToolUnavailable](),
	"TOOLS_USED":                 decoderOf[ToolsUsed](),
	"CHECKOUT_MOVED":             decoderOf[CheckoutMoved](),
	"PUSH_FAILED":                decoderOf[PushFailed](),
	"PUSHED":                     decoderOf[Pushed](),
	"BOARD_LEFT":                 decoderOf[BoardLeft](),
	"FILES_CHANGED":              decoderOf[FilesChanged](),
	"FILES_SETTLED":              decoderOf[FilesSettled](),
	"WORK_UNDONE":                decoderOf[WorkUndone](),
	"CHECKPOINT_LEFT_OUT":        decoderOf[LeftOut](),
	"TASK_SET_ASIDE":             decoderOf[TaskSetAside](),
	"REASSIGNED":                 decoderOf[Reassigned](),
	"REASSIGN_PROPOSAL":          decoderOf[ReassignProposed](),
	"DECISIONS_MARKER_MISSING":   decoderOf[MarkerMissing](),
	"DECISIONS_SCOPE_VIOLATION":  decoderOf[DecisionsViolated](),
	"TEARDOWN":                   decoderOf[TeardownMoved](),
	"TEARDOWN_BLOCKED":           decoderOf[TeardownBlocked](),
	"FORCED_FINALIZE_CANDIDATE":  decoderOf[ForcedFinalizeCandidate](),
	"FORCED_FINALIZE_ACK":        decoderOf[ForcedFinalizeAcked](),
	"LOOP_SUSPECTED":             decoderOf[LoopSuspected](),
	"QUARANTINE_ENDED":           decoderOf[QuarantineEnded](),
	"BOARD_ENDED":                decoderOf[BoardEnded](),
	"CHECKPOINT_HELD":            decoderOf[CheckpointHeld](),
	"CHECKPOINT_MISSED":          decoderOf[CheckpointMissed](),
	"CHECKPOINT_REOPENED":        decoderOf[CheckpointReopened](),
	"SUPERVISOR_FAILED":          decoderOf[SupervisorFailed](),
	"SUPERVISOR_LOST":            decoderOf[SupervisorLost](),
	"SUPERVISOR_DISMISSED":       decoderOf[SupervisorDismissed](),
	"SUPERVISOR_SCOPE_VIOLATION": decoderOf[ScopeViolated](),
	"STATE_DIVERGENCE":           decoderOf[StateDiverged](),
	"CALL_RESTARTED":             decoderOf[CallRestarted](),
	"MANAGER_WALKED":             decoderOf[ManagerWalked](),
	"BOARD_WRITE_STARTED":        decoderOf[BoardWriteStarted](),
	"BOARD_WRITTEN":              decoderOf[BoardWritten](),
	"STEP_FINISHED":              decoderOf[StepFinished](),
	"STEP_ABANDONED":             decoderOf[StepAbandoned](),
	"RUN_INTERRUPTED":            decoderOf[RunInterrupted](),
	"RUN_FINISHED":               decoderOf[RunFinished](),
	"LEAD_ACK":                   decoderOf[Acknowledged](),
	"STATE_OWNERSHIP_HANDOFF":    decoderOf[HandoffOffered](),
	"STATE_OWNERSHIP_ACK":        decoderOf[HandoffAcked](),
	"HANDOFF_DUPLICATE":          decoderOf[HandoffDuplicate](),
	"HANDOFF_MISSING":            decoderOf[HandoffMissing](),
	"SPLIT_BRAIN_DETECTED":       decoderOf[SplitBrain](),
	"SNAPSHOT_TAKEN":             decoderOf[SnapshotTaken](),
	"SNAPSHOT_NOT_FOUND":         decoderOf[SnapshotNotFound](),
	"SNAPSHOT_CONFLICT":          decoderOf[SnapshotConflict](),
	"RECONCILE_LOCK_ENTER":       decoderOf[LockEntered](),
	"RECONCILE_LOCK_EXIT":        decoderOf[LockExited](),
	"RECONCILE_CONFLICT":         decoderOf[ReconcileConflict](),
}

// Kinds returns every kind of event, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(decoders)) }

// Decode reverses encoding/json's Marshal for an event of the given kind. Errors: one that wraps
// ErrUnknownKind, or an error of encoding/json.
func Decode(kind string, data []byte) (Event, error) {
	decode, ok := decoders[kind]
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrUnknownKind, kind)
	}
	return decode(data)
}

func decoderOf[E Event]() func(data []byte) (Event, error) {
	return func(data []byte) (Event, error) {
		var e E
		if err := json.Unmarshal(data, &e); err != nil {
			return nil, fmt.Errorf("decode %s: %w", e.Kind(), err)
		}
		return e, nil
	}
}

package flow

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrUnknownKind is matched by the error of [Decode] for a record of a kind that this version does not know.
var ErrUnknownKind = errors.New("unknown kind of event")

// Decode is the reverse of encoding/json's Marshal for an event of the given kind.
func Decode(kind string, data []byte) (Event, error) {
	switch kind {
	case "RUN_STARTED":
		return decodeAs[RunStarted](data)
	case "STEP_STARTED":
		return decodeAs[StepStarted](data)
	case "ATTEMPT_STARTED":
		return decodeAs[AttemptStarted](data)
	case "REPLY_ACCEPTED":
		return decodeAs[ReplyAccepted](data)
	case "REPLY_REJECTED":
		return decodeAs[ReplyRejected](data)
	case "ATTEMPT_STOPPED":
		return decodeAs[AttemptStopped](data)
	case "STATE_DIVERGENCE":
		return decodeAs[StateDiverged](data)
	case "BOARD_EDITED":
		return decodeAs[BoardEdited](data)
	case "BOARD_WRITE_STARTED":
		return decodeAs[BoardWriteStarted](data)
	case "BOARD_WRITTEN":
		return decodeAs[BoardWritten](data)
	case "STEP_FINISHED":
		return decodeAs[StepFinished](data)
	case "STEP_ABANDONED":
		return decodeAs[StepAbandoned](data)
	case "RUN_INTERRUPTED":
		return decodeAs[RunInterrupted](data)
	case "RUN_FINISHED":
		return decodeAs[RunFinished](data)
	case "LEAD_ACK":
		return decodeAs[Acknowledged](data)
	case "STATE_OWNERSHIP_HANDOFF":
		return decodeAs[HandoffOffered](data)
	case "STATE_OWNERSHIP_ACK":
		return decodeAs[HandoffAcked](data)
	case "HANDOFF_DUPLICATE":
		return decodeAs[HandoffDuplicate](data)
	case "HANDOFF_MISSING":
		return decodeAs[HandoffMissing](data)
	case "SPLIT_BRAIN_DETECTED":
		return decodeAs[SplitBrain](data)
	case "SNAPSHOT_TAKEN":
		return decodeAs[SnapshotTaken](data)
	case "SNAPSHOT_NOT_FOUND":
		return decodeAs[SnapshotNotFound](data)
	case "SNAPSHOT_CONFLICT":
		return decodeAs[SnapshotConflict](data)
	case "RECONCILE_LOCK_ENTER":
		return decodeAs[LockEntered](data)
	case "RECONCILE_LOCK_EXIT":
		return decodeAs[LockExited](data)
	case "RECONCILE_CONFLICT":
		return decodeAs[ReconcileConflict](data)
	default:
		return nil, fmt.Errorf("%w: %q", ErrUnknownKind, kind)
	}
}

func decodeAs[E Event](data []byte) (Event, error) {
	var e E
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("decode %s: %w", e.Kind(), err)
	}
	return e, nil
}

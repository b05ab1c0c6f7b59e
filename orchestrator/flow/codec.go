package flow

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrUnknownKind is matched by the error of [Decode] for a record of a kind that this version does not know.
var ErrUnknownKind = errors.New("unknown kind of event")

// decoders has every kind of event; a test holds it against the source.
var decoders = map[string]func(data []byte) (Event, error){
	"RUN_STARTED":             decodeAs[RunStarted],
	"STEP_STARTED":            decodeAs[StepStarted],
	"ATTEMPT_STARTED":         decodeAs[AttemptStarted],
	"REPLY_ACCEPTED":          decodeAs[ReplyAccepted],
	"REPLY_REJECTED":          decodeAs[ReplyRejected],
	"ATTEMPT_STOPPED":         decodeAs[AttemptStopped],
	"STATE_DIVERGENCE":        decodeAs[StateDiverged],
	"BOARD_EDITED":            decodeAs[BoardEdited],
	"INPUT_LOST":              decodeAs[InputLost],
	"BOARD_WRITE_STARTED":     decodeAs[BoardWriteStarted],
	"BOARD_WRITTEN":           decodeAs[BoardWritten],
	"STEP_FINISHED":           decodeAs[StepFinished],
	"STEP_ABANDONED":          decodeAs[StepAbandoned],
	"RUN_INTERRUPTED":         decodeAs[RunInterrupted],
	"RUN_FINISHED":            decodeAs[RunFinished],
	"LEAD_ACK":                decodeAs[Acknowledged],
	"STATE_OWNERSHIP_HANDOFF": decodeAs[HandoffOffered],
	"STATE_OWNERSHIP_ACK":     decodeAs[HandoffAcked],
	"HANDOFF_DUPLICATE":       decodeAs[HandoffDuplicate],
	"HANDOFF_MISSING":         decodeAs[HandoffMissing],
	"SPLIT_BRAIN_DETECTED":    decodeAs[SplitBrain],
	"SNAPSHOT_TAKEN":          decodeAs[SnapshotTaken],
	"SNAPSHOT_NOT_FOUND":      decodeAs[SnapshotNotFound],
	"SNAPSHOT_CONFLICT":       decodeAs[SnapshotConflict],
	"RECONCILE_LOCK_ENTER":    decodeAs[LockEntered],
	"RECONCILE_LOCK_EXIT":     decodeAs[LockExited],
	"RECONCILE_CONFLICT":      decodeAs[ReconcileConflict],
}

// Decode is the reverse of encoding/json's Marshal for an event of the given kind.
func Decode(kind string, data []byte) (Event, error) {
	decode, ok := decoders[kind]
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrUnknownKind, kind)
	}
	return decode(data)
}

func decodeAs[E Event](data []byte) (Event, error) {
	var e E
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("decode %s: %w", e.Kind(), err)
	}
	return e, nil
}

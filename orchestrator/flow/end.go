package flow

// AttemptEnd is the end of an attempt, and what the attempt came to.
type AttemptEnd struct {
	AttemptRef
	Millis  int64     // that it worked; 0: not known
	Spent   *Spending // nil: its tool does not tell
	Session string    // that its tool named; "": none
}

// EndOf is the end of the attempt that an event ends; false: it ends none.
func EndOf(e Event) (AttemptEnd, bool) {
	switch e := e.(type) {
	case ReplyAccepted:
		return AttemptEnd{e.AttemptRef, e.Millis, e.Spent, e.Session}, true
	case ReplyRejected:
		return AttemptEnd{e.AttemptRef, e.Millis, e.Spent, e.Session}, true
	case AttemptStopped:
		return AttemptEnd{e.AttemptRef, e.Millis, e.Spent, e.Session}, true
	case ReviewHeld:
		return AttemptEnd{e.AttemptRef, e.Millis, e.Spent, e.Session}, true
	case CheckpointHeld:
		return AttemptEnd{e.AttemptRef, e.Millis, e.Spent, e.Session}, true
	case SupervisorFailed:
		return AttemptEnd{e.AttemptRef, e.Millis, e.Spent, e.Session}, true
	case ScopeViolated:
		return AttemptEnd{e.AttemptRef, e.Millis, e.Spent, e.Session}, true
	default:
		return AttemptEnd{}, false
	}
}

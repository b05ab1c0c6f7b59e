package event

// Class is the way in which an attempt ended. What the run does next depends on it: the table in
// docs/overnight.md has a row for each class.
type Class string

// The classes.
const (
	ClassAccepted Class = "accepted"  // a valid reply
	ClassRefused  Class = "refused"   // a person has to mend something, such as a login or a key
	ClassOwnLimit Class = "own_limit" // max_turns or max_cost of the role is reached
	ClassLimit    Class = "limit"     // an account limit, so another agent goes on or the run waits
	ClassTooLong  Class = "too_long"  // the session is too long, so the call starts afresh
	ClassDeclined Class = "declined"  // the provider declines this input, so another agent or a person goes on
	ClassBusy     Class = "busy"      // the provider cannot serve now, so the run waits
	ClassGone     Class = "gone"      // the program of an agent is away for a moment, so the run waits
	ClassCut      Class = "cut"       // the program was cut off, so the work goes on in its session
	ClassFormat   Class = "format"    // any other end, so the same input is given again at once
)

// IsWait reports whether the next attempt waits for its provider. Such an end costs no retry.
func (c Class) IsWait() bool { return c == ClassLimit || c == ClassBusy }

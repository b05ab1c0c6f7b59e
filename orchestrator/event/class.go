package event

// Class says how an attempt ended, and so what the run does next. The table in docs/overnight.md has one row for
// each class.
type Class string

// The classes, in the order in which they are tried.
const (
	ClassAccepted Class = "accepted"  // a valid reply
	ClassRefused  Class = "refused"   // what a person has to mend: a login, a key, money, a model, a tool that is denied
	ClassOwnLimit Class = "own_limit" // max_turns or max_cost of the role
	ClassLimit    Class = "limit"     // a usage or rate limit of the account: another agent, or a wait
	ClassTooLong  Class = "too_long"  // the session does not fit the model's context: a fresh start
	ClassBusy     Class = "busy"      // the provider is overloaded or cannot be reached: a wait
	ClassCut      Class = "cut"       // cut off in the middle of the turn: it goes on in its session
	ClassFormat   Class = "format"    // all else: the same bytes again, at once
)

// IsWait reports whether the next attempt waits for the provider. Such an end costs no retry.
func (c Class) IsWait() bool { return c == ClassLimit || c == ClassBusy }

// Package failure names the two faults that end a run and that a person has to mend.
package failure

import "errors"

// Invalid is wrapped around what makes a run impossible: the input or the set-up is wrong.
type Invalid struct {
	Err error
	Fix string // what to do about it; "" leaves it to Err
}

func (e *Invalid) Error() string { return e.Err.Error() }
func (e *Invalid) Unwrap() error { return e.Err }

// Hint is what to do about it.
func (e *Invalid) Hint() string {
	var h interface{ Hint() string }
	if e.Fix == "" && errors.As(e.Err, &h) {
		return h.Hint()
	}
	return e.Fix
}

// Frozen says that a board may not go on before its Lead has looked at it: seed 002,
// STATE_FROZEN and RECONCILE_LOCK.
type Frozen struct{ Text string }

func (e *Frozen) Error() string { return e.Text }

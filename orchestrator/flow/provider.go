package flow

import (
	"fmt"
	"time"

	"kanban-run/orchestrator/event"
)

// Refused is the state of the open call after its provider refused it.
type Refused struct {
	event.Refusal             // the last refusal
	Class         event.Class `json:"class"` // class of the refused attempt
	Text          string      `json:"text"`  // the reason in the provider's words
	Since         time.Time   `json:"since"` // time of the first of the refusals that followed one another
	Tries         int         `json:"tries"` // refusals in a row
	Asks          bool        `json:"asks"`  // the wait is over, so the next attempt asks the provider
	// Idle is true if the last wait used up no time. Another one would not, either, so none follows.
	Idle bool `json:"idle,omitempty"`

	// Busy and Limit are the times that the run has waited since the last accepted reply, in
	// milliseconds. Busy is for a busy provider, and Limit for the end of a limit. Each has a
	// patience of its own. An attempt that worked resets Limit. It does not reset Busy, because an
	// agent could work and then meet a busy provider again and again.
	Busy  int64 `json:"busy_millis,omitempty"`
	Limit int64 `json:"limit_millis,omitempty"`
	// Cut is the planned end of a wait that the end of a run cut short; zero: no such wait. The
	// wait counts until the earlier of two times: Cut and the time of the next refusal.
	Cut time.Time `json:"cut,omitzero"`
}

// Wait is a wait for the provider of the open call.
type Wait struct{ event.ProviderWait }

// GiveUpWaiting ends the run, because its patience or its limits do not allow the wait for a
// provider.
type GiveUpWaiting struct {
	Text  string
	Busy  bool
	Until time.Time // the end of the provider's limit; zero: not known
	Model bool      // the limit is of one model
	Lacks []string  // see event.End
}

func (Wait) effect() {}

func (GiveUpWaiting) effect() {}

func (s *State) applyProviderWait(e event.ProviderWait) error {
	if s.Step == nil || s.Step.Number != e.Step || s.Step.Running != 0 {
		return refuse(e, "step %d has no call that could wait", e.Step)
	}
	s.Waiting = &e
	if e.Shared { // the next refusal of this board continues the count of the other board
		shared := Refused{Since: e.Since}
		if s.Refused != nil {
			shared = *s.Refused
		}
		shared.Provider, shared.Model, shared.Class, shared.At, shared.Tries, shared.Asks = e.Provider, e.Model, e.Class, e.At, max(shared.Tries, e.Tries), true
		s.Refused = &shared
	}
	return nil
}

func (s *State) applyProviderBack(e event.ProviderBack) error {
	if s.Waiting == nil || s.Waiting.Step != e.Step {
		return refuse(e, "step %d does not wait for a provider", e.Step)
	}
	class, spent := s.Waiting.Class, max(0, e.Millis)
	if s.Waiting = nil; s.Refused != nil && class.IsWait() {
		s.askAgain()
		s.Refused.addWait(class, spent)
		s.Refused.Idle = spent == 0
	}
	s.Waited += spent
	return nil
}

// noteRefusal notes the refusal of an attempt. A provider may name the time at which a limit ends. If it
// refuses again before that time, the field Tries does not count the refusal.
func (s *State) noteRefusal(e event.AttemptStopped) {
	next := Refused{Refusal: *e.Refusal, Class: e.Class, Text: e.Reason, Since: e.Refusal.At, Tries: 1}
	last := s.Refused
	if last == nil {
		s.Refused = &next
		return
	}
	next.Busy, next.Limit, next.Idle = last.Busy, last.Limit, last.Idle
	if !last.Cut.IsZero() {
		next.addWait(last.Class, event.ProviderWait{At: last.At, Until: last.Cut}.Spent(next.At))
	}
	switch {
	case next.Class == event.ClassLimit && e.Worked:
		next.Limit = 0
	case next.Class == last.Class && last.Reset.After(next.At):
		next.Since, next.Tries = last.Since, last.Tries
	case next.Class == last.Class:
		next.Since, next.Tries = last.Since, last.Tries+1
	}
	s.Refused = &next
}

// askAgain lets the next attempt ask the provider.
func (s *State) askAgain() {
	if s.Refused != nil {
		asks := *s.Refused
		asks.Asks, s.Refused = true, &asks
	}
}

// endWaiting notes that a run ended. If the end broke off a wait for a provider, endWaiting keeps
// the planned end of the wait.
func (s *State) endWaiting() {
	if s.Waiting != nil && s.Refused != nil && s.Waiting.Class.IsWait() {
		cut := *s.Refused
		cut.Cut, s.Refused = s.Waiting.Until, &cut
	}
	s.Waiting, s.BlockedBy = nil, ""
}

// blocked notes that the run waits for the work of another board.
func blocked[E interface{ BlockedBy() string }](s *State, e E) error {
	s.BlockedBy = e.BlockedBy()
	return nil
}

// declined returns the failure of a call that its provider declined, or nil.
func (s *State) declined() *failure {
	step := s.Step
	if step.Declined == "" {
		return nil
	}
	text := fmt.Sprintf("the provider of %s declines %s, and would again: %s", step.Player(), step.Task, event.Headline(step.Declined))
	return &failure{Finish{Outcome: event.NeedsPerson, By: event.ByProvider, Text: text}, StatusDeclined, false}
}

// waitForProvider returns the effect that follows a refusal, or nil if the open call does not have to
// wait for its provider. At a limit of the account the call
// goes to another agent, if the settings name one. Otherwise the run waits, as long as its patience
// and its limits of time allow. If the provider names a time that is too late for them, the run
// ends at once. A wait that used up no time is never followed by another one.
func (s *State) waitForProvider(Board) Effect {
	r := s.Refused
	if r == nil || r.Asks || !s.Step.isDue() {
		return nil
	}
	if number, to := s.substitute(); number > 0 && r.Class == event.ClassLimit {
		return Reassign{Step: s.Step.Number, Number: number, To: to, Reason: r.Text}
	}
	end, limit := r.At.Add(s.patienceLeft(r.Class)), s.endOfWaiting(r.At)
	limits := []time.Time{end}
	if !limit.IsZero() {
		limits = append(limits, limit)
	}
	until, named := r.next()
	for _, limit := range limits {
		switch {
		case !until.After(limit):
		case named:
			return s.giveUpWaiting()
		default:
			until = limit // ask once more at the end of the patience or of the limit
		}
	}
	if r.Idle || !until.After(r.At) {
		return s.giveUpWaiting()
	}
	step := s.Step
	return Wait{event.ProviderWait{Step: step.Number, Task: step.Task, Call: step.Call, Role: step.CallRole(), Provider: r.Provider, Model: r.Model,
		Class: r.Class, Since: r.Since, Until: until, Named: named, At: r.At, Tries: r.Tries}}
}

func (s *State) giveUpWaiting() GiveUpWaiting {
	return GiveUpWaiting{Text: s.whyNotWait(), Busy: s.Refused.Class == event.ClassBusy, Until: s.Refused.Reset,
		Model: s.Refused.Model != "", Lacks: s.Step.Lacks}
}

// whyNotWait returns the provider's words, with the time that the run has waited for the provider.
func (s *State) whyNotWait() string {
	r := s.Refused
	if waited := time.Duration(r.Busy+r.Limit) * time.Millisecond; waited >= time.Second {
		return fmt.Sprintf("%s (the run waited %s for it)", r.Text, event.Elapsed(waited))
	}
	return r.Text
}

// endOfWaiting returns the time when a limit of the run ends a wait that began at the given time.
// If no limit ends the wait, endOfWaiting returns the zero time.
func (s *State) endOfWaiting(at time.Time) time.Time {
	end := s.Limits.Until
	if most := s.Limits.MaxMillis; most > 0 {
		left := at.Add(time.Duration(most-s.Used.Millis-s.Waited) * time.Millisecond)
		if end.IsZero() || left.Before(end) {
			end = left
		}
	}
	return end
}

// patienceLeft returns how long the run may still wait for a provider that refuses calls with class
// c.
func (s *State) patienceLeft(c event.Class) time.Duration {
	r := Refused{Class: c}
	if s.Refused != nil {
		r.Busy, r.Limit = s.Refused.Busy, s.Refused.Limit
	}
	return s.Limits.Patience(c) - r.waited()
}

// NextWait returns the wait that follows the refusal of the last call. It returns nil if the call
// was not refused, or if it is followed by something else than a wait.
func (s *State) NextWait() *event.ProviderWait {
	if e, waits := s.waitForProvider(Board{}).(Wait); waits {
		return &e.ProviderWait
	}
	return nil
}

// MayShareWait reports whether this board waits, too, if a provider has refused a call of another
// board. It does not wait if its call would go to another agent, or if its patience or its limits
// would end the wait early. In these cases it asks the provider itself.
func (s *State) MayShareWait(e event.ProviderWait, now time.Time) bool {
	end := s.endOfWaiting(now)
	number, _ := s.substitute()
	return e.Until.Sub(now) <= s.patienceLeft(e.Class) && (end.IsZero() || !e.Until.After(end)) &&
		(number == 0 || e.Class != event.ClassLimit)
}

// WaitsFor returns in words the provider, or the work of another board, for which the run waits. It
// returns "" if the run does not wait.
func (s *State) WaitsFor() string {
	if s.Waiting != nil {
		return s.Waiting.Waits()
	}
	return s.BlockedBy
}

// waited returns how long the run has waited after refusals of the class r.Class.
func (r *Refused) waited() time.Duration {
	if r.Class == event.ClassBusy {
		return time.Duration(r.Busy) * time.Millisecond
	}
	return time.Duration(r.Limit) * time.Millisecond
}

// addWait adds the milliseconds of a wait to the time for class c.
func (r *Refused) addWait(c event.Class, millis int64) {
	if c == event.ClassBusy {
		r.Busy += millis
		return
	}
	r.Limit += millis
}

// The pauses between two attempts double from firstPause to longPause. At a busy provider they stay
// at longPause. At a limit whose end is not known they then grow to limitPause, because some limits
// last a minute and others a day.
const (
	firstPause  = 2 * time.Second
	longPause   = 5 * time.Minute
	limitPause  = 15 * time.Minute
	mostDoubled = 8 // number of doublings from firstPause to longPause or more
)

// pause returns how long to wait after the last refusal if the provider has not named a time.
func (r *Refused) pause() time.Duration {
	doubled := firstPause << min(r.Tries-1, mostDoubled)
	if r.Class == event.ClassLimit && doubled > longPause && r.Tries > mostDoubled+1 {
		return limitPause
	}
	return min(doubled, longPause)
}

// next returns when to ask the provider again. named reports whether the provider has named that
// time. After more than one refusal in a row, a time that the provider names counts only if it is
// after the end of the pause.
func (r *Refused) next() (until time.Time, named bool) {
	until = r.At.Add(r.pause())
	if r.Tries == 1 && r.Reset.After(r.At) || r.Reset.After(until) {
		return r.Reset, true
	}
	return until, false
}

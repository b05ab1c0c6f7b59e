package flow

import (
	"fmt"
	"time"

	"kanban-run/orchestrator/event"
)

// Refused is the state of the open call after its provider refused it.
type Refused struct {
	event.Refusal             // the last one
	Class         event.Class `json:"class"` // of its attempt
	Text          string      `json:"text"`  // of it, in the provider's words
	Since         time.Time   `json:"since"` // of the first refusal in a row
	Tries         int         `json:"tries"` // refusals in a row
	Asks          bool        `json:"asks"`  // the wait is over: the next attempt asks the provider

	// What was waited since the last accepted reply, while the provider was busy and for the end of a limit.
	// Each has a patience of its own. Work gives back that of the limit, but an agent that works and then
	// meets a busy provider may do so for ever.
	Busy  int64     `json:"busy_millis,omitempty"`
	Limit int64     `json:"limit_millis,omitempty"`
	Cut   time.Time `json:"cut,omitzero"` // the end of the wait during which a run ended; it counts until the next refusal, at most
}

// waited returns what was waited for a class.
func (r *Refused) waited() time.Duration {
	if r.Class == event.ClassBusy {
		return time.Duration(r.Busy) * time.Millisecond
	}
	return time.Duration(r.Limit) * time.Millisecond
}

// wait counts a wait for a class.
func (r *Refused) wait(c event.Class, millis int64) {
	if c == event.ClassBusy {
		r.Busy += millis
		return
	}
	r.Limit += millis
}

// Wait is a wait for the provider of the open call.
type Wait struct{ event.ProviderWait }

// GiveUpWaiting ends the run, because the wait for a provider would last longer than its patience.
type GiveUpWaiting struct {
	Text  string
	Busy  bool
	Until time.Time // the end of the limit; zero: not known
}

func (Wait) effect()          {}
func (GiveUpWaiting) effect() {}

// The times between two attempts at a provider that is busy, and the longest of those at a limit whose end is not
// named: some limits are limits of a minute, others of a day.
const (
	firstPause  = 10 * time.Second
	longPause   = 5 * time.Minute
	limitPause  = 15 * time.Minute
	mostDoubled = 5 // firstPause doubled so often is longPause at least
)

// pause returns the time from the last refusal to the next attempt, where the provider names none.
func (r *Refused) pause() time.Duration {
	doubled := firstPause << min(r.Tries-1, mostDoubled)
	if r.Class == event.ClassLimit && doubled > longPause && r.Tries > mostDoubled+1 {
		return limitPause
	}
	return min(doubled, longPause)
}

// next returns when to ask the provider again. named reports that the provider has named that time. A provider
// that refuses again at the end of the limit that it named is asked as if it had named none.
func (r *Refused) next() (until time.Time, named bool) {
	until = r.At.Add(r.pause())
	if r.Tries == 1 && r.Reset.After(r.At) || r.Reset.After(until) {
		return r.Reset, true
	}
	return until, false
}

// refuse notes the refusal of an attempt. A provider that was asked before the end of its limit has told nothing new.
func (s *State) refuse(e event.AttemptStopped) {
	next := Refused{Refusal: *e.Refusal, Class: e.Class, Text: e.Reason, Since: e.Refusal.At, Tries: 1}
	last := s.Refused
	if last == nil {
		s.Refused = &next
		return
	}
	next.Busy, next.Limit = last.Busy, last.Limit
	if !last.Cut.IsZero() {
		next.wait(last.Class, min(next.At.Sub(last.At), last.Cut.Sub(last.At)).Milliseconds())
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

// isRefused reports whether the provider of the open call has to be waited for.
func (s *State) isRefused() bool { return s.Step.isDue() && s.Refused != nil && !s.Refused.Asks }

// waitForProvider returns what follows a refusal: at a limit of the account another agent, where the settings
// name one, or else a wait, as far as the patience lasts. A reset beyond the run's patience or its limits of
// time ends the run at once.
func (s *State) waitForProvider() Effect {
	r := s.Refused
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
		case named || limit == end && !r.At.Before(end):
			return GiveUpWaiting{Text: s.whyNotWait(), Busy: r.Class == event.ClassBusy, Until: r.Reset}
		default:
			until = limit // it is asked once more then
		}
	}
	step := s.Step
	return Wait{event.ProviderWait{Step: step.Number, Task: step.Task, Call: step.Call, Role: step.CallRole(), Provider: r.Provider,
		Class: r.Class, Since: r.Since, Until: until, Named: named, At: r.At, Tries: r.Tries}}
}

// endOfWaiting returns when a limit of the run ends a wait that began at a time; zero: none does.
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

// MayShareWait reports whether a board waits for a provider that refused a call of another board. If its own
// call would go to another agent then, or its own limits would end the wait, it asks for itself.
func (s *State) MayShareWait(e event.ProviderWait, now time.Time) bool {
	end := s.endOfWaiting(now)
	number, _ := s.substitute()
	return e.Until.Sub(now) <= s.patienceLeft(e.Class) && (end.IsZero() || !e.Until.After(end)) &&
		(number == 0 || e.Class != event.ClassLimit)
}

// whyNotWait returns the provider's words, with the time that the run waited for it.
func (s *State) whyNotWait() string {
	r := s.Refused
	if waited := time.Duration(r.Busy+r.Limit) * time.Millisecond; waited >= time.Second {
		return fmt.Sprintf("%s (the run waited %s for it)", r.Text, event.Elapsed(waited))
	}
	return r.Text
}

func (s *State) applyProviderWait(e event.ProviderWait) error {
	if s.Step == nil || s.Step.Number != e.Step || s.Step.Running != 0 {
		return refuse(e, "step %d has no call that could wait", e.Step)
	}
	s.Waiting = &e
	if e.Shared { // its own next refusal goes on from that of the other board
		shared := Refused{Since: e.Since}
		if s.Refused != nil {
			shared = *s.Refused
		}
		shared.Provider, shared.Class, shared.At, shared.Tries, shared.Asks = e.Provider, e.Class, e.At, max(shared.Tries, e.Tries), true
		s.Refused = &shared
	}
	return nil
}

func (s *State) applyProviderBack(e event.ProviderBack) error {
	if s.Waiting == nil || s.Waiting.Step != e.Step {
		return refuse(e, "step %d does not wait for a provider", e.Step)
	}
	class := s.Waiting.Class
	if s.Waiting = nil; s.Refused != nil {
		s.askAgain()
		s.Refused.wait(class, e.Millis)
	}
	s.Waited += e.Millis
	return nil
}

// patienceLeft returns how long the run may still wait for a provider that refuses calls with a class.
func (s *State) patienceLeft(c event.Class) time.Duration {
	r := Refused{Class: c}
	if s.Refused != nil {
		r.Busy, r.Limit = s.Refused.Busy, s.Refused.Limit
	}
	return s.Limits.Patience(c) - r.waited()
}

// endWaiting notes that a run ended while it waited.
func (s *State) endWaiting() {
	if s.Waiting != nil && s.Refused != nil {
		cut := *s.Refused
		cut.Cut, s.Refused = s.Waiting.Until, &cut
	}
	s.Waiting, s.BlockedBy = nil, ""
}

// WaitsFor tells what the run at work waits for: a provider, or the work of another board. It returns "" if
// the run does not wait.
func (s *State) WaitsFor() string {
	if s.Waiting != nil {
		return s.Waiting.Waits()
	}
	return s.BlockedBy
}

// blocked notes that the run waits for the work of another board.
func blocked[E interface{ BlockedBy() string }](s *State, e E) error {
	s.BlockedBy = e.BlockedBy()
	return nil
}

// askAgain has the next attempt ask the provider.
func (s *State) askAgain() {
	if s.Refused != nil {
		asks := *s.Refused
		asks.Asks, s.Refused = true, &asks
	}
}

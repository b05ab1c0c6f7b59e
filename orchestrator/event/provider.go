package event

import (
	"fmt"
	"time"
)

// Refusal is a provider's refusal to serve a call for now. It ends an attempt with [ClassLimit] or
// [ClassBusy].
type Refusal struct {
	Provider string    `json:"provider" text:"fact"` // name of the provider's adapter
	At       time.Time `json:"at"`                   // time of the refusal
	Reset    time.Time `json:"reset,omitzero"`       // end of the limit; zero if unknown
	// Model is the model whose allowance alone is used up: the role's model, or DefaultModel. It is
	// "" if the refusal is not about one model.
	Model string `json:"model,omitempty"`
}

// DefaultModel stands for the model of an agent whose role names none.
const DefaultModel = "default"

// ProviderWait is the beginning of a wait for a provider, or for the program of an agent.
type ProviderWait struct {
	Step     int       `json:"step"`
	Task     string    `json:"task" text:"name"`
	Call     Call      `json:"call,omitempty"`
	Role     string    `json:"role" text:"fact"`
	Provider string    `json:"provider" text:"fact"`
	Class    Class     `json:"class"`
	Since    time.Time `json:"since"`            // time of the first of the consecutive refusals
	Until    time.Time `json:"until"`            // time at which the provider is asked again
	At       time.Time `json:"at"`               // time from which the wait counts: of the last refusal, or of joining another board's wait
	Tries    int       `json:"tries"`            // number of consecutive refusals
	Named    bool      `json:"named,omitempty"`  // the provider names Until as the end of its limit
	Shared   bool      `json:"shared,omitempty"` // the provider refused a call of another board
	Model    string    `json:"model,omitempty"`  // see Refusal.Model
}

func (ProviderWait) Kind() string { return "PROVIDER_WAIT" }

func (e ProviderWait) Subject() string { return e.Task }

func (e ProviderWait) Sentence() Sentence {
	s := inStep(e.Step, Note, "%s %s", e.Call.Player(e.Role), e.Waits())
	if e.Named && !e.Shared && e.Until.Sub(e.Since) >= longWait {
		return s.tell(0, AboutLater)
	}
	return s
}

// longWait is the shortest wait about which a message is sent to a person.
const longWait = 10 * time.Minute

// Waits returns the wait in words, such as "waits for claude's limit until 03:30:00 CET".
func (e ProviderWait) Waits() string {
	what, until := e.Provider+"'s limit", " and asks again at"
	if e.Model != "" {
		what += " of the model " + e.Model
	}
	if e.Named {
		until = " until"
	}
	if e.Class == ClassBusy {
		what = e.Provider + ", which is busy,"
	}
	if e.Class == ClassGone {
		what, until = e.Provider+", which cannot be started now,", " and tries again at"
	}
	form := "15:04:05 MST"
	if e.Until.Sub(e.Since) > 20*time.Hour {
		form = "Mon 2 Jan " + form
	}
	return fmt.Sprintf("waits for %s%s %s", what, until, e.Until.Local().Format(form))
}

// Spent returns the part of the wait that is over at a time, in ms, rounded up, so that no patience
// is left that is too short for a wait. The result is at most the length of the wait, also if the
// machine slept on, and at least 0, also if the clock was set back.
func (e ProviderWait) Spent(at time.Time) int64 {
	return Millis(max(0, min(at.Sub(e.At), e.Until.Sub(e.At))))
}

// Millis returns milliseconds, rounded up: 0 stands for no limit, or for nothing that took time.
func Millis(d time.Duration) int64 { return (d + time.Millisecond - 1).Milliseconds() }

// ProviderBack is the end of a ProviderWait. The provider is asked again, unless the run
// ends.
type ProviderBack struct {
	Step     int    `json:"step"`
	Task     string `json:"task" text:"name"`
	Provider string `json:"provider" text:"fact"`
	Millis   int64  `json:"millis"` // duration of the wait, in ms
}

func (ProviderBack) Kind() string { return "PROVIDER_BACK" }

func (e ProviderBack) Subject() string { return e.Task }

func (e ProviderBack) Sentence() Sentence {
	return inStep(e.Step, Routine, "the wait for %s is over after %s", e.Provider, Took(e.Millis))
}

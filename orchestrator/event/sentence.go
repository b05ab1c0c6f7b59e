package event

import (
	"fmt"
	"strings"
)

// Sentence is what a person reads of an event, in every view.
type Sentence struct {
	Weight Weight
	For    Who        // has to know of it
	Topic  Topic      // of the message that is sent about it; "": none is
	Alert  Alert      // in SUPERVISOR_REPORT
	Step   int        // that it names; 0: none
	Text   string     // paths and names as the journal has them
	More   []Sentence // what stands below it
}

// Weight is how much an event matters to a person.
type Weight int

// The weights, from the least.
const (
	Trace   Weight = iota // for who looks for the cause of something
	Routine               // something begins, or ends as its parts did: a live line shows it
	Note
	Success
	Warning
	Critical
)

// Who has to know of an event, beside whoever reads the log. Both may.
type Who int

// The values of Who.
const (
	Lead Who = 1 << iota // has to decide, or to mend something
	Team                 // has it in DECISIONS.md: seed 002, "Bounded DECISIONS Contribution Rule"
)

// Topic is what a person may want to be sent messages about.
type Topic string

// The topics.
const (
	AboutPerson   Topic = "needs_person" // the board waits for a decision, or ended without an end
	AboutStuck    Topic = "stuck"        // an agent makes no progress, and nothing helps
	AboutLoop     Topic = "loop"         // work goes round in circles
	AboutTool     Topic = "tool"         // a tool is not there
	AboutLimit    Topic = "limit"        // a limit of the run is reached
	AboutLater    Topic = "later"        // the provider's own limit is reached
	AboutComplete Topic = "complete"     // the board is complete
)

// Topics lists all of them.
func Topics() []Topic {
	return []Topic{AboutPerson, AboutStuck, AboutLoop, AboutTool, AboutLimit, AboutLater, AboutComplete}
}

// StepOf returns the step that an event is of; 0: none.
func StepOf(e Event) int {
	if e, ok := e.(interface{ About() AttemptRef }); ok {
		return e.About().Step
	}
	return e.Sentence().Step
}

// String is the text behind the step that it names.
func (s Sentence) String() string {
	if s.Step == 0 {
		return s.Text
	}
	return fmt.Sprintf("step %d: %s", s.Step, s.Text)
}

// Lines are the sentence and what stands below it.
func (s Sentence) Lines() []Sentence { return append([]Sentence{s}, s.More...) }

// Heaviest returns the greatest weight of its lines.
func (s Sentence) Heaviest() Weight {
	most := s.Weight
	for _, more := range s.More {
		most = max(most, more.Weight)
	}
	return most
}

// Whole is the text in a line with all that stands below it.
func (s Sentence) Whole() string {
	text := s.Text
	for _, more := range s.More {
		text += "; " + more.Text
	}
	return text
}

// Add puts a line below.
func (s *Sentence) Add(w Weight, text string) { s.More = append(s.More, say(w, text)) }

// tell returns the sentence for those who have to know of it.
func (s Sentence) tell(who Who, about Topic) Sentence {
	s.For, s.Topic = who, about
	return s
}

func (s Sentence) in(step int) Sentence {
	s.Step = step
	return s
}

func say(w Weight, text string) Sentence { return Sentence{Weight: w, Text: text} }

func inStep(step int, w Weight, format string, args ...any) Sentence {
	return Sentence{Weight: w, Step: step, Text: fmt.Sprintf(format, args...)}
}

// traceOf is for what says all by its kind.
func traceOf(e Event) Sentence {
	return say(Trace, strings.ToLower(strings.ReplaceAll(e.Kind(), "_", " "))+": "+e.Subject())
}

func weightOfStatus(status string) Weight {
	if status != "ok" {
		return Warning
	}
	return Success
}

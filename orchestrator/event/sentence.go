package event

import (
	"fmt"
	"strings"
)

// Sentence is what a person reads of an event, in every view.
type Sentence struct {
	Weight Weight
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

// String is the text behind the step that it names.
func (s Sentence) String() string {
	if s.Step == 0 {
		return s.Text
	}
	return fmt.Sprintf("step %d: %s", s.Step, s.Text)
}

// Lines are the sentence and what stands below it.
func (s Sentence) Lines() []Sentence { return append([]Sentence{s}, s.More...) }

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

package event

import (
	"fmt"
	"strings"
	"sync"
)

// Sentence is an event rendered for people, the same in every view.
type Sentence struct {
	Weight Weight
	End    Weight     // weight of the end of a run for a person; 0 for any other event
	For    Readers    // the people that need to know of the event
	Topic  Topic      // topic of the message about the event; "" for no message
	Alert  Alert      // the part that a SUPERVISOR_REPORT shows
	Edge   Edge       // whether the event opens or closes something
	Result string     // status that the event gives to the task of its step; "": none
	Step   int        // number of the step; 0 for an event outside of a step
	Text   string     // the words, with paths and names as in the journal
	More   []Sentence // further lines, shown below the first
}

// Edge says whether an event opens or closes a run, a step or an attempt.
type Edge int

// The values of Edge. The event of the edge LeavesStep gives the step up.
const (
	Within Edge = iota
	OpensRun
	ClosesRun
	OpensStep
	ClosesStep
	LeavesStep
	OpensAttempt
)

// at returns the sentence with its edge.
func (s Sentence) at(e Edge) Sentence {
	s.Edge = e
	return s
}

// Weight is the importance of an event to a person.
type Weight int

// The weights, from the least to the greatest.
const (
	Trace   Weight = iota // for debugging only
	Routine               // a beginning or an end without news, shown by a live line
	Note
	Success
	Warning
	Critical
)

// Readers is a set of people that need to know of an event, in addition to the readers of the log.
type Readers int

// The values of Readers.
const (
	Lead Readers = 1 << iota // the person that decides or mends something
	// Team are the readers of DECISIONS.md: seed 002, "Bounded DECISIONS Contribution Rule".
	Team
)

// Topic is a subject of the messages that a person may ask for.
type Topic string

// The topics.
const (
	AboutPerson   Topic = "needs_person" // the board waits for a decision, or its run failed
	AboutStuck    Topic = "stuck"        // an agent makes no progress, and nothing helps
	AboutLoop     Topic = "loop"         // work goes round in circles
	AboutTool     Topic = "tool"         // a tool is not available
	AboutLimit    Topic = "limit"        // a limit of the run is reached
	AboutLater    Topic = "later"        // the provider's own limit is reached
	AboutComplete Topic = "complete"     // the board is complete
)

// Topics lists all topics.
func Topics() []Topic {
	return []Topic{AboutPerson, AboutStuck, AboutLoop, AboutTool, AboutLimit, AboutLater, AboutComplete}
}

// StepOf returns the step of an event, or 0 if the event belongs to no step.
func StepOf(e Event) int {
	if e, ok := e.(interface{ About() AttemptRef }); ok {
		return e.About().Step
	}
	return e.Sentence().Step
}

// String returns the text. If the sentence has a step, the number of the step comes first.
func (s Sentence) String() string {
	if s.Step == 0 {
		return s.Text
	}
	return fmt.Sprintf("step %d: %s", s.Step, s.Text)
}

// Lines returns the sentence and the lines below it.
func (s Sentence) Lines() []Sentence { return append([]Sentence{s}, s.More...) }

// Heaviest returns the greatest weight of the sentence and the lines below it.
func (s Sentence) Heaviest() Weight {
	most := s.Weight
	for _, more := range s.More {
		most = max(most, more.Weight)
	}
	return most
}

// Whole returns the text and all lines below it, joined into one line.
func (s Sentence) Whole() string {
	text := s.Text
	for _, more := range s.More {
		text += "; " + more.Text
	}
	return text
}

// Add adds a line below the sentence.
func (s *Sentence) Add(w Weight, text string) { s.More = append(s.More, say(w, text)) }

// tell returns the sentence with the people that need to know of the event, and with the topic of
// the message about it.
func (s Sentence) tell(who Readers, about Topic) Sentence {
	s.For, s.Topic = who, about
	return s
}

func (s Sentence) in(step int) Sentence {
	s.Step = step
	return s
}

func say(w Weight, text string) Sentence { return Sentence{Weight: w, Text: Plain(text)} }

func inStep(step int, w Weight, format string, args ...any) Sentence {
	return Sentence{Weight: w, Step: step, Text: Plain(fmt.Sprintf(format, args...))}
}

// Plain puts words for people in place of the words in capitals that begin a reason: those of seed 002 stand
// in its own forms, such as SUPERVISOR_REPORT.
func Plain(text string) string {
	return plainWords().Replace(text)
}

var plainWords = sync.OnceValue(func() *strings.Replacer {
	words := []string{"LOOP_SUSPECTED: ", "a loop is suspected: ", "STUCK: ", "stuck: "}
	for _, code := range AlertTypes() {
		words = append(words, code+": ", "")
	}
	return strings.NewReplacer(words...)
})

// traceOf returns a sentence of weight Trace with the kind and the subject of an event.
func traceOf(e Event) Sentence {
	return say(Trace, strings.ToLower(strings.ReplaceAll(e.Kind(), "_", " "))+": "+e.Subject())
}

func weightOfStatus(status string) Weight {
	if status != "ok" {
		return Warning
	}
	return Success
}

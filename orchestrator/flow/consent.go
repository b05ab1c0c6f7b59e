package flow

// Consent is a decision about a running agent that waits for a person, who is the Coordinator:
// seed 000, "禁止操作", no member is ended without the Coordinator.
type Consent struct {
	Decision Decision `json:"decision"` // that is proposed
	Text     string   `json:"text"`     // why
}

// ConsentAsked asks the person for consent to a decision about the running attempt.
type ConsentAsked struct {
	AttemptRef
	Anomaly  `text:"free"`
	Decision Decision `json:"decision"`
	Text     string   `json:"text" text:"free"`
}

// ConsentGiven is the person's answer, or says that the question is void.
type ConsentGiven struct {
	AttemptRef
	ID     string        `json:"id,omitempty"` // of the answer; "" where it is void
	Choice ConsentChoice `json:"choice"`
}

// ConsentChoice is what becomes of an agent that was found hung.
type ConsentChoice string

// The choices.
const (
	ConsentRestart  ConsentChoice = "restart"  // do what is proposed
	ConsentContinue ConsentChoice = "continue" // leave the agent alone, with all clocks anew
	ConsentVoid     ConsentChoice = "void"     // the agent goes on by itself
)

// Kind is the record's type in the journal.
func (ConsentAsked) Kind() string { return "CONSENT_ASKED" }

// Kind is the record's type in the journal.
func (ConsentGiven) Kind() string { return "CONSENT_GIVEN" }

func (e ConsentAsked) apply(s *State) error {
	if err := s.checkRunning(e, e.AttemptRef); err != nil {
		return err
	}
	s.Step.Consent = &Consent{e.Decision, e.Text}
	return nil
}

func (e ConsentGiven) apply(s *State) error {
	if err := s.checkRunning(e, e.AttemptRef); err != nil {
		return err
	}
	s.Step.Consent = nil
	return nil
}

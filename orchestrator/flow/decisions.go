package flow

// MarkerMissing says that DECISIONS.md has not the sections that entries belong to: seed 002,
// "Bounded DECISIONS Contribution Rule". It changes nothing.
type MarkerMissing struct {
	Board string `json:"board" text:"free"`
	Text  string `json:"text" text:"free"`
}

// DecisionsViolated says that an entry stood outside of its section in DECISIONS.md, and was
// taken out. It changes nothing.
type DecisionsViolated struct {
	Board string `json:"board" text:"free"`
	Text  string `json:"text" text:"free"`
}

// Kind is the record's type in the journal.
func (MarkerMissing) Kind() string { return "DECISIONS_MARKER_MISSING" }

// Kind is the record's type in the journal.
func (DecisionsViolated) Kind() string { return "DECISIONS_SCOPE_VIOLATION" }

// Subject is the board.
func (e MarkerMissing) Subject() string { return e.Board }

// Subject is the board.
func (e DecisionsViolated) Subject() string { return e.Board }

func (MarkerMissing) apply(*State) error { return nil }

func (DecisionsViolated) apply(*State) error { return nil }

package event

// ReviewHeld is the outcome of a review that came to a verdict: seed 003, "Supervisor Feedback". A
// command comes to one however it ends.
type ReviewHeld struct {
	AttemptRef
	Completed bool      `json:"completed"`
	Feedback  string    `json:"feedback" text:"free"`   // the supervisor's final message, or what the command came to
	Session   string    `json:"session" text:"free"`    // the fork that it looked at the work in
	Left      string    `json:"board_sha256,omitempty"` // the board as the review left it; "" when it is not known
	Tree      string    `json:"tree,omitempty"`         // of a review that is not content, as in a [Visit], and
	Finding   string    `json:"finding,omitempty"`      // see [FindingOf]
	Millis    int64     `json:"millis"`
	Spent     *Spending `json:"spent,omitempty"`
}

func (ReviewHeld) Kind() string { return "REVIEW_HELD" }

package flow

// ToolsUsed says what the running attempt did with tools. It stands before the end of the
// attempt, and changes nothing.
type ToolsUsed struct {
	AttemptRef
	ToolWork `text:"free"`
}

// ToolWork is what an attempt did with tools, as its program tells.
type ToolWork struct {
	Uses  []ToolUse  `json:"uses" text:"free"` // those that took longest first
	Spans []ToolSpan `json:"spans"`            // times in which a call was open, in their order; short ones may be left out
}

// ToolUse sums up the calls of one tool.
type ToolUse struct {
	Tool    string `json:"tool" text:"free"` // its name; "" for those of which there are too many to tell apart
	Calls   int    `json:"calls"`
	Failed  int    `json:"failed,omitempty"`
	Millis  int64  `json:"millis"`         // that calls were open, added up
	Longest int64  `json:"longest_millis"` // of one call
}

// ToolSpan is a time in which a call was open, from the start of the attempt.
type ToolSpan struct {
	From   int64 `json:"from_millis"`
	Millis int64 `json:"millis"`
}

// Kind is the record's type in the journal.
func (ToolsUsed) Kind() string { return "TOOLS_USED" }

func (e ToolsUsed) apply(s *State) error { return s.checkRunning(e, e.AttemptRef) }

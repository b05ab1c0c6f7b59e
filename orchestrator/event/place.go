package event

// PlaceChanged reports that the folder of the board's runs is not the one in which the journal was
// written so far: it was copied, restored or mounted anew. What bears a mark of the earlier records
// belongs to the other place. After a boot of the system, in which devices get their numbers anew, a copy
// can look like the original, so that the open step gets another mark then, too. The event is journaled
// before RunStarted.
type PlaceChanged struct {
	Board  string `json:"board"`
	Place  string `json:"place" text:"fact"` // see RunStarted.Place
	Mark   string `json:"mark" text:"fact"`  // new mark of the processes of the open step
	Booted bool   `json:"booted,omitempty"`  // the folder is the same, and the system has booted since
	Left   bool   `json:"left,omitempty"`    // the last run has no end, so its agents may be at work in the other place
}

func (PlaceChanged) Kind() string { return "PLACE_CHANGED" }

// Subject returns the board.
func (e PlaceChanged) Subject() string { return e.Board }

func (PlaceChanged) Needs() int { return 3 }

func (e PlaceChanged) Sentence() Sentence {
	switch {
	case e.Booted:
		return traceOf(e)
	case e.Left:
		return say(Warning, "the last run, which has no end, was at work in another folder, of which this one may be a copy: "+
			"what it started is left alone, and its open call begins anew here")
	}
	return say(Routine, "the last run was at work in another folder, so its sessions do not go on here")
}

package event

// PlaceChanged reports that the folder of the board's runs is not the one in which the journal was
// written so far: it was copied, restored or mounted anew, or a lock was replaced while the run was at
// work. What bears a mark of the earlier records belongs to the other place. The event is journaled
// before RunStarted, if a run finds the change at its start.
type PlaceChanged struct {
	Board string `json:"board"`
	Place string `json:"place" text:"fact"`          // see RunStarted.Place
	Mark  string `json:"mark,omitempty" text:"fact"` // new mark of the processes of the open step; "": the files alone have changed
	Left  bool   `json:"left,omitempty"`             // the last run has no end, so its agents may be at work in the other place
}

func (PlaceChanged) Kind() string { return "PLACE_CHANGED" }

// Subject returns the board.
func (e PlaceChanged) Subject() string { return e.Board }

func (PlaceChanged) Needs() int { return 3 }

func (e PlaceChanged) Sentence() Sentence {
	switch {
	case e.Mark == "":
		return say(Routine, "the lock of the board was replaced by another file, which is locked now")
	case e.Left:
		return say(Warning, "the last run, which has no end, was at work in another folder, of which this one may be a copy: "+
			"what it started is left alone, and its open call begins anew here")
	}
	return say(Routine, "the last run was at work in another folder, so its sessions do not go on here")
}

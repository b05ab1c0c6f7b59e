package flow

// Skim folds a journal without reading what the records of the work say before the last snapshot: the snapshot says where the
// work stood. Who may write, locks, freezes and the order of revisions are followed as [History.Add] follows them.
//
// What it does not see before that snapshot: a record of the work that cannot follow the one before it, a reply that was
// journaled by another than its role, and a snapshot of something else than the work. Whoever acts on the history adds every
// record.
type Skim struct {
	passed History // its State says nothing
	before History // the same before the last snapshot
	last   Entry   // the last snapshot
}

// Passes says whether a record needs no decoding, and makes it part of the history then. A record that breaks a rule does not
// pass.
func (s *Skim) Passes(kind, actor string, seq, epoch, rev uint64) bool {
	h := &s.passed
	byRole := kind == ReplyAccepted{}.Kind()
	if !byRole && (actor != ActorRun || !saysWork(kind)) {
		return false
	}
	if h.Custody.Locked != "" || epoch != h.Custody.Epoch || epoch == 0 || rev != h.Rev+1 {
		return false
	}
	h.Seq, h.Rev = seq, rev
	return true
}

// saysWork names the kinds of records that only change where the work stands.
func saysWork(kind string) bool {
	switch kind {
	case StepStarted{}.Kind(), AttemptStarted{}.Kind(), ReplyAccepted{}.Kind(), ReplyRejected{}.Kind(), AttemptStopped{}.Kind(),
		WorkFinished{}.Kind(), ReviewHeld{}.Kind(), VerdictMissed{}.Kind(), ReviewFailed{}.Kind(),
		BoardEdited{}.Kind(), BoardWriteStarted{}.Kind(), BoardWritten{}.Kind(), StepFinished{}.Kind(), StepAbandoned{}.Kind():
		return true
	default:
		return false
	}
}

// Add makes a record part of the history that did not pass. It returns false where only a fold of all records can tell what
// is true: where a rule is broken, and at a snapshot that is not of the record before it.
func (s *Skim) Add(e Entry) bool {
	taken, ok := e.Event.(SnapshotTaken)
	if !ok {
		s.passed.Add(e)
		return s.passed.Breach == nil
	}
	h := &s.passed
	if !isReadable(taken.Version) || taken.ReplayIndex != e.Seq-1 || taken.Epoch != h.Custody.Epoch || hashOf(taken.State) != taken.Hash ||
		h.Custody.admit(e) != nil || e.Rev != h.Rev+1 {
		return false
	}
	if taken.Version == snapshotVersion { // an older form does not say all that the records do
		s.before, s.last = *h, e
	}
	h.Seq, h.Rev = e.Seq, e.Rev
	return true
}

// Last is the seq of the last snapshot, 0 when there is none.
func (s *Skim) Last() uint64 { return s.last.Seq }

// Sure is the history at the last snapshot: what follows it remains to be added. It returns false like Add.
func (s *Skim) Sure() (h History, ok bool) {
	taken, any := s.last.Event.(SnapshotTaken)
	if !any {
		return h, true
	}
	h = s.before
	state, err := decodeState(taken.State, taken.Hash)
	if err != nil {
		return h, false
	}
	h.State = state // so it is compared with the one spelling of itself
	h.Add(s.last)
	return h, h.Breach == nil
}

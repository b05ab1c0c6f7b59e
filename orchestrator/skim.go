package orchestrator

import (
	"errors"

	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/journal"
)

// errUnsure is a journal that cannot be skimmed.
var errUnsure = errors.New("the journal must be replayed")

// Skim is Inspect for those who only want to know where a board stands. Every record is checked for damage and for who wrote
// it, but what the agents did before the last snapshot is taken from the snapshot: of a million records that saves the time to
// decode them. So it does not see records with right checksums that contradict each other there; a run and Verify do. Where
// anything is unusual it is Inspect.
func Skim(boardPath string) (flow.History, journal.Summary, error) {
	path, err := JournalPath(boardPath)
	if err != nil {
		return flow.History{}, journal.Summary{}, err
	}
	h, sum, err := skim(path)
	if errors.Is(err, errUnsure) {
		h, sum, err = fold(path, nil)
	}
	return h, sum, inspected(boardPath, path, h, err)
}

func skim(path string) (flow.History, journal.Summary, error) {
	var s flow.Skim
	var sure journal.Place
	sum, err := journal.ReadFrom(path, journal.Place{}, func(r journal.Record, at journal.Place) error {
		if s.Passes(r.Type, r.Actor, r.Seq, r.Epoch, r.Rev) {
			return nil
		}
		e, err := decode(r)
		if err != nil {
			return err
		}
		if !s.Add(e) {
			return errUnsure
		}
		if s.Last() == r.Seq {
			sure = at
		}
		return nil
	})
	h, ok := s.Sure()
	switch {
	case err == nil && !ok:
		return h, sum, errUnsure
	case err != nil || h.Seq == sum.Records:
		return h, sum, err
	}
	sum, err = journal.ReadFrom(path, sure, func(r journal.Record, _ journal.Place) error {
		e, err := decode(r)
		if err == nil {
			h.Add(e)
		}
		return err
	})
	var damage *journal.DamageError
	if errors.As(err, &damage) {
		err = errUnsure // another journal took its place
	}
	return h, sum, err
}

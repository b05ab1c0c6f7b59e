package flow

import (
	"path"
	"slices"
)

// Fields are the fields of a board with which a Manager's reply is compared.
type Fields struct {
	Terminal bool
	Current  string // the path of the current task, or "" if there is none
	Tasks    []string
	Ended    string // status, written by the runner, with which the Manager ended the board; "": none
	Taken    bool   // the board's author uses the field "ended" for another value
	Over     bool   // the board is complete by its field "phase", even if the field "current" names a task
}

// Verdict is the decision about a Manager's reply.
type Verdict struct {
	// Disagreement is why the reply contradicts the board that the Manager wrote; "": it does not.
	// A reply that contradicts the board is rejected.
	Disagreement string
	WriteCurrent bool // the Manager left `current` to the runner
	WriteTasks   bool // the Manager left `tasks` to the runner
	WriteEnded   bool // the board does not record how the Manager ended it, or still records an earlier end
	// Warning is set when the Manager changed the list on the board and replied with another list
	// (the board's list stands), or when the board cannot record how it ended.
	Warning string
}

// Reconcile compares a Manager's reply with the Manager's change of the board, and decides about
// each difference. Differences are possible, because in seed 004 the Manager updates the board
// *and* returns the list and the next task. The parameter "before" describes the board at the start
// of the Manager's first attempt in this step. The parameter "after" describes the board at
// present. The parameter "next" is the reply's next_task, or "" for null. If the reply ends the
// board with a status other than ok, the parameter "ended" is this status. Otherwise the parameter
// is "".
func Reconcile(before, after Fields, next string, tasks []string, ended string) Verdict {
	var v Verdict
	revised := before.Current == "" // a checkpoint after the last task caused this call of the Manager
	switch {
	case after.Over && next != "", after.Terminal && next != "" && !revised:
		v.Disagreement = "the board is complete, the reply says next_task: " + next
		return v
	case revised && after.Current == "":
		v.WriteCurrent = next != "" || !after.Terminal
	case !after.Terminal && after.Current == "":
		v.Disagreement = "the board names no current task and is not complete, the reply says next_task: " +
			orNull(next)
		return v
	case after.Current == before.Current:
		v.WriteCurrent = next != after.Current || next == "" && !after.Terminal
	case next == "" && after.Terminal:
	case next == after.Current:
	default:
		v.Disagreement = "the board says current: " + orNull(after.Current) +
			", the reply says next_task: " + orNull(next)
		return v
	}
	switch {
	case equal(tasks, after.Tasks):
	case equal(before.Tasks, after.Tasks):
		v.WriteTasks = true
	case !equal(tasks, before.Tasks):
		v.Warning = "the Manager changed the board's tasks and replied with another list; the board's list stands"
	}
	v.WriteEnded = ended != after.Ended && !after.Taken
	if v.Warning == "" && ended != "" && after.Taken {
		v.Warning = "the board's field ended is its author's, so only the journal says that the Manager " +
			"ended the board with " + ended
	}
	return v
}

// equal reports whether two lists have the same paths. It treats ./a.md and a.md as the same path.
func equal(a, b []string) bool {
	return slices.EqualFunc(a, b, func(a, b string) bool { return a == b || path.Clean(a) == path.Clean(b) })
}

func orNull(path string) string {
	if path == "" {
		return "null"
	}
	return path
}

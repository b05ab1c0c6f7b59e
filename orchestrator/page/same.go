package page

import (
	"slices"

	"kanban-run/orchestrator/projection"
)

// runOf returns how many of the first steps differ in number and time only, at least 1.
func runOf(steps []*projection.Step, same func(a, b *projection.Step) bool) int {
	n := 1
	for n < len(steps) && same(steps[0], steps[n]) {
		n++
	}
	return n
}

// lookSame reports whether two steps have the same row in the waterfall, except for the places of its
// bars.
func lookSame(a, b *projection.Step) bool {
	return a.Task == b.Task && a.Role == b.Role && a.State == b.State && a.Status == b.Status && a.Manager == b.Manager &&
		isSupervision(a) == isSupervision(b) && slices.EqualFunc(a.Attempts, b.Attempts, func(x, y projection.Attempt) bool {
		return x.Call == y.Call && x.Role == y.Role && x.Result == y.Result && x.Status == y.Status && x.SentBack == y.SentBack &&
			len(x.Watched) == 0 && len(y.Watched) == 0
	})
}

// saySame reports whether two steps also have the same words: what the page shows of the one, the other
// says too.
func saySame(a, b *projection.Step) bool {
	return lookSame(a, b) && a.Message == b.Message && slices.Equal(a.Notes, b.Notes) &&
		slices.EqualFunc(a.Attempts, b.Attempts, func(x, y projection.Attempt) bool {
			return x.Adapter == y.Adapter && x.Command == y.Command && x.Message == y.Message && x.Reason == y.Reason &&
				x.Exit == y.Exit && x.Received == y.Received && x.Stderr == y.Stderr
		})
}

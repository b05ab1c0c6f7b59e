package flow

import (
	"slices"
	"testing"
)

// TestUndoneIsWhatCameAfter: work of before the step counts, also where an agent has written its mark away since.
func TestUndoneIsWhatCameAfter(t *testing.T) {
	r := Rewind{SHA: "b", step: 3, proven: true, last: "c", before: []TaskStatus{{Task: "a.md", Status: StatusOK, Marked: true}}}
	r.history.State.Statuses = []TaskStatus{{Task: "a.md", Status: StatusOK}, {Task: "b.md", Status: StatusOK}}
	if e := r.Undone("kanban.yaml"); e == nil || e.Step != 3 || !slices.Equal(e.Tasks, []string{"b.md"}) {
		t.Errorf("undone is %+v", e)
	}
}

package projection

import (
	"cmp"
	"slices"

	"kanban-run/orchestrator/event"
)

// changed is what was changed while agents worked, and waits for no person.
type changed struct {
	event.ChangedFile
	when string // as in "while tasks/1.md was worked on"
}

const mostChanged = 100

// addChanged notes the files of an event that nobody is asked about. A value that is back from before the
// first change is none. What a review reads is a remark of the work that it accepted.
func (f *Fold) addChanged(e event.FilesChanged) {
	for _, file := range e.Files {
		i := slices.IndexFunc(f.changed, func(c changed) bool { return c.Is(file) })
		if i >= 0 {
			file.Was = f.changed[i].Was
			f.changed = slices.Delete(f.changed, i, i+1)
		}
		if !file.Asks && file.By != event.ReviewFile && file.SHA != file.Was {
			f.changed = append(f.changed, changed{file, cmp.Or(e.While, "while "+e.Task+" was worked on")})
		}
	}
	f.changed = last(f.changed, mostChanged)
}

// changedTexts returns a line for each moment at which something was changed.
func (f *Fold) changedTexts() (texts []string) {
	var moments []string
	names := map[string][]string{}
	for _, c := range f.changed {
		if names[c.when] == nil {
			moments = append(moments, c.when)
		}
		names[c.when] = append(names[c.when], c.Spoken())
	}
	for _, when := range moments {
		const most = 5
		texts = append(texts, event.Plain(event.List(names[when], most)+" changed "+when))
	}
	return texts
}

package agent

// Warnings limits the warnings about one stream. After the first 20 it emits one last warning,
// which tells that more warnings are left out.
type Warnings struct{ seen int }

// Warn emits the next warning.
func (w *Warnings) Warn(emit func(Event), text string) {
	switch w.seen++; {
	case w.seen <= maxWarnings:
		emit(Event{Kind: Warning, Text: text})
	case w.seen == maxWarnings+1:
		emit(Event{Kind: Warning, Text: "there are more warnings about its output, which are left out"})
	}
}

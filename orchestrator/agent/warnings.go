package agent

// Warnings are those of one stream. There is no bound to what can be wrong with one, and they go to people: the first are told, and once
// that there are more.
type Warnings struct{ met int }

// Warn tells of the next.
func (w *Warnings) Warn(emit func(Event), text string) {
	switch w.met++; {
	case w.met <= maxTold:
		emit(Event{Kind: Warning, Text: text})
	case w.met == maxTold+1:
		emit(Event{Kind: Warning, Text: "there are more warnings about its output, which are left out"})
	}
}

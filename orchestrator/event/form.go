package event

import "encoding/json"

// Form is the number of the form of journals that this program writes. It reads and continues
// journals of every earlier form. A journal without a number is of form 1.
//
// Within a form, fields and kinds are added that a program can do without. A kind or a field that
// flow.Next reads needs the next form, see [Needs]. A kind or a field that is removed is never used
// for something else.
const Form = 4

// Needs returns the form of journals that a program has to know in order to run a journal with e,
// or 0 for the first form. An event of a later form says so itself with a method of this name: for
// its kind, or only if one of its fields is set.
func Needs(e Event) int {
	if n, ok := e.(interface{ Needs() int }); ok {
		return n.Needs()
	}
	return 0
}

// Unknown is an event of a kind that only a later version of this program knows.
type Unknown struct {
	Type    string // type of the record in the journal
	About   string
	Writer  string // see [Actor]
	Content json.RawMessage
}

func (e Unknown) Kind() string { return e.Type }

func (e Unknown) Subject() string { return e.About }

func (e Unknown) Sentence() Sentence {
	s := traceOf(e)
	s.Text += " (of a later version of kanban-run)"
	return s
}

// MarshalJSON returns the event as it was written.
func (e Unknown) MarshalJSON() ([]byte, error) { return e.Content, nil }

package flow

import (
	"cmp"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"kanban-run/orchestrator/event"
)

// rulesVersion is the version of the transitions from state to state. Raise it when the same events
// lead to another state than before, because the state in a snapshot of an earlier journal would
// then differ from the state that its events lead to.
const rulesVersion = 2

// Form returns the name of the form of a journal. The name is a digest over rulesVersion and over
// the names and types of all fields of events and of the State. The event RUN_STARTED holds
// the name, and a journal in another form is not read.
var Form = sync.OnceValue(func() string {
	all := fmt.Sprintln(rulesVersion) + formOf(reflect.TypeFor[State]())
	for _, kind := range event.Kinds() {
		e, err := event.Decode(kind, []byte("{}"))
		if err != nil {
			panic(fmt.Sprintf("an empty %s: %v", kind, err)) // cannot happen: a test decodes all kinds
		}
		all += "\n" + kind + " " + formOf(reflect.TypeOf(e))
	}
	sum := sha256.Sum256([]byte(all))
	return hex.EncodeToString(sum[:6])
})

// formOf describes the JSON form of a type.
func formOf(t reflect.Type) string {
	if t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return t.String()
	}
	switch t.Kind() {
	case reflect.Struct:
		form := "{"
		for f := range t.Fields() {
			form += fmt.Sprintf("%q %s\n", cmp.Or(f.Tag.Get("json"), f.Name), formOf(f.Type))
		}
		return form + "}"
	case reflect.Pointer, reflect.Slice:
		return t.Kind().String() + " " + formOf(t.Elem())
	default:
		return t.Kind().String()
	}
}

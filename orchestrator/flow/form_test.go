package flow

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestForm: the form of a journal is another one whenever a record or a snapshot would be read
// otherwise than it was written (a field, its name or its type), and the same in every run.
func TestForm(t *testing.T) {
	type inner struct {
		A string `json:"a"`
	}
	forms := map[string]string{}
	for _, v := range []any{
		struct {
			A string `json:"a"`
		}{},
		struct {
			A string `json:"b"`
		}{},
		struct {
			A string `json:"a,omitempty"`
		}{},
		struct {
			A int `json:"a"`
		}{},
		struct {
			A []string `json:"a"`
		}{},
		struct {
			A *string `json:"a"`
		}{},
		struct {
			A string `json:"a"`
			B inner  `json:"c"`
		}{},
		struct {
			A string  `json:"a"`
			B []inner `json:"c"`
		}{},
	} {
		form := formOf(reflect.TypeOf(v))
		if other := forms[form]; other != "" {
			t.Errorf("%T and %s have the form %s", v, other, form)
		}
		forms[form] = fmt.Sprintf("%T", v)
	}
	if len(Form()) != 12 {
		t.Errorf("the form is %q", Form())
	}
	state := formOf(reflect.TypeFor[State]())
	for _, field := range []string{`"step"`, `"supervisor,omitempty"`, `"checkpoint,omitempty"`} {
		if !strings.Contains(state, field) {
			t.Errorf("the form of a state does not tell %s:\n%s", field, state)
		}
	}
}

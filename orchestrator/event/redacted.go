package event

import (
	"reflect"
	"sync"
)

// The texts of an event are the strings in it at any depth, except those of types of their own,
// which are words of this program. The tag "text" of a field says what its text is:
//
//   - no tag: a text for people, or a name that nothing has to find again. It is redacted.
//   - name: the path of a task, or another name by which a later run goes. It is not redacted: an
//     event with a secret in one is not journaled. Its origin looks for secrets, too, before an agent
//     is paid.
//   - fact: a hash or a word of this program; also what is looked at as a whole before it is
//     journaled: roles, of which the embedded ones are no secrets, and lists. It stays as it is, even
//     if it looks like a secret, because a journal with redacted facts could not be replayed.
const (
	freeText = ""
	nameText = "name"
)

// Redacted applies the function clean to the texts without a tag of an event, or of a part of one, and
// returns the result.
func Redacted[T any](e T, clean func(string) string) T {
	to, _ := redacted(reflect.ValueOf(e), freeText, clean)
	return to.Interface().(T)
}

// SecretName returns the first name in e that the function clean changes, as changed, or "" if there
// is none.
func SecretName(e Event, clean func(string) string) (shown string) {
	redacted(reflect.ValueOf(e), nameText, func(name string) string {
		if now := clean(name); shown == "" && now != name {
			shown = now
		}
		return name
	})
	return shown
}

// redacted applies the function clean to the texts with a tag below the value v. It copies what
// changes, and reports whether anything does.
func redacted(v reflect.Value, tag string, clean func(string) string) (to reflect.Value, changed bool) {
	to = v
	switch v.Kind() {
	case reflect.String:
		if text := v.String(); text != "" {
			now := clean(text)
			return reflect.ValueOf(now), now != text
		}
	case reflect.Pointer:
		if v.IsNil() {
			return v, false
		}
		if now, is := redacted(v.Elem(), tag, clean); is {
			to, changed = reflect.New(v.Type().Elem()), true
			to.Elem().Set(now)
		}
	case reflect.Slice:
		for i := range v.Len() {
			if now, is := redacted(v.Index(i), tag, clean); is {
				if !changed {
					to, changed = reflect.MakeSlice(v.Type(), v.Len(), v.Len()), true
					reflect.Copy(to, v)
				}
				to.Index(i).Set(now)
			}
		}
	case reflect.Struct:
		for _, i := range textFields(v.Type(), tag) {
			if now, is := redacted(v.Field(i), tag, clean); is {
				if !changed {
					to, changed = reflect.New(v.Type()).Elem(), true
					to.Set(v)
				}
				to.Field(i).Set(now)
			}
		}
	}
	return to, changed
}

type textsOf struct {
	t   reflect.Type
	tag string
}

var textsKnown sync.Map // cache of textFields, a map from textsOf to []int

// textFields returns the indices of the fields that are texts with a tag, or hold such texts.
func textFields(t reflect.Type, tag string) []int {
	if known, ok := textsKnown.Load(textsOf{t, tag}); ok {
		return known.([]int)
	}
	var fields []int
	for i := range t.NumField() {
		f := t.Field(i)
		of := f.Type
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		isText := of == reflect.TypeFor[string]() && f.Tag.Get("text") == tag
		if f.IsExported() && (isText || of.Kind() == reflect.Struct && len(textFields(of, tag)) > 0) {
			fields = append(fields, i)
		}
	}
	textsKnown.Store(textsOf{t, tag}, fields)
	return fields
}

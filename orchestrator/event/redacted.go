package event

import (
	"reflect"
	"sync"
)

// Redacted applies the function clean to the free texts of e, and returns the result. Free texts
// are the fields with the tag text:"free". They hold words of agents, people and the system.
// Hashes, numbers and checked names do not change, even if they look like a secret, because a
// journal with redacted facts could not be replayed.
func Redacted(e Event, clean func(string) string) Event {
	return redacted(reflect.ValueOf(e), clean).Interface().(Event)
}

func redacted(given reflect.Value, clean func(string) string) reflect.Value {
	cleaned, copied := given, false // copied at the first change, because few texts change
	set := func(field int, to reflect.Value) {
		if !copied {
			cleaned, copied = reflect.New(given.Type()).Elem(), true
			cleaned.Set(given)
		}
		cleaned.Field(field).Set(to)
	}
	for _, i := range freeTexts(given.Type()) {
		switch f := given.Field(i); {
		case f.Kind() == reflect.String:
			text := f.String()
			if now := clean(text); now != text {
				set(i, reflect.ValueOf(now))
			}
		case f.Kind() == reflect.Pointer:
			if !f.IsNil() {
				to := reflect.New(f.Type().Elem())
				to.Elem().Set(redacted(f.Elem(), clean))
				set(i, to)
			}
		case f.Kind() == reflect.Struct:
			set(i, redacted(f, clean))
		case f.Type().Elem().Kind() == reflect.Struct:
			set(i, redactedAll(f, clean))
		default:
			set(i, reflect.ValueOf(cleanAll(f.Interface().([]string), clean)))
		}
	}
	return cleaned
}

func redactedAll(given reflect.Value, clean func(string) string) reflect.Value {
	all := reflect.MakeSlice(given.Type(), given.Len(), given.Len())
	for i := range given.Len() {
		all.Index(i).Set(redacted(given.Index(i), clean))
	}
	return all
}

func cleanAll(texts []string, clean func(string) string) []string {
	if texts == nil {
		return nil
	}
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = clean(text)
	}
	return all
}

var freeFields sync.Map // cache of freeTexts, a map from reflect.Type to []int

// freeTexts returns the indices of the fields that are tagged as free text. Such a field is a
// string, a list of strings, a struct that has tagged fields, a pointer to such a struct, or a list
// of such structs.
func freeTexts(t reflect.Type) []int {
	if known, ok := freeFields.Load(t); ok {
		return known.([]int)
	}
	var fields []int
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("text") == "free" {
			fields = append(fields, i)
		}
	}
	freeFields.Store(t, fields)
	return fields
}

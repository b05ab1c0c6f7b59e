package flow

import "reflect"

// Redacted returns e with its free texts passed through clean: the fields that are tagged so, which hold what agents, people and
// the system have said. All else is the program's own, hashes, numbers, names that were looked at before, and stays as it is
// whatever a secret may happen to be: a journal whose facts were redacted could not be replayed.
func Redacted(e Event, clean func(string) string) Event {
	v := reflect.New(reflect.TypeOf(e)).Elem()
	v.Set(reflect.ValueOf(e))
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("text") != "free" {
			continue
		}
		switch texts := v.Field(i).Interface().(type) {
		case string:
			v.Field(i).SetString(clean(texts))
		case []string:
			all := make([]string, len(texts))
			for k, text := range texts {
				all[k] = clean(text)
			}
			v.Field(i).Set(reflect.ValueOf(all))
		}
	}
	return v.Interface().(Event)
}

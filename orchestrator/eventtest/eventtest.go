// Package eventtest fills events and states for tests, and lists their fields.
package eventtest

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Fill sets every field of the value to which v points, and the fields of those fields. It sets
// each bool to true. All other values differ from one another. Fill panics at a field of a kind
// that no event has.
func Fill(v any) {
	n := int64(0)
	fill(reflect.ValueOf(v).Elem(), &n)
}

func fill(v reflect.Value, n *int64) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(*n, 0).UTC()))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(*n)
	case reflect.Float64:
		v.SetFloat(float64(*n))
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes(fmt.Appendf(nil, `{"n":%d}`, *n))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	default:
		panic("no value for " + v.Type().String())
	}
}

// Fields lists the fields of a type as its JSON has them: the path of each and the type of its
// value, sorted as the type has them.
func Fields(t reflect.Type) []string { return fields("", t) }

func fields(path string, t reflect.Type) (all []string) {
	marshals := t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
	switch kind := t.Kind(); {
	case marshals:
		return []string{path + " " + t.String()}
	case kind == reflect.Pointer:
		return fields(path, t.Elem())
	case kind == reflect.Slice:
		return fields(path+"[]", t.Elem())
	case kind != reflect.Struct:
		return []string{path + " " + kind.String()}
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := path + "." + name
		if name == "" && f.Anonymous {
			at = path
		} else if name == "" {
			at = path + "." + f.Name
		}
		all = append(all, fields(at, f.Type)...)
	}
	return all
}

package flow

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strings"

	"kanban-run/orchestrator/compact"
)

// form is how encoding/json spells a struct: its fields in their order. An event is read by it at a quarter of what
// encoding/json needs, since all events of a journal are read before a run goes on. It takes only what Marshal writes, leaves
// all other spellings alone, and a fuzz test holds it to encoding/json.
type form []field

type field struct {
	name     string // `"name":`
	optional bool   // left out when empty
	read     func(c *cursor, v reflect.Value)
}

// formOf returns nil for a struct that holds something that has no reader here.
func formOf(t reflect.Type) form {
	var f form
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		read := readerOf(t.Field(i).Type)
		if read == nil || name == "" || name == "-" || options != "" && options != "omitempty" {
			return nil
		}
		f = append(f, field{`"` + name + `":`, options != "", read})
	}
	return f
}

func readerOf(t reflect.Type) func(*cursor, reflect.Value) {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return func(c *cursor, v reflect.Value) { v.SetBytes(c.raw()) }
	case t == reflect.TypeFor[[]string]():
		return func(c *cursor, v reflect.Value) { v.Set(reflect.ValueOf(c.list())) }
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()),
		reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return nil
	}
	switch t.Kind() {
	case reflect.String:
		return func(c *cursor, v reflect.Value) { v.SetString(c.text()) }
	case reflect.Int, reflect.Int64:
		return func(c *cursor, v reflect.Value) { c.integer(v) }
	case reflect.Uint64:
		return func(c *cursor, v reflect.Value) { v.SetUint(c.number()) }
	case reflect.Bool:
		return func(c *cursor, v reflect.Value) { v.SetBool(c.truth()) }
	case reflect.Struct:
		if f := formOf(t); f != nil {
			return f.read
		}
	case reflect.Slice:
		if read := readerOf(t.Elem()); read != nil {
			return func(c *cursor, v reflect.Value) { c.slice(v, read) }
		}
	case reflect.Pointer:
		if read := readerOf(t.Elem()); read != nil {
			return func(c *cursor, v reflect.Value) { c.pointer(v, read) }
		}
	}
	return nil
}

func (f form) read(c *cursor, v reflect.Value) {
	c.skip("{")
	comma := false
	for i := range f {
		if comma && !c.takes(",", f[i].name) || !comma && !c.takes("", f[i].name) {
			c.ok = c.ok && f[i].optional
			continue
		}
		comma = true
		f[i].read(c, v.Field(i))
	}
	c.skip("}")
}

// decode reads data into v, or says that encoding/json must, and leaves v in disorder.
func (f form) decode(data []byte, v reflect.Value) bool {
	if f == nil {
		return false
	}
	c := cursor{data: data, ok: true}
	if len(data) <= maxShared {
		c.shared = string(data)
	}
	f.read(&c, v)
	return c.ok && c.at == len(data)
}

// maxShared is how long data may be to be copied once, as what all its strings are a part of. A list of 100,000 tasks must not
// stay in memory for the sake of one name.
const maxShared = 2048

// cursor reads data from left to right; once something is not as expected, ok is false and everything after it is meaningless.
type cursor struct {
	data   []byte
	shared string // a copy of short data
	at     int
	ok     bool
}

// takes goes over a comma and a name, if they are next.
func (c *cursor) takes(comma, name string) bool {
	end := c.at + len(comma) + len(name)
	if end > len(c.data) || string(c.data[c.at:c.at+len(comma)]) != comma || string(c.data[end-len(name):end]) != name {
		return false
	}
	c.at = end
	return true
}

func (c *cursor) skip(want string) { c.ok = c.takes("", want) && c.ok }

// number reads at most 18 digits and no sign.
func (c *cursor) number() (n uint64) {
	digits := c.data[c.at:]
	i := 0
	for ; i < len(digits) && i < 19 && '0' <= digits[i] && digits[i] <= '9'; i++ {
		n = n*10 + uint64(digits[i]-'0')
	}
	c.ok = c.ok && 0 < i && i < 19 && (i == 1 || digits[0] != '0')
	c.at += i
	return n
}

// integer reads a number that fits into v.
func (c *cursor) integer(v reflect.Value) {
	n := int64(c.number())
	c.ok = c.ok && !v.OverflowInt(n)
	v.SetInt(n)
}

func (c *cursor) truth() bool {
	if c.takes("", "true") {
		return true
	}
	c.skip("false")
	return false
}

// text reads a string. One with escapes or with other characters than ASCII is encoding/json's.
func (c *cursor) text() string {
	from := c.at + 1
	if c.skip(`"`); !c.ok {
		return ""
	}
	end := from + compact.ASCII(c.data[from:])
	if end == len(c.data) || c.data[end] != '"' {
		return c.escaped(from - 1)
	}
	c.at = end + 1
	if c.shared != "" {
		return c.shared[from:end]
	}
	return string(c.data[from:end])
}

func (c *cursor) escaped(from int) (s string) {
	n := compact.Value(c.data[from:])
	c.ok = n > 0 && json.Unmarshal(c.data[from:from+n], &s) == nil
	c.at = from + n
	return s
}

// raw reads any value; what null means is encoding/json's to say.
func (c *cursor) raw() []byte {
	n := compact.Value(c.data[c.at:])
	value := c.data[c.at : c.at+n]
	c.ok = c.ok && n > 0 && string(value) != "null"
	c.at += n
	return bytes.Clone(value)
}

func (c *cursor) list() []string {
	if c.takes("", "null") {
		return nil
	}
	c.skip("[")
	all := []string{}
	for c.ok && !c.takes("", "]") {
		if len(all) > 0 {
			c.skip(",")
		}
		all = append(all, c.text())
	}
	return all
}

func (c *cursor) slice(v reflect.Value, read func(*cursor, reflect.Value)) {
	if c.takes("", "null") {
		return
	}
	c.skip("[")
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for c.ok && !c.takes("", "]") {
		if v.Len() > 0 {
			c.skip(",")
		}
		one := reflect.New(v.Type().Elem()).Elem()
		read(c, one)
		v.Set(reflect.Append(v, one))
	}
}

func (c *cursor) pointer(v reflect.Value, read func(*cursor, reflect.Value)) {
	if c.takes("", "null") {
		return
	}
	p := reflect.New(v.Type().Elem())
	read(c, p.Elem())
	v.Set(p)
}

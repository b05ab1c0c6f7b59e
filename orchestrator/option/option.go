// Package option sets fields of structs from the texts of settings and role files. The tags of a
// field say what it takes:
//
//	name:"max_cost"      key in the settings file or in the header of a role file
//	one:"wait warn"      the words that it takes; a bool is true for the second of them
//	least:"1"            the least number
//	unit:"USD"           of an int64: millionths of a US dollar; "bytes": bytes
package option

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Error is the error of a refused text. The caller adds the place.
type Error struct{ Text, Fix string }

func (e *Error) Error() string { return e.Text }

// Hint returns what to write in place of the text.
func (e *Error) Hint() string { return e.Fix }

// Set sets a field with the given tags to the value of a text. Errors: *Error.
func Set(field reflect.Value, tags reflect.StructTag, text string) error {
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		return Set(field.Elem(), tags, text)
	}
	value, err := parse(field.Type(), tags, text)
	if err == nil {
		field.Set(reflect.ValueOf(value).Convert(field.Type()))
	}
	return err
}

func parse(t reflect.Type, tags reflect.StructTag, text string) (any, error) {
	if words := strings.Fields(tags.Get("one")); len(words) > 0 {
		at := slices.Index(words, text)
		if at < 0 {
			return nil, &Error{fmt.Sprintf("%q is not allowed here", text), "write " + strings.Join(words, " or ")}
		}
		if t.Kind() == reflect.Bool {
			return at == 1, nil
		}
		return text, nil
	}
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return ParseDuration(text)
	case t.Kind() == reflect.Bool:
		return parseBool(text)
	case t.Kind() == reflect.Int:
		least, _ := strconv.Atoi(tags.Get("least"))
		return parseNumber(text, least)
	case tags.Get("unit") == "USD":
		return parseDollars(text)
	case tags.Get("unit") == "bytes":
		return parseSize(text)
	default:
		return text, nil
	}
}

// ParseDuration reads a duration. Errors: *Error.
func ParseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d == 0 && strings.ContainsAny(text, "123456789") { // less than a nanosecond
		return 0, &Error{fmt.Sprintf("%q is no duration", text),
			"write a number with its unit, for example 90s, 30m or 1h30m; 0 is none"}
	}
	return d, nil
}

func parseNumber(text string, least int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		return 0, &Error{fmt.Sprintf("%q is no number of at least %d", text, least),
			fmt.Sprintf("write a whole number, %d or more", least)}
	}
	return n, nil
}

var sizes = Pattern(`^([0-9]{1,9})(?i: ?([kmg])(?:i?b)?)?$`)

// parseSize reads a number of bytes. K, M and G are powers of 1024 in every spelling.
func parseSize(text string) (int64, error) {
	m := sizes().FindStringSubmatch(text)
	if m == nil {
		return 0, &Error{fmt.Sprintf("%q is no size", text),
			"write a number of bytes, or one with its unit, for example 200M or 1GiB; 0 is none"}
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	return n << (10 * (strings.Index("kmg", strings.ToLower(m[2])) + min(len(m[2]), 1))), err
}

var amounts = Pattern(`^\$?([0-9]{1,7})(?:\.([0-9]{1,6}))?$`)

// parseDollars reads an amount in US dollars and returns exact millionths.
func parseDollars(text string) (int64, error) {
	m := amounts().FindStringSubmatch(text)
	if m == nil {
		return 0, &Error{fmt.Sprintf("%q is no amount", text),
			"write an amount in US dollars, for example 2.50; 0 is none"}
	}
	return strconv.ParseInt(m[1]+(m[2] + "000000")[:6], 10, 64)
}

func parseBool(text string) (bool, error) {
	b, err := strconv.ParseBool(text)
	if err != nil {
		return false, &Error{fmt.Sprintf("%q is neither true nor false", text), "write true or false"}
	}
	return b, nil
}

// Pattern compiles a pattern at its first use, because patterns with letters of all scripts would
// take half of the time of a start.
func Pattern(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

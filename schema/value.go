package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// maxDepth bounds the depth of nesting. It is far below the depth at which the library's recursion
// fails, and above the limits of all our parsers.
const maxDepth = 1000

// makePlain rebuilds a decoded value from types that the library knows. A date becomes text,
// because its author may have meant text. A number that no float can hold is an error, because the
// library would expand it digit by digit.
func makePlain(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	switch v := v.(type) {
	case nil, bool, string, int, int64, uint64:
		return v, nil
	case float64:
		return checkFinite(v)
	case json.Number:
		return makeNumber(v)
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case []string:
		return makeList(v, depth)
	case []any:
		return makeList(v, depth)
	case map[string]any:
		return makeObject(v, depth)
	case map[any]any:
		return makeObject(v, depth)
	default:
		return nil, fmt.Errorf("a value of type %T is neither JSON nor YAML", v)
	}
}

func makeNumber(n json.Number) (any, error) {
	f, err := n.Float64()
	if err != nil {
		return nil, fmt.Errorf("the number %.40s is out of range", n)
	}
	return checkFinite(f)
}

func checkFinite(f float64) (any, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, errors.New("a number is infinite or none")
	}
	return f, nil
}

func makeList[T any](in []T, depth int) (any, error) {
	out := make([]any, len(in))
	for i, item := range in {
		var err error
		if out[i], err = makePlain(item, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// makeObject turns every key into text, because YAML also allows numbers as keys. The key of `1: x`
// becomes "1".
func makeObject[K comparable](in map[K]any, depth int) (any, error) {
	out := make(map[string]any, len(in))
	for key, item := range in {
		value, err := makePlain(item, depth+1)
		if err != nil {
			return nil, err
		}
		out[fmt.Sprint(key)] = value
	}
	return out, nil
}

package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// maxDepth is far below what the library's recursion could bear and above what any of the readers lets through.
const maxDepth = 1000

// plain rebuilds a decoded value from what the library knows. Dates become the text that the author may have written, numbers
// that no float can hold are refused: the library would expand them digit by digit.
func plain(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	switch v := v.(type) {
	case nil, bool, string, int, int64, uint64:
		return v, nil
	case float64:
		return finite(v)
	case json.Number:
		return number(v)
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case []string:
		return list(v, depth)
	case []any:
		return list(v, depth)
	case map[string]any:
		return object(v, depth)
	case map[any]any:
		return object(v, depth)
	default:
		return nil, fmt.Errorf("a value of type %T is neither JSON nor YAML", v)
	}
}

func number(n json.Number) (any, error) {
	f, err := n.Float64()
	if err != nil {
		return nil, fmt.Errorf("the number %.40s is out of range", n)
	}
	return finite(f)
}

func finite(f float64) (any, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, errors.New("a number is infinite or none")
	}
	return f, nil
}

func list[T any](in []T, depth int) (any, error) {
	out := make([]any, len(in))
	for i, item := range in {
		var err error
		if out[i], err = plain(item, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// object takes any key, as YAML does: `1: x` has the key "1".
func object[K comparable](in map[K]any, depth int) (any, error) {
	out := make(map[string]any, len(in))
	for key, item := range in {
		value, err := plain(item, depth+1)
		if err != nil {
			return nil, err
		}
		out[fmt.Sprint(key)] = value
	}
	return out, nil
}

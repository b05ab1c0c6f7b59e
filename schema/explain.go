package schema

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Violation is one place at which a value breaks a schema.
type Violation struct {
	Path    string // JSON Pointer into the value, "" for the whole of it
	Message string // what is wrong there, to be read after the name of the place
}

// String says the place in the way people write it: tasks[0].file.
func (v Violation) String() string {
	if v.Path == "" {
		return v.Message
	}
	var place strings.Builder
	for _, key := range segments(v.Path) {
		switch _, err := strconv.ParseUint(key, 10, 32); {
		case err == nil:
			fmt.Fprintf(&place, "[%s]", key)
		case place.Len() > 0:
			place.WriteString("." + key)
		default:
			place.WriteString(key)
		}
	}
	return place.String() + " " + v.Message
}

// explain lists what is wrong in the words of the schema's own text, which knows more than the library's messages do.
func explain(schema, value any, invalid *jsonschema.ValidationError) []Violation {
	var all []Violation
	for _, unit := range invalid.BasicOutput().Errors {
		_, fragment, _ := strings.Cut(unit.AbsoluteKeywordLocation, "#")
		at := strings.LastIndexByte(fragment, '/')
		if at < 0 || unit.Error == "" {
			continue
		}
		rule, _ := lookup(schema, fragment[:at]).(map[string]any)
		keyword := fragment[at+1:]
		if keyword == "$ref" || rule == nil {
			continue // a wrapper around what follows
		}
		path := unit.InstanceLocation
		if plain, err := url.PathUnescape(path); err == nil {
			path = plain // the library escapes keys twice, as pointer and as URL
		}
		f := fault{rule: rule, path: path, value: lookup(value, path), library: unit.Error}
		all = append(all, f.violations(keyword)...)
	}
	slices.SortFunc(all, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(all)
}

// fault is one keyword of the schema object rule that a value breaks.
type fault struct {
	rule    map[string]any
	path    string
	value   any
	library string
}

func (f fault) violations(keyword string) []Violation {
	switch keyword {
	case "required":
		return f.missing()
	case "additionalProperties":
		return f.unknown()
	default:
		return []Violation{{f.path, f.message(keyword)}}
	}
}

func (f fault) missing() []Violation {
	object, _ := f.value.(map[string]any)
	var all []Violation
	for _, name := range texts(f.rule["required"]) {
		if _, ok := object[name]; !ok {
			all = append(all, Violation{join(f.path, name), "is missing"})
		}
	}
	return all
}

func (f fault) unknown() []Violation {
	object, _ := f.value.(map[string]any)
	known, _ := f.rule["properties"].(map[string]any)
	var all []Violation
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, ok := known[name]; !ok {
			all = append(all, Violation{join(f.path, name), "is not a known key"})
		}
	}
	return all
}

func (f fault) message(keyword string) string {
	own, _ := f.rule["patternErrorMessage"].(string)
	switch keyword {
	case "type":
		return fmt.Sprintf("is %s, want %s", kind(f.value), alternatives(f.rule["type"]))
	case "enum":
		return fmt.Sprintf("is %s, want %s", shown(f.value), alternatives(f.rule["enum"]))
	case "minLength", "minItems":
		return "is empty"
	case "pattern", "minimum", "maximum":
		if own != "" {
			return own
		}
		return fmt.Sprintf("is %s: %s", shown(f.value), f.library)
	default:
		return f.library
	}
}

func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprintf("the boolean %t", v)
	case string:
		return "a string"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return "the number " + shown(v)
	}
}

// shown quotes a value, shortened: what an agent wrote may be long. Letters of other scripts are escaped, since some look like
// Latin ones.
func shown(v any) string {
	const most = 60
	switch v := v.(type) {
	case []any, map[string]any, nil:
		return kind(v)
	case string:
		if quoted := strconv.QuoteToASCII(v); len(quoted) > most {
			return quoted[:most] + "…"
		}
		return strconv.QuoteToASCII(v)
	default:
		return fmt.Sprint(v)
	}
}

func alternatives(v any) string {
	words := texts(v)
	for i, w := range words {
		if w == "array" {
			words[i] = "list"
		}
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func texts(v any) []string {
	if text, ok := v.(string); ok {
		return []string{text}
	}
	items, _ := v.([]any)
	var all []string
	for _, item := range items {
		if text, ok := item.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// lookup follows a JSON Pointer; nil when it leads nowhere.
func lookup(v any, pointer string) any {
	for _, key := range segments(pointer) {
		switch node := v.(type) {
		case map[string]any:
			v = node[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(node) {
				return nil
			}
			v = node[i]
		default:
			return nil
		}
	}
	return v
}

func segments(pointer string) []string {
	if pointer == "" {
		return nil
	}
	keys := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, key := range keys {
		keys[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
	}
	return keys
}

func join(pointer, key string) string {
	return pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

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

// Violation is one place where a value breaks a schema.
type Violation struct {
	Path    string // JSON Pointer into the value; "" means the whole value
	Message string // what is wrong, without the place, such as "is missing"
}

// String returns the place, in a form like tasks[0].file, and the message.
func (v Violation) String() string {
	if v.Path == "" {
		return v.Message
	}
	var place strings.Builder
	for _, key := range splitPointer(v.Path) {
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

// explain returns the violations, sorted by place. Where possible, their words come from the
// schema, because these words are better than the library's messages.
func explain(schema, value any, invalid *jsonschema.ValidationError) []Violation {
	var all []Violation
	for _, unit := range invalid.BasicOutput().Errors {
		_, fragment, _ := strings.Cut(unit.AbsoluteKeywordLocation, "#")
		at := strings.LastIndexByte(fragment, '/')
		if at < 0 || unit.Error == "" {
			continue
		}
		rule, _ := lookUp(schema, fragment[:at]).(map[string]any)
		keyword := fragment[at+1:]
		if keyword == "$ref" || keyword == "then" || rule == nil {
			continue // the errors inside this keyword follow
		}
		path := unit.InstanceLocation
		if plain, err := url.PathUnescape(path); err == nil {
			path = plain // the library escapes keys twice, as JSON Pointer and as URL
		}
		f := fault{rule: rule, path: path, value: lookUp(value, path), library: unit.Error}
		all = append(all, f.listViolations(keyword)...)
	}
	slices.SortFunc(all, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(all)
}

// fault is a value that breaks a schema object.
type fault struct {
	rule    map[string]any // the schema object
	path    string
	value   any
	library string // the library's message
}

func (f fault) listViolations(keyword string) []Violation {
	switch keyword {
	case "required":
		return f.listMissing()
	case "additionalProperties":
		return f.listUnknown()
	default:
		return []Violation{{f.path, f.describe(keyword)}}
	}
}

func (f fault) listMissing() []Violation {
	object, _ := f.value.(map[string]any)
	var all []Violation
	for _, name := range listTexts(f.rule["required"]) {
		if _, ok := object[name]; !ok {
			all = append(all, Violation{joinPointer(f.path, name), "is missing"})
		}
	}
	return all
}

func (f fault) listUnknown() []Violation {
	object, _ := f.value.(map[string]any)
	known, _ := f.rule["properties"].(map[string]any)
	var all []Violation
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, ok := known[name]; !ok {
			all = append(all, Violation{joinPointer(f.path, name), "is not a known key"})
		}
	}
	return all
}

func (f fault) describe(keyword string) string {
	own, _ := f.rule["patternErrorMessage"].(string)
	switch keyword {
	case "type":
		return fmt.Sprintf("is %s, want %s", nameKind(f.value), joinAlternatives(f.rule["type"]))
	case "enum":
		return fmt.Sprintf("is %s, want %s", quoteShort(f.value), joinAlternatives(f.rule["enum"]))
	case "minLength", "minItems":
		return "is empty"
	case "pattern", "minimum", "maximum":
		if own != "" {
			return own
		}
		return fmt.Sprintf("is %s: %s", quoteShort(f.value), f.library)
	default:
		return f.library
	}
}

func nameKind(v any) string {
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
		return "the number " + quoteShort(v)
	}
}

// quoteShort returns a value for a message: a string in quotes, a number as it is, and the kind of
// any other value. It shortens a string, because agents may write long ones. It escapes letters of
// other scripts, because some look like Latin letters.
func quoteShort(v any) string {
	const most = 60
	switch v := v.(type) {
	case []any, map[string]any, nil:
		return nameKind(v)
	case string:
		if quoted := strconv.QuoteToASCII(v); len(quoted) > most {
			return quoted[:most] + "…"
		}
		return strconv.QuoteToASCII(v)
	default:
		return fmt.Sprint(v)
	}
}

func joinAlternatives(v any) string {
	words := listTexts(v)
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

func listTexts(v any) []string {
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

// lookUp returns the value in v to which a JSON Pointer leads, or nil if the pointer leads nowhere.
func lookUp(v any, pointer string) any {
	for _, key := range splitPointer(pointer) {
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

func splitPointer(pointer string) []string {
	if pointer == "" {
		return nil
	}
	keys := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, key := range keys {
		keys[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
	}
	return keys
}

func joinPointer(pointer, key string) string {
	return pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

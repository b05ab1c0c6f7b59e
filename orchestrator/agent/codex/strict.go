package codex

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"kanban-run/orchestrator/contract"
)

// strictSchema returns the contract's schema for OpenAI's strict mode: objects are closed, every
// property is required and typed, and there are no bounds. The full schema still judges the reply.
// Source: OpenAI, "Structured Outputs", supported schemas.
func strictSchema(c contract.Kind) ([]byte, error) {
	source, err := c.ReplySchema()
	if err != nil {
		return nil, err
	}
	var s map[string]any
	if err := json.Unmarshal(source, &s); err != nil {
		return nil, err
	}
	tighten(s)
	return json.Marshal(s)
}

func tighten(s map[string]any) {
	for _, bound := range []string{"minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "pattern",
		"format", "default", "minimum", "maximum"} {
		delete(s, bound)
	}
	if _, typed := s["type"]; s["enum"] != nil && !typed {
		s["type"] = "string" // all enums in our schemas are strings
	}
	if items, ok := s["items"].(map[string]any); ok {
		tighten(items)
	}
	properties, ok := s["properties"].(map[string]any)
	if !ok {
		return
	}
	for _, p := range properties {
		if p, ok := p.(map[string]any); ok {
			tighten(p)
		}
	}
	s["required"], s["additionalProperties"] = slices.Sorted(maps.Keys(properties)), false
}

// tomlString returns a text as a TOML string, for a setting in the option -c. TOML has the escapes
// of JSON, but also requires an escape for DEL.
func tomlString(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return `""` // cannot happen, because text is a string
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}

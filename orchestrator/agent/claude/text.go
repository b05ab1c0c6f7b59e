package claude

import (
	"encoding/json"
	"strings"
)

// Bounds of what is kept and told, in bytes.
const (
	maxText = 16 << 10
	maxName = 256 // of a tool, a call, a session
)

// clip is the text, or its beginning up to a space: half a word could be half a secret, which nobody would recognise any more. It
// holds no more memory than it shows.
func clip(text string, most int) string {
	if len(text) <= most {
		return strings.Clone(text)
	}
	return strings.Clone(text[:max(0, strings.LastIndexAny(text[:most], " \t\r\n"))]) + "…"
}

// telling are the values of a tool's input that say what a call is about, the first that there is.
var telling = []string{"command", "file_path", "notebook_path", "path", "pattern", "url", "query", "skill", "description"}

// about is a short text for a tool's input; "" for one that would take explaining.
func about(input json.RawMessage) string {
	var values map[string]json.RawMessage
	if json.Unmarshal(input, &values) != nil {
		return ""
	}
	for _, key := range telling {
		var text string
		if json.Unmarshal(values[key], &text) == nil && text != "" {
			return clip(text, maxText)
		}
	}
	return ""
}

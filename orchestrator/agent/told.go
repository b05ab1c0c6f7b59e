package agent

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// maxBrief is how much of a text an event tells, in characters: one line for who watches.
const maxBrief = 200

// Brief is a text as an event tells it: in one line, and not all of it where it is long.
func Brief(text string) string {
	if len(text) > 8*maxBrief {
		text = string(wholeRunes([]byte(text[:8*maxBrief])))
	}
	words := []rune(strings.Join(strings.Fields(text), " "))
	if len(words) > maxBrief {
		return string(words[:maxBrief-1]) + "…"
	}
	return string(words)
}

// Decode reads one line of JSON from a tool that may be newer than its adapter: what is of another type than expected is left out. The
// line is not to be trusted where it is not UTF-8, for the decoder would put other characters in the place of what is wrong.
func Decode(line []byte, into any) error {
	if !utf8.Valid(line) {
		return errors.New("invalid UTF-8")
	}
	if err := json.Unmarshal(line, into); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return err
	}
	return nil
}

// BriefInput is what a call of a tool is about, as far as its input says so under one of the names that tools have for that.
func BriefInput(input json.RawMessage) string {
	var fields map[string]any
	if json.Unmarshal(input, &fields) != nil {
		return ""
	}
	for _, name := range []string{"command", "file_path", "filePath", "path", "absolute_path", "pattern", "query", "url", "description", "prompt"} {
		if text, ok := fields[name].(string); ok && text != "" {
			return Brief(text)
		}
	}
	return ""
}

package agent

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// maxText is how much of a text an event tells, in bytes.
const maxText = 16 << 10

// Told is a text as an event tells it: not all of it where it is very long. Who shows it in one line makes a line of it.
func Told(text string) string { return Clip(text, maxText) }

// Clip is the text, or its beginning up to a space: half a word could be half a secret, which nobody would recognise any more. It
// holds no more memory than it shows.
func Clip(text string, most int) string {
	if len(text) <= most {
		return strings.Clone(text)
	}
	return strings.Clone(text[:max(0, strings.LastIndexAny(text[:most], " \t\r\n"))]) + "…"
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

// telling are the names that tools have for what a call is about, the first that there is.
var telling = []string{"command", "file_path", "filePath", "notebook_path", "path", "absolute_path", "pattern", "url", "query", "skill",
	"description", "prompt"}

// About is what a call of a tool is about, as far as its input says so; "" for one that would take explaining.
func About(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return ""
	}
	for _, name := range telling {
		var text string
		if json.Unmarshal(fields[name], &text) == nil && text != "" {
			return Told(text)
		}
	}
	return ""
}

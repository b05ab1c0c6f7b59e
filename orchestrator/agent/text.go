package agent

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// maxText bounds the text of an event, in bytes.
const maxText = 16 << 10

// EventText returns a text for an event, cut to its first 16 KiB.
func EventText(text string) string { return Clip(text, maxText) }

// Clip returns a copy of the text, so that the memory of a long text can be freed. The parameter
// "most" is the limit in bytes. Clip cuts a longer text at a white space, because the redactor does
// not recognise half a secret.
func Clip(text string, most int) string {
	if len(text) <= most {
		return strings.Clone(text)
	}
	return strings.Clone(text[:max(0, strings.LastIndexAny(text[:most], " \t\r\n"))]) + "…"
}

// Decode parses one line of JSON. It skips values of an unexpected type, because the tool may be
// newer than its adapter. A line that is not UTF-8 is an error, since the decoder would replace
// bytes silently.
func Decode(line []byte, into any) error {
	if !utf8.Valid(line) {
		return errors.New("invalid UTF-8")
	}
	if err := json.Unmarshal(line, into); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return err
	}
	return nil
}

// subjectKeys are the keys under which tools name the subject of a call, by precedence.
var subjectKeys = []string{"command", "file_path", "filePath", "notebook_path", "path", "absolute_path",
	"pattern", "url", "query", "skill", "description", "prompt"}

// ToolSubject returns the subject of a call, such as its command or file. It returns "" if the
// input has no key of subjectKeys.
func ToolSubject(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return ""
	}
	for _, name := range subjectKeys {
		var text string
		if json.Unmarshal(fields[name], &text) == nil && text != "" {
			return EventText(text)
		}
	}
	return ""
}

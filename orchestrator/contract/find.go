package contract

import (
	"encoding/json"
	"strings"
)

// FindReply returns the reply in an agent's last message. It returns the whole message if that
// begins with a brace. Otherwise it returns the last JSON object in a Markdown fence, or else the
// last JSON object in the text. If there is no object, it returns the message, so that Parse names
// the fault.
func FindReply(message string) string {
	text := strings.TrimSpace(message)
	if strings.HasPrefix(text, "{") {
		return text
	}
	if fenced := lastFenced(text); fenced != "" {
		return fenced
	}
	if object := lastObject(text); object != "" {
		return object
	}
	return text
}

// lastFenced returns the last object that is alone in a Markdown fence, or "" for none.
func lastFenced(text string) string {
	found := ""
	for _, part := range strings.Split(text, "```") {
		_, inner, isBlock := strings.Cut(part, "\n")
		inner = strings.TrimSpace(inner)
		if isBlock && strings.HasPrefix(inner, "{") && json.Valid([]byte(inner)) {
			found = inner
		}
	}
	return found
}

// maxLooks is the greatest number of braces at which lastObject looks for an object.
const maxLooks = 64

// lastObject returns the object that ends last in the text, or "" for none. Of nested objects the
// outermost ends last.
func lastObject(text string) string {
	from, to := 0, 0
	for at, looks := len(text), 0; looks < maxLooks; looks++ {
		if at = strings.LastIndexByte(text[:at], '{'); at < 0 {
			break
		}
		if end := at + objectLength(text[at:]); end > at && end > to {
			from, to = at, end
		}
	}
	return text[from:to]
}

// objectLength returns the length in bytes of the object at the beginning of the text, or 0.
func objectLength(text string) int {
	var object json.RawMessage
	decoder := json.NewDecoder(strings.NewReader(text))
	if decoder.Decode(&object) != nil {
		return 0
	}
	return int(decoder.InputOffset())
}

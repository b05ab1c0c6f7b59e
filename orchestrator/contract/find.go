package contract

import (
	"encoding/json"
	"strings"
)

// FindReply is the text of the reply in an agent's last message: the whole of it, else the last JSON object in a Markdown fence,
// else the last that stands in it. Where there is none it is the message itself, so that what is wrong with it can be said.
func FindReply(message string) []byte {
	text := strings.TrimSpace(message)
	if strings.HasPrefix(text, "{") {
		return []byte(text)
	}
	if fenced := lastFenced(text); fenced != "" {
		return []byte(fenced)
	}
	if object := lastObject(text); object != "" {
		return []byte(object)
	}
	return []byte(text)
}

// lastFenced is the last object that a fence holds alone.
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

// maxLook bounds the search for an object in a text: each brace may begin one.
const maxLook = 64

// lastObject is the object that ends last in the text, and of those the one that begins first.
func lastObject(text string) string {
	from, to := 0, 0
	for at, looks := len(text), 0; looks < maxLook; looks++ {
		if at = strings.LastIndexByte(text[:at], '{'); at < 0 {
			break
		}
		if end := at + objectLength(text[at:]); end > at && end > to {
			from, to = at, end
		}
	}
	return text[from:to]
}

// objectLength is how much of the text is an object, from its beginning; 0 where none begins there.
func objectLength(text string) int {
	var object json.RawMessage
	decoder := json.NewDecoder(strings.NewReader(text))
	if decoder.Decode(&object) != nil {
		return 0
	}
	return int(decoder.InputOffset())
}

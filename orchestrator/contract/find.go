package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// FindReply returns the reply in an agent's last message. Text before and after the reply does not
// count. If the message begins with an object, that is the reply, and a second object that differs
// voids it: nothing tells which of them counts. Otherwise the reply is the last JSON object in a
// Markdown fence, or else the last JSON object in the text. If there is no reply, FindReply returns
// the message, so that Parse names the fault.
func FindReply(message string) string {
	text := strings.TrimSpace(message)
	if strings.HasPrefix(text, "{") {
		return leadingObject(text)
	}
	if fenced := lastFenced(text); fenced != "" {
		return fenced
	}
	last := ""
	if whole := eachObject(text, func(object string) { last = object }); whole && last != "" {
		return last
	}
	return text
}

// leadingObject returns the object at the beginning of the text. It returns the whole text if there
// is no such object, or if another object that differs follows.
func leadingObject(text string) string {
	var first string
	var meaning []byte
	differ := false
	whole := eachObject(text, func(object string) {
		if first == "" {
			first, meaning = object, compact(object)
		} else {
			differ = differ || !bytes.Equal(compact(object), meaning)
		}
	})
	if !whole || differ || first == "" || !strings.HasPrefix(text, first) {
		return text
	}
	return first
}

// compact returns a JSON value without white space.
func compact(value string) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, []byte(value)) // the decoder has read it already
	return b.Bytes()
}

// lastFenced returns the last object that is alone in a Markdown fence, or "" for none.
func lastFenced(text string) string {
	found := ""
	for _, part := range strings.Split(text, "```") {
		_, inner, isBlock := strings.Cut(part, "\n")
		inner = strings.TrimSpace(inner)
		if isBlock && hasKey(inner) && json.Valid([]byte(inner)) {
			found = inner
		}
	}
	return found
}

// The bound on the work of eachObject. It may read a text as often as maxReads, and a try to read
// an object costs at least minRead bytes.
const (
	maxReads = 64
	minRead  = 512
)

// eachObject calls the function each for every JSON object in the text that is in no other object
// and has a key: prose about programs has many pairs of braces. It returns false if it gives up,
// because reading on could take long.
func eachObject(text string, each func(object string)) (whole bool) {
	budget := maxReads * (len(text) + 8*minRead)
	for at := 0; ; {
		next := strings.IndexByte(text[at:], '{')
		if next < 0 {
			return true
		}
		at += next
		if !hasKey(text[at:]) {
			at++
			continue
		}
		if budget < 0 {
			return false
		}
		length, read := objectLength(text[at:])
		budget -= max(read, minRead)
		if length > 0 {
			each(text[at : at+length])
		}
		at += max(length, 1)
	}
}

// hasKey reports whether a text begins as an object does that has a key.
func hasKey(text string) bool {
	inner, isObject := strings.CutPrefix(text, "{")
	return isObject && strings.HasPrefix(strings.TrimLeft(inner, " \t\r\n"), `"`)
}

// objectLength returns the length in bytes of the object at the beginning of the text, or 0. The
// result read is the number of bytes that it had to read.
func objectLength(text string) (length, read int) {
	var object json.RawMessage
	var syntax *json.SyntaxError
	decoder := json.NewDecoder(strings.NewReader(text))
	switch err := decoder.Decode(&object); {
	case errors.As(err, &syntax):
		return 0, int(syntax.Offset)
	case err != nil:
		return 0, len(text)
	default:
		length = int(decoder.InputOffset())
		return length, length
	}
}

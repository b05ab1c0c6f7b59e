package contract

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"kanban-run/orchestrator/event"
)

// MaxReply is the greatest length of a reply, in bytes.
const MaxReply = 16 << 20

const (
	maxDepth = 64
	// maxKeys bounds the memory that the search for duplicate keys takes. A reply has few keys.
	maxKeys   = 100_000
	maxNumber = 400 // characters; the integer part of a float64 has at most 309
)

// readObject reads a text that must be one JSON object by RFC 8259, and returns its members. It
// also refuses things that the RFC only advises against: duplicate keys at any depth, and numbers
// and depths that a decoder cannot hold.
func readObject(text string) (map[string]json.RawMessage, *Failure) {
	if len(text) > MaxReply {
		return nil, Failed("the reply is larger than 16 MiB")
	}
	if failure := notAnObject(strings.TrimLeft(text, " \t\r\n")); failure != nil {
		return nil, failure
	}
	members, end, failure := scanObject(text)
	if failure != nil {
		return nil, failure
	}
	if rest := strings.TrimLeft(text[end:], " \t\r\n"); rest != "" {
		return nil, textAfter(rest, len(text)-len(rest))
	}
	return members, nil
}

// textAfter returns the fault of a text that goes on after its object. The rest begins at the given
// offset.
func textAfter(rest string, offset int) *Failure {
	second := ""
	eachObject(rest, func(object string) { second = cmp.Or(second, object) })
	switch at := strings.Index(rest, second); {
	case second != "":
		return proseFound("a second JSON object at byte %d", offset+at+1)
	case rest[0] == '{':
		return proseFound("a second JSON object at byte %d", offset+1)
	default:
		return proseFound("text after the JSON object at byte %d: %s", offset+1, shownText(rest))
	}
}

// proseFound returns a Failure with Prose set.
func proseFound(format string, args ...any) *Failure {
	f := Failed(format, args...)
	f.Prose = true
	return f
}

// scanObject checks every token of the object at the beginning of the text. It returns the members
// of the object and the offset of its end.
func scanObject(text string) (members map[string]json.RawMessage, end int64, failure *Failure) {
	d := jsontext.NewDecoder(strings.NewReader(text))
	members = map[string]json.RawMessage{}
	name, from := "", int64(0) // name of the member that is being read, and offset after the name
	for keys := 0; ; {
		token, err := d.ReadToken()
		if err != nil {
			return nil, 0, notJSON(text, err)
		}
		depth := d.StackDepth()
		in, count := d.StackIndex(depth)
		isKey := token.Kind() == '"' && in == '{' && count%2 == 1
		switch {
		case depth > maxDepth:
			return nil, 0, Failed("nested deeper than %d", maxDepth)
		case isKey && keys == maxKeys:
			return nil, 0, Failed("more than %d keys", maxKeys)
		case isKey:
			keys++
		case token.Kind() == '0' && !isFloat(token.String()):
			number := token.String()
			return nil, 0, Failed("a number out of range at byte %d: %s",
				d.InputOffset()-int64(len(number))+1, shownText(number))
		case depth == 0:
			return members, d.InputOffset(), nil
		}
		switch {
		case depth > 1 || count == 0:
		case isKey:
			name, from = token.String(), d.InputOffset()
		default:
			members[name] = json.RawMessage(strings.TrimLeft(text[from:d.InputOffset()], " \t\r\n:"))
		}
	}
}

// isFloat reports whether a float64 can hold the number.
func isFloat(number string) bool {
	if len(number) > maxNumber {
		return false
	}
	_, err := strconv.ParseFloat(number, 64)
	return err == nil
}

// notJSON puts the decoder's error into words for the agent and for people.
func notJSON(text string, err error) *Failure {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return Failed("half a JSON object: it ends after %d bytes", len(text))
	case errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName):
		return Failed("duplicate key %s", shownKey(syntax.JSONPointer.LastToken()))
	case errors.As(err, &syntax):
		return Failed("not JSON: %v at byte %d", syntax.Err, syntax.ByteOffset+1)
	default:
		return Failed("not JSON: %v", err)
	}
}

// notAnObject returns the fault of a text that does not begin with an object. It returns nil for
// any other text.
func notAnObject(text string) *Failure {
	switch {
	case text == "":
		return Failed("the reply is empty")
	case text[0] == '{':
		return nil
	case strings.HasPrefix(text, "\uFEFF"):
		return Failed("a byte order mark before the JSON object")
	case strings.HasPrefix(text, "```") && lastFenced(text) != "":
		return proseFound("the reply is in a Markdown fence, want nothing but a JSON object")
	case json.Valid([]byte(text)):
		return Failed("the reply is %s, want a JSON object", kindOf(text[0]))
	case isObject(text[strings.LastIndexByte(text, '\n')+1:]):
		first, _, _ := strings.Cut(text, "\n")
		return proseFound("not a JSON object alone: it begins with the line %s", shownLine(first))
	default:
		return proseFound("not a JSON object: its last line is %s", lastLine(text))
	}
}

func isObject(text string) bool {
	return strings.HasPrefix(text, "{") && json.Valid([]byte(text))
}

// shownLine returns the beginning of a line, quoted.
func shownLine(line string) string {
	const most = 100
	if runes := []rune(strings.TrimSpace(line)); len(runes) > most {
		return strconv.Quote(string(runes[:most])) + "…"
	}
	return strconv.Quote(strings.TrimSpace(line))
}

// kindOf returns in words the kind of a JSON value that begins with the given byte.
func kindOf(first byte) string {
	switch first {
	case '[':
		return "a JSON list"
	case '"':
		return "a JSON string"
	case 't', 'f':
		return "a JSON boolean"
	case 'n':
		return "null"
	default:
		return "a JSON number"
	}
}

// lastLine returns the last line of a text, quoted. Of a long line it returns the end. An agent says
// there why it has done otherwise than it was told.
func lastLine(text string) string {
	const most, near = 100, 8 << 10 // characters of the line, and bytes in which it is looked for
	text = strings.TrimSpace(text)
	text = text[max(0, len(text)-near):]
	line := event.LastLine(text)
	if line == "" { // no line has a letter
		line = text[strings.LastIndexByte(text, '\n')+1:]
	}
	if shown := []rune(line); len(shown) > most {
		return "…" + strconv.Quote(string(shown[len(shown)-most:]))
	}
	return strconv.Quote(line)
}

// shownText returns the beginning of a text, quoted in ASCII so that no two characters look alike.
func shownText(text string) string {
	const most = 24
	if len(text) > most {
		return strconv.QuoteToASCII(text[:most]) + "…"
	}
	return strconv.QuoteToASCII(text)
}

// shownKey returns a plain key as it is, and any other key as shownText does.
func shownKey(key string) string {
	quoted := strconv.QuoteToASCII(key)
	if len(key) > 0 && len(key) < 60 && quoted == `"`+key+`"` && !strings.ContainsAny(key, " :,") {
		return key
	}
	return shownText(key)
}

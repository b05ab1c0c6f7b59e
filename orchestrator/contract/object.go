package contract

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
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

// object is a JSON object that was read.
type object struct {
	members map[string]json.RawMessage
	end     int64  // offset after the object
	warning string // a fault that does not void the object; "": none
}

// readObject reads a text that must be one JSON object by RFC 8259. It also refuses things that the
// RFC only advises against: numbers and depths that a decoder cannot hold, and duplicate keys among
// the keys of the contract and below them.
func readObject(text string, keys []string) (*object, *Failure) {
	if len(text) > MaxReply {
		return nil, Failed("the reply is larger than 16 MiB")
	}
	if failure := notAnObject(strings.TrimLeft(text, " \t\r\n")); failure != nil {
		return nil, failure
	}
	o, failure := scanObject(text, keys)
	if failure != nil {
		return nil, failure
	}
	if rest := strings.TrimLeft(text[o.end:], " \t\r\n"); rest != "" {
		return nil, textAfter(rest, len(text)-len(rest))
	}
	return o, nil
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

// scanObject reads the object at the beginning of the text. If a key stands twice in a member that
// is not of the contract, it reads the object again and allows that.
func scanObject(text string, keys []string) (*object, *Failure) {
	o, err := scanTokens(text, keys)
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) || !errors.Is(err, jsontext.ErrDuplicateName) || slices.Contains(keys, fieldOf(syntax)) {
		return o, notJSON(text, err)
	}
	if o, err = scanTokens(text, keys, jsontext.AllowDuplicateNames(true)); err == nil {
		o.warning = wholeKey(syntax.JSONPointer.LastToken()) + " stands twice in its reply, where nobody reads it; the reply counts"
	}
	return o, notJSON(text, err)
}

// fieldOf returns the member of the reply in which an error lies, or "" if it lies in none.
func fieldOf(err *jsontext.SyntacticError) string {
	for field := range err.JSONPointer.Tokens() {
		return field
	}
	return ""
}

// scanTokens checks every token of the object at the beginning of the text. Whatever the options
// allow, a member of the contract has no duplicate keys. Errors: *jsontext.SyntacticError, *Failure.
func scanTokens(text string, contractKeys []string, options ...jsontext.Options) (*object, error) {
	d := jsontext.NewDecoder(strings.NewReader(text), options...)
	members := map[string]json.RawMessage{}
	name, from := "", int64(0) // name of the member that is being read, and offset after the name
	for keys := 0; ; {
		token, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		depth := d.StackDepth()
		in, count := d.StackIndex(depth)
		isKey := token.Kind() == '"' && in == '{' && count%2 == 1
		switch {
		case depth > maxDepth:
			return nil, Failed("nested deeper than %d", maxDepth)
		case isKey && keys == maxKeys:
			return nil, Failed("more than %d keys", maxKeys)
		case isKey:
			keys++
		case token.Kind() == '0' && !isFloat(token.String()):
			number := token.String()
			return nil, Failed("a number out of range at byte %d, in the field %s: %s",
				d.InputOffset()-int64(len(number))+1, shownKey(name), shownText(number))
		case depth == 0:
			return &object{members: members, end: d.InputOffset()}, nil
		}
		switch {
		case depth > 1 || count == 0:
		case isKey:
			name, from = token.String(), d.InputOffset()
			if _, again := members[name]; again && slices.Contains(contractKeys, name) {
				return nil, doubleKey(name)
			}
		default:
			value := strings.TrimLeft(text[from:d.InputOffset()], " \t\r\n:")
			if members[name] = json.RawMessage(value); len(options) > 0 && slices.Contains(contractKeys, name) {
				if _, err := jsontext.NewDecoder(strings.NewReader(value)).ReadValue(); err != nil {
					return nil, err
				}
			}
		}
	}
}

func doubleKey(key string) *Failure { return Failed("duplicate key %s", shownKey(key)) }

// isFloat reports whether a float64 can hold the number.
func isFloat(number string) bool {
	if len(number) > maxNumber {
		return false
	}
	_, err := strconv.ParseFloat(number, 64)
	return err == nil
}

// notJSON puts an error of scanTokens into words for the agent and for people.
func notJSON(text string, err error) *Failure {
	var syntax *jsontext.SyntacticError
	var failure *Failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failure):
		return failure
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return Failed("half a JSON object: it ends after %d bytes", len(text))
	case errors.As(err, &syntax) && errors.Is(err, jsontext.ErrDuplicateName):
		return doubleKey(syntax.JSONPointer.LastToken())
	case errors.As(err, &syntax) && fieldOf(syntax) != "":
		return Failed("not JSON: %v at byte %d, in the field %s", syntax.Err, syntax.ByteOffset+1, shownKey(fieldOf(syntax)))
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

// wholeKey returns a key that is not cut, since half a secret is not recognized as one.
func wholeKey(key string) string {
	if len(key) >= 60 {
		return fmt.Sprintf("a key of %d bytes", len(key))
	}
	return "the key " + strconv.QuoteToASCII(key)
}

// shownKey returns a plain key as it is, and any other key as shownText does.
func shownKey(key string) string {
	quoted := strconv.QuoteToASCII(key)
	if len(key) > 0 && len(key) < 60 && quoted == `"`+key+`"` && !strings.ContainsAny(key, " :,") {
		return key
	}
	return shownText(key)
}

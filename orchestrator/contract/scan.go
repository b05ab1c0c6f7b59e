package contract

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxReply is how long a reply may be, in bytes.
const MaxReply = 16 << 20

const (
	space    = " \t\r\n"
	maxDepth = 64
	// maxKeys bounds the memory that the search for duplicate keys takes. A reply has four.
	maxKeys   = 100_000
	maxNumber = 400 // digits; the largest float has 309
)

// member is a key of the reply's object and where its value stands in the text.
type member struct {
	key      string
	from, to int
}

// readObject reads a text that must be one JSON object by RFC 8259. It refuses what the RFC only
// advises against: duplicate keys at any depth, unpaired surrogates, numbers and depths that no
// decoder can hold. known is a list of strings that is known to be one; it may be nil.
func readObject(text string, known []byte) ([]member, *Failure) {
	if len(text) > MaxReply {
		return nil, Failed("the reply is larger than 16 MiB")
	}
	s := &scanner{text: text, known: known}
	s.skipSpace()
	if failure := notAnObject(text[s.pos:]); failure != nil {
		return nil, failure
	}
	if at := invalidUTF8(text); at >= 0 {
		return nil, Failed("invalid UTF-8 at byte %d", at+1)
	}
	var members []member
	failure := s.object(1, func(m member) { members = append(members, m) })
	if failure != nil {
		return nil, failure
	}
	s.skipSpace()
	if s.pos == len(text) {
		return members, nil
	}
	if text[s.pos] == '{' {
		return nil, Failed("a second JSON object at byte %d", s.pos+1)
	}
	return nil, Failed("text after the JSON object at byte %d: %s", s.pos+1, shownText(text[s.pos:]))
}

// notAnObject says what the text begins with in place of an object; nil where it begins with one.
func notAnObject(text string) *Failure {
	if text == "" {
		return Failed("the reply is empty")
	}
	switch {
	case strings.HasPrefix(text, "{"):
		return nil
	case strings.HasPrefix(text, "\uFEFF"):
		return Failed("a byte order mark before the JSON object")
	case strings.HasPrefix(text, "```"):
		return Failed("the reply is in a Markdown fence, want nothing but a JSON object")
	}
	s := &scanner{text: text}
	if kind := kindOf(text[0]); kind != "" && s.value(1) == nil && s.next() == 0 {
		return Failed("the reply is %s, want a JSON object", kind)
	}
	return Failed("not a JSON object: it begins with %s", shownText(text))
}

func kindOf(first byte) string {
	switch first {
	case '[':
		return "a JSON list"
	case '{':
		return "an object"
	case '"':
		return "a JSON string"
	case 't', 'f':
		return "a JSON boolean"
	case 'n':
		return "null"
	}
	if beginsNumber(first) {
		return "a JSON number"
	}
	return ""
}

func beginsNumber(b byte) bool { return b == '-' || isDigit(b) }

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// invalidUTF8 returns the place of the first bad byte, or -1. encoding/json would put a replacement
// in its place without a word.
func invalidUTF8(text string) int {
	if utf8.ValidString(text) {
		return -1
	}
	at := 0
	for {
		r, n := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
}

// shownText is the beginning of a text, quoted in ASCII so that no character can pass for another.
func shownText(text string) string {
	const most = 24
	if len(text) > most {
		return strconv.QuoteToASCII(text[:most]) + "…"
	}
	return strconv.QuoteToASCII(text)
}

// shownKey writes plain keys as they are.
func shownKey(key string) string {
	quoted := strconv.QuoteToASCII(key)
	if len(key) > 0 && len(key) < 60 && quoted == `"`+key+`"` && !strings.ContainsAny(key, " :,") {
		return key
	}
	return shownText(key)
}

// scanner reads JSON. pos is the next byte; each method leaves it behind what it has read.
type scanner struct {
	text  string
	pos   int
	keys  int
	known []byte // a list that need not be read
}

func (s *scanner) skipSpace() {
	for s.pos < len(s.text) && strings.IndexByte(space, s.text[s.pos]) >= 0 {
		s.pos++
	}
}

// next skips white space and returns the byte at pos; 0 at the end.
func (s *scanner) next() byte {
	s.skipSpace()
	if s.pos == len(s.text) {
		return 0
	}
	return s.text[s.pos]
}

func (s *scanner) unexpected(want string) *Failure {
	if s.pos >= len(s.text) {
		return Failed("half a JSON object: it ends after %d bytes, want %s", len(s.text), want)
	}
	return Failed("not JSON: %s at byte %d, want %s", shownText(s.text[s.pos:]), s.pos+1, want)
}

func (s *scanner) value(depth int) *Failure {
	first := s.next()
	switch first {
	case '{':
		return s.object(depth, nil)
	case '[':
		return s.list(depth)
	case '"':
		_, failure := s.string()
		return failure
	}
	if beginsNumber(first) {
		return s.number()
	}
	return s.literal()
}

func (s *scanner) literal() *Failure {
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(s.text[s.pos:], word) {
			s.pos += len(word)
			return nil
		}
		if rest := s.text[s.pos:]; rest != "" && strings.HasPrefix(word, rest) {
			s.pos = len(s.text)
		}
	}
	return s.unexpected("a value")
}

func (s *scanner) list(depth int) *Failure {
	if depth > maxDepth {
		return Failed("nested deeper than %d", maxDepth)
	}
	if n, rest := len(s.known), s.text[s.pos:]; n > 0 && n <= len(rest) && rest[:n] == string(s.known) {
		s.pos += n
		return nil
	}
	s.pos++
	if s.next() == ']' {
		s.pos++
		return nil
	}
	for {
		if failure := s.value(depth + 1); failure != nil {
			return failure
		}
		switch s.next() {
		case ',':
			s.pos++
		case ']':
			s.pos++
			return nil
		default:
			return s.unexpected("a comma or ]")
		}
	}
}

// object passes its members to each, if that is not nil.
func (s *scanner) object(depth int, each func(member)) *Failure {
	if depth > maxDepth {
		return Failed("nested deeper than %d", maxDepth)
	}
	s.pos++
	if s.next() == '}' {
		s.pos++
		return nil
	}
	seen := map[string]struct{}{}
	for {
		m, failure := s.member(depth, seen)
		if failure != nil {
			return failure
		}
		if each != nil {
			each(m)
		}
		switch s.next() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			return nil
		default:
			return s.unexpected("a comma or }")
		}
	}
}

func (s *scanner) member(depth int, seen map[string]struct{}) (m member, failure *Failure) {
	if s.next() != '"' {
		return m, s.unexpected("a key in double quotes")
	}
	if m.key, failure = s.string(); failure != nil {
		return m, failure
	}
	// Compared after decoding: "st\u0061tus" is status.
	if _, twice := seen[m.key]; twice {
		return m, Failed("duplicate key %s", shownKey(m.key))
	}
	if s.keys++; s.keys > maxKeys {
		return m, Failed("more than %d keys", maxKeys)
	}
	seen[m.key] = struct{}{}
	if s.next() != ':' {
		return m, s.unexpected("a colon")
	}
	s.pos++
	s.skipSpace()
	m.from = s.pos
	failure = s.value(depth + 1)
	m.to = s.pos
	return m, failure
}

// string returns the decoded text. Without escapes it is a part of the reply's text, and allocates
// nothing.
func (s *scanner) string() (string, *Failure) {
	s.pos++
	from := s.pos
	for ; s.pos < len(s.text); s.pos++ {
		c := s.text[s.pos]
		switch c {
		case '"':
			s.pos++
			return s.text[from : s.pos-1], nil
		case '\\':
			return s.escaped(from)
		}
		if c < ' ' {
			return "", s.controlCharacter()
		}
	}
	return "", s.unexpected(`"`)
}

func (s *scanner) escaped(from int) (string, *Failure) {
	var b strings.Builder
	b.WriteString(s.text[from:s.pos])
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch c {
		case '"':
			s.pos++
			return b.String(), nil
		case '\\':
			r, failure := s.escape()
			if failure != nil {
				return "", failure
			}
			b.WriteRune(r)
			continue
		}
		if c < ' ' {
			return "", s.controlCharacter()
		}
		b.WriteByte(c)
		s.pos++
	}
	return "", s.unexpected(`"`)
}

func (s *scanner) controlCharacter() *Failure {
	return Failed("not JSON: a control character (%#02x) in a string at byte %d", s.text[s.pos], s.pos+1)
}

func (s *scanner) escape() (rune, *Failure) {
	at := s.pos
	s.pos += 2
	if s.pos > len(s.text) {
		s.pos = len(s.text)
		return 0, s.unexpected("the rest of an escape")
	}
	switch c := s.text[s.pos-1]; c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b', 'f', 'n', 'r', 't':
		return rune("\b\f\n\r\t"[strings.IndexByte("bfnrt", c)]), nil
	case 'u':
		return s.codePoint(at)
	}
	s.pos = at
	return 0, s.unexpected("an escape of JSON")
}

// codePoint reads the rest of \uXXXX, and the second half of a pair with it.
func (s *scanner) codePoint(at int) (rune, *Failure) {
	first, failure := s.hex()
	if failure != nil || !utf16.IsSurrogate(first) {
		return first, failure
	}
	if strings.HasPrefix(s.text[s.pos:], `\u`) {
		s.pos += 2
		second, failure := s.hex()
		if failure != nil {
			return 0, failure
		}
		if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
			return r, nil
		}
	}
	return 0, Failed("unpaired surrogate at byte %d", at+1)
}

func (s *scanner) hex() (rune, *Failure) {
	if len(s.text)-s.pos < 4 {
		s.pos = len(s.text)
		return 0, s.unexpected("four hexadecimal digits")
	}
	// ParseUint would take a sign or an underscore in some bases, not in this one.
	n, err := strconv.ParseUint(s.text[s.pos:s.pos+4], 16, 16)
	if err != nil {
		return 0, s.unexpected("four hexadecimal digits")
	}
	s.pos += 4
	return rune(n), nil
}

func (s *scanner) number() *Failure {
	from := s.pos
	if s.text[s.pos] == '-' {
		s.pos++
	}
	whole := s.pos
	if !s.digits() {
		return s.unexpected("a digit")
	}
	if s.text[whole] == '0' && s.pos > whole+1 {
		s.pos = whole
		return s.unexpected("a number without leading zeros")
	}
	if s.take(".") && !s.digits() {
		return s.unexpected("a digit")
	}
	if s.take("eE") {
		s.take("+-")
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	literal := s.text[from:s.pos]
	if _, err := strconv.ParseFloat(literal[:min(len(literal), maxNumber)], 64); err != nil || len(literal) > maxNumber {
		return Failed("a number out of range at byte %d: %s", from+1, shownText(literal))
	}
	return nil
}

func (s *scanner) digits() bool {
	from := s.pos
	for s.pos < len(s.text) && isDigit(s.text[s.pos]) {
		s.pos++
	}
	return s.pos > from
}

func (s *scanner) take(any string) bool {
	if s.pos < len(s.text) && strings.IndexByte(any, s.text[s.pos]) >= 0 {
		s.pos++
		return true
	}
	return false
}

// readStrings decodes a list that was scanned before. It refuses one that holds more than strings.
func readStrings(text string) ([]string, *Failure) {
	s := &scanner{text: text, pos: 1}
	list := []string{}
	for s.next() == '"' {
		item, failure := s.string()
		if failure != nil {
			return nil, failure
		}
		list = append(list, item)
		if s.next() == ',' {
			s.pos++
		}
	}
	if s.next() != ']' {
		return nil, Failed("tasks[%d] is %s, want string", len(list), strings.Replace(kindOf(s.text[s.pos]), " JSON", "", 1))
	}
	return list, nil
}

package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
)

// JSON returns the JSON text b with Mark in place of every secret in its strings and keys, both as
// they are written and as they are decoded. A number that is part of a secret becomes the string
// Mark. Everything else stays, so that the result is JSON of the same shape. JSON fails if b is not
// JSON.
func (r *Redactor) JSON(b []byte) ([]byte, error) {
	if !json.Valid(b) {
		return nil, fmt.Errorf("read JSON: %w", json.Unmarshal(b, new(json.RawMessage)))
	}
	// Redact the meanings first, because redactText must also see the text that redactMeanings
	// writes.
	return r.redactText(r.redactMeanings(b)), nil
}

// redactMeanings redacts the decoded text of each string that has escapes. It leaves all other
// strings to redactText.
func (r *Redactor) redactMeanings(b []byte) []byte {
	var out []byte
	done := 0
	for s := range scalars(b) {
		if !quoted(b, s) || bytes.IndexByte(b[s.from:s.to], '\\') < 0 {
			continue
		}
		var text string
		if json.Unmarshal(b[s.from-1:s.to+1], &text) != nil {
			continue
		}
		if safe := r.String(text); safe != text {
			out = append(append(out, b[done:s.from]...), jsonBody(safe)...)
			done = s.to
		}
	}
	return append(out, b[done:]...)
}

// redactText redacts the text as written. A secret that extends beyond the end of a string is
// removed from each string that has a part of it.
func (r *Redactor) redactText(b []byte) []byte {
	secrets := r.findAll(b)
	if len(secrets) == 0 {
		return b
	}
	var out []byte
	done := 0
	for s := range scalars(b) {
		for len(secrets) > 0 && secrets[0].to <= s.from {
			secrets = secrets[1:]
		}
		if len(secrets) == 0 {
			break
		}
		if secrets[0].from >= s.to {
			continue
		}
		out = append(out, b[done:s.from]...)
		if quoted(b, s) {
			out = appendString(out, b, s, secrets)
		} else {
			out = append(out, `"`+Mark+`"`...)
		}
		done = s.to
	}
	return append(out, b[done:]...)
}

// appendString appends the body s of a string, with Mark for the secrets. If only a part of an
// escape belongs to a secret, Mark replaces the whole escape.
func appendString(out, b []byte, s span, secrets []span) []byte {
	marked := false
	for i := s.from; i < s.to; {
		end := i + 1
		if b[i] == '\\' {
			end = i + 2
			if b[i+1] == 'u' {
				end = i + 6
			}
		}
		for len(secrets) > 0 && secrets[0].to <= i {
			secrets = secrets[1:]
		}
		switch {
		case len(secrets) == 0 || secrets[0].from >= end:
			out, marked = append(out, b[i:end]...), false
		case !marked:
			out, marked = append(out, Mark...), true
		}
		i = end
	}
	return out
}

// quoted reports whether the scalar is a string.
func quoted(b []byte, s span) bool { return s.from > 0 && b[s.from-1] == '"' }

// jsonBody returns s as a JSON string without its quotes.
func jsonBody(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // cannot fail for a string in memory
	return b.Bytes()[1 : b.Len()-len("\"\n")]
}

// scalars yields the numbers, and the bodies of the strings, of the JSON text b.
func scalars(b []byte) iter.Seq[span] {
	return func(yield func(span) bool) {
		for i := 0; i < len(b); i++ {
			from := i
			switch {
			case b[i] == '"':
				from++
				for i++; b[i] != '"'; i++ {
					if b[i] == '\\' {
						i++
					}
				}
			case b[i] == '-' || '0' <= b[i] && b[i] <= '9':
				for i < len(b) && numberChars[b[i]] {
					i++
				}
			default:
				continue
			}
			if !yield(span{from, i}) {
				return
			}
		}
	}
}

var numberChars = classOf(digits + "+-.eE")

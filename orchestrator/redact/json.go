package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
)

// JSON returns the JSON text b with Mark for every secret in its strings, also in
// keys: in the text as it stands, and in what a string means. A number in a secret
// becomes the string Mark. All else stays as it is written, so that what comes out
// is JSON of the same shape. The error says that b is no JSON.
func (r *Redactor) JSON(b []byte) ([]byte, error) {
	if !json.Valid(b) {
		return nil, fmt.Errorf("read JSON: %w", json.Unmarshal(b, new(json.RawMessage)))
	}
	// In this order, because what the first one writes is a text too.
	return r.written(r.meant(b)), nil
}

// meant redacts what strings mean; one without escapes means what is written.
func (r *Redactor) meant(b []byte) []byte {
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
			out = append(append(out, b[done:s.from]...), jsonBody(safe, false)...)
			done = s.to
		}
	}
	return append(out, b[done:]...)
}

// written redacts the text as it stands. A secret that goes over the ends of a
// string is gone from each string it touches.
func (r *Redactor) written(b []byte) []byte {
	secrets := r.secrets(b)
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

// appendString appends the body s of a string, with Mark for the secrets. An
// escape that belongs to one in part goes as a whole.
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

// jsonBody is s as JSON without its quotes; html says whether <, > and & are
// escaped.
func jsonBody(s string, html bool) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	enc.Encode(s) // of a string, to memory
	return b.Bytes()[1 : b.Len()-len("\"\n")]
}

// scalars are the numbers, and what is between the quotes of each string, in the
// JSON text b.
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

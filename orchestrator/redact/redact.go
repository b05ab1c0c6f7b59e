// Package redact removes secrets from text and streams. A Redactor removes every registered value
// in all its encoded forms, however the stream is cut into writes.
//
// A Redactor also knows the shapes of common credentials and removes many credentials that were not
// registered. Only the removal of the registered values is promised.
package redact

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Mark replaces every secret.
const Mark = "[REDACTED_SECRET]"

// minValue is the least length of a registered value, in bytes. A shorter value could occur within
// ordinary words.
const minValue = 6

// Redactor is a filter that writes Mark in place of each value that it was given. It is safe for
// concurrent use.
type Redactor struct {
	known   *known // shared with the redactor for files
	isFiles bool
}

// known has the registered values and their parts, see [New], and an index of them for each kind of Redactor.
type known struct {
	mu           sync.Mutex // of changes
	values       []string
	texts, files atomic.Pointer[index]
}

func (r *Redactor) index() *index {
	if r.isFiles {
		return r.known.files.Load()
	}
	return r.known.texts.Load()
}

// Secret is a value with the name of its variable or setting.
type Secret struct{ Name, Value string }

// New returns a redactor for values in all their encoded forms, and for the known shapes of
// credentials. Space around a value does not count. New ignores values shorter than 6 bytes and
// values that occur in Mark; NewNamed reports them. Some parts of a value are also redacted by
// themselves: each line of 8 bytes or more, a URL's password, the credential of an Authorization
// header, and the values of a JSON document under keys that look secret.
func New(values []string) *Redactor {
	r := &Redactor{known: &known{}}
	r.known.texts.Store(noValues())
	r.Learn(values)
	return r
}

// Learn has the redactor, and its redactor for files, know further values from now on.
func (r *Redactor) Learn(values []string) {
	k := r.known
	k.mu.Lock()
	defer k.mu.Unlock()
	before := len(k.values)
	seen := map[string]bool{}
	for _, value := range k.values {
		seen[value] = true
	}
	for _, value := range values {
		for _, part := range secretParts(value) {
			if redactable(part) && !seen[part] {
				seen[part] = true
				k.values = append(k.values, splitLong(part)...)
			}
		}
	}
	if len(k.values) == before {
		return
	}
	k.texts.Store(newIndex(k.values, true))
	if k.files.Load() != nil {
		k.files.Store(newIndex(k.values, false))
	}
}

// ForFiles returns the redactor for the contents of files. It ignores most values that only a name
// such as "token" or "secret" reveals, because program text and settings have many such names.
func (r *Redactor) ForFiles() *Redactor {
	k := r.known
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.files.Load() == nil {
		k.files.Store(newIndex(k.values, false))
	}
	return &Redactor{k, true}
}

// noValues returns the index without values.
var noValues = sync.OnceValue(func() *index { return newIndex(nil, true) })

// shapesOnly returns the Redactor without values.
var shapesOnly = sync.OnceValue(func() *Redactor { return New(nil) })

// NewNamed is like New, but for named values. It also returns the sorted names of the values that
// are too short or part of Mark, so that the caller can warn of them. Empty values are ignored.
func NewNamed(secrets []Secret) (r *Redactor, ignored []string) {
	values := make([]string, len(secrets))
	for i, s := range secrets {
		values[i] = s.Value
		if v := strings.TrimSpace(s.Value); v != "" && !redactable(v) {
			ignored = append(ignored, s.Name)
		}
	}
	slices.Sort(ignored)
	return New(values), slices.Compact(ignored)
}

func redactable(value string) bool {
	return len(value) >= minValue && !strings.Contains(Mark, value)
}

// String returns s with Mark in place of every secret.
func (r *Redactor) String(s string) string {
	b := []byte(s)
	if !r.hasSecret(b) {
		return s
	}
	return string(r.Bytes(b))
}

// Bytes returns b with Mark in place of every secret, or b itself if it holds no secret.
func (r *Redactor) Bytes(b []byte) []byte {
	text, _ := r.scan(b, &state{}, true)
	return text
}

// hasSecret reports whether a whole text holds a secret.
func (r *Redactor) hasSecret(b []byte) (found bool) {
	r.find(b, &state{}, true, func(span, bool) { found = true })
	return found
}

// Changes reports whether String would change s.
func (r *Redactor) Changes(s string) bool { return r.ChangesBytes([]byte(s)) }

// ChangesBytes is like Changes, but for bytes. It copies them only if they hold a secret.
func (r *Redactor) ChangesBytes(b []byte) bool {
	return r.hasSecret(b) && !bytes.Equal(r.Bytes(b), b) // the secret may be Mark itself
}

// scan redacts the first bytes of b. The result "text" is the redacted text of these bytes, and the
// result "used" is the number of these bytes. If these bytes hold no secret, the redacted text is a
// part of b. The rest of b may begin a secret. The caller must pass the rest again, with the bytes
// that follow. If the parameter "final" is true, there is no rest.
func (r *Redactor) scan(b []byte, st *state, final bool) (text []byte, used int) {
	shown := max(st.covered-1, 0)
	used = r.find(b, st, final, func(s span, more bool) {
		if !more {
			text = append(append(text, b[shown:s.from]...), Mark...)
		}
		shown = s.to
	})
	rest := b[min(shown, used):used]
	if text == nil {
		return rest, used
	}
	return append(text, rest...), used
}

// findAll returns the spans of a whole text that scan would hide. The last one may extend beyond
// the end of the text.
func (r *Redactor) findAll(b []byte) (all []span) {
	r.find(b, &state{}, true, func(s span, _ bool) { all = append(all, s) })
	return all
}

// find calls the function hide for every secret in b, in order. The argument "more" is true if the
// span extends the secret before it. Overlapping and adjacent secrets count as one, so that no part
// of the second shows after the first. find returns the number of bytes of b that it could judge
// without the bytes that follow b.
//
// Only the bytes from a position on, and a few bytes before it (see context), decide whether a
// secret begins there. Therefore the result does not depend on how the stream is cut into writes.
func (r *Redactor) find(b []byte, st *state, final bool, hide func(s span, more bool)) (used int) {
	t := text{b: b, state: st, final: final}
	ix := r.index()
	end, i := st.covered-1, 0 // b[:end] is hidden
	for ; i < len(b); i++ {
		i = min(ix.nextCandidate(b, i), st.nextAhead())
		m := ix.match(&t, i)
		if m.more {
			break
		}
		if m.ahead.to > 0 {
			st.ahead = append(st.ahead, span{i + m.ahead.from, i + m.ahead.to})
		}
		m.n = max(m.n, st.takeAhead(i)-i)
		if m.n == 0 || i+m.n <= end {
			continue
		}
		hide(span{i, i + m.n}, i <= end)
		end = i + m.n
	}
	st.advance(i, end, b)
	return i
}

// Package redact removes secrets from text and streams: no registered value, in
// none of the forms that encoders give it, leaves a Redactor, however the stream
// is cut into writes; and it makes foreign text harmless for the place where it
// is shown.
//
// Beside the registered values it knows the shapes of common credentials. The
// shapes are a net for what nobody registered; only the values are a promise.
package redact

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// Mark stands in the place of every secret.
const Mark = "[REDACTED_SECRET]"

// minValue is the length, in bytes, under which a value is not registered: it
// would tear ordinary words apart.
const minValue = 6

// Redactor replaces what New was given by Mark. It never changes and may be
// used by several goroutines.
type Redactor struct{ index *index }

// Secret is a value and the name under which its owner knows it: that of a
// variable, or of a setting.
type Secret struct{ Name, Value string }

// New returns a redactor for values in all the forms that programs give them,
// and for the known shapes of credentials. Space around a value does not count;
// values shorter than 6 bytes, and those that Mark itself would show, are
// ignored: see NewNamed. Each line of a value, of 8 bytes or more, counts as a
// value of its own, and so do the password within a URL, the credential of an
// Authorization header, and in a JSON document what stands under a key that
// looks secret.
func New(values []string) *Redactor {
	var all []string
	seen := map[string]bool{}
	for _, value := range values {
		for _, part := range parts(value) {
			if redactable(part) && !seen[part] {
				seen[part] = true
				all = append(all, pieces(part)...)
			}
		}
	}
	if len(all) == 0 {
		return shapesOnly()
	}
	return compile(all)
}

// shapesOnly is a Redactor for the shapes of credentials alone.
var shapesOnly = sync.OnceValue(func() *Redactor { return compile(nil) })

// Warm makes what every Redactor is made from. Whoever needs it waits for whoever makes it; so a program that will need it, and has
// something else to do first, calls Warm on another goroutine.
func Warm() { shapesOnly() }

func compile(pieces []string) *Redactor {
	var ix builder
	for _, s := range shapes() {
		ix.shape(s)
	}
	for _, p := range pieces {
		ix.value(p)
	}
	return &Redactor{ix.build()}
}

// NewNamed is New for values with names. It also returns the names, sorted, of
// those that are not redacted because they are too short, or part of Mark, so
// that the caller can warn of them. Empty values are nobody's secret.
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

// String returns s with Mark for every secret in it.
func (r *Redactor) String(s string) string {
	b := []byte(s)
	if !r.finds(b) {
		return s
	}
	return string(r.Bytes(b))
}

// Bytes returns a copy of b with Mark for every secret in it.
func (r *Redactor) Bytes(b []byte) []byte {
	var st state
	out, _ := r.scan(make([]byte, 0, len(b)), b, &st, true)
	return out
}

// finds reports whether there is a secret in a whole text.
func (r *Redactor) finds(b []byte) (found bool) {
	r.find(b, &state{}, true, func(span, bool) { found = true })
	return found
}

// Changes reports whether String would return something else than s.
func (r *Redactor) Changes(s string) bool { return r.ChangesBytes([]byte(s)) }

// ChangesBytes is Changes for bytes, of which it makes no copy unless there are secrets.
func (r *Redactor) ChangesBytes(b []byte) bool {
	return r.finds(b) && !bytes.Equal(r.Bytes(b), b) // Mark may stand for itself
}

// scan appends to dst what may be shown of b and returns how many bytes of b
// it has decided on. The rest begins something that may yet become a secret,
// and must be given again with what follows it; if final, nothing follows.
func (r *Redactor) scan(dst, b []byte, st *state, final bool) ([]byte, int) {
	shown := max(st.covered-1, 0)
	used := r.find(b, st, final, func(s span, more bool) {
		if !more {
			dst = append(append(dst, b[shown:s.from]...), Mark...)
		}
		shown = s.to
	})
	if shown < used {
		dst = append(dst, b[shown:used]...)
	}
	return dst, used
}

// secrets are the places of all that scan hides of a whole text; one may go on in
// the next.
func (r *Redactor) secrets(b []byte) (all []span) {
	r.find(b, &state{}, true, func(s span, _ bool) { all = append(all, s) })
	return all
}

// find calls hide for every secret in b, in order, and returns how many bytes of b
// it has decided on. More says that this is not another one than the last: secrets
// that overlap or touch are one, so that nothing of the second shows behind the
// first.
//
// Whether a position begins a secret depends on the bytes from there on, and on
// at most context bytes before, never on where a write ended, so the result is
// the same for every chunking.
func (r *Redactor) find(b []byte, st *state, final bool, hide func(s span, more bool)) (used int) {
	t, o := text{b: b, state: st, final: final}, newOpeners(b)
	end, i := st.covered-1, 0 // b[:end] is hidden
	for ; i < len(b); i++ {
		i = min(r.index.next(b, i, &o), st.nextAhead())
		m := r.index.at(&t, i, &o)
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
	st.pass(i, end, b)
	return i
}

package redact

import "strings"

// shape is a known kind of credential.
type shape struct {
	// prefix begins each credential. If the prefix is empty, each credential begins with one of the
	// bytes in the field "first".
	prefix, first string
	// word restricts matches to the start of a word, because some words end with the prefix
	// (task-…). A letter of an escape such as \n does not count as a word.
	word bool
	// words is true if only a common name, such as "token", shows that a value is a credential.
	// ForFiles leaves such a shape out.
	words bool
	// length returns the length of a whole credential at the start of r, or 0 if there is none. r
	// begins with the prefix. length sets r.ahead if the secret begins later, and r.short if r ends
	// before the credential does.
	length func(r *reader) int
}

// match returns the credential of this shape that begins at i.
func (s *shape) match(t *text, i int) found {
	if rest := t.b[i:]; len(rest) < len(s.prefix) {
		return found{more: !t.final && s.prefix[:len(rest)] == string(rest)}
	} else if string(rest[:len(s.prefix)]) != s.prefix || s.word && !startsWord(t, i) {
		return found{}
	}
	b, whole := t.window(i)
	r := &t.reader // a new one would be on the heap
	*r = reader{b: b[i:], t: t, base: i, whole: whole}
	n := s.length(r)
	if r.short {
		return found{more: true}
	}
	if n == 0 || r.ahead == 0 {
		return found{n: n}
	}
	return found{ahead: span{r.ahead, n}}
}

// slots bounds the number of slots. Each slot remembers the last measured run of characters.
const slots = 48

// reader is a text that may begin with a credential. Each shape has a function that measures its
// credential with the reader.
type reader struct {
	b     []byte // text from the possible credential on
	t     *text
	base  int  // offset of b in t
	whole bool // the bytes after b do not matter, so that a credential may end where b ends
	ahead int  // offset in b at which the secret part of the credential begins
	short bool // b ends before the credential does
}

// run returns the end of a run of characters. The run begins at i, and all its characters belong to
// the class. The caller's slot remembers the run, so that a later call from within the run does not
// read the same characters again.
func (r *reader) run(i int, in *class, slot int) int {
	at, known := r.base+i, &r.t.state.runs[slot]
	if known.from <= at && at < known.to {
		i = min(known.to-r.base, len(r.b))
	} else {
		*known = span{at, at}
	}
	i = r.shortRun(i, in)
	known.to = max(known.to, r.base+i)
	return i
}

// shortRun is like run, but without a slot, and only for runs of few characters.
func (r *reader) shortRun(i int, in *class) int {
	for i < len(r.b) && in[r.b[i]] {
		i++
	}
	r.noteEnd(i)
	return i
}

// countEnd returns the end of a run of characters. The run begins at i, and all its characters
// belong to the class. The parameter "most" is the greatest length of the run.
func (r *reader) countEnd(i, most int, in *class) int {
	end := min(i+most, len(r.b))
	for i < end && in[r.b[i]] {
		i++
	}
	if i < end || i == len(r.b) && end < i+most {
		r.noteEnd(i)
	}
	return i
}

// hasAt reports whether the given text stands at i.
func (r *reader) hasAt(i int, text string) bool {
	have := r.b[min(i, len(r.b)):]
	if len(have) < len(text) {
		if strings.HasPrefix(text, string(have)) {
			r.noteEnd(len(r.b))
		}
		return false
	}
	return string(have[:len(text)]) == text
}

func (r *reader) noteEnd(i int) {
	if i >= len(r.b) && !r.whole {
		r.short = true
	}
}

// tokenEnd returns the end of a run of characters, or 0 if the run is too short. The parameter
// "least" is the smallest number of characters.
func (r *reader) tokenEnd(from int, in *class, least, slot int) int {
	end := r.run(from, in, slot)
	if end-from < least {
		return 0
	}
	return end
}

// startsWord reports whether a word can begin at i. It cannot begin after a character of a word,
// unless that character belongs to an escape (\n, \u003d, %3D, a colour's ESC[1m).
func startsWord(t *text, i int) bool {
	var buf [context]byte
	before := t.before(i, context, &buf)
	n := len(before)
	if n == 0 || !wordChars[before[n-1]] {
		return true
	}
	switch {
	case n >= 2 && before[n-2] == '\\' && strings.IndexByte("nrtbf", before[n-1]) >= 0:
		return true
	case n >= 3 && before[n-3] == '%' && isHex(before[n-2:]):
		return true
	case n >= 4 && before[n-4] == '\\' && before[n-3] == 'x' && isHex(before[n-2:]):
		return true
	case n >= 6 && before[n-6] == '\\' && before[n-5] == 'u' && isHex(before[n-4:]):
		return true
	}
	return before[n-1] == 'm' && endsColor(before[:n-1])
}

// endsColor reports whether b ends in a colour's escape sequence without its m. The escape
// character may itself be escaped.
func endsColor(b []byte) bool {
	n := len(b)
	for n > 0 && (b[n-1] == ';' || '0' <= b[n-1] && b[n-1] <= '9') {
		n--
	}
	if n < 2 || b[n-1] != '[' {
		return false
	}
	head := string(b[:n-1])
	for _, esc := range []string{"\x1b", `\u001b`, `\u001B`, `\x1b`, `\x1B`, `\033`, `\e`} {
		if strings.HasSuffix(head, esc) {
			return true
		}
	}
	return false
}

func isHex(b []byte) bool { return isHexDigit.hasAll(b) }

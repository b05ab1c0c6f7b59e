package redact

import "strings"

// walk is a comparison of a text with a literal, through all escapes in the text.
type walk struct {
	*literal
	t     *text
	b     []byte
	whole bool
	short bool // the end of b was reached
	work  int  // number of steps that may still be tried, a bound on time
}

// maxWork suffices for a piece of a value that consists only of escape characters and was escaped
// four times.
const maxWork = 2000

// maxIdle bounds the consecutive line ends within base64 and base32. In the escaped line end \n,
// the letter n may begin the literal. Without the bound, a long run of such line ends would be read
// again from each letter n.
const maxIdle = 3

// match compares the text from p on with the literal from j on. It returns the end of the literal
// in the text, or -1. idle is the number of steps since the last one that covered a byte of the
// literal.
func (w *walk) match(p, j, idle int) int {
	for j < len(w.text) {
		if p >= len(w.b) {
			w.short = true
			return -1
		}
		c := w.b[p]
		if w.canon[c] == w.text[j] && opener[c] == 0 && (w.simple || strings.IndexByte(doubled, c) < 0) {
			p, j, idle = p+1, j+1, 0
			continue
		}
		w.work--
		var s steps
		w.addSteps(&s, p, j)
		if s.n == 0 || idle > maxIdle && (w.kind == encoded || w.kind == encoded6) {
			return -1
		}
		if s.n > 1 {
			return w.tryEach(&s, p, j, idle)
		}
		p, j, idle = s.list[0].after(p, j, idle)
	}
	return p
}

// tryEach tries each step and returns the end of the literal for the first step that leads to it,
// or -1 if there is none.
func (w *walk) tryEach(s *steps, p, j, idle int) int {
	for k, way := range s.list[:s.n] {
		if k > 0 && w.work <= 0 {
			break
		}
		if end := w.match(way.after(p, j, idle)); end >= 0 {
			return end
		}
	}
	return -1
}

// steps is a list of the possible next steps.
type steps struct {
	n    int
	list [2*maxReadings + 6]step
}

// step is a move forward, in bytes. The field "in" is the length of the move in the text, and the
// field "of" is its length in the literal.
type step struct{ in, of int32 }

// after returns the arguments of [walk.match] for the place behind the step. The parameters are the
// arguments for the place before the step.
func (s step) after(p, j, idle int) (int, int, int) {
	if idle++; s.of > 0 {
		idle = 0
	}
	return p + int(s.in), j + int(s.of), idle
}

func (s *steps) add(in, of int) {
	s.list[s.n].in, s.list[s.n].of = int32(in), int32(of)
	s.n++
}

func (w *walk) addSteps(s *steps, p, j int) {
	c, want := w.b[p], w.text[j]
	if c == '\'' && want == '\'' { // first, because shell quotes begin with a plain quote
		w.addShellQuotes(s, p)
	}
	if w.kind == plain && (c == want || c == '\\') && strings.IndexByte(doubled, want) >= 0 {
		w.addDoubled(s, p, j)
	}
	switch {
	case c == '\\' && want == '\\':
		w.addBackslashes(s, p, j)
	case w.canon[c] == want:
		s.add(1, 1)
	case c == '+' && want == ' ' && w.kind == plain:
		s.add(1, 1)
	case c == '\r' && want == '\n' && w.hasAt(p+1, "\n"):
		s.add(2, 1)
	}
	if opener[c] != 0 {
		w.addEscapes(s, p, j, 0, 0)
	}
	if w.kind == hexed && j > 0 && j%2 == 0 {
		w.addSeparator(s, p, separators, 0)
	} else if w.kind == decimal && want == ',' {
		w.addSeparator(s, p, commas, 1)
	}
	if w.kind != plain && j > 0 {
		if n := w.wrapLength(p); n > 0 {
			if w.kind == hexed && w.hasAt(p+n, "0x") {
				n += len("0x")
			}
			s.add(n, 0)
		}
	}
}

// addEscapes adds a step for each reading of the escape at p, if the text of the reading stands in
// the literal at j. The parameter "in" is a length that was covered before p, and the parameter
// "of" is a length that was covered before j. Each step includes both lengths.
func (w *walk) addEscapes(s *steps, p, j, in, of int) {
	var all readings
	if all.read(w.b, p) {
		w.short = true
	}
	for _, r := range all.list() {
		text, rest := r.text[:r.n], w.text[j:]
		if len(rest) >= len(text) && w.canon[text[0]] == rest[0] && string(text[1:]) == string(rest[1:len(text)]) {
			s.add(in+int(r.in), of+int(r.n))
		}
	}
}

// addBackslashes adds a step over a run of backslashes in both the text and the literal, because
// each level of strings within strings doubles them. The last backslash of the run may begin an
// escape.
func (w *walk) addBackslashes(s *steps, p, j int) {
	of, in := 1, 1
	for j+of < len(w.text) && w.text[j+of] == '\\' {
		of++
	}
	for in <= of*maxBackslashes+maxBackslashes && w.hasAt(p+in, `\`) {
		in++
	}
	if in < of || in >= of*maxBackslashes+maxBackslashes {
		return
	}
	s.add(in, of)
	if in > of && j+of < len(w.text) {
		w.addEscapes(s, p+in-1, j+of, in-1, of)
	}
}

// addShellQuotes adds the two ways to write ' within a shell's quotes:
//
//	'\''  '"'"'
//
// In a string, backslashes stand before the quotes.
func (w *walk) addShellQuotes(s *steps, p int) {
	run := w.backslashes(p + 1)
	if q := p + 1 + run; run > 0 && w.hasAt(q, "''") {
		s.add(q+2-p, 1)
	}
	q := p + 1 + run
	if !w.hasAt(q, `"'`) {
		return
	}
	if q += 2 + w.backslashes(q+2); w.hasAt(q, `"'`) {
		s.add(q+2-p, 1)
	}
}

// backslashes returns the number of backslashes at p.
func (w *walk) backslashes(p int) int {
	n := backslashRun(w.b, p)
	w.short = w.short || p+n == len(w.b)
	return min(n, maxBackslashes)
}

// addDoubled adds a step for a character that is written twice in a quoted text, such as $. The
// literal has the character once. The step covers all equal characters that follow one another. A
// shorter step would be ambiguous, because $$ can mean one character or two. In a string, a
// backslash may stand before each character.
func (w *walk) addDoubled(s *steps, p, j int) {
	c := string(w.text[j : j+1])
	if j > 0 && w.text[j-1] == c[0] {
		return
	}
	of, q := 1, p
	for j+of < len(w.text) && w.text[j+of] == c[0] {
		of++
	}
	for range 2 * of {
		if q += w.backslashes(q); !w.hasAt(q, c) {
			return
		}
		q++
	}
	s.add(q-p, of)
}

func (w *walk) addSeparator(s *steps, p int, list []string, of int) {
	for _, sep := range list {
		if w.hasAt(p, sep) {
			s.add(len(sep), of)
			return
		}
	}
}

// hasAt reports whether the given string stands at p. It sets w.short if b ends too early to tell.
func (w *walk) hasAt(p int, want string) bool {
	have := w.b[min(p, len(w.b)):]
	if len(have) < len(want) {
		w.short = w.short || string(have) == want[:len(have)]
		return false
	}
	return string(have[:len(want)]) == want
}

// maxIndent bounds the indentation of a wrapped line.
const maxIndent = 32

// wrapLength returns the length of the line end at p and of the indentation after the line end. The
// line end may be escaped. wrapLength returns 0 if fewer than 16 bytes of the encoding stand
// directly before p. In that case the end of the line counts as ordinary words, and the output of
// the line need not wait for the next line.
func (w *walk) wrapLength(p int) int {
	if c := w.b[p]; c != '\n' && c != '\r' && c != '\\' {
		return 0
	}
	short := w.short
	if q := w.wrapEnd(p); q > p && w.t.isDense(p, w.kind) {
		return q - p
	} else if q == p {
		return 0
	}
	w.short = short
	return 0
}

func (w *walk) wrapEnd(p int) int {
	q := w.lineEnd(w.lineEnd(p)) // \r\n
	for start := q; q > p && q-start < maxIndent && (w.hasAt(q, " ") || w.hasAt(q, "\t")); {
		q++
	}
	return q
}

func isLineEnd(c byte) bool { return c == '\n' || c == '\r' }

func (w *walk) lineEnd(q int) int {
	if q >= len(w.b) {
		w.short = true
		return q
	}
	if isLineEnd(w.b[q]) {
		return q + 1
	}
	n := backslashRun(w.b, q)
	if n == 0 || n > maxBackslashes {
		return q
	}
	if w.hasAt(q+n, "n") || w.hasAt(q+n, "r") {
		return q + n + 1
	}
	return q
}

var (
	base64Text = bitsOf(alnum + "+/=-_\\%")
	hexText    = bitsOf(digits + "abcdefABCDEFx:-, \t")
)

// isDense reports whether there are 16 bytes before p, all of them bytes of the encoding.
func (t *text) isDense(p int, k kind) bool {
	var buf [context]byte
	of := base64Text
	if k == hexed || k == decimal {
		of = hexText
	}
	before := t.before(p, context, &buf)
	for _, c := range before {
		if of[c] == 0 {
			return false
		}
	}
	return len(before) == context
}

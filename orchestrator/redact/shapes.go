package redact

import (
	"bytes"
	"strings"
)

// maxToken is how long, in bytes, a credential found by its shape can be: more
// than the PEM text of any private key. So much of a stream may be held back.
const maxToken = 16 << 10

// shape is a known kind of credential: what it begins with, and how to find its
// end. Each prefix is three bytes or longer.
type shape struct {
	prefix string
	// word: only at the start of a word, because the prefix also ends words
	// (task-…). A letter of an escape such as \n does not count as one.
	word bool
	// length returns the length of a whole credential at the start of b, which
	// begins with the prefix; 0 for none. It sets r.from when the credential
	// begins later, and r.short where it would have to read on behind the end.
	length func(r *reader) int
}

// shapes is read only.
var shapes = slicesOf(
	tokens(alnum, 36, "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "npm_"),
	tokens(alnum+"_", 40, "github_pat_"),
	tokens(alnum+"_-", 20, "glpat-", "gldt-", "glrt-", "glptt-", "glsoat-", "glft-"),
	tokens(alnum+"-", 10, "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xapp-"),
	tokens(alnum+"/", 24, "hooks.slack.com/services/"),
	tokens(upper+digits, 16, "AKIA", "ASIA"),
	tokens(alnum+"_-", 35, "AIza"),
	tokens(alnum+"_-.", 30, "ya29."),
	tokens(alnum, 30, "hf_"),
	tokens(alnum, 20, "sk_live_", "sk_test_", "rk_live_", "rk_test_"),
	tokens(alnum+"_-", 60, "pypi-"),
	tokens(alnum+"_-.", 50, "SG."),
	[]shape{
		{prefix: "sk-", word: true, length: skKey},
		{prefix: "eyJ", length: jwt},
		{prefix: "-----BEGIN ", length: privateKey},
		{prefix: "://", length: userinfo},
	},
)

const (
	digits = "0123456789"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	alnum  = digits + upper + lower
)

func slicesOf(lists ...[]shape) (all []shape) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// tokens are a prefix and at least so many characters of one class.
func tokens(class string, least int, prefixes ...string) (all []shape) {
	in := classOf(class)
	for _, p := range prefixes {
		all = append(all, shape{prefix: p, length: func(r *reader) int {
			return r.token(len(p), in, least)
		}})
	}
	return all
}

type class [256]bool

func classOf(chars string) *class {
	var c class
	for i := range len(chars) {
		c[chars[i]] = true
	}
	return &c
}

// at returns what of the shape begins at b. before is what stands in front of
// it; if final, nothing follows b.
func (s shape) at(b []byte, before func() []byte, final bool) found {
	if len(b) < len(s.prefix) {
		return found{more: !final && strings.HasPrefix(s.prefix, string(b))}
	}
	if string(b[:len(s.prefix)]) != s.prefix || s.word && !startsWord(before()) {
		return found{}
	}
	r := reader{b: b[:min(len(b), maxToken)], whole: final || len(b) >= maxToken}
	n := s.length(&r)
	if r.short {
		return found{more: true}
	}
	return found{from: r.from, n: n}
}

// reader looks at the text of a credential and notes when its end is not in
// sight yet.
type reader struct {
	b     []byte
	whole bool // nothing that matters follows b
	from  int
	short bool
}

// run returns the end of the characters of the class from i on.
func (r *reader) run(i int, in *class) int {
	for i < len(r.b) && in[r.b[i]] {
		i++
	}
	r.reached(i)
	return i
}

// is reports whether text stands at i.
func (r *reader) is(i int, text string) bool {
	have := r.b[min(i, len(r.b)):]
	if len(have) < len(text) {
		if strings.HasPrefix(text, string(have)) {
			r.reached(len(r.b))
		}
		return false
	}
	return string(have[:len(text)]) == text
}

func (r *reader) reached(i int) {
	if i >= len(r.b) && !r.whole {
		r.short = true
	}
}

func (r *reader) token(from int, in *class, least int) int {
	end := r.run(from, in)
	if end-from < least {
		return 0
	}
	return end
}

var (
	wordChars = classOf(alnum + "_-")
	skChars   = classOf(alnum + "_-")
	jwtChars  = classOf(alnum + "_-")
	userChars = not(classOf(" \t\r\n\x00\x1b/@:?#\"'<>`\\"))
	passChars = not(classOf(" \t\r\n\x00\x1b/@\"'<>`\\"))
)

func not(c *class) *class {
	var n class
	for i := range c {
		n[i] = !c[i]
	}
	return &n
}

// skKey is a key of OpenAI, Anthropic, OpenRouter and those that took over the
// form: sk- and a random text, with a vendor's name in front of it or without.
func skKey(r *reader) int {
	end := r.token(3, skChars, 20)
	if end == 0 {
		return 0
	}
	text := r.b[3:end]
	if bytes.ContainsAny(text, "_-") && !vendor(text) {
		return 0 // a slug
	}
	if !bytes.ContainsAny(text, digits) || !bytes.ContainsAny(text, upper+lower) {
		return 0 // no random text of this length is without either
	}
	return end
}

func vendor(text []byte) bool {
	for _, v := range []string{"ant-", "proj-", "svcacct-", "admin-", "or-v1-", "lf-"} {
		if bytes.HasPrefix(text, []byte(v)) {
			return true
		}
	}
	return false
}

// jwt is header.claims.signature, the first two of which are JSON objects.
func jwt(r *reader) int {
	header := r.token(0, jwtChars, 10)
	if header == 0 || !r.is(header, ".eyJ") {
		return 0
	}
	claims := r.token(header+1, jwtChars, 10)
	if claims == 0 || !r.is(claims, ".") {
		return 0
	}
	return r.token(claims+1, jwtChars, 10)
}

// userinfo is the password in user:password of a URL.
func userinfo(r *reader) int {
	const most = 512
	if len(r.b) > most {
		r.b, r.whole = r.b[:most], true
	}
	user := r.run(3, userChars)
	if !r.is(user, ":") {
		return 0
	}
	end := r.run(user+1, passChars)
	if end == user+1 || !r.is(end, "@") {
		return 0
	}
	r.from = user + 1
	return end
}

// privateKey is a PEM block up to its end line; without one, up to what cannot
// be part of a key. Its lines may be indented, or within a JSON string.
func privateKey(r *reader) int {
	header := r.run(11, classOf(upper+digits+" "))
	if !bytes.HasSuffix(r.b[:header], []byte("PRIVATE KEY")) && !bytes.HasSuffix(r.b[:header], []byte("PRIVATE KEY BLOCK")) {
		return 0
	}
	if !r.is(header, "-----") {
		return 0
	}
	i := header + 5
	for i < len(r.b) && keyByte(r.b, i) {
		if r.is(i, "-----END ") {
			end := r.run(i+9, classOf(upper+digits+" "))
			return r.run(end, classOf("-"))
		}
		i++
	}
	r.reached(i)
	return i
}

// keyByte reports whether b[i] may stand in a PEM block: base64, line ends also
// as escapes, headers, and spaces only where a line is indented or a header's
// name ends, so that prose below a lone first line survives.
func keyByte(b []byte, i int) bool {
	if b[i] == ' ' {
		return strings.IndexByte(" \t\r\n:", b[i-1]) >= 0 || b[i-1] == 'n' && b[i-2] == '\\'
	}
	return strings.IndexByte(alnum+"+/=\r\n\t\\:,.-", b[i]) >= 0
}

// startsWord reports whether a word can begin behind the text: not behind a
// letter, unless it belongs to an escape (\n, \u003d, %3D, a colour's ESC[1m).
func startsWord(before []byte) bool {
	n := len(before)
	if n == 0 || !wordChars[before[n-1]] {
		return true
	}
	end := func(k int) []byte { return before[max(n-k, 0):] }
	switch {
	case n >= 2 && before[n-2] == '\\' && strings.IndexByte("nrtbf", before[n-1]) >= 0:
		return true
	case n >= 3 && before[n-3] == '%' && isHex(end(2)):
		return true
	case n >= 6 && before[n-6] == '\\' && before[n-5] == 'u' && isHex(end(4)):
		return true
	}
	return n >= 2 && before[n-1] == 'm' && strings.IndexByte(digits+"[;", before[n-2]) >= 0 && bytes.IndexByte(before, 0x1b) >= 0
}

func isHex(b []byte) bool {
	return strings.Trim(string(b), digits+"abcdefABCDEF") == ""
}

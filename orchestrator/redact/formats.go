package redact

import (
	"bytes"
	"strings"
)

// formats are the shapes that have a structure.
func formats(slot *slotCount) []*shape {
	sk, header, claims, signature := slot.next(), slot.next(), slot.next(), slot.next()
	id, end, key, keys := slot.next(), slot.next(), slot.next(), slot.next()
	return []*shape{
		{prefix: "sk-", keys: keysWith("sk-", wordChars), word: true, length: func(r *reader) int { return skKey(r, sk) }},
		{prefix: "eyJ", keys: keysWith("eyJ", wordChars), length: func(r *reader) int { return jwt(r, header, claims, signature) }},
		{prefix: "-----BEGIN", length: func(r *reader) int { return privateKey(r, key, keys) }},
		{prefix: "Private-Lines: ", length: func(r *reader) int { return keyBody(r, r.count(15, 8, isAlnum), key) }},
		{prefix: "://", keys: keysWith("://", userStart), length: userinfo},
		{prefix: "%3A%2F%2F", length: func(r *reader) int { return encodedUserinfo(r, "%3A", "%40") }},
		{prefix: "%3a%2f%2f", length: func(r *reader) int { return encodedUserinfo(r, "%3a", "%40") }},
		{prefix: ":AA", keys: keysWith(":AA", wordChars), length: func(r *reader) int { return telegram(r, id) }},
		{prefix: "SK", keys: twilioKeys(), word: true, length: twilio},
		{keys: discordKeys(), word: true, length: func(r *reader) int { return discord(r, end) }},
	}
}

// skKey is a key of OpenAI, Anthropic, OpenRouter and those that took over the
// form: sk- and a random text, with a vendor's name in front of it or without.
func skKey(r *reader, slot int) int {
	end := r.token(3, wordChars, 20, slot)
	if end == 0 {
		return 0
	}
	text := r.b[3:min(end, 200)]
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
func jwt(r *reader, slot1, slot2, slot3 int) int {
	header := r.token(0, wordChars, 10, slot1)
	if header == 0 || !r.is(header, ".eyJ") {
		return 0
	}
	claims := r.token(header+1, wordChars, 10, slot2)
	if claims == 0 || !r.is(claims, ".") {
		return 0
	}
	return r.token(claims+1, wordChars, 10, slot3)
}

// maxURL bounds, in bytes, how far from :// the @ of a password may be.
const maxURL = 512

var (
	userStart = not(classOf(" \t\r\n\x00\x1b/@?#\"'<>`\\"))
	userChars = not(classOf(" \t\r\n\x00\x1b/@:?#\"'<>`\\"))
	passChars = not(classOf(" \t\r\n\x00\x1b/@\"'<>`\\"))
)

func (r *reader) limit(most int) {
	if len(r.b) > most {
		r.b, r.whole = r.b[:most], true
	}
}

// userinfo is the password in user:password of a URL.
func userinfo(r *reader) int {
	r.limit(maxURL)
	user := r.few(3, userChars)
	if !r.is(user, ":") {
		return 0
	}
	end := r.few(user+1, passChars)
	if end == user+1 || !r.is(end, "@") || placeholder(r.b[user+1:end]) {
		return 0
	}
	r.ahead = user + 1
	return end
}

// encodedUserinfo is the same in a URL that is part of another.
func encodedUserinfo(r *reader, colon, at string) int {
	r.limit(maxURL)
	in := classOf(dotted + "~%!$&*+=")
	user := 0
	for i := 9; ; i++ {
		end := i == len(r.b) || !in[r.b[i]]
		switch {
		case end:
			r.reached(i)
			return 0
		case user == 0 && r.is(i, colon):
			user = i + len(colon)
		case r.is(i, "%2F") || r.is(i, "%2f"):
			return 0
		case user > 0 && i > user && r.is(i, at):
			r.ahead = user
			return i
		}
	}
}

// placeholder reports whether a text stands for a password: $NAME, ${…}, %s,
// {…}.
func placeholder(b []byte) bool {
	s := string(b)
	switch {
	case s[0] == '{', strings.HasPrefix(s, "${"), strings.HasPrefix(s, "$("):
		return true
	case s[0] == '$':
		return strings.Trim(s[1:], upper+digits+"_") == ""
	case s[0] == '%':
		return len(s) == 2 && strings.Contains("svdqw", s[1:])
	}
	return strings.Trim(s, "*") == ""
}

// telegram is the random part of a bot's token, behind its number.
func telegram(r *reader, slot int) int {
	var buf [context]byte
	number := r.t.behind(r.base, 8, &buf)
	if len(number) < 8 || strings.Trim(string(number), digits) != "" {
		return 0
	}
	return r.token(1, wordChars, 33, slot)
}

func twilioKeys() (all []string) {
	for _, a := range digits + "abcdef" {
		for _, b := range digits + "abcdef" {
			all = append(all, "SK"+string(a)+string(b))
		}
	}
	return all
}

func twilio(r *reader) int {
	end := r.count(2, 33, isAlnum)
	if end != 34 || !isHexDigits(r.b[2:end], hexDigits) {
		return 0
	}
	return end
}

func isHexDigits(b []byte, in *class) bool {
	for _, c := range b {
		if !in[c] {
			return false
		}
	}
	return true
}

// discordKeys are the first four characters of base64 of a decimal number.
func discordKeys() (all []string) {
	for n := range 1000 {
		all = append(all, discordStart(n))
	}
	return all
}

// discord is base64 of a bot's number, a time and a signature.
func discord(r *reader, slot int) int {
	id := r.count(0, 29, wordChars)
	if r.short || id < 23 || id > 28 || !r.is(id, ".") {
		return 0
	}
	time := r.count(id+1, 7, wordChars)
	if time != id+7 || !r.is(time, ".") {
		return 0
	}
	return r.token(time+1, wordChars, 27, slot)
}

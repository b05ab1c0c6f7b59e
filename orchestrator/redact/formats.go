package redact

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// formats returns the shapes of credentials that consist of several parts.
func formats(slot *slotCount) []*shape {
	sk, header, claims, signature := slot.take(), slot.take(), slot.take(), slot.take()
	id, end, key, keys := slot.take(), slot.take(), slot.take(), slot.take()
	return []*shape{
		{prefix: "sk-", word: true, length: func(r *reader) int { return skKey(r, sk) }},
		{prefix: "eyJ", length: func(r *reader) int { return jwt(r, header, claims, signature) }},
		{prefix: "-----BEGIN", length: func(r *reader) int { return privateKey(r, key, keys) }},
		{prefix: "Private-Lines: ", length: func(r *reader) int { return keyBody(r, r.countEnd(15, 8, isAlnum), key) }},
		{prefix: "://", length: userinfo},
		{prefix: "%3A%2F%2F", length: func(r *reader) int { return encodedUserinfo(r, "%3A", "%40") }},
		{prefix: "%3a%2f%2f", length: func(r *reader) int { return encodedUserinfo(r, "%3a", "%40") }},
		{prefix: ":AA", length: func(r *reader) int { return telegram(r, id) }},
		{prefix: "SK", word: true, length: twilio},
		{first: "MNO", word: true, length: func(r *reader) int { return discord(r, end) }},
	}
}

// skKey measures a key of OpenAI, Anthropic, OpenRouter and others of that form: sk-, perhaps a
// vendor's name, and a random text.
func skKey(r *reader, slot int) int {
	end := r.tokenEnd(3, wordChars, 20, slot)
	if end == 0 {
		return 0
	}
	text := r.b[3:min(end, 200)]
	if bytes.ContainsAny(text, "_-") && !hasVendor(text) {
		return 0 // a slug
	}
	if !bytes.ContainsAny(text, digits) || !bytes.ContainsAny(text, upper+lower) {
		return 0 // not random: a random text of this length has digits and letters
	}
	return end
}

func hasVendor(text []byte) bool {
	for _, v := range []string{"ant-", "proj-", "svcacct-", "admin-", "or-v1-", "lf-"} {
		if bytes.HasPrefix(text, []byte(v)) {
			return true
		}
	}
	return false
}

// jwt measures a JSON Web Token, header.claims.signature. The first two parts are JSON objects.
func jwt(r *reader, slot1, slot2, slot3 int) int {
	header := r.tokenEnd(0, wordChars, 10, slot1)
	if header == 0 || !r.hasAt(header, ".eyJ") {
		return 0
	}
	claims := r.tokenEnd(header+1, wordChars, 10, slot2)
	if claims == 0 || !r.hasAt(claims, ".") {
		return 0
	}
	return r.tokenEnd(claims+1, wordChars, 10, slot3)
}

// maxURL bounds the distance from :// to the @ after a password, in bytes.
const maxURL = 512

var (
	userChars = not(classOf(" \t\r\n\x00\x1b/@:?#\"'<>`\\"))
	passChars = not(classOf(" \t\r\n\x00\x1b/@\"'<>`\\"))
)

func (r *reader) limit(most int) {
	if len(r.b) > most {
		r.b, r.whole = r.b[:most], true
	}
}

// userinfo returns the end of the password in user:password of a URL, or 0 if there is none.
func userinfo(r *reader) int {
	r.limit(maxURL)
	user := r.shortRun(3, userChars)
	if !r.hasAt(user, ":") {
		return 0
	}
	end := r.shortRun(user+1, passChars)
	if end == user+1 || !r.hasAt(end, "@") || isPlaceholder(r.b[user+1:end]) {
		return 0
	}
	r.ahead = user + 1
	return end
}

// encodedUserinfo is like userinfo, but for a percent-encoded URL within another URL.
func encodedUserinfo(r *reader, colon, at string) int {
	r.limit(maxURL)
	in := classOf(dotted + "~%!$&*+=")
	user := 0
	for i := 9; ; i++ {
		end := i == len(r.b) || !in[r.b[i]]
		switch {
		case end:
			r.noteEnd(i)
			return 0
		case user == 0 && r.hasAt(i, colon):
			user = i + len(colon)
		case r.hasAt(i, "%2F") || r.hasAt(i, "%2f"):
			return 0
		case user > 0 && i > user && r.hasAt(i, at):
			r.ahead = user
			return i
		}
	}
}

// isPlaceholder reports whether a text only marks the place of a password: $NAME, ${…}, %s, {…}.
func isPlaceholder(b []byte) bool {
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

// telegram measures the random part of a Telegram bot's token. The number of the bot precedes it.
func telegram(r *reader, slot int) int {
	var buf [context]byte
	number := r.t.before(r.base, 8, &buf)
	if len(number) < 8 || strings.Trim(string(number), digits) != "" {
		return 0
	}
	return r.tokenEnd(1, wordChars, 33, slot)
}

func twilio(r *reader) int {
	end := r.countEnd(2, 33, isAlnum)
	if end != 34 || !hexDigits.hasAll(r.b[2:end]) {
		return 0
	}
	return end
}

// startsNumber reports whether b begins with three digits in base64.
func startsNumber(b []byte) bool {
	plain, err := base64.StdEncoding.DecodeString(string(b[:4]))
	return err == nil && strings.Trim(string(plain), digits) == ""
}

// discord measures a Discord bot's token: the bot's number in base64, a time and a signature.
func discord(r *reader, slot int) int {
	id := r.countEnd(0, 29, wordChars)
	if r.short || id < 23 || id > 28 || !startsNumber(r.b) || !r.hasAt(id, ".") {
		return 0
	}
	time := r.countEnd(id+1, 7, wordChars)
	if time != id+7 || !r.hasAt(time, ".") {
		return 0
	}
	return r.tokenEnd(time+1, wordChars, 27, slot)
}

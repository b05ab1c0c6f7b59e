package redact

import (
	"bytes"
	"strings"
)

// assignedRules lists credentials without a shape of their own. Only the name before them shows
// that they are credentials.
var assignedRules = []struct {
	names  []string
	class  string
	least  int               // least length of the credential, in bytes
	exact  bool              // the credential has exactly the least length
	secret func([]byte) bool // reports whether a text is a credential; nil means it always is
}{
	{
		names: []string{
			"aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey", "secretAccessKey", "secret_access_key",
		},
		class: alnum + "+/", least: 40, exact: true,
	},
	{
		names: []string{"aws_session_token", "AWS_SESSION_TOKEN", "SessionToken", "sessionToken"},
		class: alnum + "+/=%", least: 60,
	},
	{names: []string{"AccountKey", "SharedAccessKey"}, class: alnum + "+/=%", least: 40, secret: isPadded},
	{names: []string{"sig="}, class: alnum + "+/=%", least: 40, secret: isPadded},
	{
		names: []string{
			"x-api-key", "X-Api-Key", "X-API-Key", "x-goog-api-key", "X-Goog-Api-Key",
			"PRIVATE-TOKEN", "Private-Token", "private-token", "X-Vault-Token", "x-vault-token",
		},
		class: dotted + "~+/=", least: 16, secret: looksRandom,
	},
	{names: []string{"Bearer ", "bearer "}, class: dotted + "~+/=", least: 20, secret: looksRandom},
}

// isPadded reports whether b ends like padded base64.
func isPadded(b []byte) bool {
	return bytes.HasSuffix(b, []byte("=")) || bytes.HasSuffix(bytes.ToUpper(b[max(len(b)-3, 0):]), []byte("%3D"))
}

// looksRandom reports whether b has a digit among its first 200 bytes. Plain words have none.
func looksRandom(b []byte) bool {
	return bytes.ContainsAny(b[:min(len(b), 200)], digits)
}

// between is the class of the bytes that may separate a name from its value.
var between = classOf(" \t\"'\\:=>(,")

const maxBetween = 12

func assignments(slot *slotCount) (all []*shape) {
	for _, a := range assignedRules {
		in, place := classOf(a.class), slot.take()
		for _, name := range a.names {
			all = append(all, &shape{prefix: name, length: func(r *reader) int {
				from := r.countEnd(len(name), maxBetween, between)
				if from == len(name) && name[len(name)-1] != '=' && name[len(name)-1] != ' ' {
					return 0
				}
				end := r.tokenEnd(from, in, a.least, place)
				if end == 0 || a.exact && end != from+a.least || a.secret != nil && !a.secret(r.b[from:end]) {
					return 0
				}
				r.ahead = from
				return end
			}})
		}
	}
	place := slot.take()
	for _, name := range []string{"Authorization", "authorization", "AUTHORIZATION"} {
		all = append(all, &shape{prefix: name, length: func(r *reader) int {
			return authorization(r, len(name), place)
		}})
	}
	all = append(append(all, passwords(slot)...), cookies(slot)...)
	return append(all, named(slot)...)
}

// named returns the shapes of values after a name that suggests a secret: token=…, api_key: …,
// GITHUB_TOKEN=…. [Redactor.ForFiles] leaves these shapes out.
func named(slot *slotCount) (all []*shape) {
	place := slot.take()
	for _, name := range []string{
		"token", "Token", "TOKEN", "secret", "Secret", "SECRET", "api_key", "Api_Key", "API_KEY", "apikey", "apiKey", "ApiKey", "APIKEY",
		"api-key", "Api-Key", "API-Key", "API-KEY", "access_key", "accessKey", "secret_key", "secretKey", "private_key", "privateKey",
	} {
		all = append(all, &shape{words: true, prefix: name, length: func(r *reader) int {
			sign := string(r.b[len(name):r.countEnd(len(name), maxBetween, between)])
			return assigned(r, len(name), place, func(b []byte) bool {
				return looksLikeToken(b) || sign == "=" && looksLikeWords(b)
			})
		}})
	}
	for _, name := range []string{ // names of IsSecretName; some have values that are not secret
		"credential", "Credential", "CREDENTIAL", "credentials", "Credentials", "CREDENTIALS",
		"_KEY", "_KEYS", "_KEY_BASE", "_PASS", "_PWD", "_PAT", "_AUTH", "_JWT", "_COOKIE",
	} {
		all = append(all, &shape{words: true, prefix: name, length: func(r *reader) int {
			return assigned(r, len(name), place, looksLikeToken)
		}})
	}
	for _, name := range []string{"password", "Password", "PASSWORD", "passphrase", "Passphrase", "PASSPHRASE"} {
		all = append(all, &shape{words: true, prefix: name, length: func(r *reader) int {
			return assigned(r, len(name), place, isHyphenated)
		}})
	}
	return all
}

// looksLikeToken reports whether b has letters and at least two groups of digits, and only bytes
// that occur in tokens. A name or a path usually has one group of digits: next_token2, id_ed25519,
// report-2024.pdf.
func looksLikeToken(b []byte) bool {
	const least = 8
	isLetter := func(c rune) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
	foreign := func(c rune) bool { return c > 0x7E || !strings.ContainsRune(dotted+"~+/=", c) }
	groups := len(bytes.FieldsFunc(b, func(c rune) bool { return c < '0' || c > '9' }))
	return len(b) >= least && groups >= 2 && bytes.ContainsFunc(b, isLetter) && !bytes.ContainsFunc(b, foreign)
}

// looksLikeWords reports whether b, which follows a name and an equals sign, might be a secret
// without digits. b must be long, and must not hold the _ or . of a name in a program.
func looksLikeWords(b []byte) bool {
	const least = 12
	foreign := func(c rune) bool { return c > 0x7E || !strings.ContainsRune(alnum+"-", c) }
	return len(b) >= least && !bytes.ContainsFunc(b, foreign)
}

// isHyphenated reports whether b is a passphrase of three words or more.
func isHyphenated(b []byte) bool { return bytes.Count(b, []byte("-")) >= 2 }

// passwords returns the shapes of values assigned to a password: password=…, "password": "…".
func passwords(slot *slotCount) (all []*shape) {
	place := slot.take()
	for _, name := range []string{
		"password", "Password", "PASSWORD", "passwd", "Passwd", "PASSWD", "passphrase", "Passphrase", "PASSPHRASE",
	} {
		all = append(all, &shape{prefix: name, length: func(r *reader) int { return password(r, len(name), place) }})
	}
	return all
}

var assignedChars = not(classOf(" \t\r\n\x00\x1b\"'`\\<>,;&|"))

// password returns the end of the value after the name of a password, or 0 if there is no value. A
// text without a digit counts as a value only if exactly the text "=" stands between the name and
// the text. So program text such as "password = readLine" or "password: string" has no value.
func password(r *reader, from, slot int) int {
	sign := string(r.b[from:r.countEnd(from, maxBetween, between)])
	return assigned(r, from, slot, func(text []byte) bool { return sign == "=" || looksRandom(text) })
}

// assigned returns the end of the secret value assigned to the name that ends at the position from.
// It returns 0 if there is no such value.
func assigned(r *reader, from, slot int, isSecret func([]byte) bool) int {
	start := r.countEnd(from, maxBetween, between)
	sign := string(r.b[from:start])
	if !strings.ContainsAny(sign, "=:") || strings.Contains(sign, "(") {
		return 0
	}
	end := r.run(start, assignedChars, slot)
	text := r.b[start:end]
	if len(text) < minValue || isPlaceholder(text) || isProgramText(text) || !isSecret(text) {
		return 0
	}
	r.ahead = start
	return end
}

// isProgramText reports whether b is program text in place of a value: a call, an element of a list
// or map, or a name that contains "pass".
func isProgramText(b []byte) bool {
	return bytes.ContainsAny(b, "()[]{}") || bytes.Contains(bytes.ToLower(b), []byte("pass"))
}

// cookies returns the shapes of the values of the headers Cookie and Set-Cookie.
func cookies(slot *slotCount) (all []*shape) {
	place := slot.take()
	for _, name := range []string{"Cookie", "cookie", "COOKIE"} {
		all = append(all, &shape{prefix: name, length: func(r *reader) int { return cookie(r, len(name), place) }})
	}
	return all
}

// maxHeader bounds a header, in bytes. Servers refuse longer headers.
const maxHeader = 8 << 10

var (
	betweenCookie = classOf(" \t\"'\\:=>([")

	cookieName  = classOf(dotted + "!#$%&*+^|~")
	cookieChars = not(classOf("\r\n\x00\x1b\"'`\\<>"))
)

// cookie returns the end of all pairs NAME=VALUE of a header, or 0 if there is no pair.
func cookie(r *reader, from, slot int) int {
	r.limit(maxHeader)
	start := r.countEnd(from, maxBetween, betweenCookie)
	name := r.shortRun(start, cookieName)
	if !bytes.ContainsAny(r.b[from:start], ":=") || name == start || !r.hasAt(name, "=") {
		return 0
	}
	end := r.run(start, cookieChars, slot)
	if end-name-1 < minValue || bytes.ContainsAny(r.b[start:end], "()[]{}") {
		return 0
	}
	r.ahead = start
	return end
}

var (
	schemeChars = classOf(alnum + "-")
	credential  = classOf(dotted + "~+/=%")
)

// authorization returns the end of the credential that follows the scheme in an Authorization
// header. It returns 0 if there is no credential.
func authorization(r *reader, from, slot int) int {
	const maxScheme = 20
	start := r.countEnd(from, maxBetween, between)
	scheme := r.countEnd(start, maxScheme, schemeChars)
	if start == from || scheme == start {
		return 0
	}
	i := scheme
	for _, space := range []string{" ", "%20", "+"} {
		if i == scheme && r.hasAt(i, space) {
			i += len(space)
		}
	}
	if i == scheme {
		return 0
	}
	end := r.run(i, credential, slot)
	text := r.b[i:end]
	// A short text without digits counts as a word, except if it ends with =, because it may then
	// be a credential of the scheme Basic.
	isWord := len(text) < 20 && !looksRandom(text) && !bytes.HasSuffix(text, []byte("="))
	if len(text) < minValue || isWord || strings.EqualFold(string(r.b[start:scheme]), "AWS4-HMAC-SHA256") {
		return 0
	}
	r.ahead = i
	return end
}

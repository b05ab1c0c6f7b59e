package redact

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
)

// assignedRules are credentials without a shape, which only the name before them gives away.
var assignedRules = []struct {
	names  []string
	class  string
	least  int
	equal  bool // no longer than least
	secret func([]byte) bool
}{
	{
		names: []string{"aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey", "secretAccessKey", "secret_access_key"},
		class: alnum + "+/", least: 40, equal: true,
	},
	{
		names: []string{"aws_session_token", "AWS_SESSION_TOKEN", "SessionToken", "sessionToken"},
		class: alnum + "+/=%", least: 60,
	},
	{names: []string{"AccountKey", "SharedAccessKey"}, class: alnum + "+/=%", least: 40, secret: isPadded},
	{names: []string{"sig="}, class: alnum + "+/=%", least: 40, secret: isPadded},
	{
		names: []string{"x-api-key", "X-Api-Key", "X-API-Key", "x-goog-api-key", "X-Goog-Api-Key", "PRIVATE-TOKEN", "Private-Token",
			"private-token", "X-Vault-Token", "x-vault-token"},
		class: dotted + "~+/=", least: 16, secret: looksRandom,
	},
	{names: []string{"Bearer ", "bearer "}, class: dotted + "~+/=", least: 20, secret: looksRandom},
}

// isPadded reports whether b ends like padded base64.
func isPadded(b []byte) bool {
	return bytes.HasSuffix(b, []byte("=")) || bytes.HasSuffix(bytes.ToUpper(b[max(len(b)-3, 0):]), []byte("%3D"))
}

// looksRandom reports whether b is more than words.
func looksRandom(b []byte) bool {
	return bytes.ContainsAny(b[:min(len(b), 200)], digits)
}

// between are the bytes that may separate a name from its value.
var between = classOf(" \t\"'\\:=>(,")

const maxBetween = 12

func assignments(slot *slotCount) (all []*shape) {
	for _, a := range assignedRules {
		in, place := classOf(a.class), slot.take()
		for _, name := range a.names {
			all = append(all, &shape{prefix: name, length: func(r *reader) int {
				from := r.count(len(name), maxBetween, between)
				if from == len(name) && name[len(name)-1] != '=' && name[len(name)-1] != ' ' {
					return 0
				}
				end := r.tokenEnd(from, in, a.least, place)
				if end == 0 || a.equal && end != from+a.least || a.secret != nil && !a.secret(r.b[from:end]) {
					return 0
				}
				r.ahead = from
				return end
			}})
		}
	}
	place := slot.take()
	for _, name := range []string{"Authorization", "authorization", "AUTHORIZATION"} {
		all = append(all, &shape{prefix: name, length: func(r *reader) int { return authorization(r, len(name), place) }})
	}
	return all
}

var (
	schemeChars = classOf(alnum + "-")
	credential  = classOf(dotted + "~+/=%")
)

// authorization finds the credential of an Authorization header, behind its scheme.
func authorization(r *reader, from, slot int) int {
	const maxScheme = 20
	start := r.count(from, maxBetween, between)
	scheme := r.count(start, maxScheme, schemeChars)
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
	if len(text) < minValue || len(text) < 20 && !looksRandom(text) && !bytes.HasSuffix(text, []byte("=")) || strings.EqualFold(string(r.b[start:scheme]), "AWS4-HMAC-SHA256") {
		return 0 // a word: Basic authentication
	}
	r.ahead = i
	return end
}

// discordStart returns the start of base64 of a number with the first digits of n.
func discordStart(n int) string {
	return base64.RawStdEncoding.EncodeToString([]byte(strconv.Itoa(n + 1000)[1:]))
}

package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	// minPart is the least length of a part that is a secret by itself, in bytes. The parts are the
	// lines of a value and the strings of a JSON document.
	minPart = 8
	// pieceSize and overlap are in bytes. A value longer than pieceSize is registered in pieces, so
	// that no part of it shows and no pattern is long. The pieces overlap, because the base64
	// pattern of a piece leaves out the characters at both ends.
	pieceSize = 256
	overlap   = 16
	// maxDepth bounds the depth of values within values, such as a URL in JSON in base64.
	maxDepth = 4
)

// secretParts returns the value and the parts of it that are secrets by themselves.
func secretParts(value string) []string { return appendParts(nil, value, 0) }

func appendParts(all []string, value string, depth int) []string {
	value = strings.TrimSpace(value)
	all = append(all, value)
	if depth == maxDepth {
		return all
	}
	inner := append(longLines(value), credentials(value)...)
	inner = append(inner, decodedForms(value)...)
	for _, v := range append(inner, documentSecrets(value)...) {
		all = appendParts(all, v, depth+1)
	}
	return all
}

// armor matches the first line and the last line of a PEM block. These lines are not secret.
var armor = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^-----(BEGIN|END) [A-Z0-9 ]+-----$`)
})

// longLines returns the long lines of a value that has several lines, because programs print line
// by line.
func longLines(value string) (all []string) {
	found := strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' })
	if len(found) < 2 {
		return nil
	}
	for _, line := range found {
		if line = strings.TrimSpace(line); len(line) >= minPart && !armor().MatchString(line) {
			all = append(all, line)
		}
	}
	return all
}

// decodedForms decodes a value that has \n in place of line ends, as keys in environment variables
// do. It also decodes a document in base64.
func decodedForms(value string) (all []string) {
	if strings.Contains(value, `\n`) && !strings.HasPrefix(value, "{") {
		all = append(all, strings.NewReplacer(`\r`, "\r", `\n`, "\n").Replace(value))
	}
	if len(value) < 4*minPart {
		return all
	}
	plain, err := base64.StdEncoding.DecodeString(value)
	if text := strings.TrimSpace(string(plain)); err == nil && utf8.ValidString(text) &&
		(strings.HasPrefix(text, "{") || strings.HasPrefix(text, "-----BEGIN ")) {
		all = append(all, text)
	}
	return all
}

// credentials returns the credential of an Authorization header, and the password of a URL.
func credentials(value string) (all []string) {
	for _, scheme := range []string{"Bearer ", "Basic ", "token "} {
		if len(value) > len(scheme) && strings.EqualFold(value[:len(scheme)], scheme) {
			all = append(all, value[len(scheme):])
		}
	}
	_, rest, _ := strings.Cut(value, "://")
	authority, _, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return all
	}
	if _, password, ok := strings.Cut(authority[:at], ":"); ok {
		all = append(all, password)
		if plain, err := url.PathUnescape(password); err == nil && plain != password {
			all = append(all, plain)
		}
	}
	return all
}

// documentSecrets returns the strings of a JSON document under keys that look secret, such as
// private_key.
func documentSecrets(value string) []string {
	if value == "" || value[0] != '{' && value[0] != '[' {
		return nil
	}
	var doc any
	if json.Unmarshal([]byte(value), &doc) != nil {
		return nil
	}
	return secretStrings(nil, doc, false)
}

func secretStrings(all []string, v any, secret bool) []string {
	switch v := v.(type) {
	case string:
		if secret && len(v) >= minPart {
			all = append(all, v)
		}
	case []any:
		for _, e := range v {
			all = secretStrings(all, e, secret)
		}
	case map[string]any:
		for key, e := range v {
			all = secretStrings(all, e, secret || secretKey(key))
		}
	}
	return all
}

// secretKey is like IsSecretName, but for the keys of documents, which are shorter and may be
// written privateKey or private-key.
func secretKey(key string) bool {
	var b strings.Builder
	for i, r := range key {
		if i > 0 && 'A' <= r && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	name := strings.ReplaceAll(b.String(), "-", "_")
	switch strings.ToUpper(name) {
	case "KEY", "PASS", "PWD", "AUTH", "PAT", "JWT", "DSN":
		return true
	}
	return IsSecretName(name) || IsSecretName(key)
}

// splitLong cuts a long value into pieces, never within a character.
func splitLong(value string) (all []string) {
	for len(value) > pieceSize {
		all = append(all, value[:charStart(value, pieceSize)])
		value = value[charStart(value, min(pieceSize-overlap, len(value)-pieceSize/2)):]
	}
	return append(all, value)
}

// charStart returns the start of the character that s[i] belongs to.
func charStart(s string, i int) int {
	for k := i; k > i-utf8.UTFMax; k-- {
		if utf8.RuneStart(s[k]) {
			return k
		}
	}
	return i
}

package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

// parts are the pieces of a value that are secrets of their own: the whole, and each of its lines.
func parts(value string) []string {
	var all []string
	if len(value) >= shortest {
		all = append(all, value)
	}
	lines := strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range lines {
		if line = strings.TrimSpace(line); len(lines) > 1 && len(line) >= 2*shortest {
			all = append(all, line)
		}
	}
	return all
}

// forms are the encodings of a value that programs produce.
func forms(value string) [][]byte {
	encoded, err := json.Marshal(value)
	if err != nil {
		encoded = []byte(`""`) // cannot happen: a string always encodes
	}
	texts := []string{
		value,
		string(encoded[1 : len(encoded)-1]),
		unquoted(strconv.Quote(value)), unquoted(strconv.QuoteToASCII(value)),
		strings.ReplaceAll(value, `/`, `\/`),
		url.QueryEscape(value), url.PathEscape(value), strings.ToLower(percent(value)), percent(value),
		hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))),
	}
	for shift := range 3 {
		texts = append(texts, shifted(base64.RawStdEncoding, value, shift), shifted(base64.RawURLEncoding, value, shift))
	}
	var all [][]byte
	for _, t := range texts {
		if len(t) >= shortest {
			all = append(all, []byte(t))
		}
	}
	return all
}

func unquoted(s string) string { return s[1 : len(s)-1] }

// percent escapes everything but letters and digits, as some programs do.
func percent(value string) string {
	var b strings.Builder
	for i := range len(value) {
		c := value[i]
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		}
	}
	return b.String()
}

// shifted is what of the base64 of a longer text hangs on value alone, when value begins shift bytes after a group of three.
func shifted(e *base64.Encoding, value string, shift int) string {
	text := e.EncodeToString(append(make([]byte, shift), value...))
	from := [3]int{0, 2, 3}[shift]
	to := (shift + len(value)) * 8 / 6
	return text[from:to]
}

package redact

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// literals returns what must not be shown of a value: itself and its encodings
// in base64, base32, hex and UTF-16. In a text, each may be escaped beyond that.
func literals(value string) (all []*literal) {
	add := func(k kind, forms ...string) {
		for _, f := range forms {
			l := &literal{text: []byte(f), kind: k, canon: k.canonical(), simple: !strings.ContainsAny(f, openerBytes+"'")}
			for _, s := range l.starts() {
				l.second.add(s[1])
			}
			all = append(all, l)
		}
	}
	add(plain, value)
	add(hexed, hexForms(value)...)
	add(encoded6, base64Forms(value)...)
	add(encoded, base32Forms(value)...)
	if utf8.ValidString(value) {
		little, big := utf16Forms(value)
		add(plain, little, big)
		add(encoded6, base64Forms(little)...) // PowerShell's -EncodedCommand
	}
	return all
}

func hexForms(value string) []string {
	digits := hex.EncodeToString([]byte(value))
	return []string{digits, strings.ToUpper(digits)}
}

// base64Forms returns, for each of the three shifts, the characters that depend
// on the value alone, whatever stands before and after it.
func base64Forms(value string) (forms []string) {
	for shift := range 3 {
		padded := append(make([]byte, shift), value...)
		text := base64.RawStdEncoding.EncodeToString(padded)
		forms = append(forms, text[(shift*8+5)/6:len(padded)*8/6])
	}
	return forms
}

// base32Forms does the same for its five shifts, in both cases.
func base32Forms(value string) (forms []string) {
	enc := base32.StdEncoding.WithPadding(base32.NoPadding)
	for shift := range 5 {
		padded := append(make([]byte, shift), value...)
		text := enc.EncodeToString(padded)[(shift*8+4)/5 : len(padded)*8/5]
		forms = append(forms, text, strings.ToLower(text))
	}
	return forms
}

// utf16Forms returns the value in UTF-16. Without the first zero byte of the big
// end a value is found behind any character.
func utf16Forms(value string) (little, big string) {
	var l, b []byte
	for _, unit := range utf16.Encode([]rune(value)) {
		l = binary.LittleEndian.AppendUint16(l, unit)
		b = binary.BigEndian.AppendUint16(b, unit)
	}
	return string(l), string(b)
}

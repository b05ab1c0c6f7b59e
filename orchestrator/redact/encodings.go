package redact

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// literals returns a value and its encodings in base64, base32, hex, decimal numbers and UTF-16. In
// a text, the value and each encoding may also be escaped.
func literals(value string) (all []*literal) {
	add := func(k kind, forms ...string) {
		for _, f := range forms {
			l := &literal{
				text:   []byte(f),
				kind:   k,
				canon:  k.canonical(),
				simple: !strings.ContainsAny(f, openerBytes+doubled) && k != decimal,
			}
			l.second = l.secondBytes()
			all = append(all, l)
		}
	}
	add(plain, value)
	add(hexed, hexForms(value)...)
	add(decimal, decimals(value))
	add(encoded, base32Forms(value)...)
	add(encoded6, base64Forms(value)...)
	for _, text := range jsonForms(value) {
		add(encoded6, base64Forms(text)...) // JSON as in claims and in the documents of Kubernetes
	}
	for _, once := range base64Forms(value) {
		add(encoded6, base64Forms(once)...) // base64 twice, as a registry's password in Kubernetes
	}
	if utf8.ValidString(value) {
		little, big := utf16Forms(value)
		add(plain, little, big)
		add(encoded6, base64Forms(little)...) // as in PowerShell's -EncodedCommand
	}
	return all
}

func hexForms(value string) []string {
	digits := hex.EncodeToString([]byte(value))
	return []string{digits, strings.ToUpper(digits)}
}

// decimals returns the bytes of the value as decimal numbers, as Go, Python and Node print them.
func decimals(value string) string {
	var b []byte
	for i := range len(value) {
		b = append(strconv.AppendUint(b, uint64(value[i]), 10), ',')
	}
	return string(b[:len(b)-1])
}

// base64Forms returns the base64 of the value with 0, 1 and 2 other bytes before it, because each
// of these shifts gives other characters. It leaves out the characters that also depend on the
// bytes next to the value.
func base64Forms(value string) (forms []string) {
	for shift := range 3 {
		padded := append(make([]byte, shift), value...)
		text := base64.RawStdEncoding.EncodeToString(padded)
		forms = append(forms, text[(shift*8+5)/6:len(padded)*8/6])
	}
	return forms
}

// base32Forms is like base64Forms, but for base32, where 0 to 4 bytes may precede the value. It
// returns each form in capital and in small letters.
func base32Forms(value string) (forms []string) {
	enc := base32.StdEncoding.WithPadding(base32.NoPadding)
	for shift := range 5 {
		padded := append(make([]byte, shift), value...)
		text := enc.EncodeToString(padded)[(shift*8+4)/5 : len(padded)*8/5]
		forms = append(forms, text, strings.ToLower(text))
	}
	return forms
}

// utf16Forms returns the value in UTF-16, little-endian and big-endian.
func utf16Forms(value string) (little, big string) {
	var l, b []byte
	for _, unit := range utf16.Encode([]rune(value)) {
		l = binary.LittleEndian.AppendUint16(l, unit)
		b = binary.BigEndian.AppendUint16(b, unit)
	}
	return string(l), string(b)
}

package redact

import (
	"encoding/base64"
	"encoding/hex"
)

// wrappedShapes returns the shapes of the tokens in base64 and in hex, and the shapes of private
// keys in base64. Kubernetes and CI systems keep secrets in these forms.
func wrappedShapes(tokens []*shape, slot *slotCount) (all []*shape) {
	long64, longHex, keys := slot.take(), slot.take(), slot.take()
	for _, s := range tokens {
		if len(s.prefix) < 4 {
			continue
		}
		for shift := range 3 {
			all = append(all, base64Shape(s, shift, long64))
		}
		for _, prefix := range hexForms(s.prefix) {
			all = append(all, hexShape(s, prefix, longHex))
		}
	}
	for shift := range 3 {
		all = append(all, &shape{
			prefix: base64Forms("-----BEGIN")[shift],
			length: func(r *reader) int { return base64Key(r, shift, keys) },
		})
	}
	return all
}

// maxWrapped bounds the part of a token that is decoded, in bytes of base64 or hex.
const maxWrapped = 256

var base64Any = classOf(alnum + "+/-_")

// base64Shape returns the shape of the tokens of s in base64. The parameter shift is the number of
// other bytes that are encoded before the token, modulo 3.
func base64Shape(s *shape, shift, slot int) *shape {
	first := (shift*8 + 5) / 6 // number of leading characters that depend on the bytes before the prefix
	head := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), s.prefix...))[:first]
	return &shape{prefix: base64Forms(s.prefix)[shift], length: func(r *reader) int {
		end := r.countEnd(0, maxWrapped, base64Any)
		if r.short {
			return 0
		}
		plain := decodeBase64(head, r.b[:end])
		if len(plain) <= shift {
			return 0
		}
		n := shift + lengthOf(s, plain, shift)
		if n == len(plain) { // the token may be longer
			return r.run(end, base64Any, slot)
		}
		return min((n*8+5)/6-first, end)
	}}
}

// hexShape returns the shape of the tokens of s in hex. The parameter prefix is their prefix in
// hex.
func hexShape(s *shape, prefix string, slot int) *shape {
	return &shape{prefix: prefix, length: func(r *reader) int {
		end := r.countEnd(0, maxWrapped, isHexDigit)
		if r.short {
			return 0
		}
		plain, _ := hex.DecodeString(string(r.b[:end/2*2]))
		n := lengthOf(s, plain, 0)
		if n > 0 && n == len(plain) {
			return r.run(end, isHexDigit, slot)
		}
		return 2 * n
	}}
}

// lengthOf returns the length of the token of shape s at b[i]. It assumes that nothing follows b.
func lengthOf(s *shape, b []byte, i int) int {
	return s.match(&text{b: b, state: &state{}, final: true}, i).n
}

// decodeBase64 decodes head and b, and drops an incomplete byte at the end.
func decodeBase64(head string, b []byte) []byte {
	all := append([]byte(head), b...)
	for i, c := range all {
		all[i] = base64as[c]
	}
	all = all[:len(all)/4*4+[]int{0, 0, 2, 3}[len(all)%4]]
	plain := make([]byte, base64.RawStdEncoding.DecodedLen(len(all)))
	n, _ := base64.RawStdEncoding.Decode(plain, all)
	return plain[:n]
}

package redact

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// reference is the redactor without an index: it tries everything at every place, in one piece.
func reference(r *Redactor, s string) string {
	var all group
	for i := range r.index().first {
		g := &r.index().first[i]
		for _, l := range g.literals {
			if !slices.Contains(all.literals, l) {
				all.literals = append(all.literals, l)
			}
		}
		for _, p := range g.shapes {
			if !slices.Contains(all.shapes, p) {
				all.shapes = append(all.shapes, p)
			}
		}
	}
	hit := make([]bool, len(s))
	for i := range len(s) {
		var f found
		t := text{b: []byte(s), state: &state{}, final: true}
		f.shapes(all.shapes, &t, i)
		f.literals(all.literals, &t, i)
		for k := i; k < i+f.n; k++ {
			hit[k] = true
		}
		for k := i + f.ahead.from; k < i+f.ahead.to; k++ {
			hit[k] = true
		}
	}
	var b strings.Builder
	for i := range len(s) {
		switch {
		case !hit[i]:
			b.WriteByte(s[i])
		case i == 0 || !hit[i-1]:
			b.WriteString(Mark)
		}
	}
	return b.String()
}

// The index, the remembered runs and the chunks change nothing.
func FuzzIndexMissesNothing(f *testing.F) {
	f.Add("hunter2-hunter2", `a \u0068unter2%2Dhunter2 `, []byte{0, 3})
	f.Add("it's a secret", `it'\''s a s\x65cret`, []byte{9})
	f.Add("%41%42%43xyz", "%2541%2542%2543xyz %41%42%43xyz", []byte{1})
	f.Add(`C:\temp\new`, `C:\\temp\\new`, []byte{2})
	f.Add("AAAAAAAA", "sk-ant-0123456789abcdefghij eyJhbGci.eyJhbGci.eyJhbGci https://a:b@c", []byte{5})
	f.Add("first\nsecond line", "first\r\nsecond line", []byte{4})
	f.Add("hunter2\xc3", `hunter2\u00e9 \u00e9`, []byte{1})
	f.Add("t\nseco", "first\r\nseconld", []byte{7})
	f.Fuzz(func(t *testing.T, value, text string, cuts []byte) {
		if len(value) > 300 || len(text) > 2000 {
			return
		}
		r := New([]string{value})
		checkAgainstReference(t, r, text, cuts)
	})
}

func checkAgainstReference(t *testing.T, r *Redactor, text string, cuts []byte) {
	t.Helper()
	want := reference(r, text)
	if got := r.String(text); got != want {
		t.Fatalf("String(%q) = %q, want %q", text, got, want)
	}
	if got := r.Changes(text); got != (want != text) {
		t.Fatalf("Changes(%q) = %v, it becomes %q", text, got, want)
	}
	if got := stream(t, r, text, cuts); got != want {
		t.Fatalf("%q in pieces of %v: %q, want %q", text, cuts, got, want)
	}
}

// The same for texts made of significant parts.
func TestIndexMissesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	values := trickySecrets()
	all := encoders()
	bits := []string{"\n", "\r\n", `\n`, `\`, `\\`, "%", "%25", "&", "&amp;", "'", `"`, "+", " ", "sk-", "eyJ", "://", ":", "@", "ghp_", "\x00", "x", "-----BEGIN", "\\u00"}
	for round := range 60 {
		value := values[rng.IntN(len(values))]
		r := New([]string{value, values[rng.IntN(len(values))]})
		var text strings.Builder
		for range 6 {
			enc := all[rng.IntN(len(all))].encode(value)
			if cut := rng.IntN(4); cut == 0 {
				enc = enc[rng.IntN(len(enc)):]
			} else if cut == 1 {
				enc = enc[:rng.IntN(len(enc))]
			}
			text.WriteString(enc[:min(len(enc), 400)])
			for range rng.IntN(4) {
				text.WriteString(bits[rng.IntN(len(bits))])
			}
		}
		checkAgainstReference(t, r, text.String(), []byte{byte(round), byte(rng.IntN(40)), 0})
	}
}

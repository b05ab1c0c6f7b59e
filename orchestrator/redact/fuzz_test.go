package redact

import (
	"bytes"
	"strings"
	"testing"
)

// covered is the plain twin of a redactor of literals: it marks every byte of every occurrence of
// every form, and joins what overlaps.
func covered(text string, forms []string) string {
	hit := make([]int, len(text)+1) // furthest end of an occurrence that begins here
	for _, f := range forms {
		for i := 0; i+len(f) <= len(text); i++ {
			if text[i:i+len(f)] == f {
				hit[i] = max(hit[i], i+len(f))
			}
		}
	}
	var b strings.Builder
	end := -1
	for i := range len(text) {
		if hit[i] > i && hit[i] > end {
			if i > end { // touching ones are one
				b.WriteString(Mark)
			}
			end = hit[i]
		}
		if i >= end {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// stream writes text to a redacting writer in pieces whose lengths cuts gives.
func stream(t testing.TB, r *Redactor, text string, cuts []byte) string {
	t.Helper()
	var out bytes.Buffer
	w := r.Writer(&out)
	for i, n := 0, 0; i < len(text); n++ {
		size := 1
		if len(cuts) > 0 {
			size = 1 + int(cuts[n%len(cuts)])
		}
		piece := text[i:min(i+size, len(text))]
		if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatalf("Write(%q) = %d, %v", piece, n, err)
		}
		i += size
	}
	if err := w.Close(); err != nil {
		t.Fatalf("Close = %v", err)
	}
	return out.String()
}

// No registered secret, in any form, shows between the marks, and the chunks make no difference.
func FuzzNoSecretEscapes(f *testing.F) {
	f.Add("hunter2-hunter2", "s3cr3t/+\"\\ü\n<x>", "user=", "\n", []byte{0})
	f.Add("aaaaaa", "aaaaaaaa", "aaa", "aaaaaaa", []byte{2, 0, 5})
	f.Add("abcdef123", "def123xyz", "abc", "xyz", []byte{7})
	f.Add("sk-ant-123456", "://u:secret@h", "https", "@host", []byte{1, 60})
	f.Add("-----BEGIN RSA PRIVATE KEY-----", "MIIEow", "\n", "-----END", []byte{30})
	f.Add("\xff\xfe\xfd\xfc\xfb\xfa", "%25%25%25", "%", "\\", []byte{3})
	f.Fuzz(func(t *testing.T, one, two, before, after string, cuts []byte) {
		if len(one)+len(two) > 400 {
			return // a run of one character takes its square in time
		}
		one, two = strings.TrimSpace(one), strings.TrimSpace(two)
		r := New([]string{one, two})
		var forms []string
		for _, secret := range []string{one, two} {
			if len(secret) >= minValue && !strings.Contains(Mark, secret) {
				forms = append(forms, encodings(secret)...)
			}
		}
		var text strings.Builder
		for _, secret := range []string{one, two} {
			for _, e := range encoders() {
				text.WriteString(before + e.encode(secret) + after)
			}
		}
		text.WriteString(one[:len(one)/2] + two)
		got := stream(t, r, text.String(), cuts)
		if whole := r.String(text.String()); got != whole {
			t.Fatalf("in pieces %q\nin one %q", got, whole)
		}
		for _, part := range strings.Split(got, Mark) {
			for _, form := range forms {
				if strings.Contains(part, form) && !strings.Contains(text.String(), Mark) {
					t.Fatalf("%q shows in %q", form, got)
				}
			}
		}
	})
}

// Against the plain definition, over an alphabet without any known shape.
func FuzzCoversExactly(f *testing.F) {
	f.Add([]byte("abababab"), []byte("ababab"), []byte("bababa"), []byte{0})
	f.Fuzz(func(t *testing.T, bits, bits1, bits2, cuts []byte) {
		text, one, two := ofTwoLetters(bits), ofTwoLetters(bits1), ofTwoLetters(bits2)
		if max(len(one), len(two)) > pieceSize {
			return // its pieces are values too
		}
		var forms []string
		for _, secret := range []string{one, two} {
			if len(secret) >= minValue {
				forms = append(forms, encodings(secret)...)
			}
		}
		r := New([]string{one, two})
		want := covered(text, forms)
		if got := stream(t, r, text, cuts); got != want {
			t.Errorf("redacted %s of %s, %s to %s, want %s", text, one, two, got, want)
		}
	})
}

func ofTwoLetters(bits []byte) string {
	b := make([]byte, len(bits))
	for i, c := range bits {
		b[i] = "ab"[c%2]
	}
	return string(b)
}

// The output of encoders is found in any surroundings.
func FuzzEncodersAreCovered(f *testing.F) {
	for _, s := range trickySecrets() {
		f.Add(s, "a", "bc")
	}
	f.Add("s3cr3t/+\"\\ü\n<x>&\u2028\U0001f600", "", "")
	f.Fuzz(func(t *testing.T, secret, before, after string) {
		secret = strings.TrimSpace(strings.ToValidUTF8(secret, "?"))
		if !redactable(secret) || len(secret) > 400 {
			return
		}
		if strings.HasSuffix(secret, `\`) && strings.HasPrefix(after, `\`) {
			return // the secret's backslashes cannot be told from the others: see TestBackslashesBehindASecret
		}
		r := New([]string{secret})
		for _, e := range encoders() {
			if lossy(e, secret) {
				continue
			}
			text := e.encode(secret)
			if got := r.String(before + text + after); strings.Contains(got, text) || !strings.Contains(got, Mark) {
				t.Errorf("%s of %q shows: %q", e.name, secret, got)
			}
		}
	})
}

// lossy reports whether an encoder of these tests makes another text of value.
func lossy(e encoder, value string) bool {
	switch {
	case isASCII(value):
		return strings.HasPrefix(e.name, "shell, backslashes") && strings.Contains(value, "\n")
	case strings.HasPrefix(e.name, "Python"), e.name == "UTF-16 in JSON":
		return true // it writes bytes of a character alone
	}
	return false
}

package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

const secret = `p@ss/wörd "1"`

func TestString(t *testing.T) {
	r := New([]string{secret, "tok-123456", "abc", "first line of a key\nsecond line of a key"})
	tests := []struct{ name, text, want string }{
		{"plain", "it is tok-123456.", "it is " + Mark + "."},
		{"twice, side by side", "tok-123456tok-123456", Mark},
		{"too short to be one", "abc", "abc"},
		{"one line of several", "> second line of a key", "> " + Mark},
		{"a GitHub token", "x ghp_0123456789abcdefghijABCDEFGHIJ012345 y", "x " + Mark + " y"},
		{"an Anthropic key", "key=sk-ant-" + strings.Repeat("a1-_", 8), "key=" + Mark},
		{"an AWS key", "AKIAIOSFODNN7EXAMPLE", Mark},
		{"a JSON Web Token", "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4", "Bearer " + Mark},
		{"a password in an address", "https://me:hunter22@host/path", "https://me:" + Mark + "@host/path"},
		{"a private key", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\nend", Mark + "\nend"},
		{"a hash stays", "commit 356a192b7913b04c54574d18c28d46e6395428ab", "commit 356a192b7913b04c54574d18c28d46e6395428ab"},
		{"a UUID, a path and prose stay", "123e4567-e89b-12d3-a456-426614174000 /usr/lib/ask-me tasks/a.md skip", "123e4567-e89b-12d3-a456-426614174000 /usr/lib/ask-me tasks/a.md skip"},
		{"an address without a password stays", "http://localhost:8080/x@y", "http://localhost:8080/x@y"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := r.String(tt.text); got != tt.want {
				t.Errorf("String(%q) = %q, want %q", tt.text, got, tt.want)
			}
			if got := r.Changes(tt.text); got != (tt.text != tt.want) {
				t.Errorf("Changes(%q) = %v", tt.text, got)
			}
		})
	}
}

// encodings are what a program may make of a secret.
func leadEncodings(t testing.TB) map[string]string {
	t.Helper()
	quoted, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{
		"plain": secret, "JSON": string(quoted), "Go": strconv.Quote(secret), "query": url.QueryEscape(secret), "path": url.PathEscape(secret),
		"hex": hex.EncodeToString([]byte(secret)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(secret))),
	}
	for _, before := range []string{"", "x", "xy"} {
		all["base64 after "+before] = base64.StdEncoding.EncodeToString([]byte(before + secret + "zz"))
		all["base64url after "+before] = base64.URLEncoding.EncodeToString([]byte(before + secret + "zz"))
	}
	return all
}

func TestEncodings(t *testing.T) {
	r := New([]string{secret})
	for name, text := range leadEncodings(t) {
		if got := r.String("see " + text + " here"); !strings.Contains(got, Mark) {
			t.Errorf("%s: String(%q) = %q", name, text, got)
		}
	}
}

// TestWriterEveryCut: whatever the chunks are, the stream is redacted like the whole.
func TestWriterEveryCut(t *testing.T) {
	r := New([]string{secret, "tok-123456", "two words\nand lines"})
	text := "a tok-123456 b " + secret + " ghp_0123456789abcdefghijABCDEFGHIJ012345\ntwo words\nand lines https://me:hunter22@host end"
	want := r.String(text)
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		w := r.Writer(&out)
		for at := 0; at < len(text); at += size {
			if n, err := w.Write([]byte(text[at:min(at+size, len(text))])); err != nil || n == 0 {
				t.Fatalf("Write = %d, %v", n, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Fatalf("chunks of %d: %q, want %q", size, out.String(), want)
		}
	}
}

// TestPrivateKeyInAStream: a key of many lines, in pieces.
func TestPrivateKeyInAStream(t *testing.T) {
	text := "before\n-----BEGIN OPENSSH PRIVATE KEY-----\n" + strings.Repeat("b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n", 40) +
		"-----END OPENSSH PRIVATE KEY-----\nafter\n"
	for _, size := range []int{1, 7, 64, 1000, len(text)} {
		var out bytes.Buffer
		w := New(nil).Writer(&out)
		for at := 0; at < len(text); at += size {
			if _, err := w.Write([]byte(text[at:min(at+size, len(text))])); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); strings.Contains(got, "b3Blbn") || !strings.HasPrefix(got, "before\n"+Mark) || !strings.HasSuffix(got, "\nafter\n") {
			t.Errorf("chunks of %d: %q", size, got)
		}
	}
}

func TestWriterHoldsLittle(t *testing.T) {
	var out bytes.Buffer
	w := New([]string{secret}).Writer(&out)
	line := bytes.Repeat([]byte("x"), 1<<20)
	for range 16 {
		if _, err := w.Write(line); err != nil {
			t.Fatal(err)
		}
		if len(w.held) > 2*maxToken {
			t.Fatalf("%d bytes are held back", len(w.held))
		}
	}
	if err := w.Close(); err != nil || out.Len() != 16<<20 {
		t.Errorf("Close = %v, %d bytes passed", err, out.Len())
	}
}

// FuzzWriter: no registered secret escapes, in whatever chunks.
func FuzzWriter(f *testing.F) {
	f.Add("before ", " after", 3)
	f.Add("eyJ", "@", 1)
	f.Add("-----BEGIN RSA PRIVATE KEY-----\n", "\n", 5)
	f.Add("://a:", "@b", 2)
	f.Fuzz(func(t *testing.T, before, after string, size int) {
		if size < 1 || size > 1000 {
			return
		}
		r := New([]string{secret})
		for name, encoded := range leadEncodings(t) {
			text := before + encoded + after
			var out bytes.Buffer
			w := r.Writer(&out)
			for at := 0; at < len(text); at += size {
				if _, err := w.Write([]byte(text[at:min(at+size, len(text))])); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			for _, form := range encodings(secret) {
				if strings.Contains(out.String(), form) && !strings.Contains(before, form) && !strings.Contains(after, form) {
					t.Fatalf("%s in chunks of %d escaped: %q", name, size, out.String())
				}
			}
		}
	})
}

func TestSecretName(t *testing.T) {
	for name, want := range map[string]bool{
		"GITHUB_TOKEN": true, "MYTOKEN": true, "DB_PASSWORD": true, "AWS_SECRET_ACCESS_KEY": true, "OPENAI_API_KEY": true, "client_secret": true,
		"GH_PAT": true, "NPM_CONFIG__AUTH": true, "PATH": false, "MONKEY": false, "KEYBOARD": false, "TOKENIZERS_PARALLELISM": false,
		"MAX_OUTPUT_TOKENS": false, "MAX_API_TOKEN": true, "SSH_AUTH_SOCK": false, "HOME": false, "AUTHOR": false,
	} {
		if got := SecretName(name); got != want {
			t.Errorf("SecretName(%s) = %v, want %v", name, got, want)
		}
	}
}

func TestSecretValue(t *testing.T) {
	for value, want := range map[string]bool{
		"ghp_0123456789abcdefghijABCDEFGHIJ012345": true, "postgres://u:passw0rd@h/db": true, "/usr/local/bin": false, "1": false, "": false,
		"https://example.com/a:b": false, "-----BEGIN EC PRIVATE KEY-----\nxx\n-----END EC PRIVATE KEY-----": true,
	} {
		if got := SecretValue(value); got != want {
			t.Errorf("SecretValue(%q) = %v, want %v", value, got, want)
		}
	}
}

func TestInert(t *testing.T) {
	tests := []struct{ name, text, one, many string }{
		{"plain", "Größe ✓ 日本", "Größe ✓ 日本", "Größe ✓ 日本"},
		{"an escape sequence", "a\x1b[2Jb", `a\x1b[2Jb`, `a\x1b[2Jb`},
		{"lines", "a\nb\tc", `a\nb\tc`, "a\nb\tc"},
		{"a carriage return", "ok\r::error::", `ok\r::error::`, `ok\r::error::`},
		{"C1", "a\u009b2Jb", `a\x9b2Jb`, `a\x9b2Jb`},
		{"bidi", "a\u202eb", `a\u202eb`, `a\u202eb`},
		{"zero width and line separator", "a\u200bb\u2028c", `a\u200bb\u2028c`, `a\u200bb\u2028c`},
		{"an invalid byte", "a\x9bb", `a\x9bb`, `a\x9bb`},
		{"a true replacement character stays", "a\ufffdb", "a\ufffdb", "a\ufffdb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Inert(tt.text); got != tt.one {
				t.Errorf("Inert(%q) = %q, want %q", tt.text, got, tt.one)
			}
			if got := InertLines(tt.text); got != tt.many {
				t.Errorf("InertLines(%q) = %q, want %q", tt.text, got, tt.many)
			}
		})
	}
}

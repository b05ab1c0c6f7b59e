package redact

import (
	"bytes"
	"strings"
	"testing"
)

const secret = `p@ss/wörd "1"`

func TestString(t *testing.T) {
	r := New([]string{secret, "tok-123456", "abc", "first line of a key\nsecond line of a key", "ab\ncd\nef"})
	tests := []struct{ name, text, want string }{
		{"plain", "it is tok-123456.", "it is " + Mark + "."},
		{"twice, side by side", "tok-123456tok-123456", Mark},
		{"too short to be one", "abc", "abc"},
		{"one line of several", "> second line of a key", "> " + Mark},
		{"other line ends", "<ab\r\ncd\r\nef>", "<" + Mark + ">"},
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

// TestWriterEveryCut: a stream is redacted like the whole, in any chunks.
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

func TestSecretName(t *testing.T) {
	for name, want := range map[string]bool{
		"GITHUB_TOKEN": true, "MYTOKEN": true, "DB_PASSWORD": true, "AWS_SECRET_ACCESS_KEY": true, "OPENAI_API_KEY": true, "client_secret": true,
		"GH_PAT": true, "NPM_CONFIG__AUTH": true, "PATH": false, "MONKEY": false, "KEYBOARD": false, "TOKENIZERS_PARALLELISM": false,
		"JENKINS_NODE_COOKIE": false, "HUDSON_COOKIE": false, "DOCKER_AUTH_CONFIG": true, "BUNDLE_RUBYGEMS__PKG__GITHUB__COM": true, "BUNDLE_PATH": false,
		"MAX_OUTPUT_TOKENS": false, "MAX_API_TOKEN": true, "SSH_AUTH_SOCK": false, "HOME": false, "AUTHOR": false,
	} {
		if got := IsSecretName(name); got != want {
			t.Errorf("SecretName(%s) = %v, want %v", name, got, want)
		}
	}
}

// Each word that makes a name secret, in a name and in a key of a document.
func TestSecretWords(t *testing.T) {
	for _, word := range []string{
		"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY", "AUTHORIZATION", "COOKIE",
		"BEARER", "CONNECTION_STRING", "WEBHOOK",
	} {
		if !IsSecretName("X_"+word+"_Y") || !IsSecretName(strings.ToLower(word)) || !secretKey("my-"+strings.ToLower(strings.ReplaceAll(word, "_", "-"))) {
			t.Errorf("%s makes no name secret", word)
		}
	}
	for _, end := range []string{"KEY", "PASS", "PWD", "PAT", "AUTH", "JWT", "DSN"} {
		if !IsSecretName("MY_"+end) || IsSecretName("MY"+end) || IsSecretName(end+"_X") || IsSecretName(end) || !secretKey(strings.ToLower(end)) {
			t.Errorf("%s does not make a name secret at its end alone", end)
		}
	}
	for key, want := range map[string]bool{"SSH_KEYS": true, "apiKey": true, "privateKeyID": true, "client-secret": true, "keyboard": false, "monkey": false} {
		if got := secretKey(key); got != want {
			t.Errorf("secretKey(%s) = %v, want %v", key, got, want)
		}
	}
}

func TestSecretValue(t *testing.T) {
	for value, want := range map[string]bool{
		"ghp_0123456789abcdefghijABCDEFGHIJ012345": true, "postgres://u:passw0rd@h/db": true, "/usr/local/bin": false, "1": false, "": false,
		"https://example.com/a:b": false, "-----BEGIN EC PRIVATE KEY-----\nxx\n-----END EC PRIVATE KEY-----": true,
	} {
		if got := IsSecretValue(value); got != want {
			t.Errorf("SecretValue(%q) = %v, want %v", value, got, want)
		}
	}
}

// TestLearn: a value that a redactor learns is hidden from then on, also by its redactor for files, and by no other.
func TestLearn(t *testing.T) {
	r, other := New(nil), New(nil)
	files := r.ForFiles()
	const text = "say plain-words-22"
	if r.Changes(text) || files.Changes(text) {
		t.Errorf("%q is changed before anything is learned", text)
	}
	r.Learn([]string{"plain-words-22"})
	if got := r.String(text); got != "say "+Mark {
		t.Errorf("got %q", got)
	}
	if !files.Changes(text) || !r.ForFiles().Changes(text) || other.Changes(text) {
		t.Errorf("for files %t, anew %t, another %t", files.Changes(text), r.ForFiles().Changes(text), other.Changes(text))
	}
}

package redact

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// Words that merely look like the beginning of a token are no secrets.
func TestOrdinaryTextStays(t *testing.T) {
	r := New([]string{"hunter2-hunter2"})
	for _, text := range []string{
		"tasks/task-001-implementation-of-feature-x-in-detail.md", "task-d41d8cd98f00b204e9800998ecf8427e",
		"risk-assessment-of-all-the-parts-2026", "sk-proj", "sk-and-other-slugs-that-are-long-enough-2",
		"https://example.com:8080/a@b", "git@github.com:o/r.git", "ssh://git@host/x", "http://h/?q=a:b@c", "eyJust.some.text.with.dots",
		"see -----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "AKIA is a prefix", "hunter2-hunter", Mark,
		"-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----",
		`if bytes.HasPrefix(b, []byte("-----BEGIN RSA PRIVATE KEY-----")) {`, "look for -----BEGIN PRIVATE KEY----- in the file and so on",
		`req.Header.Set("Authorization", "Bearer "+token)`, `-H "Authorization: Bearer $TOKEN"`, "Authorization: Bearer <token>",
		"Authorization: Basic authentication is used", "the bearer of this letter, and Bearer tokens in general", `"postgres://%s:%s@%s/db"`,
		"postgres://${USER}:${PASSWORD}@db/x", "https://user:***@host", "https://$USER:$PASS@host/", "aws_secret_access_key = os.Getenv(name)",
		"x-api-key: ${API_KEY}", "sig=abc", "time 12:AAAA", "M.N.O", "MTIz.abcdef.0123456789012345678901234567890", "MTIzNDU2Nzg5MDEyMzQ1Njc4.abcdef.short", "0:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "skip-ci and sk_live mode", "The quick brown fox.", "SK0 is a name", "SKabcdefghijklmnopqrstuvwxyzabcdef", "SK0123456789abcdef0123456789abcdef0 is longer",
		"MTIzNDU2Nzg5MDEyMzQ1Njc4/abcdef.012345678901234567890123456", `dir\umasksk-0123456789abcdefghij0123`, "mm[1msk-0123456789abcdefghij0123",
		"next=https%3A%2F%2Fuser%40host", "next=https%3A%2F%2Fhost%3A80%2Fa%40b", "-----BEGIN PRIVATE KEY----- n AAAABBBBCCCCDDDD",
		"2026-11-20T10:00:00.123456789Z", "123e4567-e89b-12d3-a456-426614174000", "/home/user/.cache/go-build/d4/d41d8cd98f00b204e9800998ecf8427e-a",
		"ghcr.io/org/image@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "https://example.com/a/b?c=d&e=f%20g#h",
		"https://discord.com/api/v10/users", "foo_bar_npm_install", "half_open", "shelf_life_of_things", "10:AA:BB:CC:DD:EE:FF:00:11:22",
		"uses: actions/checkout@08eba0b27e820071cde6df949e0beb9ba4906955 # v4.3.0", "tokens: 1234567890, cost: 0.0012345678901234567890",
		"password=$PASSWORD", "password=${DB_PASSWORD}", "password: string", "password = os.Getenv(name)", "connect(password=args.password)",
		"the password: it is not here", "password=***", "PASSWORD=%s", "passwords and passphrases", "password: {type: string}",
		"Cookie: a small biscuit", "cookie = request.cookies[name]", "Set-Cookie: %s=%s", "cookies.txt: name=value", "a cookie: x=1",
		"version = \"v0.0.0-20231108232855-2478ac86f678\"", "h1:1+M8Tn6ZGyHQpZ2DPq1q4dYLZSnMeFlCbGQXQYbJt/U=",
	} {
		if got := r.String(text); got != text {
			t.Errorf("String(%q) = %q, want it unchanged", text, got)
		}
		if got := r.String(string(mustJSON(text))); got != string(mustJSON(text)) {
			t.Errorf("String(%q) = %q, want it unchanged", mustJSON(text), got)
		}
	}
}

// Random data as logs hold it: hashes, images, lock files.
func TestRandomDataStays(t *testing.T) {
	r := New(append(benchValues(20), "hunter2-hunter2"))
	rng := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	for i := range 800 {
		raw := make([]byte, 64)
		for k := range raw {
			raw[k] = byte(rng.Uint32())
		}
		sum, long := sha256.Sum256(raw), sha512.Sum512(raw)
		fmt.Fprintf(&b, "commit %x\nsha256:%x  %s\n", raw[:20], sum, hex.EncodeToString(long[:]))
		fmt.Fprintf(&b, "%x-%x-4%x-a%x-%x\n", raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:16])
		fmt.Fprintf(&b, `"node_modules/p%d": {"version": "1.%d.0", "resolved": "https://packages.example.com/p/-/p-1.%d.0.tgz", "integrity": "sha512-%s"},`+"\n",
			i, i, i, base64.StdEncoding.EncodeToString(long[:]))
		fmt.Fprintf(&b, "go.sum v1.%d.0 h1:%s\n", i, base64.StdEncoding.EncodeToString(sum[:]))
	}
	image := make([]byte, 256<<10)
	for i := range image {
		image[i] = byte(rng.Uint32())
	}
	b.WriteString(`<img src="data:image/png;base64,` + base64.StdEncoding.EncodeToString(image) + `">` + "\n" + wrapLines(base64.StdEncoding.EncodeToString(image), 76))
	text := b.String()
	if got := r.String(text); got != text {
		at := strings.Index(got, Mark)
		t.Errorf("redacted %q", text[max(at-40, 0):at+60])
	}
}

// Go code of this package, which is full of prefixes, stays code.
func TestCodeStays(t *testing.T) {
	r := New(benchValues(20))
	for _, name := range []string{"shapes.go", "formats.go", "pem.go", "assigned.go", "redact.go", "literal.go"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.String(string(b)); got != string(b) {
			at := strings.Index(got, Mark)
			t.Errorf("%s: redacted %q", name, b[max(at-40, 0):min(at+60, len(b))])
		}
	}
}

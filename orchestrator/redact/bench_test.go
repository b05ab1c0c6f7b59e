package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// benchValues are like the secrets of a CI job: random, of several kinds.
func benchValues(n int) (values []string) {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range n {
		raw := make([]byte, 12+rng.IntN(30))
		for k := range raw {
			raw[k] = byte(rng.Uint32())
		}
		switch i % 4 {
		case 0:
			values = append(values, base64.StdEncoding.EncodeToString(raw))
		case 1:
			values = append(values, hex.EncodeToString(raw))
		case 2:
			values = append(values, fmt.Sprintf("passw0rd-%d-%x!", i, raw[:3]))
		default:
			values = append(values, "https://user:"+base64.RawURLEncoding.EncodeToString(raw)+"@example.com/path")
		}
	}
	return values
}

// benchTexts are ordinary output of agents, and the worst input of a redactor.
func benchTexts(t testing.TB) (texts []struct{ name, text string }) {
	t.Helper()
	source, err := os.ReadFile("redact.go")
	if err != nil {
		t.Fatal(err)
	}
	add := func(name, text string) {
		const size = 256 << 10
		text = strings.Repeat(text, size/len(text)+1)[:size]
		texts = append(texts, struct{ name, text string }{name, text})
	}
	blob := make([]byte, 64<<10)
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range blob {
		blob[i] = byte(rng.Uint32())
	}
	events := `{"type":"assistant","message":{"id":"msg_01XFDUDYJgAACzvnptvVoYEL","content":[{"type":"text","text":"Reading tasks/a.md and https://example.com/x, then editing it.\n\nIt's 42% done."}]}}` + "\n"
	add("agent json", events+string(mustJSON(string(source)))+"\n")
	add("agent code", string(source))
	add("agent log", "\x1b[32m2026-11-20T10:00:00.123Z\x1b[0m INFO  \x1b[1mstep\x1b[0m 17/42 built ./cmd/kanban-run in 1.23s (cache 98%) at /home/u/.cache/go-build/ab/cdef\n")
	add("agent prose", "The quick brown fox jumps over the lazy dog, and nobody in the office knows why it does so again.\n")
	for _, run := range []string{"x", "A", "a", "0", "=", "%", `\`, "&", "/", "-", ":", "\n", "'", " ", "e", "\x1b", "\x00", "ü", "\u202e", "日", "\xff"} {
		add(fmt.Sprintf("worst run of %q", run), run)
	}
	add("worst base64", base64.StdEncoding.EncodeToString(blob))
	add("worst base64 lines", wrapLines(base64.StdEncoding.EncodeToString(blob), 76))
	add("worst hex", hex.EncodeToString(blob))
	add("worst hex dump", hex.Dump(blob))
	add("worst hex colons", fmt.Sprintf("% x", blob))
	add("worst percent", percentAll(blob))
	add("worst unicode escapes", fmt.Sprintf("%+q", string(source))+strings.Repeat(`\u0041\u007a`, 10000))
	add("worst binary", string(blob))
	for _, run := range []string{"eyJ", "sk-", "ghp_", "xoxb-", "://", "://u:", "-----BEGIN PRIVATE KEY-----", "Authorization: ", "%25", `\\u005c`, "&amp;", "&eacute;", `\'`, "sig=", "-----BEGIN%20PRIVATE%20KEY-----", "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t", ":AA", "MDAw", "passw0rd-", `\u0041`} {
		add(fmt.Sprintf("worst repeated %q", run), run)
	}
	return texts
}

func wrapLines(s string, width int) string {
	var b strings.Builder
	for len(s) > width {
		b.WriteString(s[:width] + "\n")
		s = s[width:]
	}
	return b.String() + s + "\n"
}

func percentAll(b []byte) string {
	var out strings.Builder
	for _, c := range b {
		fmt.Fprintf(&out, "%%%02X", c)
	}
	return out.String()
}

func BenchmarkRedactor(b *testing.B) {
	for _, n := range []int{20, 100} {
		r := New(benchValues(n))
		for _, tt := range benchTexts(b) {
			if n > 20 && !strings.HasPrefix(tt.name, "agent") && !strings.HasPrefix(tt.name, "worst base64") && !strings.HasPrefix(tt.name, "worst hex") {
				continue
			}
			b.Run(fmt.Sprintf("%d values %s", n, tt.name), func(b *testing.B) {
				w := r.Writer(discard{})
				b.SetBytes(int64(len(tt.text)))
				text := []byte(tt.text)
				for b.Loop() {
					for i := 0; i < len(text); i += 32 << 10 {
						w.Write(text[i:min(i+32<<10, len(text))])
					}
				}
			})
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for _, n := range []int{0, 20, 100} {
		values := benchValues(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				New(values)
			}
		})
	}
}

// BenchmarkJSON redacts events as agents print them, and one string of each text.
func BenchmarkJSON(b *testing.B) {
	r := New(benchValues(20))
	event := []byte(`{"type":"assistant","message":{"id":"msg_01","content":[{"type":"text","text":"Reading tasks/a.md, then editing it.\n\nIt's 42% done."}],"usage":{"in":1234,"out":56}}}`)
	events := append([]byte("["), bytes.Repeat(append(event, ",\n"...), 256<<10/len(event))...)
	docs := []struct {
		name string
		text []byte
	}{{"events", append(append(events, event...), ']')}}
	for _, tt := range benchTexts(b) {
		docs = append(docs, struct {
			name string
			text []byte
		}{tt.name, mustJSON(tt.text)})
	}
	for _, tt := range docs {
		b.Run("Redactor "+tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(tt.text)))
			for b.Loop() {
				if _, err := r.JSON(tt.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkShapes is the cost of every start.
func BenchmarkShapes(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		newIndex(nil, true)
	}
}

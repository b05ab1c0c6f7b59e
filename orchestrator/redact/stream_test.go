package redact

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
)

// A token right behind an escape of a JSON string: every agent's event stream looks so.
func TestTokenBehindAnEscape(t *testing.T) {
	r := New(nil)
	for _, token := range []string{
		"ghp_0123456789abcdefghijABCDEFGHIJ012345", "sk-ant-api03-0123456789abcdefghijABCDEFGHIJ012345",
		"AKIAIOSFODNN7EXAMPLE", "glpat-0123456789abcdefghij",
	} {
		for _, before := range []string{`\n`, `\t`, `\u003d`, "%3D", "\x1b[1m"} {
			if text := `{"a":"x` + before + token + `"}`; !r.Changes(text) {
				t.Errorf("String(%q) shows the token", text)
			}
		}
	}
}

// A secret within JSON within a string of JSON, and with escaped slashes beside other escapes.
func TestNestedForms(t *testing.T) {
	r := New([]string{"tok\ten-with-tab", `quo"te/slash`, "amp&ersand"})
	for _, text := range []string{
		`"{\"k\":\"tok\\ten-with-tab\"}"`, `"quo\"te\/slash"`, `"{\"k\":\"quo\\\"te/slash\"}"`, `"{\"k\":\"amp\\u0026ersand\"}"`,
	} {
		if !r.Changes(text) {
			t.Errorf("String(%s) shows the secret", text)
		}
	}
}

// Two registered values that overlap, in a stream.
func TestOverlapInAStream(t *testing.T) {
	r := New([]string{"alpha bravo", "bravo charlie-delta"})
	for pad := range 200 {
		text := strings.Repeat("x ", pad) + "alpha bravo charlie-delta " + strings.Repeat("y ", 100)
		var out bytes.Buffer
		w := r.Writer(&out)
		for i := 0; i < len(text); i++ {
			w.Write([]byte(text[i : i+1]))
		}
		w.Close()
		if out.String() != r.String(text) {
			t.Fatalf("byte by byte %q\nwhole %q", out.String(), r.String(text))
		}
	}
}

func BenchmarkWriter(b *testing.B) {
	values := []string{}
	for i := range 17 {
		values = append(values, strings.Repeat(string(rune('a'+i)), 3)+"-secret-value-0123456789")
	}
	w := New(values).Writer(discard{})
	line := []byte(`{"type":"assistant","message":{"content":[{"type":"text","text":"Reading tasks/a.md and https://example.com/x, then editing it."}]}}` + "\n")
	chunk := bytes.Repeat(line, 32<<10/len(line))
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		w.Write(chunk)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// Words that merely look like the beginning of a token are no secrets.
func TestOrdinaryTextStays(t *testing.T) {
	r := New([]string{"hunter2-hunter2"})
	for _, text := range []string{
		"tasks/task-001-implementation-of-feature-x-in-detail.md", "task-d41d8cd98f00b204e9800998ecf8427e",
		"risk-assessment-of-all-the-parts-2026", "sk-proj", "sk-and-other-slugs-that-are-long-enough-2",
		"https://example.com:8080/a@b", "git@github.com:o/r.git", "ssh://git@host/x", "http://h/?q=a:b@c", "eyJust.some.text.with.dots",
		"see -----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "AKIA is a prefix", "hunter2-hunter", Mark,
	} {
		if got := r.String(text); got != text {
			t.Errorf("String(%q) = %q, want it unchanged", text, got)
		}
	}
}

// A second pass, as over a log that is read again, changes nothing.
func TestRedactedTextStays(t *testing.T) {
	r := New([]string{"hunter2-hunter2", "SECRET", "REDACTED_"})
	once := r.String("a hunter2-hunter2 https://u:hunter2-hunter2@h ghp_0123456789abcdefghijABCDEFGHIJ012345")
	if r.Changes(once) {
		t.Errorf("String(%q) = %q, want it unchanged", once, r.String(once))
	}
}

// People wait for the lines of a terminal: what cannot become a secret goes at once.
func TestWriterPassesOnAtOnce(t *testing.T) {
	var out bytes.Buffer
	w := New([]string{"hunter2-hunter2"}).Writer(&out)
	for _, step := range []struct{ write, want string }{
		{"working on it\n", "working on it\n"}, {"x hunt", "x "}, {"er1\n", "hunter1\n"}, {"hunter2-hunter2", Mark}, {"!", "!"}, {"http:", "http"},
	} {
		out.Reset()
		w.Write([]byte(step.write))
		if got := out.String(); got != step.want {
			t.Errorf("Write(%q) passed %q on, want %q", step.write, got, step.want)
		}
	}
}

// Whatever never ends, no more is held back than the longest thing known.
func TestWriterHoldsBounded(t *testing.T) {
	for _, flood := range []string{"-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("QUJD", 1<<18), "sk-" + strings.Repeat("a1", 1<<19),
		"eyJ" + strings.Repeat("a", 1<<20), "https://" + strings.Repeat("u", 1<<20), strings.Repeat("hunter2-", 1<<17)} {
		var out bytes.Buffer
		w := New([]string{"hunter2-hunter2"}).Writer(&out)
		for i := 0; i < len(flood); i += 1000 {
			w.Write([]byte(flood[i:min(i+1000, len(flood))]))
			if len(w.held) > maxToken {
				t.Fatalf("%.20q…: %d bytes held back, want at most %d", flood, len(w.held), maxToken)
			}
		}
	}
}

type broken struct{ n int }

func (b *broken) Write(p []byte) (int, error) {
	b.n++
	return 0, io.ErrClosedPipe
}

func TestWriterErrorIsFinal(t *testing.T) {
	to := &broken{}
	w := New(nil).Writer(to)
	for range 3 {
		if n, err := w.Write([]byte("text")); n != 0 || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Write = %d, %v, want 0, %v", n, err, io.ErrClosedPipe)
		}
	}
	if err := w.Close(); !errors.Is(err, io.ErrClosedPipe) || to.n != 1 {
		t.Errorf("Close = %v after %d writes, want %v after 1", err, to.n, io.ErrClosedPipe)
	}
}

func TestWriteAfterClose(t *testing.T) {
	w := New(nil).Writer(io.Discard)
	if err := w.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	if _, err := w.Write([]byte("x")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Write after Close = %v, want fs.ErrClosed", err)
	}
}

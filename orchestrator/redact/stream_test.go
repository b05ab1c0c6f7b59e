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
		for _, before := range []string{`\n`, `\t`, `\r`, `\b`, `\f`, `\x3d`, `\u003d`, "%3D", "\x1b[1m", "\x1b[0;31m", `\u001b[1m`, `\u001B[1m`, `\x1b[m`, `\x1B[m`, `\033[m`, `\e[m`} {
			for _, text := range []string{before + token, `{"a":"x` + before + token + `"}`} {
				if !r.Changes(text) {
					t.Errorf("String(%q) shows the token", text)
				}
			}
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

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// A second pass, as over a log that is read again, changes nothing.
func TestRedactedTextStays(t *testing.T) {
	r := New([]string{"hunter2-hunter2", "SECRET", "REDACTED_"})
	once := r.String("a hunter2-hunter2 https://u:hunter2-hunter2@h ghp_0123456789abcdefghijABCDEFGHIJ012345")
	if r.Changes(once) {
		t.Errorf("String(%q) = %q, want it unchanged", once, r.String(once))
	}
}

// A terminal shows a line at once unless it may become a secret.
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

// floods never end, and begin something that a redactor must wait for.
func floods(size int) []string {
	key := "-----BEGIN " + "PRIVATE KEY-----\n"
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	return []string{
		key + repeat("QUJD"), "sk-" + repeat("a1"), "eyJ" + repeat("a"), "https://" + repeat("u"), repeat("hunter2-"), repeat("x"), repeat("eyJ"),
		repeat("eyJhbGciOiJIUzI1NiJ9."), repeat(`\`), repeat("%"), repeat("%25"), repeat("&amp;"), repeat("xoxb-0-"), repeat(key), repeat("-"),
		repeat("-----BEGIN%20" + "PRIVATE%20KEY-----"), "Authorization: Bearer " + repeat("a1"), repeat("LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t"),
		"x-api-key: " + repeat("0a"), "ghp_" + repeat("Ab"), repeat("hunter2%2D"), repeat(`\u0068unter2-`), repeat("Z2hwX"), repeat("6768705f61"),
		"-----BEGIN" + repeat(" PRIVATE"), "Private-Lines: 9\n" + repeat("AB+/"), repeat("68:75:6e:"), repeat("aHVudGVy\n"),
	}
}

// No flood makes the writer hold back more than the longest known secret, and the output is that of
// String.
func TestWriterHoldsBounded(t *testing.T) {
	r := New([]string{"hunter2-hunter2"})
	for _, flood := range floods(100 << 10) {
		want := r.String(flood)
		for _, size := range []int{997, 40 << 10} {
			var out bytes.Buffer
			w := r.Writer(&out)
			for i := 0; i < len(flood); i += size {
				w.Write([]byte(flood[i:min(i+size, len(flood))]))
				if len(w.held) > 16<<10 { // what the documentation promises
					t.Fatalf("%.20q…: %d bytes held back", flood, len(w.held))
				}
			}
			w.Close()
			if out.String() != want {
				t.Errorf("%.20q… in pieces of %d is %d bytes, want %d", flood, size, out.Len(), len(want))
			}
		}
	}
}

// A line of 50 MB needs no more memory than others.
func TestWriterNeedsLittleMemory(t *testing.T) {
	w := New(benchValues(20)).Writer(discard{})
	line := bytes.Repeat([]byte(`{"text":"a line without an end \n`), 1<<20/32)
	for range 50 {
		w.Write(line)
	}
	if got := cap(w.held); got > 512<<10 {
		t.Errorf("the writer keeps %d bytes", got)
	}
}

// A person that follows a log sees each line when it is written: only what can begin a
// secret waits, and that is never the end of an ordinary line.
func TestLinesPassAtOnce(t *testing.T) {
	var out bytes.Buffer
	w := New(append(benchValues(100), "two\nlines of a secret")).Writer(&out)
	for _, line := range []string{
		"Reading tasks/a.md\n", "ok  \tkanban-run/orchestrator/redact\t0.853s\n", "100%\n", "C:\\dir\\\n", "a & b &\n", "=====\n", "-----\n", "Authorization\n",
		`{"type":"text","text":"done.\n\nNext: https://example.com"}` + "\n", "\x1b[32mPASS\x1b[0m\n", "commit 08eba0b27e820071cde6df949e0beb9ba4906955.\n", "sk\n", "\r\n",
		"    return nil\n", "implementation\n", "https://example.com/path\n", "Continue? [y/n] ",
	} {
		out.Reset()
		w.Write([]byte(line))
		if got := out.String(); got != line {
			t.Errorf("Write(%q) passed %q on", line, got)
		}
	}
}

type counting struct{ writes int }

func (c *counting) Write(p []byte) (int, error) {
	c.writes++
	if len(p) == 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// Held bytes alone cause no write.
func TestWriterWritesNothingForNothing(t *testing.T) {
	to := &counting{}
	w := New([]string{"hunter2-hunter2"}).Writer(to)
	for _, c := range []byte("hunter2-") {
		if n, err := w.Write([]byte{c}); n != 1 || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
	}
	if to.writes != 0 {
		t.Errorf("%d writes for what is held back", to.writes)
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

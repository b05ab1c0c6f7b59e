package console_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/redact"
)

func secrets(values ...string) *console.Secrets {
	return console.NewSecrets(func() *redact.Redactor { return redact.New(values) })
}

func TestPrintfMakesArgumentsHarmless(t *testing.T) {
	tests := []struct {
		name, format string
		args         []any
		want         string
	}{
		{"a word", "board %s\n", []any{"a.yaml"}, "board a.yaml\n"},
		{"numbers keep their verbs", "%3d %5.2f %v\n", []any{7, 1.5, true}, "  7  1.50 true\n"},
		{"widths count what is shown", "%-6s|\n", []any{"a\x1b"}, "a\\x1b |\n"},
		{"escape sequences", "%s\n", []any{"\x1b[2Jx"}, "\\x1b[2Jx\n"},
		{"an argument stays on its line", "%s\n", []any{"a\nb"}, "a\\nb\n"},
		{"but for Lines", "%s\n", []any{console.Lines("a\nb\x1b")}, "a\nb\\x1b\n"},
		{"errors", "%v\n", []any{errors.New("no\rsuch")}, "no\\rsuch\n"},
		{"slices", "%v\n", []any{[]string{"a\x1b", "b"}}, "[a\\x1b b]\n"},
		{"workflow commands", "%s\n", []any{"::error::x"}, "\\::error::x\n"},
		{"in several lines", "%s\n", []any{console.Lines("a\n::error::x")}, "a\n\\::error::x\n"},
		{"of two arguments", "%s%s\n", []any{"##", "[error]x"}, "##\\[error]x\n"},
		{"and of three", "%s%s%s\n", []any{":", ":error:", ":x"}, "\\::error::x\n"},
		{"secrets", "%s\n", []any{"the key hunter2-hunter2"}, "the key [REDACTED_SECRET]\n"},
		{"secrets that an escape would hide", "%s\n", []any{"hunter2\x01\x02"}, "[REDACTED_SECRET]\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := console.New(&b, secrets("hunter2-hunter2", "hunter2\x01\x02")).Printf(tt.format,
				tt.args...); err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != tt.want {
				t.Errorf("Printf wrote %q, want %q", got, tt.want)
			}
		})
	}
}

func TestJSONIsHarmlessAndReadsTheSame(t *testing.T) {
	for _, indent := range []string{"", "  "} {
		var b bytes.Buffer
		in := map[string]string{"a": "<x> \x1b[2J \u009b \u202e ##[error]", "key": "hunter2-hunter2"}
		if err := console.New(&b, secrets("hunter2-hunter2")).JSON(in, indent); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x1b\u009b\u202e") || strings.Contains(b.String(), "##[") ||
			strings.Contains(b.String(), "hunter2") {
			t.Errorf("JSON wrote %q", b.String())
		}
		if lines := strings.Count(b.String(), "\n"); (lines == 1) != (indent == "") {
			t.Errorf("JSON with indent %q wrote %d lines", indent, lines)
		}
		in["key"] = redact.Mark
		var got map[string]string
		if err := json.Unmarshal(b.Bytes(), &got); err != nil || fmt.Sprint(got) != fmt.Sprint(in) {
			t.Errorf("JSON reads as %q (%v), want %q", got, err, in)
		}
	}
}

// What settings hide is known only after some output.
func TestSecretsCanBeAdded(t *testing.T) {
	var b bytes.Buffer
	s := secrets()
	p := console.New(&b, s)
	s.Add(redact.New([]string{"hunter2-hunter2"}))
	if err := p.Printf("%s\n", "hunter2-hunter2"); err != nil || b.String() != redact.Mark+"\n" {
		t.Errorf("Printf wrote %q (%v)", b.String(), err)
	}
}

// The program's own text must not pay for finding the secrets of the environment.
func TestOwnTextsNeedNoRedactor(t *testing.T) {
	var b bytes.Buffer
	p := console.New(&b,
		console.NewSecrets(func() *redact.Redactor { t.Error("a redactor was made"); return redact.New(nil) }))
	if err := p.PrintTrusted("\x1b[A"); err != nil || b.String() != "\x1b[A" {
		t.Errorf("Own wrote %q (%v)", b.String(), err)
	}
}

// failingWriter fails from the second write on.
type failingWriter struct{ writes int }

func (f *failingWriter) Write(p []byte) (int, error) {
	if f.writes++; f.writes > 1 {
		return 0, fmt.Errorf("write %d: %w", f.writes, syscall.ENOSPC)
	}
	return len(p), nil
}

func TestErrIsTheFirst(t *testing.T) {
	p := console.New(&failingWriter{}, nil)
	for range 3 {
		_ = p.Printf("%s\n", "x")
	}
	if err := p.Err(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "write 2") {
		t.Errorf("Err() = %v, want that of the second write", err)
	}
}

// lineWriter reports writes that are not whole lines.
type lineWriter struct{ t *testing.T }

func (o lineWriter) Write(p []byte) (int, error) {
	if bytes.Count(p, []byte("\n")) != 1 || p[len(p)-1] != '\n' {
		o.t.Errorf("one write of %q", p)
	}
	return len(p), nil
}

func TestLinesOfSeveralBoardsDoNotMix(t *testing.T) {
	p := console.New(lineWriter{t}, secrets("hunter2-hunter2"))
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 50 {
				_ = p.Printf("board %d %s\n", i, "hunter2-hunter2")
			}
		})
	}
	all.Wait()
}

// patience is that of a printer.
const patience = 2 * time.Second

// TestHurry: a write that nothing reads is given up once there is a hurry, also one that is under
// way, and none after it waits. Before, it waits for its reader.
func TestHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		p := console.New(writer, nil)
		go func() { _, _ = io.CopyN(io.Discard, reader, 5) }()
		if err := p.PrintTrusted("read\n"); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		time.AfterFunc(time.Hour, p.Hurry)
		if err := p.PrintTrusted("not read\n"); err != console.ErrStalled || time.Since(began) != time.Hour+patience {
			t.Errorf("a write without a reader = %v after %v", err, time.Since(began))
		}
		began = time.Now()
		if err := p.PrintTrusted("nor this\n"); err != console.ErrStalled || time.Since(began) != 0 || p.Err() != console.ErrStalled {
			t.Errorf("the write after it = %v after %v; Err = %v", err, time.Since(began), p.Err())
		}
		_ = reader.Close() // ends the write that was given up
		slow, writer := io.Pipe()
		p = console.New(writer, nil)
		p.Hurry()
		time.AfterFunc(patience/2, func() { _, _ = io.CopyN(io.Discard, slow, 5) })
		if err := p.PrintTrusted("late\n"); err != nil {
			t.Errorf("a write with a slow reader = %v", err)
		}
	})
}

// TestFreeForAProgram: a program gets no line that is not of its form, and Err tells that some are missing.
func TestFreeForAProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		p := console.New(writer, nil)
		p.Free(false)
		for range 3 {
			_ = p.JSON(strings.Repeat("x", 3<<20), "")
		}
		var got bytes.Buffer
		go func() { _, _ = io.Copy(&got, reader) }()
		if err := p.Flush(time.Minute); err != nil || p.Err() != console.ErrStalled {
			t.Errorf("Flush = %v, Err = %v, want that a line is missing", err, p.Err())
		}
		_ = p.JSON("last", "")
		_ = writer.Close()
		synctest.Wait()
		for line := range strings.Lines(got.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("the program reads %.40q", line)
			}
		}
		if n := strings.Count(got.String(), "\n"); n != 3 {
			t.Errorf("%d lines, want two long ones and the last", n)
		}
	})
}

// TestFree: behind a reader that takes nothing, a free printer waits for a moment, and then goes on. The
// reader gets all of it, or is told how many lines are missing.
func TestFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		p := console.New(writer, nil)
		p.Free(true)
		began := time.Now()
		for _, text := range []string{"one\n", "two\n", strings.Repeat("x", 5<<20) + "\n", "dropped\n", "and\nthis\n"} {
			if err := p.PrintTrusted(text); err != nil {
				t.Errorf("%.9q: %v", text, err)
			}
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("five texts that nothing reads took %v, want a moment", took)
		}
		if err := p.Flush(time.Minute); err != console.ErrStalled || time.Since(began) != time.Minute+time.Second {
			t.Errorf("Flush = %v after %v", err, time.Since(began))
		}
		_ = reader.Close()

		reader, writer = io.Pipe()
		p = console.New(writer, nil)
		p.Free(true)
		for _, text := range []string{"one\n", strings.Repeat("x", 5<<20) + "\n", "dropped\n", "and\nthis\n"} {
			_ = p.PrintTrusted(text)
		}
		var got bytes.Buffer
		go func() { _, _ = io.Copy(&got, reader) }()
		if err := p.Flush(time.Minute); err != nil || p.Err() != console.ErrStalled {
			t.Errorf("Flush = %v, Err = %v, want that texts are missing", err, p.Err())
		}
		_ = p.PrintTrusted("two\n")
		_ = writer.Close()
		synctest.Wait()
		if want := "[the reader took nothing for a time: 3 lines are missing here]\ntwo\n"; !strings.HasPrefix(got.String(), "one\nx") || !strings.HasSuffix(got.String(), "x\n"+want) {
			t.Errorf("the reader got %.9q … %q", got.String(), got.String()[got.Len()-200:])
		}
	})
}

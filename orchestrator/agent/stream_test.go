package agent

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// heardLines gives a stream in pieces of a size.
func heardLines(stream []byte, size int) (lines []string, dropped int) {
	l := &Lines{Each: func(line []byte) { lines = append(lines, string(line)) }}
	for piece := range slices.Chunk(stream, max(1, size)) {
		if n, err := l.Write(piece); n != len(piece) || err != nil {
			panic(fmt.Sprintf("Write = %d, %v", n, err))
		}
	}
	l.Flush()
	return lines, l.Dropped
}

func TestStreamLines(t *testing.T) {
	for _, tt := range []struct {
		name, stream string
		want         []string
	}{
		{"whole lines", "a\nb\n", []string{"a", "b"}},
		{"no end", "a\nb", []string{"a", "b"}},
		{"CRLF", "a\r\nb\r\n", []string{"a", "b"}},
		{"empty lines", "\n\na\n\r\n", []string{"a"}},
		{"nothing", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for size := 1; size <= len(tt.stream)+1; size++ {
				if got, _ := heardLines([]byte(tt.stream), size); !slices.Equal(got, tt.want) {
					t.Errorf("in pieces of %d: lines = %q, want %q", size, got, tt.want)
				}
			}
		})
	}
}

// TestLongLines: a line that is too long is left out and counted, and no more of it is kept than
// may be one.
func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", maxStreamLine+1)
	for _, size := range []int{1 << 16, maxStreamLine, 2 * maxStreamLine} {
		got, dropped := heardLines([]byte("a\n"+long+"\nb\n"+long), size)
		if !slices.Equal(got, []string{"a", "b"}) || dropped != 2 {
			t.Errorf("in pieces of %d: %d lines, %d dropped, want a and b and two dropped", size, len(got), dropped)
		}
		if got, dropped := heardLines([]byte(long[1:]+"\nb\n"), size); len(got) != 2 || len(got[0]) != maxStreamLine || dropped != 0 {
			t.Errorf("in pieces of %d: %d lines, %d dropped, want the longest that there may be", size, len(got), dropped)
		}
	}
	l := &Lines{Each: func([]byte) {}}
	for range 100 {
		_, _ = l.Write(bytes.Repeat([]byte("x"), 1<<20)) // Lines never fails
		if cap(l.partial) > maxStreamLine {
			t.Fatalf("%d bytes are kept, want %d at most", cap(l.partial), maxStreamLine)
		}
	}
	if l.partial != nil {
		t.Errorf("%d bytes of a line that is too long are kept, want none", cap(l.partial))
	}
}

// FuzzLines: however a stream comes, its lines are the same.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n{}"), 1)
	f.Add([]byte("\r\n\r\r\nx\r"), 2)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		want, _ := heardLines(stream, len(stream))
		if got, _ := heardLines(stream, min(max(1, size), 1<<20)); !slices.Equal(got, want) {
			t.Errorf("in pieces of %d: lines = %q, want %q", size, got, want)
		}
		var plain []string
		for _, line := range bytes.Split(stream, []byte("\n")) {
			if line = bytes.TrimRight(line, "\r"); len(line) > 0 {
				plain = append(plain, string(line))
			}
		}
		if !slices.Equal(want, plain) {
			t.Errorf("lines = %q, want %q", want, plain)
		}
	})
}

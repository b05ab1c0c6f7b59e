package compact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// plainValid is the plain twin of Valid, but for values that nest too deep.
func plainValid(data []byte) bool {
	var b bytes.Buffer
	return json.Compact(&b, data) == nil && bytes.Equal(b.Bytes(), data)
}

func nestsTooDeep(data []byte) bool {
	return bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > maxDepth
}

// plainIndex is the plain twin of Plain and, with limit 0x80, of ASCII.
func plainIndex(data []byte, limit int) int {
	for i, c := range data {
		if c < ' ' || c == '"' || c == '\\' || int(c) >= limit {
			return i
		}
	}
	return len(data)
}

func FuzzValid(f *testing.F) {
	for _, s := range []string{
		"", " ", "1 ", "null", "nul", "nulll", "true", "false", "0", "-0", "01", "-", "1.", "1.5", ".5", "1e", "1e+9", "1E-09", "1e+-9", "1e-+9",
		`"`, `""`, `"a\"b"`, `"\u00e9"`, `"\u00g0"`, `"\x"`, `"\`, "\"\x1f\"", "\"\x7f\xff\"", `"12345678\"12345678"`, "\"1234\x001\"",
		"[]", "{}", "[1,2]", "[1,]", "[,1]", "[1 ,2]", `{"a":1,"b":[{"c":null}]}`, `{"a":1,}`, `{"a"}`, `{1:2}`, `{"a":}`, `[}`, `{]`, `[1}`, `{"a":1]`,
		"[[[]]]", "[[[]]", "[]]", "1,2", "[1]2", `{"a":{}}`, `[{},[]]`, "[\n]", strings.Repeat("[", 64) + strings.Repeat("]", 64),
		strings.Repeat("[", 65) + "1" + strings.Repeat("]", 65),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, want := Valid(data), plainValid(data)
		if got && !want || want && !got && !nestsTooDeep(data) {
			t.Errorf("Valid(%q) = %v, want %v", data, got, want)
		}
		if n := Value(data); n > 0 && !plainValid(data[:n]) {
			t.Errorf("Value(%q) = %d, which is no value", data, n)
		}
		if got, want := Plain(data), plainIndex(data, 0x100); got != want {
			t.Errorf("Plain(%q) = %d, want %d", data, got, want)
		}
		if got, want := ASCII(data), plainIndex(data, 0x80); got != want {
			t.Errorf("ASCII(%q) = %d, want %d", data, got, want)
		}
	})
}

func TestDepth(t *testing.T) {
	for depth, want := range map[int]bool{maxDepth: true, maxDepth + 1: false} {
		if got := Valid([]byte(strings.Repeat(`[`, depth) + "1" + strings.Repeat("]", depth))); got != want {
			t.Errorf("Valid at depth %d = %v, want %v", depth, got, want)
		}
	}
}

func BenchmarkValid(b *testing.B) {
	var tasks []string
	for i := range 100_000 {
		tasks = append(tasks, fmt.Sprintf("tasks/%06d-implement-thing.md", i))
	}
	data, err := json.Marshal(map[string]any{"tasks": tasks})
	if err != nil {
		b.Fatal(err)
	}
	for name, valid := range map[string]func([]byte) bool{"pass": Valid, "library": json.Valid} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if !valid(data) {
					b.Fatal("not valid")
				}
			}
		})
	}
}

package frontmatter

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// boardOf makes a typical board: a few fields and a list with one path a line.
func boardOf(tasks int) []byte {
	var s strings.Builder
	s.WriteString("phase: execute\ncurrent: tasks/000000-the-name-of-a-task.md\ntasks:\n")
	for i := range tasks {
		fmt.Fprintf(&s, "  - tasks/%06d-the-name-of-a-task.md\n", i)
	}
	return []byte(s.String())
}

func benchmarkSizes(b *testing.B, before, after string, parse func(string, []byte) (*Document, error)) {
	for _, tasks := range []int{10, 1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(tasks), func(b *testing.B) {
			source := []byte(before + string(boardOf(tasks)) + after)
			b.SetBytes(int64(len(source)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parse("k", source); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParseYAML(b *testing.B) { benchmarkSizes(b, "", "", ParseYAML) }

func BenchmarkCompactYAML(b *testing.B) { benchmarkSizes(b, "", "", ParseCompactYAML) }

func BenchmarkParse(b *testing.B) { benchmarkSizes(b, "---\n", "---\n# Board\n", Parse) }

// A run rereads its board at every step, mostly with only current changed.
func BenchmarkReread(b *testing.B) {
	var before *Document
	benchmarkSizes(b, "", "", func(file string, source []byte) (*Document, error) {
		if before == nil || len(before.Source) != len(source) {
			var err error
			before, err = ParseYAML(file, bytes.Replace(source, []byte("current: tasks/0"),
				[]byte("current: tasks/1"), 1))
			if err != nil {
				return nil, err
			}
		}
		return before.Reread(source)
	})
}

func BenchmarkParseHeader(b *testing.B) {
	source := []byte("---\nid: 1\nrole: Implementor\ntitle: \"Do thing 1\"\ntags: [a, b]\n---\n\n# Do thing 1\n\nText.\n")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("t.md", source); err != nil {
			b.Fatal(err)
		}
	}
}

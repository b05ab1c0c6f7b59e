package board

import (
	"fmt"
	"slices"
	"testing"
)

func benchmarkSizes(b *testing.B, run func(b *testing.B, source []byte)) {
	for _, tasks := range []int{10, 1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(tasks), func(b *testing.B) {
			b.ReportAllocs()
			run(b, []byte(largeBoard(tasks)))
		})
	}
}

func BenchmarkParse(b *testing.B) {
	benchmarkSizes(b, func(b *testing.B, source []byte) {
		for b.Loop() {
			if _, err := Parse("k.yaml", source); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSHA(b *testing.B) {
	benchmarkSizes(b, func(b *testing.B, source []byte) {
		for b.Loop() {
			SHA(source)
		}
	})
}

func benchmarkSplice(b *testing.B, edit func(paths []string) Edit) {
	benchmarkSizes(b, func(b *testing.B, source []byte) {
		board, err := Parse("k.yaml", source)
		if err != nil {
			b.Fatal(err)
		}
		e := edit(board.TaskPaths())
		for b.Loop() {
			if _, err := board.Splice(e); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkSpliceCurrent(b *testing.B) {
	benchmarkSplice(b, func(paths []string) Edit { return Edit{Current: &paths[1]} })
}

func BenchmarkSpliceCurrentAndSameList(b *testing.B) {
	benchmarkSplice(b, func(paths []string) Edit {
		return Edit{Current: &paths[1], Tasks: slices.Clone(paths), SetTasks: true}
	})
}

func BenchmarkSpliceCurrentAndList(b *testing.B) {
	benchmarkSplice(b, func(paths []string) Edit {
		return Edit{Current: &paths[1], Tasks: append(slices.Clone(paths[1:]), "tasks/new.md"), SetTasks: true}
	})
}

func BenchmarkTaskPaths(b *testing.B) {
	benchmarkSizes(b, func(b *testing.B, source []byte) {
		board, err := Parse("k.yaml", source)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			board.TaskPaths()
		}
	})
}

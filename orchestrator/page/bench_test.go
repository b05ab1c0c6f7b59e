package page

import (
	"fmt"
	"testing"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/projection"
)

// BenchmarkThousandSteps renders the page of a board of 1,000 steps.
func BenchmarkThousandSteps(b *testing.B) {
	board := longScene()
	for b.Loop() {
		if _, err := Render([]*projection.Board{board}, Options{Hide: plain}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkThousandStepsAgain renders it again and again.
func BenchmarkThousandStepsAgain(b *testing.B) {
	board, r := longScene(), Renderer{Options: Options{Hide: plain}}
	for b.Loop() {
		if _, err := r.Render([]*projection.Board{board}); err != nil {
			b.Fatal(err)
		}
	}
}

func longScene() *projection.Board {
	var tasks []string
	for i := range 1000 {
		tasks = append(tasks, fmt.Sprintf("tasks/some-folder/%d-a-task-with-a-name.md", i))
	}
	s := newScene("big.yaml", tasks...).play(time.Second, event.RunStarted{})
	for i, task := range tasks {
		s.step(i+1, task, "Implementor", "ok", "The parser reads dates in three forms; 14 of 14 examples pass, and the README says so.").done(task)
	}
	return s.board()
}

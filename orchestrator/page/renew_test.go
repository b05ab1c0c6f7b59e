package page

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/projection"
)

// TestRenewed: a page that is rendered behind others is the one that is rendered alone, and the
// difference has nothing of the rows that stay.
func TestRenewed(t *testing.T) {
	var tasks []string
	for i := range 40 {
		tasks = append(tasks, fmt.Sprintf("tasks/%d.md", i))
	}
	s := newScene("long.yaml", tasks...).play(time.Second, event.RunStarted{})
	again := Renderer{Options: Options{Hide: plain, Live: true}}
	var was []byte
	for i, task := range tasks[:30] {
		s.step(i+1, task, "Implementor", "ok", fmt.Sprintf("did <li class=\"row\"> %d", i)).done(task)
		boards := []*projection.Board{s.board()}
		now, err := again.Render(boards)
		if err != nil {
			t.Fatal(err)
		}
		if alone, err := Render(boards, again.Options); err != nil || string(alone) != string(now) {
			t.Fatalf("step %d: the page differs from one that is rendered alone (%v)", i+1, err)
		}
		if got, want := renewed(t, was, Difference(was, now)), withoutOwnText(string(now)); got != want {
			t.Fatalf("step %d: the page that a browser has is\n%s\nwant\n%s", i+1, got, want)
		}
		was = now
	}
	difference := string(Difference(was, was))
	if strings.Contains(difference, `<li class="row"`) || len(difference) > len(was)/4 {
		t.Errorf("the difference of a page to itself has rows: %s", difference)
	}
}

// TestLongAndShort: what is kept of a long page is not shown on a short one.
func TestLongAndShort(t *testing.T) {
	word := strings.Repeat("a long reply ", 20)
	s := newScene("long.yaml", "1.md").play(time.Second, event.RunStarted{}).step(1, "1.md", "Implementor", "ok", word).done("1.md")
	short := s.board()
	long := *short
	long.Totals.Steps = wholeUpTo + 1
	r := Renderer{Options: Options{Hide: plain}}
	for _, tt := range []struct {
		board *projection.Board
		whole bool
	}{{short, true}, {&long, false}, {short, true}} {
		page, err := r.Render([]*projection.Board{tt.board})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(page), strings.TrimSpace(word)); got != tt.whole {
			t.Errorf("a page of %d steps has the whole reply: %v", tt.board.Totals.Steps, got)
		}
	}
}

// renewed puts rows of a page in the places that a difference has for them.
func renewed(t *testing.T, was, difference []byte) string {
	t.Helper()
	var rows []string
	for line := range strings.Lines(string(was)) {
		if isRow(line) {
			rows = append(rows, line)
		}
	}
	var now strings.Builder
	for line := range strings.Lines(string(difference)) {
		from, to := 0, 0
		if _, err := fmt.Sscanf(line, `<li data-rows="%d %d">`, &from, &to); err != nil {
			now.WriteString(line)
			continue
		}
		now.WriteString(strings.Join(rows[from:to], ""))
	}
	return now.String()
}

// withoutOwnText returns a page without its style and script.
func withoutOwnText(page string) string {
	for _, name := range []string{"style", "script"} {
		before, rest, _ := strings.Cut(page, "\n<"+name+">")
		_, after, _ := strings.Cut(rest, "</"+name+">")
		_, after, _ = strings.Cut(after, "\n")
		page = before + "\n" + after
	}
	return page
}

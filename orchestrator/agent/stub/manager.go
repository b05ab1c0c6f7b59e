package stub

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/walk"
)

// nextTask returns the next task of the Manager, or nil at the end of the list. The rule may name
// the task; otherwise package walk chooses it from the list in the input.
func (c *call) nextTask() *string {
	if c.rule.Next.set {
		return c.rule.Next.path
	}
	place, err := board.OpenPlace(".", c.input.KanbanFile)
	if err != nil {
		fmt.Fprintf(c.stderr, "warning: no task is looked at: %v\n", err)
		return nil
	}
	defer place.Close()
	done := path.Clean(c.input.task())
	entry := func(i int) (file string, marked bool) { return cutMark(c.input.Tasks[i]) }
	at := slices.IndexFunc(c.input.Tasks, func(text string) bool {
		file, _ := cutMark(text)
		return path.Clean(file) == done
	})
	d := walk.Decide(walk.Turn{
		Task:   done,
		At:     at,
		Status: "ok",
		Len:    len(c.input.Tasks),
		Marked: func(i int) bool { _, marked := entry(i); return marked },
		Head: func(i int) walk.Head {
			file, _ := entry(i)
			task, err := place.ReadTask(file)
			if err != nil {
				fmt.Fprintf(c.stderr, "warning: %s is skipped: %v\n", file, err)
				return walk.Head{Path: file, Fault: err}
			}
			return walk.Head{Path: file, Done: task.Done() || path.Clean(file) == done}
		},
	})
	if d.Next == "" {
		return nil
	}
	return &d.Next
}

// cutMark returns an entry of the list without its trailing [done], and whether the entry had it.
func cutMark(entry string) (file string, marked bool) {
	file, marked = strings.CutSuffix(strings.TrimSpace(entry), "[done]")
	return strings.TrimSpace(file), marked
}

var currentLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^current:[^\r\n]*`) })

// writeCurrent writes the next task to the board, like a Manager that edits the board itself. It
// can only edit a board with `current:` on a line of its own.
func (c *call) writeCurrent() error {
	source, err := os.ReadFile(c.input.KanbanFile)
	if err != nil {
		return fmt.Errorf("read board: %w", err)
	}
	at := currentLine().FindIndex(source)
	if at == nil {
		return fmt.Errorf("board %s has no line that begins with current", c.input.KanbanFile)
	}
	value, err := json.Marshal(c.nextTask())
	if err != nil {
		return err
	}
	return rewrite(c.input.KanbanFile, slices.Concat(source[:at[0]], []byte("current: "), value, source[at[1]:]))
}

// writeBoard changes the board, which an agent other than the Manager must not do.
func (c *call) writeBoard() error {
	if c.rule.Board != nil {
		return rewrite(c.input.KanbanFile, []byte(*c.rule.Board))
	}
	source, err := os.ReadFile(c.input.KanbanFile)
	if err != nil {
		return fmt.Errorf("read board: %w", err)
	}
	return rewrite(c.input.KanbanFile, append(source, "\n# written by "+c.role+"\n"...))
}

func rewrite(file string, data []byte) error {
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return fmt.Errorf("write board: %w", err)
	}
	return nil
}

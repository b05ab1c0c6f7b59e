package stub

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// nextTask is the Manager's next task: the first entry behind the done task whose file exists and
// is not done. Where the done task is not in the list, it is the first such entry of all.
func (c *call) nextTask() *string {
	if c.rule.Next.set {
		return c.rule.Next.path
	}
	done := path.Clean(c.input.task())
	at := slices.IndexFunc(c.input.Tasks, func(entry string) bool {
		file, _ := cutMark(entry)
		return path.Clean(file) == done
	})
	for _, entry := range c.input.Tasks[at+1:] {
		file, marked := cutMark(entry)
		if marked || path.Clean(file) == done {
			continue
		}
		finished, err := isDone(file)
		if err != nil {
			fmt.Fprintf(c.stderr, "warning: %s is skipped: %v\n", file, err)
			continue
		}
		if !finished {
			return &file
		}
	}
	return nil
}

// cutMark takes the trailing [done] off an entry.
func cutMark(entry string) (file string, marked bool) {
	file, marked = strings.CutSuffix(strings.TrimSpace(entry), "[done]")
	return strings.TrimSpace(file), marked
}

var stateLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:state|status):[ \t]*["']?([A-Za-z]+)["']?[ \t]*(?:#.*)?\r?$`)
})

// isDone reads the state in a task's frontmatter. The stub does not validate task files.
func isDone(file string) (bool, error) {
	info, err := os.Stat(file)
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, errors.New("not a regular file")
	}
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return false, err
	}
	_, matter, found := bytes.Cut(head, []byte("---"))
	matter, _, closed := bytes.Cut(matter, []byte("\n---"))
	if !found || !closed {
		return false, nil
	}
	m := stateLine().FindSubmatch(matter)
	return m != nil && slices.Contains([]string{"done", "complete", "completed"}, strings.ToLower(string(m[1]))), nil
}

var currentLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^current:[^\r\n]*`) })

// writeCurrent writes the board as a Manager does that keeps it itself. It knows plain boards only,
// with `current:` on one line.
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

// writeBoard changes the board, which only the Manager may do.
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

// Command picture draws docs/run.svg: what a person reads on the morning after the night of kanban-run
// demo, on a terminal of 96 columns.
//
//	go run ./.ci/picture bin/kanban-run
package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/creack/pty"
)

const (
	columns    = 96
	lineHeight = 18
	charWidth  = 78 // tenths of a pixel
	margin     = 16
)

// shown holds the commands that the picture shows. They run in the folder of the demo.
var shown = []string{"kanban-run status", "kanban-run inbox boards/billing.yaml"}

func main() {
	if err := draw(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func draw(args []string) error {
	if len(args) != 1 {
		return errors.New("which kanban-run?")
	}
	program, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "picture")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	demo := exec.Command(program, "demo")
	demo.Env = append(os.Environ(), "TMPDIR="+dir)
	if out, err := demo.CombinedOutput(); err != nil {
		return fmt.Errorf("play the night: %w\n%s", err, out)
	}
	night, err := filepath.Glob(filepath.Join(dir, "kanban-run-demo-*"))
	if err != nil || len(night) != 1 {
		return fmt.Errorf("the night is in %d folders", len(night))
	}
	var lines []string
	for _, command := range shown {
		lines = append(lines, "$ "+command)
		said, err := run(program, night[0], strings.Fields(command)[1:])
		if err != nil {
			return err
		}
		lines = append(lines, said...)
	}
	return os.WriteFile("docs/run.svg", picture(lines), 0o644)
}

// run returns what the program prints on a terminal of that width, without colours, in lines. Exit status 3
// says only that something waits for a person.
func run(program, dir string, args []string) ([]string, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: columns, Rows: 50})
	if err != nil {
		return nil, err
	}
	defer terminal.Close()
	out, err := io.ReadAll(terminal)
	if err != nil && !errors.Is(err, syscall.EIO) { // the end of a terminal
		return nil, err
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 3 {
		return nil, fmt.Errorf("kanban-run %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	text := strings.ReplaceAll(string(out), "\r\n", "\n")
	return strings.Split(strings.TrimRight(text, "\n"), "\n"), nil
}

// picture returns an SVG image of the lines, in light or dark colours as the reader's browser
// prefers.
func picture(lines []string) []byte {
	var b bytes.Buffer
	width, height := 2*margin+columns*charWidth/10, 2*margin+lineHeight*len(lines)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="The morning after a night of five boards: where they stand, and what waits for you">
<style>
.ground { fill: #fcfcfa; stroke: #dddfda } text { fill: #1a1c1e; font: 13px ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; white-space: pre }
.typed { font-weight: 600 } .good { fill: #1d6b36 } .bad { fill: #a3261b } .warn { fill: #7a5200 }
@media (prefers-color-scheme: dark) { .ground { fill: #131517; stroke: #2f3337 } text { fill: #e4e5e6 } .good { fill: #72c48b } .bad { fill: #f28b82 } .warn { fill: #e0b45c } }
</style>
<rect class="ground" x=".5" y=".5" width="%[3]d" height="%[4]d" rx="6"/>
`, width, height, width-1, height-1)
	for i, line := range lines {
		class := ""
		switch {
		case strings.HasPrefix(line, "$ "):
			class = "typed"
		case strings.HasPrefix(line, "✓"):
			class = "good"
		case strings.HasPrefix(line, "✗"):
			class = "bad"
		case strings.HasPrefix(line, "!"):
			class = "warn"
		}
		fmt.Fprintf(&b, `<text class="%s" x="%d" y="%d" xml:space="preserve">`, class, margin, margin+lineHeight*i+13)
		_ = xml.EscapeText(&b, []byte(line)) // a write to memory cannot fail
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

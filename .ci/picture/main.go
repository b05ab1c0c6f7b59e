// Command picture draws docs/run.svg: the output of kanban-run for the batch example, on a terminal
// of 96 columns.
//
//	go run ./.ci/picture bin/kanban-run
package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	columns    = 96
	lineHeight = 18
	charWidth  = 78 // tenths of a pixel
	margin     = 16
)

// shown holds the commands that the picture shows. They run in the example's folder.
var shown = []string{"kanban-run --jobs 2 letters.yaml recipes.yaml", "kanban-run status recipes.yaml"}

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
	if err := os.CopyFS(dir, os.DirFS("examples/batch")); err != nil {
		return err
	}
	var lines []string
	for _, command := range shown {
		lines = append(lines, "$ "+command)
		said, err := run(program, dir, strings.Fields(command)[1:])
		if err != nil {
			return err
		}
		lines = append(lines, said...)
	}
	return os.WriteFile("docs/run.svg", picture(lines), 0o644)
}

// run returns the output of the program in lines that fit into the picture. An exit status other
// than 0 is an error.
func run(program, dir string, args []string) ([]string, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("kanban-run %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(strings.ReplaceAll(string(out), dir, "~/batch"), "\n"), "\n") {
		if runes := []rune(line); len(runes) > columns {
			line = string(runes[:columns-1]) + "…"
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// picture returns an SVG image of the lines, in light or dark colours as the reader's browser
// prefers.
func picture(lines []string) []byte {
	var b bytes.Buffer
	width, height := 2*margin+columns*charWidth/10, 2*margin+lineHeight*len(lines)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="kanban-run runs two boards side by side, and says where one stands">
<style>
.ground { fill: #fcfcfa; stroke: #dddfda } text { fill: #1a1c1e; font: 13px ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; white-space: pre }
.typed { font-weight: 600 } .good { fill: #1d6b36 } .soft { fill: #565b60 }
@media (prefers-color-scheme: dark) { .ground { fill: #131517; stroke: #2f3337 } text { fill: #e4e5e6 } .good { fill: #72c48b } .soft { fill: #a3a9af } }
</style>
<rect class="ground" x=".5" y=".5" width="%[3]d" height="%[4]d" rx="6"/>
`, width, height, width-1, height-1)
	for i, line := range lines {
		class := ""
		switch {
		case strings.HasPrefix(line, "$ "):
			class = "typed"
		case strings.Contains(line, "complete") || strings.Contains(line, "✓"):
			class = "good"
		case strings.Contains(line, " started"):
			class = "soft"
		}
		fmt.Fprintf(&b, `<text class="%s" x="%d" y="%d" xml:space="preserve">`, class, margin, margin+lineHeight*i+13)
		_ = xml.EscapeText(&b, []byte(line)) // a write to memory cannot fail
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

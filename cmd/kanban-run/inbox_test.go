//go:build linux

package main

import (
	"bufio"
	"io"
	"os"
	"strings"
	"testing"
)

// TestWrappedText: on a terminal of 80 columns a text is broken between words, and stands below itself;
// where its head leaves no room it stands below the head. In a pipe it is one line.
func TestWrappedText(t *testing.T) {
	const text = "makes tasks/billing-2-parser.md current again; the next run goes on with it"
	head, long := "  kanban-run ack boards/billing.yaml retry   ", "  kanban-run ack "+strings.Repeat("b/", 20)+"billing.yaml retry  "
	out, drawn := io.Pipe()
	_, screen := openTerminalTo(t, drawn)
	file, err := os.Create(t.TempDir() + "/out")
	must(t, err)
	defer file.Close()
	lines := bufio.NewScanner(out)
	for _, tt := range []struct {
		to   *os.File
		head string
		want []string
	}{
		{screen, head, []string{
			head + "makes tasks/billing-2-parser.md",
			strings.Repeat(" ", len(head)) + "current again; the next run goes on",
			strings.Repeat(" ", len(head)) + "with it",
		}},
		{screen, long, []string{strings.TrimRight(long, " "), "    " + text}},
		{file, head, []string{head + text}},
	} {
		must(t, newTerminal(nil, tt.to, tt.to).printWrapped(tt.head, text))
		if tt.to == file {
			got, err := os.ReadFile(file.Name())
			must(t, err)
			lines = bufio.NewScanner(strings.NewReader(string(got)))
		}
		for _, want := range tt.want {
			if lines.Scan(); strings.TrimRight(lines.Text(), "\r") != want {
				t.Errorf("the line is %q, want %q", lines.Text(), want)
			}
		}
	}
}

package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"kanban-run/docs"
)

// TestWrapPage: paragraphs, lists and tables fit the terminal, and code stays as it is.
func TestWrapPage(t *testing.T) {
	page := "# Title\n\nOne two three\nfour five.\n\n- an item of\n  a list here\n- next\n\n| a | b |\n|---|---|\n| x \\| y | a cell of words and more |\n\n```\n  a line of code that is long\n```\n"
	want := "# Title\n\nOne two three four\nfive.\n\n- an item of a\n  list here\n- next\n\na\n  b\n\nx | y\n  a cell of words\n    and more\n\n\n```\n  a line of code that is long\n```\n"
	if got := wrapPage(page, 20); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for _, topic := range docs.Topics() {
		text, err := docs.Page(topic)
		if err != nil {
			t.Fatal(err)
		}
		isCode := false
		for line := range strings.Lines(wrapPage(text, 80)) {
			line = strings.TrimRight(line, "\n")
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				isCode = !isCode
			}
			if words := strings.Fields(line); !isCode && !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "#") && len(words) > 1 &&
				utf8.RuneCountInString(line) > 80 && utf8.RuneCountInString(words[0]) < 70 {
				t.Errorf("%s: a line of %d columns: %s", topic, utf8.RuneCountInString(line), line)
			}
		}
	}
}

// Package docs has the pages of the documentation, which `kanban-run docs` prints.
package docs

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed *.md
var pages embed.FS

// order is the order in which a newcomer reads; topics that it lacks come behind.
var order = []string{"getting-started", "boards", "roles", "agents", "writing-an-agent", "review", "watching", "checkpoints", "limits", "overnight", "running", "playbooks", "github-actions", "beyond-one-machine",
	"reference", "troubleshooting", "security", "performance", "architecture", "development"}

// Topics are the names of the pages.
func Topics() []string {
	entries, err := pages.ReadDir(".")
	if err != nil {
		panic(err) // they are part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".md"))
	}
	place := func(name string) int {
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	return names
}

// Page is the text of a page, in Markdown. Errors: there is no such topic.
func Page(topic string) (string, error) {
	text, err := pages.ReadFile(topic + ".md")
	if err != nil {
		return "", fmt.Errorf("there is no topic %s", topic)
	}
	return string(text), nil
}

// Title is the heading of a page.
func Title(topic string) string {
	text, _ := Page(topic) // an unknown one has none
	head, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
	return head
}

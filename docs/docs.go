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

// forDevelopers are the pages for people that work on kanban-run itself. They are no topics.
var forDevelopers = []string{"architecture", "development", "performance"}

// order is the order in which a newcomer reads the topics. A topic that is not in it comes last.
var order = []string{"getting-started", "glossary", "running", "boards", "roles", "agents", "recipes", "writing-an-agent", "review", "watching",
	"checkpoints", "limits", "overnight", "playbooks", "github-actions", "ci", "beyond-one-machine", "reference", "troubleshooting", "security"}

// Topics returns the names of the pages, in the order in which a newcomer reads them.
func Topics() []string {
	entries, err := pages.ReadDir(".")
	if err != nil {
		panic(err) // cannot happen: the pages are part of the program
	}
	var names []string
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".md"); !slices.Contains(forDevelopers, name) {
			names = append(names, name)
		}
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

// Page returns the text of a page, in Markdown. It returns an error if there is no such topic.
func Page(topic string) (string, error) {
	text, err := pages.ReadFile(topic + ".md")
	if err != nil || slices.Contains(forDevelopers, topic) {
		return "", fmt.Errorf("there is no topic %s", topic)
	}
	return string(text), nil
}

// Title returns the heading of a page, or "" if there is no such topic.
func Title(topic string) string {
	text, _ := Page(topic) // an unknown topic has the text ""
	head, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
	return head
}

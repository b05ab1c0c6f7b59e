package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedCommands: every command and every flag of kanban-run that a page names is there.
func TestDocumentedCommands(t *testing.T) {
	flags := map[string]map[string]bool{}
	for _, c := range commands() {
		flags[c.name] = map[string]bool{}
		for _, name := range strings.Fields(flagNames(c)) {
			flags[c.name][name] = true
		}
	}
	code := regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]+`|^    .*$")
	call := regexp.MustCompile(`(?m)\bkanban-run( [^#|;&>\n` + "`" + `)]*)`)
	flag := regexp.MustCompile(`(?:^|\s|\[)(--[a-z][a-z-]*)`)
	seen := 0
	for name, text := range documentsForUsers(t) {
		for _, piece := range code.FindAllString(text, -1) {
			for _, m := range call.FindAllStringSubmatch(piece, -1) {
				words := strings.Fields(m[1])
				command := "run"
				if len(words) > 0 && flags[words[0]] != nil {
					command = words[0]
				}
				for _, f := range flag.FindAllStringSubmatch(m[1], -1) {
					if seen++; !flags[command][f[1]] {
						t.Errorf("%s: kanban-run%s: %s has no flag %s", filepath.Base(name), m[1], command, f[1])
					}
				}
			}
		}
	}
	if seen < 15 {
		t.Errorf("only %d flags were found", seen)
	}
}

// documentsForUsers returns the texts of the pages, the README and those of the examples, by their paths.
func documentsForUsers(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"../../docs/*.md", "../../README.md", "../../examples/*/README.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = string(text)
		}
	}
	return all
}

package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kanban-run/docs"
)

// pages are all documents for people, by their path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"../docs/*.md", "../*.md", "../examples/*.md", "../examples/*/README.md"} {
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

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
)

// anchors are those of the headings of a page, as GitHub makes them.
func anchors(text string) (all []string) {
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		kept := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r > 127:
				return r
			}
			return -1
		}, strings.ToLower(m[1]))
		all = append(all, kept)
	}
	return all
}

// TestLinks: every link leads to a file of the repository, and to a heading that is there.
func TestLinks(t *testing.T) {
	all := pages(t)
	for name, text := range all {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			target := name
			if path != "" {
				target = filepath.Join(filepath.Dir(name), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s leads nowhere", name, m[1])
			}
			if anchor != "" && !slices.Contains(anchors(all[target]), anchor) {
				t.Errorf("%s: %s has no heading #%s", name, path, anchor)
			}
		}
	}
}

// TestReadme: the README is short, and names every page.
func TestReadme(t *testing.T) {
	text := pages(t)["../README.md"]
	if n := strings.Count(text, "\n"); n > 110 {
		t.Errorf("the README has %d lines", n)
	}
	for _, topic := range docs.Topics() {
		if !strings.Contains(text, "(docs/"+topic+".md)") {
			t.Errorf("the README does not name %s", topic)
		}
		if docs.Title(topic) == "" || strings.HasPrefix(docs.Title(topic), "#") {
			t.Errorf("%s has the title %q", topic, docs.Title(topic))
		}
	}
	if _, err := docs.Page("../SECURITY"); err == nil {
		t.Error("a file that is no page was read")
	}
}

// TestTiers: the table of the tiers names what the Makefile, .ci/run and the nightly workflow play.
func TestTiers(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	one := func(name, pattern string) []string {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(read(name))
		if m == nil {
			t.Fatalf("%s has no %s", name, pattern)
		}
		return strings.Fields(m[1])
	}
	same := func(what string, got, want []string) {
		t.Helper()
		got, want = slices.Compact(slices.Sorted(slices.Values(got))), slices.Compact(slices.Sorted(slices.Values(want)))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	checks := one("../Makefile", `(?m)^check: (.*?) ##`)
	soak := one("../Makefile", `(?m)^SOAK := (.*)$`)
	var tools []string
	for _, m := range regexp.MustCompile(`\{"(test-[a-z]+)", `).FindAllStringSubmatch(read("../.ci/choose/stages.go"), -1) {
		tools = append(tools, m[1])
	}
	var nightly, change, night []string
	for _, m := range regexp.MustCompile(`(?m)^ {10}- ([a-z-]+)$`).FindAllStringSubmatch(read("../.github/workflows/soak.yml"), -1) {
		nightly = append(nightly, m[1])
	}
	target := regexp.MustCompile("`([a-z]+(?:-[a-z]+)*)`")
	for line := range strings.Lines(read("development.md")) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.Contains(line, ".ci/run") || strings.HasPrefix(cells[1], " macOS") {
			continue
		}
		for _, m := range target.FindAllStringSubmatch(cells[3], -1) {
			change = append(change, m[1])
		}
		for _, m := range target.FindAllStringSubmatch(cells[4], -1) {
			night = append(night, m[1])
		}
	}
	same("the stages of .ci/run are those of make check", one("../.ci/run", `(?m)^printf '%s\\n' (.*) \|`), append([]string{"$tools"}, checks...))
	same("the table has for each change", change, append(slices.Clone(tools), checks...))
	same("the table has for each night", night, soak)
	same("the workflow plays", nightly, soak)
	for _, name := range append(append(slices.Clone(checks), tools...), soak...) {
		one("../Makefile", `(?m)^`+name+`:(.*)`)
	}
	// The numbers of the table, and that all of this is started at all.
	for name, patterns := range map[string][]string{
		"../.ci/run": {`(?m)^(make test)$`, `(?m)^  xargs -P 2 -L 1 (.ci/stage) `},
		"../Makefile": {`(for target in \$\(SOAK\); do .ci/stage \$\$target ROUNDS=20 TIMES=20)`, `(?m)^KILLS \?= (10000)$`, `(?m)^FUZZTIME \?= (100000x)$`,
			`(?m)^\t(.ci/fuzz 300x 3000x) `, `(KANBAN_TEST_EXHAUSTIVE=1 \$\(GO_TEST\) -run '\$\(EXHAUSTIVE\)')`, `(KANBAN_TEST_EXHAUSTIVE=1 \$\(GO_TEST\) \$\(SAMPLED\))`},
		"../.github/workflows/soak.yml": {`(?m)^  (schedule):\n    - cron: `, `(.ci/stage "\$TARGET" ROUNDS=20 TIMES=20)`, `macos-latest(?s:.*)run: (make race-all)`},
	} {
		for _, pattern := range patterns {
			one(name, pattern)
		}
	}
}

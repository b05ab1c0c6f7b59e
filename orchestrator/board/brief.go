package board

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/frontmatter"
)

// Brief holds what package watch reads in a task file: evidence for the reboot test of seed 000,
// and settings of the watch that differ for this task.
type Brief struct {
	HasText  bool                // the file has a text after its frontmatter
	Missing  []string            // files that the field "inputs" names but that do not exist
	Expected time.Duration       // planned duration of the work; 0 if it is not stated
	Watch    []frontmatter.Value // settings in the field "watch", which differ for this task
}

// ReadBrief reads the brief of a task. It ignores an unreadable file. It also ignores an unreadable
// field, because another program can use a field of the same name in its own way.
func (p *Place) ReadBrief(name string) (b Brief) {
	text, err := p.ReadText(name)
	if err != nil {
		return b
	}
	doc, err := frontmatter.Split(name, []byte(text))
	if err != nil {
		return b
	}
	b.HasText = strings.TrimSpace(text[doc.Body:]) != ""
	if doc, err = taskDocument(name, []byte(text), false); err != nil {
		return b
	}
	b.Expected = readTime(firstText(doc, "expected"))
	_, watch := doc.Field("watch")
	b.Watch = doc.Flatten(watch)
	_, inputs := doc.Field("inputs")
	for _, input := range texts(inputs) {
		if isPlainPath(input) && !p.exists(input) {
			b.Missing = append(b.Missing, input)
		}
	}
	return b
}

// BriefProblems returns the problems in the fields "expected", "inputs" and "files" of a task. A
// run ignores a value with a problem. A missing input is a warning, because an earlier task may
// make it.
func (p *Place) BriefProblems(name string) (found []*frontmatter.Problem) {
	text, err := p.ReadText(name)
	if err != nil {
		return nil
	}
	doc, err := taskDocument(name, []byte(text), false)
	if err != nil {
		return nil // ReadTask reports this error
	}
	add := func(node *yaml.Node, text, fix string) *frontmatter.Problem {
		found = append(found, doc.Problem(node, text, fix))
		return found[len(found)-1]
	}
	if _, node := doc.Field("expected"); node != nil && node.Tag != "!!null" && readTime(scalarText(node)) == 0 {
		add(node, fmt.Sprintf("expected is %q, which is no time", scalarText(node)), "write for example expected: 20m")
	}
	_, inputs := doc.Field("inputs")
	if !isTexts(inputs) {
		add(inputs, "inputs is no list of paths", "write for example inputs: [docs/plan.md]")
	}
	for _, input := range texts(inputs) {
		if isPlainPath(input) && !p.exists(input) {
			add(inputs, "inputs names "+input+", which does not exist", "correct the path, or take it off").Warning = true
		}
	}
	_, files := doc.Field("files")
	if !isTexts(files) {
		add(files, "files is no list of patterns", "write for example files: [src/, docs/*.md]")
	}
	for _, pattern := range texts(files) {
		if _, err := path.Match(pattern, ""); err != nil {
			add(files, fmt.Sprintf("files has %q, which is no pattern", pattern), "close its bracket")
		}
		if clean := path.Clean(pattern); path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
			add(files, fmt.Sprintf("files has %q, which is no path from the work directory", pattern), "write a path from it, such as src/")
		}
	}
	return found
}

// readTime reads a time such as 20m, 1h30m, 20min, 2 hours or 1 day. It returns 0 for any other
// text.
func readTime(text string) time.Duration {
	units := [][2]string{
		{"hours", "h"}, {"hour", "h"}, {"hrs", "h"}, {"hr", "h"},
		{"minutes", "m"}, {"minute", "m"}, {"mins", "m"}, {"min", "m"},
		{"seconds", "s"}, {"second", "s"}, {"secs", "s"}, {"sec", "s"},
	}
	text = strings.ToLower(strings.ReplaceAll(text, " ", ""))
	for _, unit := range []string{"days", "day", "d"} {
		if number, found := strings.CutSuffix(text, unit); found {
			n, _ := strconv.ParseUint(number, 10, 16)
			return time.Duration(n) * 24 * time.Hour
		}
	}
	for _, unit := range units {
		text = strings.ReplaceAll(text, unit[0], unit[1])
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0
	}
	return d
}

// isPlainPath reports whether a text is a path below the work directory, and not a pattern, an
// address or a description.
func isPlainPath(text string) bool {
	return !strings.ContainsAny(text, "*?[]{}#,: ") && !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "..")
}

// texts returns the texts of a list, or the single text of a scalar.
func texts(node *yaml.Node) (all []string) {
	if node == nil {
		return nil
	}
	if text := scalarText(node); text != "" {
		return []string{text}
	}
	if node.Kind == yaml.SequenceNode {
		for _, item := range node.Content {
			if text := scalarText(item); text != "" {
				all = append(all, text)
			}
		}
	}
	return all
}

// isTexts reports whether a node is a text, a list of texts, or empty.
func isTexts(node *yaml.Node) bool {
	isText := func(n *yaml.Node) bool { return scalarText(n) != "" }
	switch {
	case node == nil, node.Tag == "!!null", isText(node):
		return true
	default:
		return node.Kind == yaml.SequenceNode && !slices.ContainsFunc(node.Content, func(n *yaml.Node) bool { return !isText(n) })
	}
}

// exists reports whether a path below the work directory names a file of any kind. It also returns
// true if the work directory cannot be opened.
func (p *Place) exists(path string) bool {
	r, err := p.openWorkdir()
	if err != nil {
		return true // absence is not proven
	}
	defer r.Close()
	_, err = r.stat(path)
	return err == nil
}

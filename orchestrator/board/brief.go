package board

import (
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/frontmatter"
)

// Brief is what a task gives its agent to work with: what seed 000's reboot test asks of a task.
type Brief struct {
	HasText  bool                // the file has a line beyond its frontmatter
	Missing  []string            // files that inputs names and that are not there
	Expected time.Duration       // how long the work may take; 0: the task does not say
	Watch    []frontmatter.Value // how its agent is watched, in place of the settings
}

// ReadBrief reads the brief of a task. What cannot be read says nothing: other programs have
// fields of these names, too.
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
	for _, path := range texts(inputs) {
		if isPlainPath(path) && !p.exists(path) {
			b.Missing = append(b.Missing, path)
		}
	}
	return b
}

// readTime reads 20m, 1h30m, 20min or 2 hours; what is none is 0.
func readTime(text string) time.Duration {
	text = strings.ReplaceAll(text, " ", "")
	for _, unit := range [][2]string{{"hours", "h"}, {"hour", "h"}, {"minutes", "m"}, {"minute", "m"}, {"mins", "m"}, {"min", "m"}} {
		text = strings.ReplaceAll(text, unit[0], unit[1])
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0
	}
	return d
}

// isPlainPath says whether a text is a path below the work directory, and no
// pattern, address or description.
func isPlainPath(text string) bool {
	return !strings.ContainsAny(text, "*?[]{}#,: ") && !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "..")
}

// texts are the texts of a list, or the one text in its place.
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

// exists says whether a path below the work directory names something.
func (p *Place) exists(path string) bool {
	r, err := p.openWorkdir()
	if err != nil {
		return true // nothing says that it does not
	}
	defer r.Close()
	_, err = r.stat(path)
	return err == nil
}

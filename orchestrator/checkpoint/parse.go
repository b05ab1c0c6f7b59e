// Package checkpoint reads the declaration of a board's checkpoints, at which a resident supervisor
// looks at the work. A board or the settings can have such a declaration.
package checkpoint

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/frontmatter"
)

// DefaultRole is the supervisor's role if the declaration names no role.
const DefaultRole = "Supervisor"

// field is the key of the declaration, both on a board and in the settings.
const field = "checkpoints"

// maxID is the greatest length in bytes of a checkpoint's identifier, which many messages contain.
const maxID = 64

// Parse reads the value of the field "checkpoints". If the value turns off supervision, the second
// result is true. Such a value on a board turns off even the supervision that the settings declare.
// Errors: *frontmatter.Problem for the first fault.
func Parse(doc *frontmatter.Document, node *yaml.Node) (s *event.Supervision, off bool, err error) {
	switch {
	case isOff(node):
		return nil, true, nil
	case node.Kind != yaml.MappingNode:
		return nil, false, doc.Problem(node, field+" must be a mapping, or off",
			"write checkpoints: {every: 3}, or checkpoints: off; rename the field where it means something else")
	}
	r := &reader{doc: doc, ids: map[string]int{}}
	s = &event.Supervision{Role: DefaultRole, OnBlock: event.BlockPerson}
	for key, value := range r.fields(node, field, []string{"role", "requirement", "every", "at", "on_block"}) {
		r.readField(s, key, value)
	}
	if s.Every == 0 && len(s.At) == 0 {
		const fix = "write every: 3 for one after every third finished task, at: for one after a certain task, " +
			"or checkpoints: off"
		r.fail(node, fix, "it names no checkpoint")
	}
	if r.fault != nil {
		return nil, false, r.fault
	}
	return s, false, nil
}

// Tasks iterates over the paths of tasks in s, each with the node that has this path. The argument
// node is the value from which Parse made s.
func Tasks(s *event.Supervision, node *yaml.Node) iter.Seq2[*string, *yaml.Node] {
	return func(yield func(*string, *yaml.Node) bool) {
		entries := find(node, "at")
		for i := range s.At {
			at, entry := &s.At[i], entries.Content[i]
			if !yield(&at.After, find(entry, "after")) {
				return
			}
			for j := range at.Scope {
				if !yield(&at.Scope[j], find(entry, "scope").Content[j]) {
					return
				}
			}
		}
	}
}

// find returns the value of a key of a mapping, or nil.
func find(node *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i+1]
		}
	}
	return nil
}

// isOff reports whether a value is null, false or off. In YAML 1.1, off means false.
func isOff(n *yaml.Node) bool {
	word := strings.ToLower(n.Value)
	return n.Kind == yaml.ScalarNode && (n.Tag == "!!null" || word == "off" || word == "false")
}

// reader reads a declaration and keeps its first fault.
type reader struct {
	doc   *frontmatter.Document
	ids   map[string]int // number of the first line that has the identifier
	fault *frontmatter.Problem
}

func (r *reader) fail(n *yaml.Node, fix, format string, args ...any) {
	if r.fault == nil {
		r.fault = r.doc.Problem(n, field+": "+fmt.Sprintf(format, args...), fix)
	}
}

// fields iterates over the keys of a mapping with their values. An unknown key is a fault. A key
// without a value counts as missing.
func (r *reader) fields(n *yaml.Node, name string, known []string) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			switch {
			case !slices.Contains(known, key.Value):
				r.fail(key, frontmatter.Suggest(key.Value, known, name+" has the keys "), "unknown key %q", key.Value)
			case value.Tag == "!!null":
			case !yield(key.Value, value):
				return
			}
		}
	}
}

func (r *reader) readField(s *event.Supervision, name string, value *yaml.Node) {
	switch name {
	case "role":
		s.Role = r.readText(value, name, "")
	case "requirement":
		s.Requirement = r.readText(value, name, "\n\r\t")
	case "every":
		s.Every = r.readEvery(value)
	case "at":
		s.At = r.readAt(value)
	case "on_block":
		s.OnBlock = r.readOnBlock(value)
	}
}

// readText reads a text. A blank text is a fault. A control character is a fault, too, unless it is
// in the parameter "allowed". A date counts as text.
func (r *reader) readText(n *yaml.Node, name, allowed string) string {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" && n.Tag != "!!timestamp" {
		r.fail(n, "write "+name+": TEXT; put the value in quotes when it looks like a number or a boolean",
			"%s must be text", name)
		return ""
	}
	if strings.TrimSpace(n.Value) == "" {
		r.fail(n, "write a value, or remove the line", "%s is empty", name)
	}
	for _, c := range n.Value {
		if unicode.IsControl(c) && !strings.ContainsRune(allowed, c) {
			r.fail(n, "remove the character", "%s holds the character %s", name, strconv.QuoteRuneToASCII(c))
		}
	}
	return n.Value
}

func (r *reader) readEvery(n *yaml.Node) (every int) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || n.Decode(&every) != nil || every < 1 {
		r.fail(n, "write for example every: 3, for a checkpoint after every third finished task and after the last",
			"every must be a whole number, 1 or more")
	}
	return every
}

func (r *reader) readOnBlock(n *yaml.Node) event.OnBlock {
	all := []event.OnBlock{event.BlockPerson, event.BlockRevise, event.BlockOverride, event.BlockAbort}
	if said := event.OnBlock(n.Value); n.Kind == yaml.ScalarNode && slices.Contains(all, said) {
		return said
	}
	r.fail(n, "write person (the run ends, and a person decides), revise (the Manager plans anew), "+
		"override (the run goes on) or abort (the board ends)", "on_block must be person, revise, override or abort")
	return ""
}

func (r *reader) readAt(n *yaml.Node) []event.CheckpointAt {
	const fix = "write at: and below it one - {id: CHECKPOINT-001, after: tasks/1.md} a line"
	if n.Kind != yaml.SequenceNode {
		r.fail(n, fix, "at must be a list")
		return nil
	}
	var all []event.CheckpointAt
	for _, entry := range n.Content {
		if entry.Kind != yaml.MappingNode {
			r.fail(entry, fix, "a checkpoint must be a mapping with id and after")
			return nil
		}
		all = append(all, r.readEntry(entry))
	}
	return all
}

func (r *reader) readEntry(n *yaml.Node) (at event.CheckpointAt) {
	for key, value := range r.fields(n, "a checkpoint", []string{"id", "after", "scope"}) {
		switch key {
		case "id":
			at.ID = r.readID(value)
		case "after":
			at.After = r.readText(value, key, "")
		case "scope":
			at.Scope = r.readScope(value)
		}
	}
	switch {
	case at.ID == "":
		r.fail(n, "write for example id: CHECKPOINT-001", "a checkpoint has no id")
	case at.After == "":
		r.fail(n, "write after: and the path of the task after which it comes",
			"the checkpoint %s does not say after which task it comes", at.ID)
	}
	return at
}

// readID reads an identifier, which becomes a part of messages and of file names.
func (r *reader) readID(n *yaml.Node) string {
	const fix = "write a letter or a digit, then letters, digits, dots, dashes and underscores: id: CHECKPOINT-001"
	id := r.readText(n, "id", "")
	switch {
	case len(id) > maxID:
		r.fail(n, "write a shorter one: id: CHECKPOINT-001", "the id is longer than %d characters", maxID)
	case !isID(id):
		r.fail(n, fix, "the id %s cannot be said everywhere", strconv.QuoteToASCII(id))
	}
	line, _ := r.doc.Position(n)
	if first, twice := r.ids[id]; twice {
		r.fail(n, "give each checkpoint an id of its own", "the id %s is already on line %d", id, first)
	}
	r.ids[id] = line
	return id
}

// isID reports whether a text matches ^[A-Za-z0-9][A-Za-z0-9._-]*$.
func isID(text string) bool {
	for i, c := range []byte(text) {
		isWord := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		if !isWord && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return text != ""
}

func (r *reader) readScope(n *yaml.Node) []string {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.fail(n, "write scope: [tasks/1.md, tasks/2.md], or remove it: "+
			"then it looks at the tasks finished since the last checkpoint", "scope must be a list of tasks")
		return nil
	}
	all := make([]string, len(n.Content))
	for i, task := range n.Content {
		all[i] = r.readText(task, "scope", "")
	}
	return all
}

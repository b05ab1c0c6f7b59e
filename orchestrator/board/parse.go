package board

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/frontmatter"
	"kanban-run/schema"
)

// maxWarnings bounds the warnings about one board, because a long board can cause one for each
// task. One more warning counts the rest.
const maxWarnings = 50

// Parse reads a board. The board is plain YAML if the file's name ends in .yaml or .yml, otherwise
// Markdown with frontmatter. The returned Board keeps the slice source, which must not change.
// Errors: *frontmatter.Problem for the first mistake. Parse never returns an empty board for an
// unreadable file.
func Parse(file string, source []byte) (*Board, error) {
	doc, err := readDocument(file, source)
	if err != nil {
		return nil, err
	}
	return interpret(doc)
}

// reparse parses the bytes of the edited board. Errors: *SpliceError.
func (b *Board) reparse(source []byte) (*Board, error) {
	after, err := Parse(b.File, source)
	if err != nil {
		return nil, &SpliceError{b.File, "the result would be unreadable: " + err.Error()}
	}
	return after, nil
}

func interpret(doc *frontmatter.Document) (*Board, error) {
	b := &Board{File: doc.File, Source: doc.Source, editor: editor{doc}}
	if err := b.validate(); err != nil {
		return nil, err
	}
	b.readPhase()
	if err := b.readCurrent(); err != nil {
		return nil, err
	}
	b.readEnded()
	if err := b.readTasks(); err != nil {
		return nil, err
	}
	if err := b.readCheckpoints(); err != nil {
		return nil, err
	}
	b.warnLookalikes()
	b.capWarnings()
	b.SHA = SHA(b.Source)
	return b, nil
}

func readDocument(file string, source []byte) (*frontmatter.Document, error) {
	if len(source) > maxBoard {
		return nil, &frontmatter.Problem{File: file, Text: "the board is larger than 2 MiB",
			Fix: "split it into several boards, or move what is not for the runner to another file"}
	}
	if isYAML(file) {
		return frontmatter.ParseYAML(file, source)
	}
	doc, err := frontmatter.Parse(file, source)
	if err == nil && doc.Root == nil {
		return nil, noBoard(file)
	}
	return doc, err
}

// IsOther reports whether a file is YAML of another kind than a board: it has fields, and none of them is,
// or is nearly, one of a board. A file that may be a spoiled board is none of another kind.
func IsOther(file string, source []byte) bool {
	if !isYAML(file) || len(source) > maxBoard {
		return false
	}
	doc, err := frontmatter.ParseYAML(file, source)
	if err != nil {
		return false
	}
	fields := 0
	for i := 0; i+1 < len(doc.Root.Content); i += 2 {
		key := strings.ReplaceAll(strings.ToLower(doc.Root.Content[i].Value), "-", "_")
		for _, name := range []string{"phase", "sub_phase", "current", "tasks", "checkpoints", "ended"} {
			if key == name || frontmatter.OneEditApart(key, name) {
				return false
			}
		}
		fields++
	}
	return fields > 0
}

func noBoard(file string) error {
	return &frontmatter.Problem{File: file, Line: 1, Text: "this is no board: it does not begin with frontmatter",
		Fix: "begin with --- on a line, then phase:, current: and tasks:, then --- again"}
}

// isBoardField reports whether name is a field that authors write and that has a meaning on a
// board. It returns false for "ended", because the runner writes that field.
func isBoardField(name string) bool {
	return slices.Contains([]string{"phase", "sub_phase", "current", "tasks", "checkpoints"}, name)
}

// validate checks the board's own fields by the schema. It leaves out the field "checkpoints" and
// the entries of the list, because a list can be long and the schema takes microseconds for each
// entry. readTasks and package checkpoint check these parts by the same rules, and tests compare
// the results.
func (b *Board) validate() error {
	envelope := map[string]any{}
	for i := 0; i+1 < len(b.doc.Root.Content); i += 2 {
		if name := b.doc.Root.Content[i].Value; isBoardField(name) && name != "checkpoints" {
			envelope[name] = schemaValue(b.doc.Root.Content[i+1])
		}
	}
	violations, err := schema.Validate("kanban", envelope)
	if err != nil {
		return fmt.Errorf("validate board %s: %w", b.File, err)
	}
	if len(violations) == 0 {
		return nil
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(violations[0].Path, "/"), "/")
	_, value := b.doc.Field(name)
	fix := "kanban-run schema kanban prints what a board may hold"
	if value != nil && value.Kind == yaml.ScalarNode && name != "tasks" &&
		value.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 {
		fix = "put the value in quotes when it is text"
	}
	if value != nil && value.Kind == yaml.ScalarNode && name == "tasks" {
		fix = "write it as a list: tasks: [" + value.Value + "]"
	}
	return b.doc.Problem(value, violations[0].String(), fix)
}

// schemaValue converts a node into a value for the schema. Scalars keep their values, lists and
// maps become empty. A date becomes text, because its author means text.
func schemaValue(n *yaml.Node) any {
	switch n.Kind {
	case yaml.SequenceNode:
		return []any{}
	case yaml.MappingNode:
		return map[string]any{}
	}
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		var number any
		if err := n.Decode(&number); err == nil {
			return number
		}
	}
	return n.Value
}

func (b *Board) readPhase() {
	_, phase := b.doc.Field("phase")
	_, sub := b.doc.Field("sub_phase")
	b.Phase, b.SubPhase = scalarText(phase), scalarText(sub)
}

// scalarText returns the value of a scalar. It returns "" for null, a list, a map or a nil node.
func scalarText(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

func (b *Board) readCurrent() error {
	_, n := b.doc.Field("current")
	if n == nil {
		return nil
	}
	b.Current.Set = true
	b.Current.Line, b.Current.Column = b.doc.Position(n)
	if n.Tag == "!!null" {
		b.Current.Null = true
		if n.Value == "" {
			b.warn(n, "current is empty, which is read as null: the work is over",
				"write current: null, or the path of the task to work on")
		}
		return nil
	}
	if n.Style == 0 && isBoolean11(n.Value) {
		return b.doc.Problem(n, "current: "+n.Value+" is a yes or no to other readers of YAML",
			"write null when the work is over, or put a path in quotes")
	}
	if err := b.checkPath(n, "current"); err != nil {
		return err
	}
	path, state := splitState(n.Value)
	if state != "" {
		b.warn(n, fmt.Sprintf("current has the suffix [%s], which is not part of the path", state), "remove it")
	}
	b.Current.Path = path
	return nil
}

// readEnded reads the field "ended". The runner sets this field to the Manager's status if the
// status is not "ok", and to "incomplete" if the Manager ended the board with tasks undone. Any
// other value is the author's and gets a warning.
func (b *Board) readEnded() {
	_, n := b.doc.Field("ended")
	if n == nil {
		return
	}
	if word := scalarText(n); slices.Contains([]string{"blocked", "error", "escalate", "incomplete"}, word) {
		b.Ended = word
		return
	}
	b.warn(n, "ended is none of blocked, error, escalate and incomplete, so it says nothing here and stays as it is",
		"rename the field: with it the board cannot say how the Manager ended it")
}

// isBoolean11 reports whether a word is a boolean in YAML 1.1 and text in YAML 1.2.
func isBoolean11(word string) bool {
	return slices.Contains([]string{"y", "n", "yes", "no", "on", "off"}, fold(word))
}

func (b *Board) readEntry(n *yaml.Node, e *Entry) (err error) {
	e.Line, _ = b.doc.Position(n)
	switch {
	case n.Kind == yaml.MappingNode:
		return b.readEntryMap(n, e)
	case !isText(n):
		return b.doc.Problem(n, "a task must be a path, or a map with file",
			"write - PATH; put a path in quotes when it looks like a number")
	}
	e.Path, e.State = splitState(n.Value)
	return b.checkPath(n, "tasks")
}

func (b *Board) readEntryMap(n *yaml.Node, e *Entry) error {
	var status string
	for i := 0; i+1 < len(n.Content); i += 2 {
		value, key := n.Content[i+1], n.Content[i].Value
		if err := b.checkEntryField(key, value); err != nil {
			return err
		}
		switch key {
		case "file":
			e.Path = value.Value
		case "state":
			e.State = scalarText(value)
		case "status":
			status = scalarText(value)
		case "assignee":
			e.Assignee = scalarText(value)
		}
	}
	if e.Path == "" {
		return b.doc.Problem(n, "a task that is a map needs file",
			"write - file: PATH; put a path in quotes when it holds a colon and a space")
	}
	if status != "" && e.State != "" && fold(status) != fold(e.State) {
		b.warn(n, fmt.Sprintf("state %s and status %s differ; state counts", e.State, status), "remove one of the two")
	}
	if e.State == "" {
		e.State = status
	}
	return nil
}

func (b *Board) checkEntryField(key string, value *yaml.Node) error {
	switch key {
	case "file":
		if isText(value) {
			return b.checkPath(value, "tasks: file")
		}
	case "state", "status", "assignee":
		if isText(value) || value.Tag == "!!null" {
			return nil
		}
	default:
		return nil
	}
	return b.doc.Problem(value, "tasks: "+key+" must be text", "put the value in quotes")
}

// isText reports whether a node is text. A date counts as text, because its author means text.
func isText(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.Tag == "!!str" || n.Tag == "!!timestamp")
}

// checkPath returns a problem for an empty path, and for a path that a terminal or a log cannot
// show.
func (b *Board) checkPath(n *yaml.Node, field string) error {
	if text := pathFault(n.Value); text != "" {
		return b.doc.Problem(n, field+": "+text, "write the path of a file, or null for no task")
	}
	return nil
}

// pathFault returns in words why a path is not allowed on a board: the path is empty or has a
// forbidden character. It returns "" for a good path.
func pathFault(path string) string {
	if strings.TrimSpace(path) == "" {
		return "the path is empty"
	}
	for _, r := range path {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar {
			return "the path holds the character " + strconv.QuoteRuneToASCII(r)
		}
	}
	return ""
}

// isState reports whether the text between two brackets is a state: a letter, then letters, spaces,
// _ and -.
func isState(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (i == 0 || s[i] != ' ' && s[i] != '_' && s[i] != '-') {
			return false
		}
	}
	return s != ""
}

// splitState splits a path from a trailing state such as [done].
func splitState(s string) (path, state string) {
	if s == "" || s[len(s)-1] != ']' {
		return s, ""
	}
	open := strings.LastIndexByte(s, '[')
	if open < 2 || s[open-1] != ' ' && s[open-1] != '\t' || !isState(s[open+1:len(s)-1]) {
		return s, ""
	}
	path = strings.TrimRight(s[:open], " \t")
	if path == "" {
		return s, ""
	}
	return path, strings.TrimSpace(s[open+1 : len(s)-1])
}

func (b *Board) warn(n *yaml.Node, text, fix string) {
	p := b.doc.Problem(n, text, fix)
	p.Warning = true
	b.Warnings = append(b.Warnings, p)
}

// warnLookalikes warns of a field without a meaning if its name is almost the name of a board's
// field. The two names differ only in case, or in a - in place of a _.
func (b *Board) warnLookalikes() {
	for i := 0; i+1 < len(b.doc.Root.Content); i += 2 {
		key := b.doc.Root.Content[i]
		name := strings.ReplaceAll(strings.ToLower(key.Value), "-", "_")
		if name != key.Value && isBoardField(name) {
			b.warn(key, fmt.Sprintf("the field %s is not %s and has no meaning here", key.Value, name),
				"write "+name+":")
		}
	}
}

func (b *Board) capWarnings() {
	if more := len(b.Warnings) - maxWarnings; more > 0 {
		b.Warnings = append(b.Warnings[:maxWarnings:maxWarnings],
			&frontmatter.Problem{File: b.File, Text: fmt.Sprintf("%d more warnings", more), Warning: true})
	}
}

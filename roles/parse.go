package roles

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/frontmatter"
	"kanban-run/orchestrator/option"
)

// foreignKeys look like misspelt keys of a role file, but are correct keys in the agent files of
// other tools.
var foreignKeys = [...]string{"mode", "agents", "maxTurns"}

var (
	toolName   = option.Pattern(`^[A-Za-z][A-Za-z0-9_-]*(\([^()]*\))?$`)
	plainWords = option.Pattern(`^[\pL\pN_./:=@%+,~ -]*$`)
)

// fields reads the frontmatter of one role file.
type fields struct{ option.Reader }

func parse(file string, source []byte) (Role, error) {
	doc, err := readDocument(file, source)
	if err != nil {
		return Role{}, err
	}
	if doc.Root == nil {
		return Role{}, &frontmatter.Problem{File: file, Line: 1, Column: 1,
			Text: "a role file begins with frontmatter, and this one has none",
			Fix:  "begin it with three lines: ---, name: NAME, ---"}
	}
	f := &fields{option.Reader{Doc: doc}}
	f.refuseMisspelt()
	role := Role{Prompt: f.readPrompt(source[doc.Body:]), File: file, source: source}
	for _, of := range options() {
		f.readOption(&role, of)
	}
	role.Name, role.Agent = f.readName(file), strings.ToLower(role.Agent)
	if role.Model == "inherit" { // of a sub-agent's caller; a role has none, so it gets the adapter's default
		role.Model = ""
	}
	return role, f.Err
}

// options returns the fields of Role that a key of the file sets.
func options() []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[Role]()),
		func(f reflect.StructField) bool { return f.Tag.Get("name") == "" })
}

// readOption sets a field to the value of its key, if the file has the key.
func (f *fields) readOption(r *Role, of reflect.StructField) {
	name := of.Tag.Get("name")
	value := f.lookUp(name)
	if also := of.Tag.Get("also"); value == nil && also != "" {
		name, value = also, f.lookUp(also)
	}
	if value == nil {
		return
	}
	switch field := reflect.ValueOf(r).Elem().FieldByIndex(of.Index); to := field.Addr().Interface().(type) {
	case *[]string:
		if of.Tag.Get("as") == "tools" {
			*to = f.readTools(value, name)
		} else {
			*to = f.words(value, name)
		}
	case *agent.Permission:
		*to = f.readPermission(value, name)
	case *option.Env:
		*to = f.Env(value)
	case *Review:
		*to = f.readReview(value)
	case *bool:
		f.readAccepts(r, value)
	case *[]frontmatter.Value:
		f.readWatch(r, value)
	default:
		var refused *option.Error
		if err := option.Set(field, of.Tag, f.readText(value, name)); errors.As(err, &refused) {
			f.Fail(value, refused.Fix, "%s: %s", name, refused.Text)
		}
	}
}

// Header returns the parsed file of a role, and the name of the role as a set has it. The document is
// nil for a file that is no role.
func Header(file string, source []byte) (doc *frontmatter.Document, name string) {
	base := filepath.Base(file)
	name = strings.TrimSuffix(base, filepath.Ext(base))
	doc, err := readDocument(file, source)
	if err != nil || doc.Root == nil {
		return nil, name
	}
	f := &fields{option.Reader{Doc: doc}}
	if read := strings.TrimSpace(f.readName(file)); f.Err == nil && read != "" {
		name = read
	}
	return doc, name
}

// readDocument parses a role file. It also accepts files of Claude Code, whose description may hold
// colons without quotes, although that is not YAML. If a file cannot be parsed, it quotes the
// description and parses the file again. If that fails, too, it returns the first error.
func readDocument(file string, source []byte) (*frontmatter.Document, error) {
	doc, err := frontmatter.Parse(file, source)
	if err == nil {
		return doc, nil
	}
	quoted, ok := quoteDescription(source)
	if !ok {
		return nil, err
	}
	second, secondErr := frontmatter.Parse(file, quoted)
	if secondErr != nil {
		return nil, err
	}
	// The added quotes have moved the start of the body, but not its distance from the end.
	second.Body += len(source) - len(quoted)
	return second, nil
}

var description = option.Pattern(`(?m)^description:[ \t]+([^\s'"|>\[{&*!%@#].*?)[ \t]*\r?$`)

func quoteDescription(source []byte) ([]byte, bool) {
	at := description().FindSubmatchIndex(source)
	if at == nil {
		return nil, false
	}
	value := bytes.ReplaceAll(source[at[2]:at[3]], []byte("'"), []byte("''"))
	return slices.Concat(source[:at[2]], []byte("'"), value, []byte("'"), source[at[3]:]), true
}

// readPrompt returns the prompt. A NUL character in the prompt is a problem, because no command
// line can hold a NUL character.
func (f *fields) readPrompt(body []byte) string {
	if bytes.IndexByte(body, 0) >= 0 && f.Err == nil {
		f.Err = &frontmatter.Problem{File: f.Doc.File, Text: "the prompt holds a NUL character",
			Fix: "remove it: a prompt is text"}
	}
	return trimPrompt(body)
}

func trimPrompt(body []byte) string {
	return strings.Trim(strings.ReplaceAll(string(body), "\r\n", "\n"), "\n")
}

// lookUp returns the value of a key, or nil if the key is absent or null.
func (f *fields) lookUp(name string) *yaml.Node {
	_, value := f.Doc.Field(name)
	if value == nil || value.Tag == "!!null" {
		return nil
	}
	return value
}

func (f *fields) readText(value *yaml.Node, name string) string {
	if value.Kind != yaml.ScalarNode {
		f.Fail(value, fmt.Sprintf("write %s: TEXT", name), "%s must be text", name)
	}
	return strings.TrimSpace(value.Value)
}

// readName returns the name of the role, by default the name of the file without its extension.
func (f *fields) readName(file string) string {
	value := f.lookUp("name")
	if value == nil {
		base := filepath.Base(strings.TrimPrefix(file, embeddedPrefix))
		return strings.TrimSuffix(base, filepath.Ext(base))
	}
	name := f.readText(value, "name")
	if f.Err == nil && (len(name) > 64 || !isRoleName(name)) {
		f.Fail(value, "use letters, digits, - and _", "%q is no role name", name)
	}
	return name
}

// isRoleName reports whether a name consists of words with one space between them. The words have
// letters and digits of all scripts, and the characters _, . and -. The first character of the name
// must be a letter or a digit.
func isRoleName(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return isLetter(first) && !slices.ContainsFunc(strings.Split(name, " "), func(word string) bool {
		return word == "" || strings.ContainsFunc(word,
			func(r rune) bool { return !isLetter(r) && !strings.ContainsRune("_.-", r) })
	})
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// words returns the words of a list, or of one line of plain words. A line with quotes or other
// characters of a shell is a problem, because no shell expands the line.
func (f *fields) words(value *yaml.Node, name string) []string {
	if value.Kind == yaml.SequenceNode {
		return f.List(value, name)
	}
	if value.Kind != yaml.ScalarNode {
		f.Fail(value, fmt.Sprintf("write it as a list: %s: [WORD, WORD]", name), "%s must be text or a list", name)
		return nil
	}
	line := strings.TrimSpace(value.Value)
	if !plainWords().MatchString(line) {
		f.Fail(value, fmt.Sprintf("write it as a list: %s: [WORD, WORD]", name),
			"%s has quotes or characters of the shell in it", name)
	}
	return strings.Fields(line)
}

// readTools returns the tools of a list, or of a text with commas between tools. It returns nil if
// the file has the line `tools: "*"`. A comma between parentheses, as in Bash(git log:*, git
// show:*), belongs to the tool.
func (f *fields) readTools(value *yaml.Node, name string) []string {
	var entries []string
	if value.Kind == yaml.SequenceNode {
		entries = f.List(value, name)
	} else {
		entries = []string{f.readText(value, name)}
	}
	tools := []string{}
	for _, entry := range entries {
		tools = append(tools, splitCommas(entry)...)
	}
	if name == "tools" && slices.Equal(tools, []string{"*"}) || name != "tools" && len(tools) == 0 {
		return nil
	}
	for _, tool := range tools {
		if !toolName().MatchString(tool) {
			f.Fail(value, "write names with commas in between, such as Read, Bash(git log:*)",
				"%s: %q is no name of a tool", name, tool)
		}
	}
	return tools
}

func splitCommas(text string) []string {
	depth, items := 0, []string{}
	parts := strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return r == ',' && depth <= 0
	})
	for _, part := range parts {
		if part = strings.TrimSpace(part); part != "" {
			items = append(items, part)
		}
	}
	return items
}

func (f *fields) readPermission(value *yaml.Node, name string) agent.Permission {
	said := f.readText(value, name)
	permission := agent.ParsePermission(said)
	if said != "" && permission == "" {
		f.Fail(value, "write permission: read-only, edit or full", "%s: %q is no permission", name, said)
	}
	return permission
}

// readAccepts sets r.Feedback if the role accepts "feedback" in its input, and r.Anomalies if it
// accepts "anomalies".
func (f *fields) readAccepts(r *Role, value *yaml.Node) {
	const fix = "write accepts: [feedback], or for the Manager accepts: [anomalies]"
	if value.Kind != yaml.SequenceNode {
		f.Fail(value, fix, "accepts must be a list")
		return
	}
	for _, field := range f.List(value, "accepts") {
		switch field {
		case "feedback":
			r.Feedback = true
		case "anomalies":
			r.Anomalies = true
		default:
			f.Fail(value, fix, "no input has an optional field %q", field)
		}
	}
}

// refuseMisspelt makes a misspelt key a problem. If it ignored `tool` in place of `tools`, for
// instance, the agent would get every tool. It ignores all other unknown keys, because they belong
// to other tools.
func (f *fields) refuseMisspelt() {
	var known []string
	for _, of := range options() {
		known = append(known, of.Tag.Get("name"))
	}
	for key := range option.Fields(f.Doc.Root) {
		if slices.Contains(known, key.Value) || slices.Contains(foreignKeys[:], key.Value) {
			continue
		}
		plain := foldKey(key.Value)
		for _, k := range known {
			if isMisspelling(plain, k) {
				f.Fail(key, fmt.Sprintf("did you mean %s?", k), "unknown key %q", key.Value)
			}
		}
	}
}

// foldKey returns a key without case, dashes, underscores and spaces.
func foldKey(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
}

// isMisspelling reports whether a folded key equals the known key k, or is one edit away from it.
// An edit counts only if k has more than three letters, because a short key like env is one edit
// away from other correct words.
func isMisspelling(plain, k string) bool {
	k = strings.ToLower(strings.ReplaceAll(k, "_", ""))
	return plain == k || len(k) > 3 && frontmatter.OneEditApart(plain, k)
}

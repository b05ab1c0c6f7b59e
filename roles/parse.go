package roles

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/frontmatter"
)

// knownKeys are the keys of a role file that kanban-run reads.
var knownKeys = [...]string{"name", "description", "agent", "command", "args", "model", "tools", "timeout", "grace",
	"env", "disallowedTools", "permission", "max_turns", "max_cost", "mcp_config", "review", "review_rounds",
	"accepts", "watch"}

// foreignKeys look like misspelt keys of a role file, but are correct keys in the agent files of
// other tools.
var foreignKeys = [...]string{"mode", "agents", "maxTurns"}

var (
	variableName    = lazyPattern(`^[A-Za-z_][A-Za-z0-9_]*$`)
	variablePattern = lazyPattern(`^[A-Za-z_*][A-Za-z0-9_*]*$`)
	toolName        = lazyPattern(`^[A-Za-z][A-Za-z0-9_-]*(\([^()]*\))?$`)
	amount          = lazyPattern(`^\$?([0-9]{1,7})(?:\.([0-9]{1,6}))?$`)
	plainWords      = lazyPattern(`^[\pL\pN_./:=@%+,~ -]*$`)
)

// lazyPattern returns a function that compiles a pattern at its first use. Otherwise the patterns
// for letters of all scripts would take half of kanban-run's start time.
func lazyPattern(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// fields reads the frontmatter of one role file. It keeps the first problem, so that parse need not
// check each key for an error.
type fields struct {
	doc *frontmatter.Document
	err error
}

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
	f := &fields{doc: doc}
	f.refuseMisspelt()
	role := Role{
		Name:        f.readName(file),
		Description: f.readText("description"),
		Agent:       strings.ToLower(f.readText("agent")),
		Model:       f.readModel(),
		Command:     f.readWords("command"),
		Args:        f.readWords("args"),
		Tools:       f.readTools("tools"),
		Denied:      f.readTools("disallowedTools"),
		Timeout:     f.readDuration("timeout"),
		Grace:       f.readDuration("grace"),
		Env:         f.readEnv(),
		Permission:  f.readPermission(),
		MaxTurns:    f.readTurns(),
		MaxCost:     f.readDollars("max_cost"),
		MCPConfig:   f.readText("mcp_config"),
		Review:      f.readReview(),
		Rounds:      f.readCount("review_rounds"),
		Prompt:      f.readPrompt(source[doc.Body:]),
		File:        file,
		source:      source,
	}
	f.readAccepts(&role)
	f.readWatch(&role)
	return role, f.err
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
	f := &fields{doc: doc}
	if read := strings.TrimSpace(f.readName(file)); f.err == nil && read != "" {
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

var description = lazyPattern(`(?m)^description:[ \t]+([^\s'"|>\[{&*!%@#].*?)[ \t]*\r?$`)

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
	if bytes.IndexByte(body, 0) >= 0 && f.err == nil {
		f.err = &frontmatter.Problem{File: f.doc.File, Text: "the prompt holds a NUL character",
			Fix: "remove it: a prompt is text"}
	}
	return trimPrompt(body)
}

func trimPrompt(body []byte) string {
	return strings.Trim(strings.ReplaceAll(string(body), "\r\n", "\n"), "\n")
}

func (f *fields) fail(n *yaml.Node, fix, format string, args ...any) {
	if f.err == nil {
		f.err = f.doc.Problem(n, fmt.Sprintf(format, args...), fix)
	}
}

// lookUp returns the value of a key, or nil if the key is absent or null.
func (f *fields) lookUp(name string) *yaml.Node {
	_, value := f.doc.Field(name)
	if value == nil || value.Tag == "!!null" {
		return nil
	}
	return value
}

func (f *fields) readText(name string) string {
	value := f.lookUp(name)
	if value == nil {
		return ""
	}
	if value.Kind != yaml.ScalarNode {
		f.fail(value, fmt.Sprintf("write %s: TEXT", name), "%s must be text", name)
	}
	return strings.TrimSpace(value.Value)
}

// readName returns the name of the role, by default the name of the file without its extension.
func (f *fields) readName(file string) string {
	if f.lookUp("name") == nil {
		base := filepath.Base(strings.TrimPrefix(file, embeddedPrefix))
		return strings.TrimSuffix(base, filepath.Ext(base))
	}
	name := f.readText("name")
	if f.err == nil && (len(name) > 64 || !isRoleName(name)) {
		f.fail(f.lookUp("name"), "use letters, digits, - and _", "%q is no role name", name)
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

// readModel returns the model, or "" for the adapter's default. In a sub-agent's file, the word
// inherit means the model of the caller. A role has no caller, so it gets the adapter's default.
func (f *fields) readModel() string {
	model := f.readText("model")
	if model == "inherit" {
		return ""
	}
	return model
}

// readWords returns the words of a list, or of one line of plain words. A line with quotes or other
// characters of a shell is a problem, because no shell expands the line.
func (f *fields) readWords(name string) []string { return f.words(f.lookUp(name), name) }

func (f *fields) words(value *yaml.Node, name string) []string {
	if value == nil || value.Kind == yaml.SequenceNode {
		return f.readList(value, name)
	}
	if value.Kind != yaml.ScalarNode {
		f.fail(value, fmt.Sprintf("write it as a list: %s: [WORD, WORD]", name), "%s must be text or a list", name)
		return nil
	}
	line := strings.TrimSpace(value.Value)
	if !plainWords().MatchString(line) {
		f.fail(value, fmt.Sprintf("write it as a list: %s: [WORD, WORD]", name),
			"%s has quotes or characters of the shell in it", name)
	}
	return strings.Fields(line)
}

// readList returns the texts of a list. It returns nil for a nil value, and an empty slice for an
// empty list.
func (f *fields) readList(value *yaml.Node, name string) []string {
	if value == nil {
		return nil
	}
	items := []string{}
	for _, item := range value.Content {
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" || strings.ContainsRune(item.Value, 0) {
			f.fail(item, "write each entry as one word or a quoted text", "%s must be a list of texts", name)
			continue
		}
		items = append(items, item.Value)
	}
	return items
}

// readTools returns the tools of a list, or of a text with commas between tools. It returns nil if
// the key is absent, or if the file has the line `tools: "*"`. A comma between parentheses, as in
// Bash(git log:*, git show:*), belongs to the tool.
func (f *fields) readTools(name string) []string {
	value := f.lookUp(name)
	if value == nil {
		return nil
	}
	entries := f.readList(value, name)
	if value.Kind != yaml.SequenceNode {
		entries = []string{f.readText(name)}
	}
	tools := []string{}
	for _, entry := range entries {
		tools = append(tools, splitCommas(entry)...)
	}
	if name == "tools" && slices.Equal(tools, []string{"*"}) {
		return nil
	}
	for _, tool := range tools {
		if f.err == nil && !toolName().MatchString(tool) {
			f.fail(value, "write names with commas in between, such as Read, Bash(git log:*)",
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

func (f *fields) readDuration(name string) *time.Duration {
	value := f.lookUp(name)
	if value == nil {
		return nil
	}
	d, err := time.ParseDuration(f.readText(name))
	tooSmall := d == 0 && strings.ContainsAny(value.Value, "123456789") // less than one nanosecond
	if err != nil || d < 0 || tooSmall {
		f.fail(value, fmt.Sprintf("write a number with its unit, for example %s: 90s, 30m or 1h30m", name),
			"%s: %q is no duration", name, value.Value)
	}
	return &d
}

// permissions maps words, in lower case, to permissions. The words are our own, those of Claude
// Code's sub-agents (permissionMode) and those of Codex's sandboxes.
var permissions = map[string]string{
	"read-only": "read-only", "default": "read-only", "plan": "read-only", "dontask": "read-only",
	"edit": "edit", "acceptedits": "edit", "workspace-write": "edit",
	"full": "full", "bypasspermissions": "full", "auto": "edit", "danger-full-access": "full",
}

// ParsePermission returns the permission for a word: read-only, edit or full. It returns ""
// for an unknown word.
func ParsePermission(word string) string { return permissions[strings.ToLower(word)] }

// readPermission returns the permission that the key "permission" gives. If that key is absent, it
// reads permissionMode, the key in a sub-agent's file.
func (f *fields) readPermission() string {
	name := "permission"
	if f.lookUp(name) == nil {
		name = "permissionMode"
	}
	said := f.readText(name)
	meaning := ParsePermission(said)
	if said != "" && meaning == "" && f.err == nil {
		f.fail(f.lookUp(name), "write permission: read-only, edit or full", "%s: %q is no permission", name, said)
	}
	return meaning
}

// readTurns returns the limit of the model's turns in the key max_turns. If that key is absent, it
// reads maxTurns, the key in a sub-agent's file.
func (f *fields) readTurns() int {
	if f.lookUp("max_turns") == nil {
		return f.readCount("maxTurns")
	}
	return f.readCount("max_turns")
}

func (f *fields) readCount(name string) int {
	value := f.lookUp(name)
	if value == nil {
		return 0
	}
	n, err := strconv.Atoi(f.readText(name))
	if err != nil || n < 1 || n > 1e6 {
		f.fail(value, "write a whole number, 1 or more, or remove the line", "%s: %q is no number", name, value.Value)
	}
	return n
}

// readDollars returns an amount in exact millionths of a US dollar. In role files, as in the
// settings, amounts are in US dollars.
func (f *fields) readDollars(name string) int64 {
	value := f.lookUp(name)
	if value == nil {
		return 0
	}
	m := amount().FindStringSubmatch(f.readText(name))
	if m == nil {
		f.fail(value, fmt.Sprintf("write an amount in US dollars, for example %s: 2.50; 0 is none", name),
			"%s: %q is no amount", name, value.Value)
		return 0
	}
	n, _ := strconv.ParseInt(m[1]+(m[2] + "000000")[:6], 10, 64) // at most 13 digits
	return n
}

// readAccepts sets r.Feedback if the role accepts "feedback" in its input, and r.Anomalies if it
// accepts "anomalies".
func (f *fields) readAccepts(r *Role) {
	const fix = "write accepts: [feedback], or for the Manager accepts: [anomalies]"
	value := f.lookUp("accepts")
	if value != nil && value.Kind != yaml.SequenceNode {
		f.fail(value, fix, "accepts must be a list")
		return
	}
	for _, field := range f.readList(value, "accepts") {
		switch field {
		case "feedback":
			r.Feedback = true
		case "anomalies":
			r.Anomalies = true
		default:
			f.fail(value, fix, "no input has an optional field %q", field)
		}
	}
}

// refuseMisspelt makes a misspelt key a problem. If it ignored `tool` in place of `tools`, for
// instance, the agent would get every tool. It ignores all other unknown keys, because they belong
// to other tools.
func (f *fields) refuseMisspelt() {
	content := f.doc.Root.Content
	for i := 0; i+1 < len(content); i += 2 {
		name := content[i].Value
		if slices.Contains(knownKeys[:], name) || slices.Contains(foreignKeys[:], name) {
			continue
		}
		plain := foldKey(name)
		for _, k := range knownKeys {
			if isMisspelling(plain, k) {
				f.fail(content[i], fmt.Sprintf("did you mean %s?", k), "unknown key %q", name)
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

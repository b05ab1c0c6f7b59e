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

// known are the keys that a role file may use to say something to kanban-run.
var known = [...]string{"name", "description", "agent", "command", "args", "model", "tools", "timeout", "grace", "env",
	"disallowedTools", "permission", "max_turns", "max_cost", "mcp_config", "review", "review_rounds"}

// foreign are keys of other tools' agent files that look like a misspelt key of ours and are none.
var foreign = [...]string{"mode", "agents", "maxTurns"}

var (
	variableName    = lazy(`^[A-Za-z_][A-Za-z0-9_]*$`)
	variablePattern = lazy(`^[A-Za-z_*][A-Za-z0-9_*]*$`)
	toolName        = lazy(`^[A-Za-z][A-Za-z0-9_-]*(\([^()]*\))?$`)
	amount          = lazy(`^\$?([0-9]{1,7})(?:\.([0-9]{1,6}))?$`)
	plainWords      = lazy(`^[\pL\pN_./:=@%+,~ -]*$`)
)

// lazy compiles a pattern when it is first needed: those with letters of all scripts cost as much as half of a start.
func lazy(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// fields reads the frontmatter of one role file and keeps the first problem, so that parse reads like the list of keys it is.
type fields struct {
	doc *frontmatter.Document
	err error
}

func parse(file string, source []byte) (Role, error) {
	doc, err := parseMatter(file, source)
	if err != nil {
		return Role{}, err
	}
	if doc.Root == nil {
		return Role{}, &frontmatter.Problem{File: file, Line: 1, Column: 1, Text: "a role file begins with frontmatter, and this one has none",
			Fix: "begin it with three lines: ---, name: NAME, ---"}
	}
	f := &fields{doc: doc}
	f.refuseMisspelt()
	role := Role{
		Name:        f.name(file),
		Description: f.text("description"),
		Agent:       strings.ToLower(f.text("agent")),
		Model:       f.model(),
		Command:     f.words("command"),
		Args:        f.words("args"),
		Tools:       f.tools("tools"),
		Denied:      f.tools("disallowedTools"),
		Timeout:     f.duration("timeout"),
		Grace:       f.duration("grace"),
		Env:         f.env(),
		Permission:  f.permission(),
		MaxTurns:    f.turns(),
		MaxCost:     f.dollars("max_cost"),
		MCPConfig:   f.text("mcp_config"),
		Review:      f.review(),
		Rounds:      f.count("review_rounds"),
		Prompt:      f.promptOf(source[doc.Body:]),
		File:        file,
	}
	return role, f.err
}

// parseMatter also reads what Claude Code itself wrote and reads, a description of several sentences with colons and no quotes
// around it. That is not YAML; the one line is quoted and the file read once more.
func parseMatter(file string, source []byte) (*frontmatter.Document, error) {
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
	// The body is the same in both, counted from the end.
	second.Body += len(source) - len(quoted)
	return second, nil
}

var description = lazy(`(?m)^description:[ \t]+([^\s'"|>\[{&*!%@#].*?)[ \t]*\r?$`)

func quoteDescription(source []byte) ([]byte, bool) {
	at := description().FindSubmatchIndex(source)
	if at == nil {
		return nil, false
	}
	value := bytes.ReplaceAll(source[at[2]:at[3]], []byte("'"), []byte("''"))
	return slices.Concat(source[:at[2]], []byte("'"), value, []byte("'"), source[at[3]:]), true
}

// promptOf refuses what no program can be told on its command line.
func (f *fields) promptOf(body []byte) string {
	if bytes.IndexByte(body, 0) >= 0 && f.err == nil {
		f.err = &frontmatter.Problem{File: f.doc.File, Text: "the prompt holds a NUL character", Fix: "remove it: a prompt is text"}
	}
	return prompt(body)
}

func prompt(body []byte) string {
	return strings.Trim(strings.ReplaceAll(string(body), "\r\n", "\n"), "\n")
}

func (f *fields) fail(n *yaml.Node, fix, format string, args ...any) {
	if f.err == nil {
		f.err = f.doc.Problem(n, fmt.Sprintf(format, args...), fix)
	}
}

// value returns nil for a key that is absent or null.
func (f *fields) value(name string) *yaml.Node {
	_, value := f.doc.Field(name)
	if value == nil || value.Tag == "!!null" {
		return nil
	}
	return value
}

func (f *fields) text(name string) string {
	value := f.value(name)
	if value == nil {
		return ""
	}
	if value.Kind != yaml.ScalarNode {
		f.fail(value, fmt.Sprintf("write %s: TEXT", name), "%s must be text", name)
	}
	return strings.TrimSpace(value.Value)
}

// name is the file's own name where the frontmatter gives none.
func (f *fields) name(file string) string {
	if f.value("name") == nil {
		base := filepath.Base(strings.TrimPrefix(file, embeddedPrefix))
		return strings.TrimSuffix(base, filepath.Ext(base))
	}
	name := f.text("name")
	if f.err == nil && (len(name) > 64 || !isRoleName(name)) {
		f.fail(f.value("name"), "use letters, digits, - and _", "%q is no role name", name)
	}
	return name
}

// isRoleName says whether a name is words with one space in between, of letters and digits of all scripts, and of _, . and - where
// it does not begin with those.
func isRoleName(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return isLetter(first) && !slices.ContainsFunc(strings.Split(name, " "), func(word string) bool {
		return word == "" || strings.ContainsFunc(word, func(r rune) bool { return !isLetter(r) && !strings.ContainsRune("_.-", r) })
	})
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// model takes "inherit" for what it says in a sub-agent file: the model of whoever starts it, which is the adapter's default.
func (f *fields) model() string {
	model := f.text("model")
	if model == "inherit" {
		return ""
	}
	return model
}

// words reads a list, or one line of plain words. A line that a shell would treat in its own way is refused: nothing is expanded
// here, and a list leaves no doubt.
func (f *fields) words(name string) []string {
	value := f.value(name)
	if value == nil || value.Kind == yaml.SequenceNode {
		return f.list(value, name)
	}
	line := f.text(name)
	if !plainWords().MatchString(line) {
		f.fail(value, fmt.Sprintf("write it as a list: %s: [WORD, WORD]", name), "%s has quotes or characters of the shell in it", name)
	}
	return strings.Fields(line)
}

// list keeps the difference between a key that is absent (nil) and an empty list.
func (f *fields) list(value *yaml.Node, name string) []string {
	if value == nil {
		return nil
	}
	items := []string{}
	for _, item := range value.Content {
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
			f.fail(item, "write each entry as one word or a quoted text", "%s must be a list of texts", name)
			continue
		}
		items = append(items, item.Value)
	}
	return items
}

// tools are a list, or text with commas in between; a comma within Bash(git log:*, git show:*) belongs to the tool.
func (f *fields) tools(name string) []string {
	value := f.value(name)
	if value == nil {
		return nil
	}
	entries := f.list(value, name)
	if value.Kind != yaml.SequenceNode {
		entries = []string{f.text(name)}
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
			f.fail(value, "write names with commas in between, such as Read, Bash(git log:*)", "%s: %q is no name of a tool", name, tool)
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

func (f *fields) duration(name string) *time.Duration {
	value := f.value(name)
	if value == nil {
		return nil
	}
	d, err := time.ParseDuration(f.text(name))
	if err != nil || d < 0 {
		f.fail(value, fmt.Sprintf("write a number with its unit, for example %s: 90s, 30m or 1h30m", name), "%s: %q is no duration", name, value.Value)
	}
	return &d
}

// permissions are our own words, those of Claude Code's sub-agents (permissionMode) and those of Codex's sandboxes.
var permissions = map[string]string{
	"read-only": "read-only", "default": "read-only", "plan": "read-only", "dontask": "read-only",
	"edit": "edit", "acceptedits": "edit", "workspace-write": "edit",
	"full": "full", "bypasspermissions": "full", "auto": "edit", "danger-full-access": "full",
}

// permission also reads permissionMode, where a sub-agent's file says the same.
func (f *fields) permission() string {
	name := "permission"
	if f.value(name) == nil {
		name = "permissionMode"
	}
	said := f.text(name)
	meaning := permissions[strings.ToLower(said)]
	if said != "" && meaning == "" && f.err == nil {
		f.fail(f.value(name), "write permission: read-only, edit or full", "%s: %q is no permission", name, said)
	}
	return meaning
}

// turns also reads maxTurns, where a sub-agent's file says the same.
func (f *fields) turns() int {
	if f.value("max_turns") == nil {
		return f.count("maxTurns")
	}
	return f.count("max_turns")
}

func (f *fields) count(name string) int {
	value := f.value(name)
	if value == nil {
		return 0
	}
	n, err := strconv.Atoi(f.text(name))
	if err != nil || n < 1 || n > 1e6 {
		f.fail(value, "write a whole number, 1 or more, or remove the line", "%s: %q is no number", name, value.Value)
	}
	return n
}

// dollars reads an amount in US dollars, written as in the settings, and returns it in millionths, exactly.
func (f *fields) dollars(name string) int64 {
	value := f.value(name)
	if value == nil {
		return 0
	}
	m := amount().FindStringSubmatch(f.text(name))
	if m == nil {
		f.fail(value, fmt.Sprintf("write an amount in US dollars, for example %s: 2.50; 0 is none", name), "%s: %q is no amount", name, value.Value)
		return 0
	}
	n, _ := strconv.ParseInt(m[1]+(m[2] + "000000")[:6], 10, 64) // at most 13 digits
	return n
}

// review knows one reviewer: seed 003's.
func (f *fields) review() bool {
	said := f.text("review")
	if said != "" && said != "supervisor" && said != "none" {
		f.fail(f.value("review"), "write review: supervisor, or none", "review: %q reviews nothing", said)
	}
	return said == "supervisor"
}

func (f *fields) env() Env {
	value := f.value("env")
	if value == nil {
		return Env{}
	}
	if value.Kind != yaml.MappingNode {
		f.fail(value, "write env: {pass: [NAME], set: {NAME: value}}", "env must be a mapping")
		return Env{}
	}
	var env Env
	for i := 0; i+1 < len(value.Content); i += 2 {
		switch k, v := value.Content[i], value.Content[i+1]; k.Value {
		case "pass":
			env.Pass = f.variables(v, "env.pass")
		case "only":
			env.Only = f.variables(v, "env.only")
		case "set":
			env.Set = f.assignments(v)
		default:
			f.fail(k, "env has the keys pass, set and only", "unknown key %q in env", k.Value)
		}
	}
	return env
}

// variables reads a list of names. An empty env.only would either mean nothing or stop every agent, so it is neither.
func (f *fields) variables(value *yaml.Node, name string) []string {
	if value.Tag == "!!null" {
		return nil
	}
	if value.Kind != yaml.SequenceNode {
		f.fail(value, fmt.Sprintf("write %s: [NAME, NAME]", strings.TrimPrefix(name, "env.")), "%s must be a list of variable names", name)
		return nil
	}
	names := f.list(value, name)
	if len(names) == 0 && name == "env.only" {
		f.fail(value, "name what the agent needs, for example [PATH, HOME]; or remove the line", "env.only is empty")
	}
	for i, n := range names {
		if !variablePattern().MatchString(n) {
			f.fail(value.Content[i], "name the variable only, without $ or =; * stands for any letters", "%s: %q is no variable name", name, n)
			break
		}
	}
	return names
}

func (f *fields) assignments(value *yaml.Node) map[string]string {
	if value.Tag == "!!null" {
		return nil
	}
	if value.Kind != yaml.MappingNode {
		f.fail(value, "write set: {NAME: value}", "env.set must map variable names to values")
		return nil
	}
	set := map[string]string{}
	for i := 0; i+1 < len(value.Content); i += 2 {
		k, v := value.Content[i], value.Content[i+1]
		if !variableName().MatchString(k.Value) || v.Kind != yaml.ScalarNode {
			f.fail(k, "write set: {NAME: value}", "env.set: %q must be a variable name with one text as its value", k.Value)
		}
		set[k.Value] = v.Value
		if v.Tag == "!!null" {
			set[k.Value] = ""
		}
	}
	return set
}

// refuseMisspelt lets the keys of other tools be, and stops at one that was meant for us: a `tool:` that is silently ignored
// would give an agent every tool there is.
func (f *fields) refuseMisspelt() {
	content := f.doc.Root.Content
	for i := 0; i+1 < len(content); i += 2 {
		name := content[i].Value
		if slices.Contains(known[:], name) || slices.Contains(foreign[:], name) {
			continue
		}
		plain := folded(name)
		for _, k := range known {
			if meant(plain, k) {
				f.fail(content[i], fmt.Sprintf("did you mean %s?", k), "unknown key %q", name)
			}
		}
	}
}

// folded is a key without case, dashes, underscores and spaces.
func folded(name string) string {
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
}

// meant compares a folded key. Of a short word like env a single changed letter makes another word.
func meant(plain, k string) bool {
	k = strings.ToLower(strings.ReplaceAll(k, "_", ""))
	return plain == k || len(k) > 3 && oneEditApart(plain, k)
}

package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/frontmatter"
	"kanban-run/orchestrator/plainfile"
)

// maxFile is the greatest length of the settings file in bytes. It is limited because the parser's
// time grows faster than its input.
const maxFile = 64 << 10

// everyRole is the key for all roles in the maps "agent" and "exec".
const everyRole = "default"

func (r *resolver) fromFile() ([]given, error) {
	path := r.in.File
	if path == "" {
		return nil, nil
	}
	source, err := plainfile.Read(r.settings.fromDir(r.in.StartDir, path), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		if errors.As(err, new(syscall.Errno)) { // its hint is that of the system's error
			return nil, &failure.Invalid{Err: fmt.Errorf("%s: %w", path, err)}
		}
		return nil, &frontmatter.Problem{File: path, Text: err.Error(), Fix: "the settings are one small text file"}
	}
	r.settings.FileDir = filepath.Dir(r.settings.fromDir(r.in.StartDir, path))
	doc, err := frontmatter.ParseYAML(path, source)
	if errors.Is(err, frontmatter.ErrEmpty) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := &settingsFile{doc: doc, dir: r.settings.FileDir, knownRole: r.in.KnownRole, places: r.settings.places}
	f.read(doc.Root)
	return f.values, f.err
}

// settingsFile collects the values of one file and keeps the first error.
type settingsFile struct {
	doc       *frontmatter.Document
	dir       string
	knownRole func(string) bool
	places    map[string]given // parts of values that can be wrong by themselves
	values    []given
	err       error
}

func (f *settingsFile) fail(n *yaml.Node, fix, format string, args ...any) {
	if f.err == nil {
		f.err = f.doc.Problem(n, fmt.Sprintf(format, args...), fix)
	}
}

func (f *settingsFile) read(root *yaml.Node) {
	settings := Table()
	for i := 0; i+1 < len(root.Content) && f.err == nil; i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		at := slices.IndexFunc(settings, func(s Setting) bool { return s.Name == key.Value && s.InFile })
		switch {
		case value.Tag == "!!null" && slices.Contains(fileKeys(), key.Value):
			// `timeout:` without a value means the default, as if the line were missing.
		case key.Value == "env":
			f.env(value)
		case key.Value == "watch":
			f.watch(value)
		case key.Value == "patience" && value.Kind == yaml.MappingNode:
			f.group("patience", value)
		case key.Value == "checkpoints":
			f.checkpoints(value)
		case key.Value == "reassign":
			f.reassign(value)
		case key.Value == "notify":
			f.notify(value)
		case key.Value == "redact", key.Value == "secrets_allow":
			f.readList(key.Value, value)
		case key.Value == "workdir":
			f.fail(key, "use -C DIR or KANBAN_RUN_WORKDIR", "this file lies in the work directory and cannot name it")
		case at < 0 || strings.Contains(key.Value, "."):
			hint := frontmatter.Suggest(key.Value, fileKeys(), "the settings are ")
			f.fail(key, hint, "unknown setting %q", key.Value)
		case settings[at].Repeated && value.Kind == yaml.MappingNode:
			f.byRole(key.Value, value)
		default:
			f.scalar(key.Value, "", value)
		}
	}
}

// fileKeys returns the top-level keys of the file.
func fileKeys() []string {
	var keys []string
	for _, s := range Table() {
		if s.InFile && !strings.Contains(s.Name, ".") {
			keys = append(keys, s.Name)
		}
	}
	return append(keys, "env", "watch", "checkpoints", "notify")
}

func known() string { return "the settings are " + strings.Join(fileKeys(), ", ") }

func (f *settingsFile) add(n *yaml.Node, g given) {
	g.file, g.line, g.column, g.dir = f.doc.File, n.Line, n.Column, f.dir
	g.source = fmt.Sprintf("%s:%d", f.doc.File, n.Line)
	f.values = append(f.values, g)
}

// mark notes the place of a part of a value, for [Settings.Fault].
func (f *settingsFile) mark(name string, n *yaml.Node) {
	f.places[name] = given{name: name, file: f.doc.File, line: n.Line, column: n.Column}
}

func (f *settingsFile) scalar(name, role string, value *yaml.Node) {
	if value.Kind != yaml.ScalarNode || value.Tag == "!!null" {
		f.fail(value, fmt.Sprintf("write %s: VALUE", name), "%s must be one value", name)
		return
	}
	f.add(value, given{name: name, role: role, value: strings.TrimSpace(value.Value)})
}

func (f *settingsFile) byRole(name string, value *yaml.Node) {
	for i := 0; i+1 < len(value.Content); i += 2 {
		key := value.Content[i]
		role := roleKey(key.Value)
		if role == everyRole {
			role = ""
		} else if f.knownRole != nil && !f.knownRole(role) {
			f.fail(key, "name a role that kanban-run roles lists, or default for all of them", "%s: unknown role %q",
				name, key.Value)
		}
		f.scalar(name, role, value.Content[i+1])
	}
}

func (f *settingsFile) env(value *yaml.Node) {
	if value.Kind != yaml.MappingNode {
		f.fail(value, "write env: {pass: [NAME], set: {NAME: value}}", "env must be a mapping")
		return
	}
	for i := 0; i+1 < len(value.Content); i += 2 {
		switch key, v := value.Content[i], value.Content[i+1]; key.Value {
		case "pass", "only":
			f.readVariables("env."+key.Value, v)
		case "set":
			f.assignments(v)
		default:
			f.fail(key, frontmatter.Suggest(key.Value, []string{"pass", "set", "only"}, "env has the keys "),
				"unknown key %q in env", key.Value)
		}
	}
}

// watch reads the settings below the key "watch". The word "off" means {enabled: false}.
func (f *settingsFile) watch(value *yaml.Node) {
	if on, ok := parseSwitch(value.Value); ok && value.Kind == yaml.ScalarNode {
		f.add(value, given{name: "watch.enabled", value: on})
		return
	}
	f.group("watch", value)
}

// parseSwitch reads a word that means {enabled: …}. The result ok is false for any other word.
func parseSwitch(text string) (enabled string, ok bool) {
	switch strings.ToLower(text) {
	case "off", "false":
		return "false", true
	case "on", "true":
		return "true", true
	default:
		return "", false
	}
}

// group reads a mapping of settings whose names begin with the given name and a dot.
func (f *settingsFile) group(name string, value *yaml.Node) {
	if value.Kind != yaml.MappingNode {
		f.fail(value, "write "+name+": {KEY: VALUE}; kanban-run config lists the keys", "%s must be a mapping", name)
		return
	}
	var keys []string
	for _, s := range Table() {
		if key, ok := strings.CutPrefix(s.Name, name+"."); ok {
			key, _, _ = strings.Cut(key, ".")
			keys = append(keys, key)
		}
	}
	keys = slices.Compact(keys)
	for i := 0; i+1 < len(value.Content); i += 2 {
		key, v := value.Content[i], value.Content[i+1]
		full := name + "." + key.Value
		switch {
		case !slices.Contains(keys, key.Value):
			hint := frontmatter.Suggest(key.Value, keys, name+" has the keys ")
			f.fail(key, hint, "unknown key %q in %s", key.Value, name)
		case v.Tag == "!!null":
		case slices.ContainsFunc(Table(), func(s Setting) bool { return s.Name == full }):
			f.scalar(full, "", v)
		default:
			f.group(full, v)
		}
	}
}

// readList adds a list of texts and returns it. For any other value it notes an error and returns
// nil.
func (f *settingsFile) readList(name string, value *yaml.Node) []string {
	if value.Kind != yaml.SequenceNode {
		f.fail(value, "write a list: [ONE, TWO]", "%s must be a list", name)
		return nil
	}
	items := []string{}
	for _, item := range value.Content {
		if item.Kind != yaml.ScalarNode || item.Value == "" {
			f.fail(item, "quote each entry", "%s must be a list of texts", name)
			return nil
		}
		items = append(items, item.Value)
	}
	f.add(value, given{name: name, list: items, value: strings.Join(items, " ")})
	return items
}

// readVariables reads a list of names. It refuses an empty env.only, which would either have no
// effect or stop every agent.
func (f *settingsFile) readVariables(name string, value *yaml.Node) {
	if value.Tag == "!!null" {
		return
	}
	items := f.readList(name, value)
	if len(items) == 0 && name == "env.only" {
		f.fail(value, "name what agents need, for example [PATH, HOME]; or remove the line", "env.only is empty")
	}
	for i, item := range items {
		if !variablePattern().MatchString(item) {
			f.fail(value.Content[i], "name the variable only, without $ or =; * stands for any letters",
				"%s: %q is no variable name", name, item)
		}
	}
}

func (f *settingsFile) assignments(value *yaml.Node) {
	if value.Tag == "!!null" {
		return
	}
	if value.Kind != yaml.MappingNode {
		f.fail(value, "write set: {NAME: value}", "env.set must map variable names to values")
		return
	}
	set, names := map[string]string{}, []string{}
	for i := 0; i+1 < len(value.Content); i += 2 {
		key, v := value.Content[i], value.Content[i+1]
		if !variableName().MatchString(key.Value) || v.Kind != yaml.ScalarNode {
			f.fail(key, "write set: {NAME: value}", "env.set: %q must be a variable name with one text as its value",
				key.Value)
			return
		}
		if strings.ContainsRune(v.Value, 0) {
			f.fail(v, "remove the character",
				"env.set: the value of %s holds a NUL character, which no variable can", key.Value)
			return
		}
		set[key.Value] = v.Value
		if v.Tag == "!!null" {
			set[key.Value] = ""
		}
		names = append(names, key.Value)
	}
	f.add(value, given{name: "env.set", set: set, shown: strings.Join(names, " ")})
}

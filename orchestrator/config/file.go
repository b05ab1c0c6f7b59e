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
	"kanban-run/orchestrator/option"
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
	f := &settingsFile{Reader: option.Reader{Doc: doc}, dir: r.settings.FileDir, knownRole: r.in.KnownRole, places: r.settings.places}
	f.read(doc.Root)
	return f.values, f.Err
}

// settingsFile collects the values of one file.
type settingsFile struct {
	option.Reader
	dir       string
	knownRole func(string) bool
	places    map[string]given // parts of values that can be wrong by themselves
	values    []given
}

func (f *settingsFile) read(root *yaml.Node) {
	for key, value := range option.Fields(root) {
		if f.Err != nil {
			return
		}
		setting, known := find(key.Value)
		switch {
		case value.Tag == "!!null" && slices.Contains(fileKeys(), key.Value):
			// `timeout:` without a value means the default, as if the line were missing.
		case key.Value == "env":
			f.env(value)
		case key.Value == "watch":
			f.watch(value)
		case key.Value == "patience" && value.Kind == yaml.MappingNode, key.Value == "notify":
			f.group(key.Value, value)
		case key.Value == "checkpoints":
			f.checkpoints(value)
		case key.Value == "reassign":
			f.reassign(value)
		case key.Value == "redact", key.Value == "secrets_allow":
			f.readList(key.Value, value)
		case key.Value == "workdir":
			f.Fail(key, "use -C DIR or KANBAN_RUN_WORKDIR", "this file lies in the work directory and cannot name it")
		case !known || !setting.InFile || strings.Contains(key.Value, "."):
			hint := frontmatter.Suggest(key.Value, fileKeys(), "the settings are ")
			f.Fail(key, hint, "unknown setting %q", key.Value)
		case setting.Repeated && value.Kind == yaml.MappingNode:
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
	g.file, g.line, g.column, g.dir = f.Doc.File, n.Line, n.Column, f.dir
	g.source = fmt.Sprintf("%s:%d", f.Doc.File, n.Line)
	f.values = append(f.values, g)
}

// mark notes the place of a part of a value, for [Settings.Fault].
func (f *settingsFile) mark(name string, n *yaml.Node) {
	f.places[name] = given{name: name, file: f.Doc.File, line: n.Line, column: n.Column}
}

func (f *settingsFile) scalar(name, role string, value *yaml.Node) {
	if value.Kind != yaml.ScalarNode || value.Tag == "!!null" {
		f.Fail(value, fmt.Sprintf("write %s: VALUE", name), "%s must be one value", name)
		return
	}
	f.add(value, given{name: name, role: role, value: strings.TrimSpace(value.Value)})
}

func (f *settingsFile) byRole(name string, value *yaml.Node) {
	for key, v := range option.Fields(value) {
		role := roleKey(key.Value)
		if role == everyRole {
			role = ""
		} else if f.knownRole != nil && !f.knownRole(role) {
			f.Fail(key, "name a role that kanban-run roles lists, or default for all of them", "%s: unknown role %q",
				name, key.Value)
		}
		f.scalar(name, role, v)
	}
}

func (f *settingsFile) env(value *yaml.Node) {
	env := f.Env(value)
	for key, v := range option.Fields(value) {
		switch {
		case v.Tag == "!!null":
		case key.Value == "pass":
			f.add(v, given{name: "env.pass", parsed: env.Pass, value: strings.Join(env.Pass, " ")})
		case key.Value == "only":
			f.add(v, given{name: "env.only", parsed: env.Only, value: strings.Join(env.Only, " ")})
		default:
			var names []string
			for name := range option.Fields(v) {
				names = append(names, name.Value)
			}
			f.add(v, given{name: "env.set", parsed: env.Set, shown: strings.Join(names, " ")})
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
		f.Fail(value, "write "+name+": {KEY: VALUE}; kanban-run config lists the keys", "%s must be a mapping", name)
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
	for key, v := range option.Fields(value) {
		full := name + "." + key.Value
		_, known := find(full)
		switch {
		case !slices.Contains(keys, key.Value):
			hint := frontmatter.Suggest(key.Value, keys, name+" has the keys ")
			f.Fail(key, hint, "unknown key %q in %s", key.Value, name)
		case v.Tag == "!!null":
		case full == "notify.on" && v.Kind == yaml.SequenceNode:
			f.add(v, given{name: full, value: strings.Join(f.List(v, full), " ")})
		case known:
			f.scalar(full, "", v)
		default:
			f.group(full, v)
		}
	}
}

// readList adds a list of texts. For any other value it notes a fault.
func (f *settingsFile) readList(name string, value *yaml.Node) {
	items := f.List(value, name)
	if at := slices.Index(items, ""); at >= 0 {
		f.Fail(value.Content[at], "quote each entry", "%s must be a list of texts", name)
	}
	f.add(value, given{name: name, parsed: items, value: strings.Join(items, " ")})
}

package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/frontmatter"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/notify"
	"kanban-run/orchestrator/option"
)

// Setting describes one setting for the help text, the completion and the documentation.
type Setting struct {
	Name     string // name in the settings file and in Input.Flags
	Flag     string // name without dashes; "" if there is no flag
	Short    string // one letter, or ""
	Opposite string // "FLAG: HELP" of the flag that gives false; "" if there is none
	Value    string // the flag's argument in the help text; "" for a switch
	Variable string // environment variable; "" if there is none
	InFile   bool
	Repeated bool   // has several values: flags, lines of the variable, or a map by role in the file
	Default  string // value, or words for a default that is not a fixed value
	Help     string

	tags  reflect.StructTag
	index []int // place of the field in Settings
}

// Table returns all settings in the order of the help text, which is that of the fields of
// Settings. A field with the tag "name" is a setting. It has a variable, and a place in the file
// under its name, unless "from" names only one of both: "file", or "flags" for flag and variable.
// "flag" is the argument of the flag, "shown" is the default in words where there is no value.
// Callers must not change the list.
func Table() []Setting { return table() }

var table = sync.OnceValue(func() []Setting { return listSettings(reflect.TypeFor[Settings](), nil) })

func listSettings(t reflect.Type, index []int) (all []Setting) {
	for i := range t.NumField() {
		f, at := t.Field(i), append(slices.Clone(index), i)
		if f.Tag.Get("name") != "" {
			all = append(all, newSetting(f.Tag, at))
		}
		if f.Type.Kind() == reflect.Struct {
			all = append(all, listSettings(f.Type, at)...)
		}
	}
	return all
}

func newSetting(tags reflect.StructTag, index []int) Setting {
	s := Setting{Name: tags.Get("name"), Short: tags.Get("short"), Opposite: tags.Get("opposite"),
		InFile: tags.Get("from") != "flags", Repeated: tags.Get("repeated") != "", Default: tags.Get("default") + tags.Get("shown"),
		Help: tags.Get("help"), tags: tags, index: index}
	if argument, ok := tags.Lookup("flag"); ok {
		s.Flag, s.Value = strings.ReplaceAll(s.Name, "_", "-"), argument
	}
	if tags.Get("from") != "file" {
		s.Variable = "KANBAN_RUN_" + strings.ToUpper(strings.ReplaceAll(s.Name, ".", "_"))
	}
	return s
}

func find(name string) (s Setting, ok bool) {
	at := slices.IndexFunc(Table(), func(s Setting) bool { return s.Name == name })
	if at < 0 {
		return s, false
	}
	return Table()[at], true
}

func (s *Settings) field(of Setting) reflect.Value {
	return reflect.ValueOf(s).Elem().FieldByIndex(of.index)
}

// set sets a setting to the value of a text. A relative path starts at the folder dir. Errors:
// *option.Error.
func (s *Settings) set(of Setting, text, dir string) (err error) {
	switch field := s.field(of).Addr().Interface().(type) {
	case *Patience:
		field.Busy, err = option.ParseDuration(text)
		field.Limit = field.Busy
		return err
	case *time.Time:
		*field, err = parseClock(text, time.Now())
		return err
	case *health.Stages:
		*field, err = parseStages(text)
		return err
	case *[]event.Topic:
		*field, err = parseTopics(text)
		return err
	case *string:
		text, err = s.checkText(of, text, dir)
	}
	if err != nil {
		return err
	}
	return option.Set(s.field(of), of.tags, text)
}

// checkText checks the text of a setting for which a type and words say too little.
func (s *Settings) checkText(of Setting, text, dir string) (string, error) {
	switch {
	case of.tags.Get("path") != "":
		return s.fromDir(dir, text), nil
	case of.Name == "checkpoint":
		if s.Git.On = text != "off" && text != ""; !s.Git.On || text == "git" {
			text = ""
		}
		return text, checkBranch(text)
	case of.Name == "notify.webhook" && text != "":
		if err := notify.CheckWebhook(text); err != nil {
			return "", &option.Error{Text: err.Error(), Fix: "write https://HOST/PATH"}
		}
	}
	return text, nil
}

// parseStages reads three rising times. It returns nil for "role" and an empty list for "off".
func parseStages(text string) (health.Stages, error) {
	switch text {
	case "role":
		return nil, nil
	case "off":
		return health.Stages{}, nil
	}
	bad := &option.Error{Text: fmt.Sprintf("%q are no three times, each longer than the one before", text),
		Fix: "write for example 15m 45m 60m, or role, or off"}
	var all health.Stages
	for _, word := range strings.Fields(text) {
		d, err := option.ParseDuration(word)
		if err != nil || len(all) > 0 && d <= all[len(all)-1] {
			return nil, bad
		}
		all = append(all, d)
	}
	if len(all) != 3 || all[0] == 0 {
		return nil, bad
	}
	return all, nil
}

func parseTopics(text string) (topics []event.Topic, err error) {
	var known []string
	for _, topic := range event.Topics() {
		known = append(known, string(topic))
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		if !slices.Contains(known, word) {
			return nil, &option.Error{Text: "unknown topic " + word, Fix: frontmatter.Suggest(word, known, "the topics are ")}
		}
		topics = append(topics, event.Topic(word))
	}
	return topics, nil
}

var notInBranches = option.Pattern(`^[-/]|[\x00-\x20\x7f~^:?*[\\]|\.\.|//|/\.|^\.|@\{|[./]$|\.lock(/|$)`)

// checkBranch refuses a name that git refuses for a branch, before git is asked.
func checkBranch(name string) error {
	if notInBranches().MatchString(name) {
		return &option.Error{Text: fmt.Sprintf("%q can be no branch", name), Fix: "write git, or the name of a branch"}
	}
	return nil
}

package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/frontmatter"
	"kanban-run/orchestrator/notify"
	"kanban-run/orchestrator/option"
)

// given is one value from one source.
type given struct {
	name   string // name of the setting
	role   string // role in lower case; "" means every role
	value  string
	parsed any    // value of the field, for a setting that is no text; nil for a text
	shown  string // text for the Origin; if it is "", the Origin shows the value
	source string
	strong bool // the source is a flag or a variable
	dir    string

	file         string // the settings file; "" for other sources
	line, column int
}

// errorAt returns an error at the value's place.
func (g given) errorAt(text, fix string) *frontmatter.Problem {
	if g.file == "" {
		text = g.source + ": " + text
	} else {
		text = g.name + ": " + text
	}
	return &frontmatter.Problem{File: g.file, Line: g.line, Column: g.column, Text: text, Fix: fix}
}

type resolver struct {
	in       Input
	settings *Settings
	choices  choices
	origins  map[string]Origin
}

func (r *resolver) setDefaults() error {
	for _, of := range Table() {
		r.origins[of.Name] = Origin{of.Name, of.Default, "default"}
		value, ok := of.tags.Lookup("default")
		if !ok {
			continue
		}
		if err := r.settings.set(of, value, ""); err != nil {
			return fmt.Errorf("default of %s: %w", of.Name, err)
		}
	}
	return nil
}

// apply replaces values of weaker sources by the values of one source.
func (r *resolver) apply(values []given) error {
	layer := choices{}
	for _, g := range values {
		if err := r.applyOne(g, layer); err != nil {
			return err
		}
	}
	if err := layer.refuseContradiction(); err != nil {
		return err
	}
	r.choices = r.choices.overlay(layer)
	return nil
}

func (r *resolver) applyOne(g given, layer choices) error {
	switch supervision, isPart := g.parsed.(*event.Supervision); {
	case g.name == "agent", g.name == "exec":
		return r.chooseAgent(g, layer)
	case g.name == "redact":
		return r.applyRedact(g)
	case isPart:
		r.settings.Checkpoints = supervision
	case g.parsed != nil:
		of, _ := find(g.name)
		r.settings.field(of).Set(reflect.ValueOf(g.parsed))
	default:
		if err := r.set(g); err != nil {
			return err
		}
	}
	if g.name == "notify.webhook" { // show only the host: the rest of the address can be a secret
		g.shown = cmp.Or(notify.Host(g.value), "none")
	}
	r.recordOrigin(g)
	return nil
}

func (r *resolver) set(g given) error {
	of, ok := find(g.name)
	if !ok {
		return g.errorAt("no such setting", known())
	}
	err := r.settings.set(of, g.value, g.dir)
	if err == nil && g.name == "until" {
		err = r.checkClock(g.value)
	}
	if bad, ok := errors.AsType[*option.Error](err); ok {
		return g.errorAt(bad.Text, bad.Fix)
	}
	r.settings.given[g.name] = g.strong
	return err
}

func (r *resolver) chooseAgent(g given, layer choices) error {
	if g.value == "" {
		missing := map[string]string{"agent": "an adapter", "exec": "a program and its arguments"}
		return g.errorAt("is empty", "name "+missing[g.name])
	}
	c := layer[g.role]
	if g.name == "exec" {
		c.exec = &g
	} else {
		g.value = strings.ToLower(g.value)
		if r.in.Adapters != nil && !slices.Contains(r.in.Adapters, g.value) {
			return g.errorAt(fmt.Sprintf("unknown adapter %q", g.value),
				frontmatter.Suggest(g.value, r.in.Adapters, "the known adapters are "))
		}
		c.agent = &g
	}
	layer[g.role] = c
	if g.role == "" {
		r.settings.given[g.name] = g.strong
	}
	return nil
}

// applyRedact adds texts that must be hidden. The entry `$NAME` hides the value of a variable, so
// that the settings file need not hold the secret itself. An unset variable hides nothing.
func (r *resolver) applyRedact(g given) error {
	var names []string
	list := g.parsed.([]string)
	for i, text := range list {
		name, isVariable := strings.CutPrefix(text, "$")
		if !isVariable {
			r.settings.Redact = append(r.settings.Redact, Hidden{fmt.Sprintf("redact[%d]", i), text})
			continue
		}
		if !option.VariableName().MatchString(name) {
			return g.errorAt(fmt.Sprintf("%q is no variable name", name),
				"write $NAME, or quote a text that does not begin with $")
		}
		names = append(names, text)
		if value := r.lookupVariable(name); value != "" {
			r.settings.Redact = append(r.settings.Redact, Hidden{text, value})
		}
	}
	if hidden := len(list) - len(names); hidden > 0 {
		names = append(names, fmt.Sprintf("(%d not shown)", hidden))
	}
	g.shown = strings.Join(names, " ")
	r.recordOrigin(g)
	return nil
}

func (r *resolver) lookupVariable(name string) string { return lookup(r.in.Environ, name) }

func lookup(environ []string, name string) string {
	// The last assignment counts, as in a program that is started with two assignments to one name.
	for _, assignment := range slices.Backward(environ) {
		if key, value, ok := strings.Cut(assignment, "="); ok && key == name {
			return value
		}
	}
	return ""
}

func (r *resolver) recordOrigin(g given) {
	shown := g.value
	if g.shown != "" {
		shown = g.shown
	}
	r.origins[g.name] = Origin{g.name, shown, g.source}
	r.settings.places[g.name] = g
}

// listOrigins returns the origins in the order of the table. The origins for single roles follow
// their setting, sorted by role.
func (r *resolver) listOrigins() []Origin {
	for name, g := range r.choices.sources() {
		r.origins[name] = Origin{name, g.value, g.source}
	}
	var all []Origin
	for _, row := range Table() {
		all = append(all, r.origins[row.Name])
		for _, name := range r.choices.roleNames() {
			if o, ok := r.origins[row.Name+"."+name]; ok && row.Repeated {
				all = append(all, o)
			}
		}
	}
	return all
}

// own lists the KANBAN_RUN_ variables that are not settings. This program sets them for its agents
// and its second process.
var own = []string{"KANBAN_RUN_ROLE", "KANBAN_RUN_MARK", "KANBAN_RUN_ACTION", "KANBAN_RUN_JOB_TOKEN"}

// checkVariables refuses a variable that is named like a setting but is not a setting. Otherwise a
// misspelt limit of cost would have no effect.
func checkVariables(environ []string) error {
	var names []string
	for _, row := range Table() {
		if row.Variable != "" {
			names = append(names, row.Variable)
		}
	}
	for _, assignment := range environ {
		name, value, _ := strings.Cut(assignment, "=")
		isKnown := slices.Contains(names, name) || slices.Contains(own, name)
		if !strings.HasPrefix(name, "KANBAN_RUN_") || value == "" || isKnown {
			continue
		}
		return &frontmatter.Problem{
			Text: "variable " + name + ": no such setting",
			Fix:  suggestion(name, names),
		}
	}
	return nil
}

func suggestion(name string, names []string) string {
	if meant := frontmatter.Nearest(name, names); meant != "" {
		return "did you mean " + meant + "?"
	}
	return "unset it; kanban-run docs reference lists the variables"
}

func (r *resolver) fromEnviron() ([]given, error) {
	if err := checkVariables(r.in.Environ); err != nil {
		return nil, err
	}
	var values []given
	for _, row := range Table() {
		value := ""
		if row.Variable != "" {
			value = r.lookupVariable(row.Variable)
		}
		if value == "" {
			continue
		}
		more, err := r.parseTexts(row, strings.Split(value, "\n"), "variable "+row.Variable)
		if err != nil {
			return nil, err
		}
		values = append(values, more...)
	}
	return values, nil
}

func (r *resolver) fromFlags() ([]given, error) {
	var values []given
	for _, row := range Table() {
		if len(r.in.Flags[row.Name]) == 0 {
			continue
		}
		source := "flag --" + row.Flag
		if row.Flag == "" {
			source = "setting " + row.Name
		}
		more, err := r.parseTexts(row, r.in.Flags[row.Name], source)
		if err != nil {
			return nil, err
		}
		values = append(values, more...)
	}
	return values, nil
}

// parseTexts makes one value from each text. If the setting allows a role before the value, it
// splits the text into role and value.
func (r *resolver) parseTexts(row Setting, texts []string, source string) ([]given, error) {
	var values []given
	for _, text := range texts {
		g := given{name: row.Name, value: strings.TrimSpace(text), source: source, strong: true, dir: r.in.StartDir}
		if row.Repeated {
			if g.value == "" && len(texts) > 1 {
				continue
			}
			role, rest, err := r.cutRole(g)
			if err != nil {
				return nil, err
			}
			g.role, g.value = role, rest
		}
		values = append(values, g)
	}
	return values, nil
}

// cutRole cuts ROLE= off the value if the text before the first = is one word. That word must then
// be a role. So `FOO=1 ./agent` is refused.
func (r *resolver) cutRole(g given) (role, rest string, err error) {
	word, rest, found := strings.Cut(g.value, "=")
	if !found || !isRoleWord(word) {
		return "", g.value, nil
	}
	if r.in.KnownRole != nil && !r.in.KnownRole(word) {
		return "", "", g.errorAt(fmt.Sprintf("unknown role %q before the =", word),
			"name a role that kanban-run roles lists; to set a variable for a command write env NAME=value COMMAND")
	}
	return roleKey(word), strings.TrimSpace(rest), nil
}

// isRoleWord reports whether a word could be a role's name, in letters and digits of any script.
// `./run` and `"quoted` could not be names.
func isRoleWord(word string) bool {
	isLetter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	isOther := func(r rune) bool { return !isLetter(r) && !strings.ContainsRune("_.-", r) }
	first, _ := utf8.DecodeRuneInString(word)
	return isLetter(first) && !strings.ContainsFunc(word, isOther)
}

func roleKey(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

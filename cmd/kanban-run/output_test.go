package main

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/report"
	"kanban-run/schema"
)

// TestOutputSchemas holds the schemas of what the program prints for programs to the types that it
// prints: status --json, report --json, and the lines of run --json and log --json.
// KANBAN_TEST_UPDATE=1 writes them anew. The scripts validate real output against them.
func TestOutputSchemas(t *testing.T) {
	for name, doc := range map[string]map[string]any{
		"standing": newSchemas(t).document("standing", "Standing", "What kanban-run status --json and inbox --json print: how boards stand.", reflect.TypeFor[projection.Document]()),
		"report": newSchemas(t).document("report", "Report", "What kanban-run report --json prints: what became of boards, with their steps.",
			reflect.TypeFor[projection.Document]()),
		"event": newSchemas(t).lines(),
	} {
		path := filepath.Join("../../schema", name+".schema.json")
		want, err := json.MarshalIndent(doc, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, '\n')
		if os.Getenv("KANBAN_TEST_UPDATE") != "" {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the types say (%v): KANBAN_TEST_UPDATE=1 makes it anew", path, err)
		}
	}
}

// TestOutputSchemasRefuse: an object without its fields breaks each of them.
func TestOutputSchemasRefuse(t *testing.T) {
	for name, text := range map[string]string{"standing": "{}", "report": `[{"version":1}]`, "event": `{"version":1,"type":"STEP_STARTED","data":{"step":"one"}}`} {
		if err := validateAll(name, text); err == nil {
			t.Errorf("%s holds %s to be valid", name, text)
		}
	}
}

// schemas makes JSON Schemas from types. The comments of their fields are the descriptions.
type schemas struct {
	t        *testing.T
	defs     map[string]any
	comments map[string]map[string]string // by type and field
	values   map[string][]string          // constants by their type
	read     map[string]bool              // folders of packages that were read
}

func newSchemas(t *testing.T) *schemas {
	return &schemas{t: t, defs: map[string]any{}, comments: map[string]map[string]string{}, values: map[string][]string{}, read: map[string]bool{}}
}

func (s *schemas) document(name, title, about string, form reflect.Type) map[string]any {
	doc := s.object(form)
	doc["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	doc["$id"] = "https://kanban-run.example/schema/" + name + ".schema.json"
	doc["title"], doc["description"] = title, about
	if len(s.defs) > 0 {
		doc["$defs"] = s.defs
	}
	return doc
}

// lines returns the schema of a line: its data is that of its type.
func (s *schemas) lines() map[string]any {
	forms := map[string]reflect.Type{
		"AGENT_EVENT": reflect.TypeFor[agent.Sign](), "NOTICE": reflect.TypeFor[report.Notice](),
		"SUMMARY": reflect.TypeFor[report.Summary](), "REFUSED": reflect.TypeFor[report.Refusal](),
	}
	for _, kind := range event.Kinds() {
		e, err := event.Decode(kind, []byte("{}"))
		if err != nil {
			s.t.Fatal(err)
		}
		forms[kind] = reflect.TypeOf(e)
	}
	words := kindsInWords(s.t)
	words["AGENT_EVENT"], words["NOTICE"] = "What an agent at work does; it is not in the journal.", "A warning; it is not in the journal."
	words["SUMMARY"], words["REFUSED"] = "The last line of a run: how its boards stand.", "An error that kept the run from starting."
	kinds := append(event.Kinds(), "AGENT_EVENT", "NOTICE", "SUMMARY", "REFUSED")
	var all []any
	for _, kind := range kinds {
		all = append(all, map[string]any{
			"if":   map[string]any{"properties": map[string]any{"type": map[string]any{"const": kind, "description": words[kind]}}},
			"then": map[string]any{"properties": map[string]any{"data": s.form(forms[kind])}},
		})
	}
	doc := s.document("event", "Event", "A line of kanban-run log --json and of kanban-run run --json.", reflect.TypeFor[report.Line]())
	doc["allOf"] = all
	doc["properties"].(map[string]any)["type"].(map[string]any)["enum"] = kinds
	return doc
}

var instead = map[reflect.Type]reflect.Type{reflect.TypeFor[flow.Tally](): reflect.TypeFor[flow.TallyForm]()}

// form returns the schema of a type. A struct with a name is a definition.
func (s *schemas) form(form reflect.Type) map[string]any {
	if other := instead[form]; other != nil {
		form = other
	}
	switch {
	case form == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case form.Implements(reflect.TypeFor[json.Marshaler]()), form.Kind() == reflect.Interface:
		return map[string]any{}
	case form.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return map[string]any{"type": "string"}
	}
	switch form.Kind() {
	case reflect.Pointer:
		return s.form(form.Elem())
	case reflect.Slice:
		return map[string]any{"type": []any{"array", "null"}, "items": s.form(form.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.form(form.Elem())}
	case reflect.Struct:
		name := nameOf(form)
		if _, known := s.defs[name]; !known {
			s.defs[name] = nil // a type may hold itself
			s.defs[name] = s.object(form)
		}
		return map[string]any{"$ref": "#/$defs/" + name}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	default:
		return map[string]any{"type": "integer"}
	}
}

func nameOf(form reflect.Type) string { return filepath.Base(form.PkgPath()) + "." + form.Name() }

func (s *schemas) object(form reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	s.fields(form, properties, &required)
	object := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		object["required"] = required
	}
	return object
}

// fields adds the fields of a struct, also those of structs that it embeds.
func (s *schemas) fields(form reflect.Type, properties map[string]any, required *[]string) {
	for f := range form.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			s.fields(f.Type, properties, required)
			continue
		case name == "-" || !f.IsExported():
			continue
		}
		rule := s.form(f.Type)
		about := cmp.Or(s.comment(form, f.Name), fieldWords[name])
		if about == "" {
			s.t.Errorf("nothing says what %s of %s is: a comment, or fieldWords", name, nameOf(form))
		}
		about += s.oneOf(f.Type, about)
		if rule["$ref"] != nil {
			rule = map[string]any{"allOf": []any{rule}}
		}
		rule["description"] = about
		if strings.Contains(options, "omit") || f.Type.Kind() == reflect.Pointer {
			rule = nullable(rule, f.Type)
		} else {
			*required = append(*required, name)
		}
		properties[name] = rule
	}
}

// oneOf names the constants of a type in a sentence, unless the words about the field have them. The lists are open, so the rule
// does not hold them.
func (s *schemas) oneOf(form reflect.Type, about string) string {
	for form.Kind() == reflect.Pointer || form.Kind() == reflect.Slice {
		form = form.Elem()
	}
	s.readPackage(form)
	isNew := func(value string) bool { return !strings.Contains(about, value) }
	values := s.values[nameOf(form)]
	if form.Kind() != reflect.String || len(values) < 2 || !slices.ContainsFunc(values, isNew) {
		return ""
	}
	return " One of " + strings.Join(values, ", ") + "."
}

// nullable returns the rule of a field that may be null, as a pointer is where it does not leave the
// field out.
func nullable(rule map[string]any, form reflect.Type) map[string]any {
	if word, ok := rule["type"].(string); ok && form.Kind() == reflect.Pointer {
		rule["type"] = []any{word, "null"}
	}
	if form.Kind() == reflect.Pointer && rule["allOf"] != nil {
		return map[string]any{"description": rule["description"], "anyOf": []any{rule["allOf"].([]any)[0], map[string]any{"type": "null"}}}
	}
	return rule
}

// seedNote is the source of a rule, which is for readers of the code.
var seedNote = regexp.MustCompile(`[;:,]?\s*\(?seed 00\d[^.;)\n]*\)?`)

// What readers of the code write, and readers of JSON do not.
var (
	goNil   = regexp.MustCompile(`\bnil\b`)
	goSee   = regexp.MustCompile(`[,(]? ?\bsee \[[A-Z][\w.]*\]\)?`)
	isOrAre = regexp.MustCompile(`^(is|are|has) `)
)

// comment returns the comment of a field as a sentence.
func (s *schemas) comment(form reflect.Type, field string) string {
	s.readPackage(form)
	text := strings.Join(strings.Fields(seedNote.ReplaceAllString(s.comments[nameOf(form)][field], "")), " ")
	text = goSee.ReplaceAllString(goNil.ReplaceAllString(strings.TrimPrefix(text, field+" "), "absent"), "")
	if text = isOrAre.ReplaceAllString(text, ""); text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	return strings.TrimSuffix(string(unicode.ToUpper(first))+text[size:], ".") + "."
}

// readPackage reads the package of a type of this project, once.
func (s *schemas) readPackage(form reflect.Type) {
	folder, inside := strings.CutPrefix(form.PkgPath(), "kanban-run/")
	if folder = filepath.Join("../..", folder); inside && !s.read[folder] {
		s.read[folder] = true
		s.readComments(folder, filepath.Base(form.PkgPath()))
	}
}

func (s *schemas) readComments(folder, pkg string) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			s.t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if value, isValue := n.(*ast.ValueSpec); isValue {
				s.addValue(pkg, value)
			}
			spec, isType := n.(*ast.TypeSpec)
			if !isType {
				return true
			}
			if form, isStruct := spec.Type.(*ast.StructType); isStruct {
				fields := map[string]string{}
				for _, f := range form.Fields.List {
					for _, id := range f.Names {
						fields[id.Name] = f.Doc.Text() + f.Comment.Text()
					}
				}
				s.comments[pkg+"."+spec.Name.Name] = fields
			}
			return true
		})
	}
}

// kindsInWords returns what each kind of event is, as the comment of its type says.
func kindsInWords(t *testing.T) map[string]string {
	t.Helper()
	docs, kinds := map[string]string{}, map[string]string{}
	for _, file := range sources(t, "../../orchestrator/event") {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok {
						docs[s.Name.Name] = d.Doc.Text()
					}
				}
			case *ast.FuncDecl:
				if d.Name.Name == "Kind" && d.Recv != nil && len(d.Body.List) == 1 {
					addKind(kinds, d)
				}
			}
		}
	}
	for kind, name := range kinds {
		about := strings.TrimPrefix(new(doc.Package).Synopsis(docs[name]), name+" ")
		about = strings.TrimPrefix(ofSeed.ReplaceAllString(about, "."), "is ") // users read this
		if about == "" {
			t.Errorf("nothing is said of %s", name)
			continue
		}
		kinds[kind] = strings.ToUpper(about[:1]) + about[1:]
	}
	return kinds
}

// ofSeed matches the source of a rule at the end of a sentence.
var ofSeed = regexp.MustCompile(`:? \(?seed \d+, [^.]*?\)?($|\.)`)

func addKind(kinds map[string]string, d *ast.FuncDecl) {
	ret, ok := d.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return
	}
	if lit, ok := ret.Results[0].(*ast.BasicLit); ok {
		if kind, err := strconv.Unquote(lit.Value); err == nil {
			kinds[kind] = d.Recv.List[0].Type.(*ast.Ident).Name
		}
	}
}

func sources(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// addValue notes an exported constant of a type.
func (s *schemas) addValue(pkg string, spec *ast.ValueSpec) {
	name, typed := spec.Type.(*ast.Ident)
	if !typed || len(spec.Values) != 1 || !spec.Names[0].IsExported() {
		return
	}
	if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
		if text, err := strconv.Unquote(lit.Value); err == nil && text != "" {
			s.values[pkg+"."+name.Name] = append(s.values[pkg+"."+name.Name], text)
		}
	}
}

// validate is a command of scripts: validate SCHEMA FILE holds each JSON value of a file, and each item of a
// list, to a schema.
func validate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: validate SCHEMA FILE")
	}
	ts.Check(validateAll(args[0], ts.ReadFile(args[1])))
}

func validateAll(name, text string) error {
	d := json.NewDecoder(strings.NewReader(text))
	for count := 0; ; count++ {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) && count > 0 {
			return nil
		} else if err != nil {
			return fmt.Errorf("value %d: %w", count+1, err)
		}
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		}
		for _, item := range list {
			violations, err := schema.Validate(name, item)
			if err != nil {
				return err
			}
			if len(violations) > 0 {
				return fmt.Errorf("value %d breaks the schema %s: %v", count+1, name, violations)
			}
		}
	}
}

package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/config"
)

// TestReference: the pages that are made from the code say what the code says.
// KANBAN_TEST_UPDATE=1 makes them anew.
func TestReference(t *testing.T) {
	for page, want := range map[string]string{"reference.md": reference(t), "architecture.md": architecture(t)} {
		name := filepath.Join("..", "..", "docs", page)
		if os.Getenv("KANBAN_TEST_UPDATE") != "" {
			if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("docs/%s is not what the code says (%v): make docs makes it anew", page, err)
		}
	}
}

// reference is the page of commands, flags, settings and events.
func reference(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Reference: commands, settings, events\n\nThis page is made from the program.\n\n## Commands\n\n")
	settings := map[string]bool{}
	for _, s := range config.Table() {
		settings[s.Flag] = true
	}
	for _, c := range commands() {
		fmt.Fprintf(&b, "`%s`: %s.\n\n", strings.TrimSpace("kanban-run "+c.name+" "+c.args), c.summary)
		var rows []string
		flagsOf(c).VisitAll(func(f *pflag.Flag) {
			if !settings[f.Name] {
				rows = append(rows, flagRow(f))
			}
		})
		if len(rows) > 0 {
			b.WriteString("| flag | |\n|---|---|\n" + strings.Join(rows, "") + "\n")
		}
	}
	b.WriteString("## Settings\n\nA flag wins over the variable, the variable over `.kanban-run.yaml`. An agent or a command that any of them gives to one role wins over those for every role. `run`, `check`, `once` and other commands take the flags of the settings that they use.\n\n" +
		"| in `.kanban-run.yaml` | flag | variable | default | |\n|---|---|---|---|---|\n")
	for _, s := range config.Table() {
		b.WriteString(settingRow(s))
	}
	b.WriteString("\n## Events\n\nA line of `kanban-run log --json` and `run --json` has a `type` and `data`. The types in the order of their names:\n\n| type | |\n|---|---|\n")
	for _, e := range events(t) {
		b.WriteString(e)
	}
	return b.String()
}

func flagRow(f *pflag.Flag) string {
	value, usage := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	return fmt.Sprintf("| `%s` | %s |\n", strings.TrimSpace(name+" "+value), cell(usage))
}

func settingRow(s config.Setting) string {
	file, flag := "", ""
	if s.InFile {
		file = "`" + s.Name + "`"
	}
	if s.Flag != "" {
		flag = "`" + strings.TrimSpace("--"+s.Flag+" "+s.Value) + "`"
	}
	variable := s.Variable
	if variable != "" {
		variable = "`" + variable + "`"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |\n", file, cell(flag), variable, cell(s.Default), cell(s.Help))
}

func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(text)
}

// events are the rows of all kinds of events, with what their types say.
func events(t *testing.T) (rows []string) {
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
		about = ofSeed.ReplaceAllString(about, ".") // users read this
		if about == "" {
			t.Errorf("nothing is said of %s", name)
			continue
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s |\n", kind, cell(strings.ToUpper(about[:1])+about[1:])))
	}
	slices.Sort(rows)
	return rows
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

// architecture is the documentation of package orchestrator as a page.
func architecture(t *testing.T) string {
	file, err := parser.ParseFile(token.NewFileSet(), "../../orchestrator/doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	printer := &comment.Printer{HeadingLevel: 2, HeadingID: func(*comment.Heading) string { return "" }, DocLinkURL: func(l *comment.DocLink) string {
		return "../orchestrator/" + strings.TrimPrefix(l.ImportPath, "kanban-run/orchestrator/")
	}}
	p := &comment.Parser{LookupPackage: func(name string) (string, bool) { return "kanban-run/orchestrator/" + name, true }}
	text := printer.Markdown(p.Parse(file.Doc.Text()))
	return "# Architecture\n\nThis page is the documentation of package orchestrator.\n\n" + strings.ReplaceAll(string(text), "\t", "    ")
}

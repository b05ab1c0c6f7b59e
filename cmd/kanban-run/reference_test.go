package main

import (
	"fmt"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
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
			b.WriteString(strings.Join(rows, "") + "\n")
		}
	}
	b.WriteString("## Settings\n\nA flag wins over the variable, the variable over `.kanban-run.yaml`. An agent or a command that any of them gives to one role wins over those for every role. `run`, `check`, `once` and other commands take the flags of the settings that they use. " +
		"The variable of a setting is `KANBAN_RUN_` and its name in capitals, such as `KANBAN_RUN_MAX_COST` or `KANBAN_RUN_NOTIFY_WEBHOOK`. These have none: " + withoutVariable(t) + ".\n\n" +
		"| in `.kanban-run.yaml` | flag | default | |\n|---|---|---|---|\n")
	for _, s := range config.Table() {
		b.WriteString(settingRow(s))
	}
	b.WriteString("\n## Events\n\nA line of `kanban-run log --json` and `run --json` has a `type` and `data`. `kanban-run schema event` says what each type is and which fields it has; with jq a line for each:\n\n" +
		"    kanban-run schema event | jq -r '.allOf[].if.properties.type | \"\\(.const): \\(.description)\"'\n")
	return b.String()
}

// withoutVariable names the settings that no variable sets, and holds the names of the variables of the others to their rule.
func withoutVariable(t *testing.T) string {
	t.Helper()
	var none []string
	for _, s := range config.Table() {
		want := "KANBAN_RUN_" + strings.ToUpper(strings.ReplaceAll(s.Name, ".", "_"))
		if s.Variable == "" {
			none = append(none, "`"+s.Name+"`")
		} else if s.Variable != want {
			t.Errorf("the variable of %s is %s, want %s", s.Name, s.Variable, want)
		}
	}
	return strings.Join(none, ", ")
}

func flagRow(f *pflag.Flag) string {
	value, usage := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	return fmt.Sprintf("- `%s`: %s\n", strings.TrimSpace(name+" "+value), strings.ReplaceAll(usage, "\n", " "))
}

func settingRow(s config.Setting) string {
	file, flag := "", ""
	if s.InFile {
		file = "`" + s.Name + "`"
	}
	if s.Flag != "" {
		flag = "`" + strings.TrimSpace("--"+s.Flag+" "+s.Value) + "`"
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", file, cell(flag), cell(s.Default), cell(s.Help))
}

func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(text)
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

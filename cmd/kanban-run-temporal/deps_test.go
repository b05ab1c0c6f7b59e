package main

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// This program knows kanban-run as a program only, what the server knows (fleet) knows no
// process, and nothing points back.
func TestImports(t *testing.T) {
	const module = "kanban-run/cmd/kanban-run-temporal"
	allowed := map[string][]string{
		".":      {module + "/fleet", module + "/runner"},
		"runner": {module + "/fleet"},
		"fleet":  nil,
	}
	for dir, own := range allowed {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", dir, err)
		}
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range file.Imports {
				imported, _ := strconv.Unquote(spec.Path.Value)
				ours := strings.HasPrefix(imported, "kanban-run/")
				if ours && !strings.HasSuffix(name, "_test.go") && !strings.Contains(strings.Join(own, " ")+" ", imported+" ") || dir == "fleet" && strings.HasPrefix(imported, "os") {
					t.Errorf("%s imports %s", name, imported)
				}
			}
		}
	}
}

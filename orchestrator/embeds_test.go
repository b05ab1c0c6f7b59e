package orchestrator_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoEmbeddedStructEmbeds: a reader of a field finds its struct in two looks at most.
func TestNoEmbeddedStructEmbeds(t *testing.T) {
	embeds := map[string][]string{} // the types that a struct embeds, both as package.Type
	eachFile(t, func(name string) {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		pkg := path.Base(filepath.ToSlash(filepath.Dir(name)))
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			s, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, f := range s.Fields.List {
				if len(f.Names) == 0 {
					embeds[pkg+"."+spec.Name.Name] = append(embeds[pkg+"."+spec.Name.Name], embeddedName(pkg, f.Type))
				}
			}
			return true
		})
	})
	if len(embeds) < 50 {
		t.Fatalf("%d structs embed, want all of the project", len(embeds))
	}
	for outer, inner := range embeds {
		for _, name := range inner {
			if deep := embeds[name]; deep != nil {
				t.Errorf("%s embeds %s, which embeds %s", outer, name, strings.Join(deep, " and "))
			}
		}
	}
}

func embeddedName(pkg string, e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.X.(*ast.Ident).Name + "." + e.Sel.Name
	case *ast.Ident:
		return pkg + "." + e.Name
	default:
		return ""
	}
}

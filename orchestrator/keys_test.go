package orchestrator_test

import (
	"go/ast"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// textKeys are the functions that decide by a text, each with the reason why there is no field for it.
var textKeys = map[string]string{
	"event.RunFinished.IsRemarked": "records of earlier versions have no field for it",
	"roster.Player.Explain":        "the words are those of an agent's tool, which names a variable in no other way",
}

// TestNoSentenceIsAKey: a text is for people, and a decision by it changes with a word of it. What a text means
// stands in a field beside it. So no field Text, Said or Hint, no method that returns such a text, and no constant
// …Text is compared with another text or searched. Only whether there is a text may be asked.
func TestNoSentenceIsAKey(t *testing.T) {
	found := map[string]bool{}
	eachSource(t, func(name string, set *token.FileSet, file *ast.File) {
		if strings.Contains(name, "test/") { // packages for tests
			return
		}
		for _, d := range file.Decls {
			in := nameOf(filepath.Base(filepath.Dir(name)), d)
			for _, at := range comparedTexts(d) {
				if found[in] = true; textKeys[in] == "" {
					t.Errorf("%s: %s decides by a text, want a field beside it", set.Position(at), in)
				}
			}
		}
	})
	if got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(textKeys)); !slices.Equal(got, want) {
		t.Errorf("%q decide by texts, want %q", got, want)
	}
}

// comparedTexts returns the places that compare or search a text for people.
func comparedTexts(d ast.Decl) (all []token.Pos) {
	add := func(n ast.Node, operands ...ast.Expr) {
		if slices.ContainsFunc(operands, isText) && !slices.ContainsFunc(operands, isNone) {
			all = append(all, n.Pos())
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				add(n, n.X, n.Y)
			}
		case *ast.SwitchStmt:
			add(n, n.Tag)
		case *ast.CaseClause:
			add(n, n.List...)
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && isName(s.X, "strings") && !layouts[s.Sel.Name] {
				for _, arg := range n.Args {
					add(n, arg)
				}
			}
		}
		return true
	})
	return all
}

// layouts are the functions of package strings that only lay a text out, or join it with others.
var layouts = map[string]bool{"TrimSpace": true, "TrimSuffix": true, "Fields": true, "Lines": true, "Split": true, "Join": true, "ReplaceAll": true, "Repeat": true}

// isNone reports whether an expression is "" or nil.
func isNone(e ast.Expr) bool {
	literal, ok := e.(*ast.BasicLit)
	return ok && literal.Value == `""` || isName(e, "nil")
}

// isText reports whether an expression is a text for people, by its name.
func isText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CallExpr:
		s, ok := e.Fun.(*ast.SelectorExpr)
		return ok && slices.Contains([]string{"Text", "Said", "Hint", "Why", "What", "Headline", "Advice", "Plain", "OneLine"}, s.Sel.Name)
	case *ast.SelectorExpr:
		switch name := e.Sel.Name; {
		case isName(e.X, "agent"): // agent.Text is a kind of sign
			return false
		default:
			return name == "Text" || name == "Said" || name == "Hint" || strings.HasSuffix(name, "Text")
		}
	case *ast.Ident:
		return strings.HasSuffix(e.Name, "Text") && e.Name != "Text"
	case *ast.ParenExpr:
		return isText(e.X)
	default:
		return false
	}
}

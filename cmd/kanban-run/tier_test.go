package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// exhaustive reports whether the crash tests run whole, as make exhaustive does: every failpoint each
// time that it is reached, hundreds of random kills, boards of thousands of tasks. make test takes a
// sample of them.
func exhaustive() bool { return os.Getenv("KANBAN_TEST_EXHAUSTIVE") != "" }

// sampleSeed chooses the sample of make test. KANBAN_TEST_SEED repeats the choice of a failed run.
var sampleSeed = sync.OnceValue(func() int64 {
	if n, err := strconv.ParseInt(os.Getenv("KANBAN_TEST_SEED"), 10, 64); err == nil && n >= 0 {
		return n
	}
	return time.Now().UnixNano() % 1e9
})

// inSample reports whether the n-th of many alike cases is played: each in the exhaustive tests, else
// one of every `of`, another one with each seed.
func inSample(t testing.TB, n, of int) bool {
	t.Helper()
	if exhaustive() {
		return true
	}
	t.Logf("KANBAN_TEST_SEED=%d", sampleSeed())
	return (int64(n)+sampleSeed())%int64(of) == 0
}

// TestExhaustiveIsWhole: make exhaustive runs every test that make test takes a sample of.
func TestExhaustiveIsWhole(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(`(?m)^EXHAUSTIVE := (.*)$`).FindSubmatch(makefile)
	if pattern == nil {
		t.Fatal("the Makefile has no EXHAUSTIVE")
	}
	whole, err := regexp.Compile(string(pattern[1]))
	if err != nil {
		t.Fatal(err)
	}
	sampled := callersOf(t, "exhaustive", "sampleSeed", `"KANBAN_TEST_EXHAUSTIVE"`)
	if len(sampled) < 8 {
		t.Errorf("only %v take a sample", sampled)
	}
	for _, name := range sampled {
		if !whole.MatchString(name) {
			t.Errorf("%s takes a sample, and make exhaustive does not run it: %s", name, pattern[1])
		}
	}
}

// callersOf returns the tests and fuzz targets of this folder in which one of the names stands, or the
// name of a function or variable in which it does.
func callersOf(t *testing.T, names ...string) (tests []string) {
	t.Helper()
	within := namesWithin(t)
	reached := slices.Clone(names)
	for i := 0; i < len(reached); i++ {
		for declared, named := range within {
			if named[reached[i]] && !slices.Contains(reached, declared) {
				reached = append(reached, declared)
			}
		}
	}
	for _, name := range reached {
		if strings.HasPrefix(name, "Test") && name != "TestExhaustiveIsWhole" || strings.HasPrefix(name, "Fuzz") {
			tests = append(tests, name)
		}
	}
	return tests
}

// namesWithin returns the names that stand in each function, method and package variable of this
// folder's tests.
func namesWithin(t *testing.T) map[string]map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string]bool{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			for declared, within := range declarations(d) {
				if found[declared] == nil { // methods of several types may have one name
					found[declared] = map[string]bool{}
				}
				noteNames(found[declared], file, within)
			}
		}
	}
	return found
}

// declarations returns what a declaration declares, functions and variables, a method with a dot.
func declarations(d ast.Decl) map[string]ast.Node {
	declared := map[string]ast.Node{}
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			name = "." + name
		}
		declared[name] = d.Body
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				for _, name := range v.Names {
					declared[name.Name] = v
				}
			}
		}
	}
	return declared
}

// noteNames notes the names of what is declared outside of functions, what is behind a dot, and texts in
// quotes. Local variables may have the names of functions.
func noteNames(names map[string]bool, file *ast.File, within ast.Node) {
	ast.Inspect(within, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			names["."+n.Sel.Name] = true
			noteNames(names, file, n.X)
			return false
		case *ast.Ident:
			if n.Obj == nil || n.Obj == file.Scope.Lookup(n.Name) {
				names[n.Name] = true
			}
		case *ast.BasicLit:
			names[n.Value] = true
		}
		return true
	})
}

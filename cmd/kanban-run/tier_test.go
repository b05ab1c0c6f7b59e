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
	sampled := callersOf(t, "exhaustive")
	if len(sampled) < 8 {
		t.Errorf("only %v take a sample", sampled)
	}
	for _, name := range sampled {
		if !whole.MatchString(name) {
			t.Errorf("%s takes a sample, and make exhaustive does not run it: %s", name, pattern[1])
		}
	}
}

// callersOf returns the tests and fuzz targets of this folder that call a function, or a function
// that does.
func callersOf(t *testing.T, function string) (tests []string) {
	t.Helper()
	calls := callsInFunctions(t)
	reached := []string{function}
	for i := 0; i < len(reached); i++ {
		for caller, called := range calls {
			if called[reached[i]] && !slices.Contains(reached, caller) {
				reached = append(reached, caller)
			}
		}
	}
	for _, name := range reached {
		if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") {
			tests = append(tests, name)
		}
	}
	return tests
}

// calledName is the name of a function that is called, with a dot before a method's.
func calledName(called ast.Expr) string {
	switch f := called.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return "." + f.Sel.Name
	default:
		return ""
	}
}

// callsInFunctions returns what each function and method of this folder's tests calls.
func callsInFunctions(t *testing.T) map[string]map[string]bool {
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
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := f.Name.Name
			if f.Recv != nil {
				name = "." + name // methods of several types may have one name
			}
			names := found[name]
			if names == nil {
				names = map[string]bool{}
				found[name] = names
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					names[calledName(call.Fun)] = true
				}
				return true
			})
		}
	}
	return found
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// goPackage has the fields of `go list -json` of a package, or of a variant of it built for a test.
type goPackage struct {
	ImportPath string
	ForTest    string // the package whose test it was built for
	Dir        string
	Module     *struct{ Main bool }
	GoFiles    []string
	Deps       []string
}

// listPackages lists packages of this module with their tests and all that these import of this
// module.
func listPackages(patterns ...string) ([]goPackage, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-test",
		"-json=ImportPath,ForTest,Dir,Module,GoFiles,Deps"}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", cmd, err)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages, nil
		case err != nil:
			return nil, fmt.Errorf("%v: %w", cmd, err)
		case p.Module != nil && p.Module.Main:
			packages = append(packages, p)
		}
	}
}

// closureOf returns the folders of packages and of all that they and their tests import, from the
// current folder, with true for those of the packages themselves.
func closureOf(patterns []string) (map[string]bool, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	packages, err := listPackages(patterns...)
	if err != nil {
		return nil, err
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	folders := map[string]bool{}
	for _, p := range packages {
		folder, err := filepath.Rel(here, p.Dir)
		if err != nil {
			return nil, err
		}
		folders[filepath.ToSlash(folder)] = false
	}
	for _, pattern := range patterns {
		root, below := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "/...")
		for folder := range folders {
			folders[folder] = folders[folder] || folder == root || below && strings.HasPrefix(folder, root+"/")
		}
	}
	return folders, nil
}

// concurrentPackages returns the packages with tests in which more than one goroutine can be: a file of
// the test's program, tests and imports of this module included, starts one.
func concurrentPackages() ([]string, error) {
	packages, err := listPackages("./...")
	if err != nil {
		return nil, err
	}
	starts := map[string]bool{}
	for _, p := range packages {
		for _, file := range p.GoFiles {
			if !filepath.IsAbs(file) { // the main program of a test lies in the build cache
				file = filepath.Join(p.Dir, file)
			}
			does, err := startsGoroutine(file)
			if err != nil {
				return nil, err
			}
			starts[p.ImportPath] = starts[p.ImportPath] || does
		}
	}
	var concurrent []string
	for _, p := range packages {
		name, isTest := strings.CutSuffix(p.ImportPath, ".test")
		if isTest && slices.ContainsFunc(p.Deps, func(dep string) bool { return starts[dep] }) {
			concurrent = append(concurrent, name)
		}
	}
	return concurrent, nil
}

// startsGoroutine reports whether a file has a go statement, or calls what starts goroutines or has
// tests run side by side: Go of sync.WaitGroup, AfterFunc of time and context, Parallel of testing.
func startsGoroutine(path string) (found bool, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return false, err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.SelectorExpr:
			found = found || slices.Contains([]string{"Go", "AfterFunc", "Parallel", "RunParallel"}, n.Sel.Name)
		}
		return !found
	})
	return found, nil
}

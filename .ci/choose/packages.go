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

// goPackage holds fields that `go list -json` prints for a package, or for a variant of a package
// that is built for a test.
type goPackage struct {
	ImportPath string
	ForTest    string // the package for whose test the variant is built
	Dir        string
	Module     *struct{ Main bool }
	GoFiles    []string
	Deps       []string
}

// listPackages returns packages, their tests and all packages that these import, as far as they
// belong to this module.
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

// closureOf returns the folders of packages, and of all packages of this module that they and their
// tests import. The value is true for a folder that the patterns name, and false for one that is
// only imported. Paths are relative to the current folder.
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

// concurrentPackages returns the packages whose tests can have more than one goroutine. It looks
// for the start of a goroutine in the tests and in this module's packages that the tests import.
func concurrentPackages() ([]string, error) {
	packages, err := listPackages("./...")
	if err != nil {
		return nil, err
	}
	starts := map[string]bool{}
	for _, p := range packages {
		for _, file := range p.GoFiles {
			if !filepath.IsAbs(file) { // an absolute path: a test's main program, in the build cache
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

// startsGoroutine reports whether a file has a go statement, or names a function that starts
// goroutines or runs tests side by side: WaitGroup.Go, time.AfterFunc, context.AfterFunc,
// T.Parallel or B.RunParallel.
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

// casecov takes the place of the go command while mutation tests measure coverage. It runs go with
// the same arguments. If these ask for a cover profile, it then adds the conditions of switch cases
// to the profile: Go has no counter for such conditions, so gremlins would never mutate them (its
// issue 298). The environment variable GO names the real go command.
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	cmd := exec.Command(os.Getenv("GO"), os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	if i := slices.Index(os.Args, "-coverprofile"); err == nil && i > 0 {
		err = addConditions(os.Args[i+1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "casecov:", err)
		os.Exit(1)
	}
}

// addConditions appends a block to the profile for each condition that the tests evaluated.
func addConditions(profile string) error {
	module, err := exec.Command(os.Getenv("GO"), "list", "-m", "-f", "{{.Path}} {{.Dir}}").Output()
	if err != nil {
		return err
	}
	path, dir, _ := strings.Cut(strings.TrimSpace(string(module)), " ")
	data, err := os.ReadFile(profile)
	if err != nil {
		return err
	}
	covered, err := parse(string(data))
	if err != nil {
		return err
	}
	for name, blocks := range covered {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, filepath.Join(dir, strings.TrimPrefix(name, path)), nil, 0)
		if err != nil {
			return err
		}
		for _, b := range conditions(fset, file, blocks) {
			data = fmt.Appendf(data, "%s:%d.%d,%d.%d 1 1\n", name, b.line, b.column, b.endLine, b.endColumn)
		}
	}
	return os.WriteFile(profile, data, 0o644)
}

// block is a range of source text.
type block struct{ line, column, endLine, endColumn int }

// parse reads a cover profile and returns, for the name of each file, the blocks that were run.
func parse(profile string) (map[string][]block, error) {
	covered := map[string][]block{}
	for line := range strings.Lines(profile) {
		colon := strings.LastIndex(line, ":")
		var b block
		var statements, count int
		_, err := fmt.Sscanf(line[colon+1:], "%d.%d,%d.%d %d %d", &b.line, &b.column, &b.endLine, &b.endColumn,
			&statements, &count)
		switch {
		case strings.HasPrefix(line, "mode:"):
		case err != nil:
			return nil, fmt.Errorf("%q: %w", line, err)
		case count > 0:
			covered[line[:colon]] = append(covered[line[:colon]], b)
		}
	}
	return covered, nil
}

// conditions returns the conditions of switch cases that were evaluated: those of a case that was
// run, and those of the cases before it.
func conditions(fset *token.FileSet, file *ast.File, covered []block) (evaluated []block) {
	at := func(start, end token.Pos) block {
		from, to := fset.Position(start), fset.Position(end)
		return block{from.Line, from.Column, to.Line, to.Column}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SwitchStmt)
		if !ok {
			return true
		}
		reached := false
		for _, clause := range slices.Backward(s.Body.List) {
			c := clause.(*ast.CaseClause)
			body := at(c.Colon, c.End())
			reached = reached || slices.ContainsFunc(covered, body.holdsStartOf)
			for _, condition := range c.List {
				if reached {
					evaluated = append(evaluated, at(condition.Pos(), condition.End()))
				}
			}
		}
		return true
	})
	return evaluated
}

func (b block) holdsStartOf(other block) bool {
	after := other.line > b.line || other.line == b.line && other.column >= b.column
	before := other.line < b.endLine || other.line == b.endLine && other.column <= b.endColumn
	return after && before
}

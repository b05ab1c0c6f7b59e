package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"kanban-run/roles"
)

// findTests returns the command that runs the tests of a project, and the file that tells so. It returns
// "" if the folder has no project that is known here, or if the command's program is not installed.
func findTests(dir string) (command, because string) {
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		return string(text)
	}
	var npm struct{ Scripts struct{ Test string } }
	_ = json.Unmarshal([]byte(read("package.json")), &npm)
	makefile := ""
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} { // make takes the first that is there
		if text := read(name); text != "" {
			if testTarget.MatchString(text) {
				makefile = name
			}
			break
		}
	}
	unittests, discover := findUnittests(dir)
	for _, project := range []struct {
		file, command string
		is            bool
	}{
		{"go.mod", "go test ./...", read("go.mod") != ""},
		{"package.json", "npm test", npm.Scripts.Test != "" && !strings.Contains(npm.Scripts.Test, "no test specified")},
		{"Cargo.toml", "cargo test", read("Cargo.toml") != ""},
		{"pyproject.toml", "python3 -m pytest", strings.Contains(read("pyproject.toml"), "pytest")},
		{makefile, "make test", makefile != ""},
		{unittests, "python3 -m unittest" + discover, unittests != ""},
	} {
		program, _, _ := strings.Cut(project.command, " ")
		if _, err := exec.LookPath(program); project.is && err == nil {
			return project.command, project.file
		}
	}
	return "", ""
}

// testTarget matches the target of a Makefile that runs tests.
var testTarget = regexp.MustCompile(`(?m)^test[ \t]*:([^=]|$)`)

// findUnittests returns the first file with tests of Python's unittest, in a folder that the tests are found
// from, and the arguments that name another folder than dir.
func findUnittests(dir string) (file, arguments string) {
	for _, at := range []struct{ folder, arguments string }{{"", ""}, {"test", " discover -s test"}, {"tests", " discover -s tests"}} {
		names, _ := filepath.Glob(filepath.Join(dir, at.folder, "test*.py")) // the pattern is valid
		for _, name := range names {
			if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte("unittest")) {
				return filepath.ToSlash(filepath.Join(at.folder, filepath.Base(name))), at.arguments
			}
		}
	}
	return "", ""
}

// reviewedRole returns the text of the built-in Implementor with a command that reviews its work.
func reviewedRole(command, because string) ([]byte, error) {
	set, err := roles.Load()
	if err != nil {
		return nil, err
	}
	role, err := set.Lookup("Implementor")
	if err != nil {
		return nil, err
	}
	text, err := role.Source()
	if err != nil {
		return nil, err
	}
	head, body, _ := strings.Cut(strings.TrimPrefix(string(text), "---\n"), "\n---\n")
	return fmt.Appendf(nil, "---\n%s\n# Because of %s: work counts once this command ends with 0. Without this file the built-in role counts.\n"+
		"review: {command: %s}\n---\n%s", head, because, command, body), nil
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	for _, project := range []struct {
		file, command string
		is            bool
	}{
		{"go.mod", "go test ./...", read("go.mod") != ""},
		{"package.json", "npm test", npm.Scripts.Test != "" && !strings.Contains(npm.Scripts.Test, "no test specified")},
		{"pyproject.toml", "python3 -m pytest", strings.Contains(read("pyproject.toml"), "pytest")},
	} {
		program, _, _ := strings.Cut(project.command, " ")
		if _, err := exec.LookPath(program); project.is && err == nil {
			return project.command, project.file
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

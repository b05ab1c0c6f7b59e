package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// shop is a folder for binaries that goes when this process goes, however it does:
// testing has no end of all tests.
type shop struct {
	dir  string
	life io.Closer // the pipe that the janitor waits for; it must not be collected
}

// workshop starts a shell that waits for the end of a pipe that only this process has,
// and removes the folder then.
var workshop = sync.OnceValues(func() (shop, error) {
	dir, err := os.MkdirTemp("", "kanban-run-test-")
	if err != nil {
		return shop{}, err
	}
	janitor := exec.Command("sh", "-c", `read -r _; rm -rf -- "$1"`, "janitor", dir)
	life, err := janitor.StdinPipe()
	if err != nil {
		return shop{}, err
	}
	return shop{dir, life}, janitor.Start()
})

// The programs that the tests start are the real ones, without the race detector, each built once.
var (
	buildPlain      = builder("kanban-run", ".")
	buildFailpoints = builder("kanban-run-failpoints", "-tags", "failpoints", ".")
	buildEscape     = builder("escape", "./testdata/crash/escape")
	buildActor      = builder("actor", "./testdata/actor")
)

func builder(name string, args ...string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		shop, err := workshop()
		if err != nil {
			return "", err
		}
		if err := openSources(args); err != nil {
			return "", err
		}
		binary := filepath.Join(shop.dir, name)
		build := exec.Command("go", append([]string{"build", "-trimpath", "-buildvcs=false", "-o", binary}, args...)...)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
		}
		return binary, nil
	})
}

// openSources opens the files of this module from which a program is built. The go command takes the
// result of a test from its cache unless a file has changed that the test itself has opened, and a
// process that a test starts is not the test.
func openSources(args []string) error {
	const files = `{{if .Module}}{{if .Module.Main}}{{$dir := .Dir}}{{$dir}}
{{range .GoFiles}}{{$dir}}/{{.}}
{{end}}{{range .EmbedFiles}}{{$dir}}/{{.}}
{{end}}{{end}}{{end}}`
	list := exec.Command("go", append([]string{"list", "-deps", "-f", files}, args...)...)
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("%v: %w", list, err)
	}
	for line := range strings.Lines(string(out)) {
		path := strings.TrimSuffix(line, "\n")
		if path == "" {
			continue
		}
		f, err := os.Open(path) // a folder, too: a new file belongs to its package
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// built is the path of a binary. The race detector does not look into other programs: its run
// leaves out the tests that need one.
func built(t testing.TB, build func() (string, error)) string {
	t.Helper()
	if raceEnabled {
		t.Skip("the program is built without the race detector")
	}
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// scriptOf is the path of a script in testdata/crash, which it opens: see openSources.
func scriptOf(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "crash", name))
	if err == nil {
		_, err = os.ReadFile(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

//go:build linux

// Package acttest runs action.yml as a runner of GitHub Actions does. The runner is act, on this
// machine, without container or network. Each script of testdata/script is a small repository with
// its workflow, named after what it proves:
//
//	go test ./.ci/acttest
package acttest

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"act": runAct,
	})
}

// For `uses: OWNER/kanban-run@v1` in the workflows act takes a copy of the working tree.
func TestAction(t *testing.T) {
	program := buildAct(t)
	action := snapshot(t)
	standIns, err := filepath.Abs("testdata/actions")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("ACT", program)
			env.Setenv("ACTION", action)
			env.Setenv("STAND_INS", standIns)
			serveReleases(env)
			return setUpScript(env)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfor": waitFor,
			"cancel":  cancelStep,
			"gone":    checkGone,
		},
	})
}

// buildAct builds act at the version in .ci/tools/act/go.mod, with one change: act does not wait for
// the output of a step that fails, so that its last lines, an annotation among them, are at times
// lost.
func buildAct(t *testing.T) string {
	t.Helper()
	const module = "github.com/nektos/act"
	dir := t.TempDir()
	source, modfile := filepath.Join(dir, "source"), filepath.Join(dir, "go.mod")
	original := goCommand(t, "list", "-modfile=../tools/act/go.mod", "-m", "-f", "{{.Dir}}", module)
	err := errors.Join(
		os.CopyFS(source, os.DirFS(original)),
		copyFile(modfile, "../tools/act/go.mod"),
		copyFile(filepath.Join(dir, "go.sum"), "../tools/act/go.sum"),
	)
	if err != nil {
		t.Fatal(err)
	}
	waitForOutput(t, filepath.Join(source, "pkg", "container", "host_environment.go"))
	goCommand(t, "mod", "edit", "-replace="+module+"="+source, modfile)
	program := filepath.Join(dir, "act")
	goCommand(t, "build", "-trimpath", "-modfile="+modfile, "-o", program, module)
	return program
}

// waitForOutput takes the return of a failed step out, which stands before the wait.
func waitForOutput(t *testing.T, source string) {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	const run, returns = "\terr = cmd.Run()\n", "\tif err != nil {\n\t\treturn err\n\t}\n"
	if strings.Count(string(text), run+returns) != 1 {
		t.Fatalf("%s reads differently: does act wait now for the output of a failed step?", source)
	}
	text = []byte(strings.Replace(string(text), run+returns, run, 1))
	if err := os.WriteFile(source, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// serveReleases serves what a script has in its folder forge, as a forge serves releases. $FORGE is the
// address.
func serveReleases(env *testscript.Env) {
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(env.WorkDir, "forge"))))
	env.Defer(server.Close)
	env.Setenv("FORGE", server.URL)
}

func goCommand(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// snapshot copies what a clone would have: tracked files, and new ones that are not ignored.
func snapshot(t *testing.T) string {
	t.Helper()
	list := exec.Command("git", "-C", "../..", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		err := copyFile(filepath.Join(dir, name), filepath.Join("../..", name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a removed file may still be in the index
			t.Fatal(err)
		}
	}
	appendStep(t, filepath.Join(dir, "action.yml"))
	return dir
}

// appendStep adds a last step without outputs: act returns the last step's outputs as the action's,
// and would miss one that action.yml does not declare.
func appendStep(t *testing.T, action string) {
	t.Helper()
	f, err := os.OpenFile(action, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("\n    - {if: '${{ always() }}', shell: bash, run: ':'}\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(to, from string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, info.Mode())
}

// setUpScript gives a script the machine's Go and caches, no network, and a home outside its
// repository. $KEEP outlives a job.
func setUpScript(env *testscript.Env) error {
	outside, err := os.MkdirTemp("", "acttest")
	if err != nil {
		return err
	}
	env.Defer(func() { os.RemoveAll(outside) })
	env.Setenv("HOME", filepath.Join(outside, "home"))
	env.Setenv("KEEP", filepath.Join(outside, "keep"))
	env.Setenv("GOPROXY", "off")
	env.Setenv("GOTOOLCHAIN", "local")
	env.Setenv("ARCH", runtime.GOARCH)
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOFLAGS"} {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			return fmt.Errorf("go env %s: %w", name, err)
		}
		env.Setenv(name, strings.TrimSpace(string(out)))
	}
	return errors.Join(os.Mkdir(env.Getenv("HOME"), 0o755), os.Mkdir(env.Getenv("KEEP"), 0o755))
}

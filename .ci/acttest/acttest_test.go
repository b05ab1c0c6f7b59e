//go:build linux

// Package acttest runs action.yml as a runner of GitHub Actions does. The runner is act, on this machine itself: no container, no
// network. Each script of testdata/script is a small repository with its workflow, named after what it proves:
//
//	go test ./.ci/acttest
package acttest

import (
	"errors"
	"fmt"
	"io/fs"
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
		"act": act,
	})
}

// The workflows of the scripts say `uses: OWNER/kanban-run@v1`; act takes a copy of the working tree for it.
func TestAction(t *testing.T) {
	program := build(t)
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
			return setup(env)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfor": waitFor,
			"cancel":  cancel,
			"gone":    gone,
			"serve":   serve,
		},
	})
}

// build gives the path of act at the version that .ci/tools/act/go.mod names. The go command builds it once and keeps it.
func build(t *testing.T) string {
	t.Helper()
	return goCommand(t, "tool", "-n", "-modfile=../tools/act/go.mod", "act")
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

// snapshot copies what a clone of the working tree would have: what git knows, and what is new and not ignored.
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
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // git need not know yet that a file was removed
			t.Fatal(err)
		}
	}
	endWithout(t, filepath.Join(dir, "action.yml"))
	return dir
}

// endWithout gives the action a last step that has no outputs: act hands on those of the last step as the action's own, and so
// would not notice what action.yml forgets.
func endWithout(t *testing.T, action string) {
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

// setup gives a script the machine's Go and its caches, no network, and a home outside of the repository that the script is.
// What a workflow puts into $KEEP outlives its job.
func setup(env *testscript.Env) error {
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

package main

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// stage is a make target that runs kanban-run with a real tool, which takes minutes. It has to run
// if a package of its closure or one of its files has changed.
type stage struct {
	target   string
	packages []string // the closure is these packages and all that they and their tests import
	files    []string // paths of files, or the beginnings of paths
}

// stages returns the stages. Each names the packages that speak to its tool or make the tool's
// input, and the files of the commands that its tests call. test-agents runs boards with real
// agents, so that the whole program is in its closure. The other stages leave out the packages that
// their commands import, because the targets "test" and "exhaustive" cover these packages.
func stages() []stage {
	return []stage{
		{"test-agents", []string{"./cmd/kanban-run", "./orchestrator/agent/..."},
			[]string{".ci/agents/", "examples/hello/"}},
		{"test-browser", []string{"./orchestrator/page", "./orchestrator/view", "./orchestrator/report"},
			[]string{".ci/browser/", "cmd/kanban-run/html.go", "cmd/kanban-run/report.go", "cmd/kanban-run/view.go"}},
		{"test-slurm", []string{"./examples/slurm", "./orchestrator/gitstore"},
			[]string{"examples/slurm/", "cmd/kanban-run/"}},
		{"test-container", nil, []string{"examples/container/", "cmd/kanban-run-temporal/", "cmd/kanban-run/init.go",
			"cmd/kanban-run/start/"}},
		{"test-release", nil, []string{".goreleaser.yaml", ".ci/release/", ".ci/action/release.sh", ".ci/tools/goreleaser/", "LICENSE",
			"cmd/kanban-run/version.go", "cmd/kanban-run/commit.txt", "cmd/kanban-run/.gitattributes",
			"cmd/kanban-run/man.go", "cmd/kanban-run/help.go", "cmd/kanban-run/completion.go"}},
		{"test-temporal", []string{"./orchestrator/gitstore"},
			[]string{"cmd/kanban-run-temporal/", ".ci/tools/temporal/", "docs/beyond-one-machine.md",
				"cmd/kanban-run/run.go", "cmd/kanban-run/status.go", "cmd/kanban-run/events.go", "cmd/kanban-run/exit.go"}},
		{"test-actions", nil, []string{"action.yml", ".ci/action/", ".ci/acttest/", ".ci/tools/act/",
			"examples/github-actions/", "examples/hello/", "examples/batch/", "cmd/kanban-run/"}},
	}
}

// chooseStages returns the targets that have to run. For each stage it prints the decision and the
// reason on standard error.
func chooseStages(kept string) (targets []string, err error) {
	for _, s := range stages() {
		changed, err := changedSince(greenCommit(kept, s.target))
		if err != nil {
			return nil, err
		}
		closure, err := closureOf(s.packages)
		if err != nil {
			return nil, err
		}
		run, why := s.decide(changed, closure)
		if run {
			targets = append(targets, s.target)
			fmt.Fprintf(os.Stderr, "%s is run: %s\n", s.target, why)
		} else {
			fmt.Fprintf(os.Stderr, "%s is left out: %s\n", s.target, why)
		}
	}
	return targets, nil
}

// decide reports whether a stage has to run, and returns the reason. The keys of the map closure
// are the folders of the stage's closure. A value is true if the stage runs the folder's own tests.
func (s stage) decide(c changes, closure map[string]bool) (run bool, why string) {
	if !c.known {
		return true, c.why
	}
	for _, file := range c.files {
		switch {
		case concernsAll(file):
			return true, file + " may concern all stages, and has changed since " + c.since
		case s.concerns(file, closure):
			return true, file + " has changed since " + c.since
		}
	}
	return false, "nothing that it tests has changed since " + c.since
}

func (s stage) concerns(file string, closure map[string]bool) bool {
	if slices.ContainsFunc(s.files, func(prefix string) bool { return strings.HasPrefix(file, prefix) }) {
		return true
	}
	folder, _, inTestdata := strings.Cut(file, "/testdata/")
	if !inTestdata {
		folder = path.Dir(file)
	}
	own, imported := closure[folder]
	if folder == "docs" && strings.HasSuffix(file, ".md") {
		return false // the program prints the pages of docs, but no tool reads them
	}
	return imported && (own || !inTestdata && !strings.HasSuffix(file, "_test.go"))
}

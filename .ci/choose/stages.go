package main

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// stage is a make target that runs kanban-run with a real tool, which takes minutes. It has to run
// where a package of its closure or one of its files has changed.
type stage struct {
	target   string
	packages []string // what they import, in this module, and what their tests import, is the closure
	files    []string // a file, or what the names of files begin with
}

// stages name for each tool the packages that speak to it, or make what it gets, and the commands that
// its tests call. test-agents runs boards with real agents, so that all of the program is in its closure.
// Of the others, what lies behind the commands that they call is left to make test and make exhaustive.
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
		{"test-temporal", []string{"./orchestrator/gitstore"},
			[]string{"cmd/kanban-run-temporal/", ".ci/tools/temporal/", "docs/beyond-one-machine.md",
				"cmd/kanban-run/run.go", "cmd/kanban-run/status.go", "cmd/kanban-run/events.go", "cmd/kanban-run/exit.go"}},
		{"test-actions", nil, []string{"action.yml", ".ci/action/", ".ci/acttest/", ".ci/tools/act/",
			"examples/github-actions/", "examples/hello/", "examples/batch/", "cmd/kanban-run/"}},
	}
}

// chooseStages returns the targets that have to run, and says why or why not.
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

// decide reports whether a stage has to run, and why. closure has the folders of its packages, with
// true for those whose own tests it runs.
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
		return false // the program prints its pages, and no tool reads them
	}
	return imported && (own || !inTestdata && !strings.HasSuffix(file, "_test.go"))
}

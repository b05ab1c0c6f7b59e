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

// stages name for each tool the packages that speak to it, or make what it gets. The program as a
// whole is in no closure: make test and make exhaustive play it, whatever has changed.
func stages() []stage {
	return []stage{
		{"test-agents", []string{"./orchestrator/agent/...", "./orchestrator/attempt", "./orchestrator/supervise"},
			[]string{".ci/agents/", "cmd/kanban-run/real_", "orchestrator/supervisor/", "orchestrator/watch/"}},
		{"test-browser", []string{"./orchestrator/page", "./orchestrator/view"}, []string{".ci/browser/", "cmd/kanban-run/html.go", "cmd/kanban-run/view.go"}},
		{"test-slurm", []string{"./examples/slurm"}, []string{"examples/slurm/", "cmd/kanban-run/"}},
		{"test-container", nil, []string{"examples/container/", "cmd/kanban-run-temporal/"}},
		{"test-temporal", []string{"./orchestrator/gitstore"}, []string{"cmd/kanban-run-temporal/", ".ci/tools/temporal/"}},
		{"test-actions", nil, []string{"action.yml", ".ci/action/", ".ci/acttest/", ".ci/tools/act/", "examples/github-actions/", "cmd/kanban-run/"}},
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
	return imported && (own || !inTestdata && !strings.HasSuffix(file, "_test.go"))
}

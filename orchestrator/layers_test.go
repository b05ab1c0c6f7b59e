package orchestrator_test

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// flowFiles are the files of package flow in three layers, each with its subject. The state at the bottom
// knows no subject. A subject has in one place what it makes of events, what it proposes to Next, and
// what it offers a person. The lists on top name the subjects in their order.
var flowFiles = []map[string]string{
	{"state.go": "", "call.go": "", "running.go": "", "rest.go": "", "spending.go": "", "effect.go": "", "journal.go": "", "doc.go": ""},
	{
		"aside.go": "aside", "quarantine.go": "quarantine", "loop.go": "quarantine", "turns.go": "quarantine",
		"provider.go": "provider", "supervision.go": "supervision", "checkpoint.go": "supervision", "block.go": "supervision",
		"custody.go": "custody", "reassign.go": "reassign", "limits.go": "limits", "retry.go": "retry", "review.go": "review",
		"watch.go": "watch", "judge.go": "watch", "tool.go": "tool", "walk.go": "walk", "board.go": "board", "teardown.go": "teardown",
		"changed.go": "changed", "checkout.go": "checkout", "gitway.go": "gitway", "clone.go": "clone", "land.go": "land", "reconcile.go": "reconcile",
	},
	{
		"next.go": "", "end.go": "", "transition.go": "", "run.go": "", "step.go": "", "attempt.go": "", "undone.go": "",
		"reopen.go": "", "place.go": "", "history.go": "", "rollback.go": "", "form.go": "",
	},
}

// flowAcross are the calls from one subject to another, each with its reason.
var flowAcross = map[string]string{
	"aside -> quarantine":   "a run that has nothing left to try names the tasks in quarantine, too",
	"aside -> clone":        "the work on a task that failed is a commit, too",
	"clone -> land":         "work that a person has left out stays out",
	"board -> supervision":  "only a checkpoint ends a board",
	"provider -> reassign":  "at a limit of the account the next agent takes the call, and nothing waits",
	"reassign -> watch":     "a task that was planned anew in vain is to be split",
	"supervision -> aside":  "a checkpoint follows the last task that is tried, and looks at those that are finished",
	"supervision -> limits": "a step of the supervisor counts for the limits",
}

// TestFlowBySubject holds the calls between the files of package flow: none runs up, and between subjects
// there are those alone that have a reason.
func TestFlowBySubject(t *testing.T) {
	layer, subject := map[string]int{}, map[string]string{}
	for i, files := range flowFiles {
		for file, s := range files {
			layer[file], subject[file] = i, s
		}
	}
	arrows := callsBetweenFiles(t, "flow")
	across := map[string]bool{}
	for _, from := range slices.Sorted(maps.Keys(arrows)) {
		if _, ok := layer[from]; !ok {
			t.Errorf("flow/%s has no layer", from)
		}
		for to, names := range arrows[from] {
			switch of := subject[from] + " -> " + subject[to]; {
			case layer[from] < layer[to]:
				t.Errorf("flow/%s calls up into %s: %s", from, to, strings.Join(names, ", "))
			case layer[from] > layer[to] || subject[from] == subject[to]:
			case flowAcross[of] == "":
				t.Errorf("flow/%s calls %s, another subject, without a reason: %s", from, to, strings.Join(names, ", "))
			default:
				across[of] = true
			}
		}
	}
	for of := range flowAcross {
		if !across[of] {
			t.Errorf("the calls %s have a reason, and there are none", of)
		}
	}
}

// callsBetweenFiles returns the names of the functions and methods of a package that its files use of each
// other, by the file that uses and the file that has them.
func callsBetweenFiles(t *testing.T, dir string) map[string]map[string][]string {
	t.Helper()
	fset := token.NewFileSet()
	built, err := build.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	arrows := map[string]map[string][]string{}
	for _, name := range built.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files, arrows[name] = append(files, file), map[string][]string{}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	load := importer.ForCompiler(fset, "gc", compiled(t))
	pkg, err := (&types.Config{Importer: load}).Check(dir, fset, files, info)
	if err != nil {
		t.Fatal(err)
	}
	for id, of := range info.Uses {
		fn, ok := of.(*types.Func)
		if !ok || fn.Pkg() != pkg {
			continue
		}
		from, to := filepath.Base(fset.Position(id.Pos()).Filename), filepath.Base(fset.Position(fn.Pos()).Filename)
		if from != to && !slices.Contains(arrows[from][to], fn.Name()) {
			arrows[from][to] = append(arrows[from][to], fn.Name())
		}
	}
	return arrows
}

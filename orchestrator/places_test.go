package orchestrator_test

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// placeOf says who asks for which of the two folders of a run: what is believed is home's, what agents do is
// the work directory's. They are one folder, and a run in which they are not would go wrong where somebody asks for the
// wrong one.
var placeOf = map[string]string{
	"orchestrator.loop.assemble":          "home: claims, checkpoints and DECISIONS.md",
	"orchestrator.runAll":                 "home: what decides is looked at there",
	"orchestrator.newTrees":               "home: the same",
	"preflight.Prepared.Begun":            "home: paths of tasks start there",
	"preflight.Prepared.checkDecisions":   "home: DECISIONS.md",
	"preflight.Prepared.checkRepository":  "home: checkpoints",
	"preflight.Prepared.checkSupervision": "home: the requirement is a file of the board",
	"workspace.Workspace.IsOfRuns":        "home: boards have their runs there",
	"workspace.Workspace.isOutOfSight":    "home: folders of tasks",
	"clone.Keeper.Enter":                  "home and work: roles are believed there, and played here",
	"clone.Keeper.bringHome":              "home: new tasks start there",
	"clone.Keeper.make":                   "home: what is checked out there is cloned",
	"clone.Keeper.open":                   "home: its repository has the commits",
	"preflight.Prepared.CheckClone":       "home and work: a program of home has to be in the clone",
	"workspace.Workspace.IsOfBoard":       "home: tasks start there",
	"workspace.Workspace.PlaceIn":         "home: the work directory is at its place",
	"workspace.Workspace.WorkDir":         "home: without a clone it is the work directory",
	"main.dirsOf":                         "home: what waits for a person",
	"main.screen.tellShared":              "home: without clones it is the work directory",
	"preflight.Prepared.IsInCheckout":     "home: the same",
	"call.Caller.mayWrite":                "work: a supervisor names what it wrote from there",
	"preflight.Prepared.Player":           "work: agents run there",
	"preflight.Prepared.ReadOnlyPlayer":   "work: and so do judges and supervisors",
	"preflight.Prepared.Substitute":       "work: and who takes over",
	"workspace.Workspace.IsInGit":         "work: git says whether work changes files",
	"workspace.Workspace.MarkCheckout":    "work: an agent moves its own checkout",
	"workspace.Workspace.ShareWith":       "work: boards of one share what git says",
	"workspace.Workspace.Tree":            "work: what a supervisor changed",
	"workspace.Workspace.WarningOfGit":    "work: the repository that git refuses",
	"workspace.Workspace.tree":            "home and work: boards are no work, and outputs are not either",
}

// TestHomeAndWork: who asks for the home of a board, and who for its work directory, stands in the table, and nobody asks
// the board's Place, which does not tell them apart.
func TestHomeAndWork(t *testing.T) {
	found := map[string]string{}
	eachSource(t, func(_ string, _ *token.FileSet, file *ast.File) {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			in := nameOf(file.Name.Name, f)
			asks := map[string]bool{}
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				switch {
				case !ok:
				case s.Sel.Name == "HomeDir":
					asks["home"] = true
				case s.Sel.Name == "WorkDir":
					asks["work"] = true
				case s.Sel.Name == "Dir" && isSelector(s.X, "Place") && f.Name.Name != "HomeDir" && f.Name.Name != "WorkDir":
					t.Errorf("%s asks the board's Place for its folder, want HomeDir or WorkDir", in)
				}
				return true
			})
			if len(asks) > 0 {
				found[in] = strings.Join(slices.Sorted(maps.Keys(asks)), " and ")
			}
		}
	})
	for _, in := range slices.Sorted(maps.Keys(found)) {
		if want, _, _ := strings.Cut(placeOf[in], ":"); want != found[in] {
			t.Errorf("%s asks for %s, and the table says %q", in, found[in], want)
		}
		delete(placeOf, in)
	}
	for _, in := range slices.Sorted(maps.Keys(placeOf)) {
		t.Errorf("%s is in the table, and asks for no folder", in)
	}
}

// isSelector reports whether an expression ends with a field of this name.
func isSelector(e ast.Expr, field string) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == field
}

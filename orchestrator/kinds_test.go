package orchestrator_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/call"
	"kanban-run/orchestrator/event"
)

// kindArms are the arms of switches over kinds of event, and the assertions of one, by package: those of today, and
// the goal. What a kind means to people is said in package event, what it changes in package flow, and what happened
// in package projection. A view has no arm.
var kindArms = map[string]struct {
	today, goal int
	why         string
}{
	"orchestrator/call":       {6, 6, "which events end an attempt at once, or begin or end a step"},
	"orchestrator/decisions":  {2, 2, "the entries that a killed run did not write are those since its begin"},
	"orchestrator/preflight":  {1, 1, "whether a task was worked on before"},
	"orchestrator/flow":       {32, 32, "what a journal of another run says, and who wrote it"},
	"orchestrator/gitstore":   {9, 9, "after which a commit is made"},
	"orchestrator/ledger":     {6, 6, "the log of replies, and whose record an acknowledgement follows"},
	"orchestrator/projection": {33, 31, "the steps and attempts of a board, folded for people"},
	"orchestrator/report":     {3, 3, "a dry run lists the calls that would be made, and not what happened"},
	"orchestrator/watch":      {3, 3, "which messages were not delivered"},
	"cmd/kanban-run":          {6, 6, "tell waits until a run has answered its message"},
}

// callBranches are the places that tell kinds of call apart, by package: six kinds are made in package
// call, and follow each other in package flow.
var callBranches = map[string]int{
	"orchestrator":            2,
	"orchestrator/briefing":   2,
	"orchestrator/call":       15,
	"orchestrator/claim":      1,
	"orchestrator/decisions":  1,
	"orchestrator/event":      7,
	"orchestrator/flow":       58,
	"orchestrator/ledger":     2,
	"orchestrator/page":       7,
	"orchestrator/projection": 14,
	"orchestrator/report":     1,
	"orchestrator/supervisor": 1,
	"orchestrator/watch":      5,
	"orchestrator/workspace":  1,
}

// TestKindsHaveOneHome counts where kinds of event and of call are told apart: a package without a number
// here has to ask the event, or the kind of call, instead.
func TestKindsHaveOneHome(t *testing.T) {
	kinds := map[string]bool{}
	for _, kind := range event.Kinds() {
		e, err := event.Decode(kind, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		kinds[reflect.TypeOf(e).Name()] = true
	}
	arms, calls := map[string]int{}, map[string]int{}
	eachSource(t, func(name string, _ *token.FileSet, file *ast.File) {
		pkg := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(name)), "../")
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CaseClause:
				for _, e := range n.List {
					if s, ok := e.(*ast.SelectorExpr); ok && kinds[s.Sel.Name] && isName(s.X, "event") {
						arms[pkg]++
					}
				}
			case *ast.TypeAssertExpr:
				if s, ok := n.Type.(*ast.SelectorExpr); ok && kinds[s.Sel.Name] && isName(s.X, "event") {
					arms[pkg]++
				}
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Part" && len(n.Args) == 0 {
					calls[pkg]++
				}
			case *ast.SelectorExpr:
				switch name := n.Sel.Name; {
				case isName(n.X, "event") && strings.HasSuffix(name, "Call") && name != "Call", name == "IsReview", name == "IsSupervision":
					calls[pkg]++
				}
			}
			return true
		})
	})
	sum := func(m map[string]int) (n int) {
		for _, v := range m {
			n += v
		}
		return n
	}
	t.Logf("%d arms of switches over kinds of event, and assertions: %v", sum(arms), arms)
	t.Logf("%d places tell kinds of call apart: %v", sum(calls), calls)
	today := map[string]int{}
	for pkg, n := range kindArms {
		if today[pkg] = n.today; n.goal > n.today || n.why == "" {
			t.Errorf("%s has the goal %d and %d today", pkg, n.goal, n.today)
		}
	}
	for name, tt := range map[string]struct{ got, want map[string]int }{"kinds of event": {arms, today}, "kinds of call": {calls, callBranches}} {
		for _, pkg := range slices.Sorted(maps.Keys(tt.got)) {
			if tt.got[pkg] > tt.want[pkg] {
				t.Errorf("%s tells %s apart in %d places, and %d are allowed", pkg, name, tt.got[pkg], tt.want[pkg])
			}
		}
		for pkg, n := range tt.want {
			if tt.got[pkg] < n {
				t.Errorf("%s tells %s apart in %d places by now: lower its number", pkg, name, tt.got[pkg])
			}
		}
	}
}

func isName(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// TestTransitionsLieLikeEvents holds package flow to the files of package event: a kind of event that lies
// in event/step.go has its transition in flow/step.go.
func TestTransitionsLieLikeEvents(t *testing.T) {
	homes := map[string]string{} // type of an event: its file
	methods(t, "event", func(file, name string, f *ast.FuncDecl) {
		if name == "Kind" {
			homes[typeName(f.Recv.List[0].Type)] = file
		}
	})
	seen := 0
	methods(t, "flow", func(file, name string, f *ast.FuncDecl) {
		if !strings.HasPrefix(name, "apply") || len(f.Type.Params.List) != 1 {
			return
		}
		home, ok := homes[typeName(f.Type.Params.List[0].Type)]
		if !ok {
			return
		}
		if seen++; home != file {
			t.Errorf("flow/%s has %s, whose event lies in event/%s", file, name, home)
		}
	})
	if seen < 40 {
		t.Errorf("found only %d transitions", seen)
	}
}

// methods calls f for each method of a package of this folder.
func methods(t *testing.T, pkg string, f func(file, name string, d *ast.FuncDecl)) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(pkg, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv != nil {
				f(filepath.Base(name), d.Name.Name, d)
			}
		}
	}
}

// typeName returns the name of a type without its package, or "" if the type is no name.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.StarExpr:
		return typeName(e.X)
	}
	return ""
}

// TestTypesOfAnAttempt counts the types that one attempt wears on its way from [flow.Next] to its event:
// those that the functions of this way take and return, and what they hold of the attempt.
func TestTypesOfAnAttempt(t *testing.T) {
	var types []string
	add := func(x reflect.Type) {
		if x.Kind() == reflect.Pointer {
			x = x.Elem()
		}
		name := x.String()
		if x.Kind() == reflect.Struct && x != reflect.TypeFor[board.Board]() && !slices.Contains(types, name) {
			types = append(types, name)
		}
	}
	for _, f := range []any{
		(*call.Caller).Player, (*call.Caller).Prepare, (*call.Caller).Start, attempt.Start,
		(*attempt.Attempt).Wait, (*call.Caller).Settle,
	} {
		f := reflect.TypeOf(f)
		for i := range f.NumIn() {
			if f.In(i) != reflect.TypeFor[*call.Caller]() {
				add(f.In(i))
			}
		}
		for i := range f.NumOut() {
			add(f.Out(i))
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[call.Attempt]()) {
		if f.IsExported() {
			add(f.Type)
		}
	}
	add(reflect.TypeFor[event.AttemptRef]())
	add(reflect.TypeFor[event.End]())
	if t.Log(types); len(types) > 10 {
		t.Errorf("one attempt wears %d types: %v", len(types), types)
	}
}

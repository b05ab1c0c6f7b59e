package orchestrator_test

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sinks are all functions that write to something else than memory, each with what it
// writes to. Text for people, pipes and CI jobs has one way out, in package console; a
// new way needs a new reason.
var sinks = map[string]string{
	"kanban-run.openBrowser": "the address of the page, for this user's browser",
	"view.Server.enter":      "text of the program",
	"console.queue.write":    "the streams of the process: the one function that prints",

	"proc.output.pass":        "what an agent prints, to the attempt that started it",
	"proc.input.write":        "the rest of it, and what an agent is told while it works",
	"proc.Join":               "the name of the process for ps",
	"proc.wire.sendmsg":       "the guardian and its runner",
	"attempt.Attempt.outputs": "what an agent prints, to its reader and to where it is redacted",
	"agent.Messages.Write":    "what an agent prints, to its reader",
	"attempt.gate.Write":      "what a resident prints, to the attempt that it answers",
	"attempt.program.hear":    "its last answer, to where it is redacted",
	"attempt.Sinks.redacting": "what an agent prints, to the redactor: where it enters",
	"attempt.redacting.Write": "what an agent prints, to the redactor",
	"attempt.metered.Write":   "what an agent prints",
	"attempt.Sinks.excerpt":   "the beginning of a reply, through the redactor into memory",
	"attempt.writeFile":       "a schema or a role's prompt, for a tool that wants it as a file",
	"redact.Writer.forward":   "what is left of it, to a stream",
	"rundir.Stream.Write":     "files of a run: an agent's output",
	"rundir.Events.Append":    "files of a run: what an agent did",
	"rundir.copyEnds":         "files of a run: both ends of an agent's output",

	"journal.Journal.writePending":   "files of a run: the journal",
	"journal.Journal.commitPending":  "its head",
	"journal.Journal.SetNote":        "its head",
	"journal.Journal.rewriteUnacked": "the journal",
	"journal.copyTail":               "what was torn off it",
	"durable.fill":                   "files that are replaced: the board, files of a run",
	"durable.Rehearse":               "the board's own bytes, into a file that it removes at once",
	"durable.confirmName":            "an empty lock",
	"durable.Lock.SetHolder":         "a lock: whose it is",
	"rundir.WriteFile":               "files of a run",
	"inbox.Post":                     "a message for a run",
	"rundir.OverwriteFile":           "the board's bytes from before a turn",
	"ledger.AppendLog":               "the supervisor log",
	"workspace.Workspace.CopyAside":  "a dry run's copy of the board",
	"kanban-run.writeStart":          "the files of `kanban-run init`",
	"kanban-run.writeNew":            "the files of `kanban-run demo`",
	"kanban-run.writeManPages":       "the man pages of `kanban-run docs --man`",
	"kanban-run.job.appendTo":        "the outputs and the summary of a CI job",
	"kanban-run.jobFile.putBack":     "what such a file held before the agents",

	"acp.dialogue.run":             "it: what the protocol's library has to say goes to standard error",
	"acp.newDialogue":              "the protocol's client is an agent to kanban-run, and prints for it",
	"kanban-run.editLines":         "nowhere: keys that no reader takes any more",
	"kanban-run.openConversation":  "the person's terminal: the end of a line, when it is given back; a console.Printer writes all else",
	"supervise.program.readOutput": "what an agent prints, to its reader",
	"supervise.program.writeInput": "what a person says, to an agent",

	"trust.Copy.Words": "a temporary folder: the bytes of a user's script, as they were when the command began",
	"notify.Webhook":   "what it reads of an answer, to nothing; the message itself was redacted",

	"git.fill":    "for git: settings of the user's, and git's own index",
	"git.Git.Run": "what git says of an error, to the caller",

	"clone.copyInto":      "ignored files of the user's, into the clone",
	"clone.Clone.fill":    "for git: the settings and references of a clone",
	"rundir.Anchor.Keep":  "files of a run: output that could not be recorded",
	"rundir.Dir.packFile": "files of a run, into their archive",

	"view.Server.servePage":   "the page, whose texts were made harmless for HTML",
	"view.Server.serveEvents": "constants",

	"durable.OpenIgnored":  "a constant",
	"claim.lockFile.clear": "a constant",
	"claim.lockFile.write": "for other runs: the names of the board and the task, and patterns out of its frontmatter",

	"stub.call.play":     "the stub is an agent, and prints for kanban-run",
	"stub.call.act":      "the stub",
	"stub.call.nextTask": "the stub",
	"stub.rewrite":       "the stub as a Manager: the board",
	"stub.countCall":     "the stub's memory",
}

// own are the functions that print a text of the program itself as it is.
var own = map[string]string{
	"kanban-run.terminal.printHelp":    "the help, from the tables of commands and exit codes",
	"kanban-run.completionCommand":     "scripts made from the same tables",
	"kanban-run.docsCommand":           "pages are part of the program",
	"kanban-run.schemaCommand":         "schemas are part of the program",
	"kanban-run.versionCommand":        "so is its version",
	"kanban-run.terminal.endPasteMode": "one escape sequence",
	"kanban-run.setup.watchStatus":     "escape sequences",
	"kanban-run.terminal.printLines":   "what a console.Printer has made harmless",
	"kanban-run.terminal.printInbox":   "a sign",
	"kanban-run.terminal.drawStatus":   "what a console.Printer has made harmless, and escape sequences",
	"kanban-run.superviseCommand":      "the example of a SUPERVISOR.md is part of the program",
	"kanban-run.terminal.report":       "documents, whose texts are made harmless for XML and Markdown",
	"kanban-run.screen.printResult":    "a coloured sign",
	"kanban-run.terminal.view":         "its own address",
	"kanban-run.terminal.reportPage":   "a page, whose texts are made harmless for HTML",
	"report.Live.draw":                 "a picture, whose texts come from Sprintf",
	"report.Log.print":                 "a line with a coloured sign, whose text comes from Sprintf",
}

// outlets are the functions that may name the streams of the process.
var outlets = map[string]string{
	"workspace.ownOutputs":     "where they lead is no change of a supervisor's",
	"kanban-run.main":          "hands them to the printers",
	"proc.guardian.forkRunner": "the runner's are its guardian's",
}

// TestOneFunctionPrints looks for every call that writes, and for every mention of
// the streams of the process.
func TestOneFunctionPrints(t *testing.T) {
	found := map[string]map[string]bool{"sinks": {}, "own": {}, "outlets": {}}
	for _, fn := range functions(t) {
		ast.Inspect(fn.decl, func(n ast.Node) bool {
			for kind, yes := range map[string]bool{"sinks": fn.writes(n), "own": fn.calls(n, "kanban-run/orchestrator/console", "PrintTrusted"), "outlets": fn.names(n)} {
				if yes {
					found[kind][fn.name] = true
				}
			}
			return true
		})
	}
	for kind, allowed := range map[string]map[string]string{"sinks": sinks, "own": own, "outlets": outlets} {
		for name := range found[kind] {
			if allowed[name] == "" {
				t.Errorf("%s: %s is not listed", kind, name)
			}
		}
		for name := range allowed {
			if !found[kind][name] {
				t.Errorf("%s: %s is listed and is none", kind, name)
			}
		}
	}
}

// function is one declaration of the module, with what the compiler knows about it.
type function struct {
	name string
	decl ast.Node
	info *types.Info
}

// writes says whether n is a call that writes to something else than memory.
func (f function) writes(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	if id, ok := call.Fun.(*ast.Ident); ok {
		b, ok := f.info.Uses[id].(*types.Builtin)
		return ok && strings.HasPrefix(b.Name(), "print")
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	callee, ok := f.info.Uses[sel.Sel].(*types.Func)
	if !ok || callee.Pkg() == nil {
		return false
	}
	if recv := callee.Signature().Recv(); recv != nil {
		writer := slices.Contains([]string{"Write", "WriteString", "WriteAt", "ReadFrom", "WriteTo"}, callee.Name())
		return writer && !inMemory(f.info.TypeOf(sel.X))
	}
	switch callee.Pkg().Path() + "." + callee.Name() {
	case "fmt.Print", "fmt.Printf", "fmt.Println", "os.WriteFile", "syscall.Write", "golang.org/x/sys/unix.Write":
		return true
	case "fmt.Fprint", "fmt.Fprintf", "fmt.Fprintln", "io.WriteString", "io.Copy", "io.CopyN", "io.CopyBuffer",
		"encoding/json.NewEncoder", "gopkg.in/yaml.v3.NewEncoder", "bufio.NewWriter", "bufio.NewWriterSize", "text/tabwriter.NewWriter", "io.MultiWriter":
		return !inMemory(f.info.TypeOf(call.Args[0]))
	}
	return callee.Pkg().Path() == "log" || callee.Pkg().Path() == "log/slog"
}

// inMemory says whether what is written to a value of this type stays in the process.
func inMemory(t types.Type) bool {
	name := strings.TrimPrefix(t.String(), "*")
	return slices.Contains([]string{"strings.Builder", "bytes.Buffer", "hash.Hash", "hash.Hash32"}, name)
}

func (f function) calls(n ast.Node, pkg, name string) bool {
	id, ok := n.(*ast.Ident)
	if !ok {
		return false
	}
	callee, ok := f.info.Uses[id].(*types.Func)
	return ok && callee.Pkg() != nil && callee.Pkg().Path() == pkg && callee.Name() == name
}

// names says whether n is os.Stdout or os.Stderr.
func (f function) names(n ast.Node) bool {
	id, ok := n.(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := f.info.Uses[id].(*types.Var)
	return ok && v.Pkg() != nil && v.Pkg().Path() == "os" && (v.Name() == "Stdout" || v.Name() == "Stderr")
}

// functions are those of all packages of the module as they are built on this system, tests aside.
func functions(t *testing.T) []function {
	t.Helper()
	fset := token.NewFileSet()
	build.Default.CgoEnabled = false // as it is built
	load := importer.ForCompiler(fset, "gc", compiled(t))
	var all []function
	for _, dir := range folders(t) {
		built, err := build.ImportDir(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		var files []*ast.File
		for _, name := range built.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
		if _, err := (&types.Config{Importer: load}).Check(dir, fset, files, info); err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, d := range file.Decls {
				all = append(all, function{nameOf(filepath.Base(dir), d), d, info})
			}
		}
	}
	return all
}

// compiled opens what the compiler has exported of a package that the program imports.
func compiled(t *testing.T) importer.Lookup {
	t.Helper()
	list := exec.Command("go", "list", "-trimpath", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "../cmd/kanban-run")
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v: %v", list, err)
	}
	exported := map[string]string{}
	for line := range strings.Lines(string(out)) {
		pkg, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exported[pkg] = file
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(exported[path]) }
}

// folders are those of the module that hold code which is not for tests.
func folders(t *testing.T) []string {
	t.Helper()
	seen := map[string]bool{}
	eachFile(t, func(name string) {
		forTests := strings.Contains(name, "/agent/internal/") || strings.Contains(name, "/modeltest/") || strings.Contains(name, "/testfile/")
		if !strings.HasPrefix(name, "../.ci") && !forTests {
			seen[filepath.Dir(name)] = true
		}
	})
	return slices.Sorted(maps.Keys(seen))
}

// nameOf is package.function, package.Type.method, or the package's name for what is
// declared outside of functions.
func nameOf(pkg string, d ast.Decl) string {
	fn, ok := d.(*ast.FuncDecl)
	if !ok {
		return pkg
	}
	if fn.Recv == nil {
		return pkg + "." + fn.Name.Name
	}
	recv := fn.Recv.List[0].Type
	if star, ok := recv.(*ast.StarExpr); ok {
		recv = star.X
	}
	return pkg + "." + types.ExprString(recv) + "." + fn.Name.Name
}

package main

import (
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/page"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/view"
)

func viewCommand() command {
	return command{
		name: "view", args: "[BOARD...]", summary: "show boards in a browser, now and as they go on",
		long: `
It prints the address of a page that shows what report --html shows, and renews it as the journals grow: before,
during and after a run, also of a run that another person started. Without a board it shows all below this folder.

It serves this machine only, changes nothing, and answers only to a browser that was given the address with its token.
It goes on until Ctrl-C.`,
		examples: `
  kanban-run view --open          all boards below this folder, in the browser
  kanban-run view kanban.yaml     one board`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir")
			listen := flags.String("listen", "127.0.0.1:0",
				"serve at `ADDRESS` of this machine's loopback; port 0 takes a free one")
			open := flags.Bool("open", false, "open the page in the browser")
			return func(t *terminal, args []string) (int, error) {
				u, err := s.load(t)
				if err != nil {
					return 0, err
				}
				boards, err := boardsToShow(args)
				if err != nil {
					return 0, err
				}
				return exitComplete, t.view(u.looker(keepSteps), boards, *listen, *open)
			}
		},
	}
}

// boardsToShow returns the named boards. Without names it returns all boards below this folder.
func boardsToShow(named []string) ([]string, error) {
	for _, name := range named {
		if _, err := inspect.Locate(name); err != nil {
			return nil, err
		}
	}
	if len(named) > 0 {
		return named, nil
	}
	found := inspect.Below(".")
	if len(found) == 0 {
		return nil, &failure.Invalid{
			Err: errors.New("there is no board below this folder"),
			Fix: "kanban-run init writes one",
		}
	}
	return found, nil
}

// view serves the page of boards until a signal comes.
func (t *terminal) view(l inspect.Looker, boards []string, address string, open bool) error {
	listener, err := view.Listen(address)
	if wrong, ok := errors.AsType[*view.AddressError](err); ok {
		return &usageError{text: "view: " + wrong.Error(), hint: wrong.Hint()}
	}
	if err != nil {
		return err
	}
	g := &gallery{terminal: t, boards: boards, readers: readersOf(l, boards)}
	g.page.Options = page.Options{Command: "kanban-run view", Hide: t.secrets.Hide, Live: true, Tells: roster.Listens}
	server := view.New(view.Source{Render: g.render, State: g.state, Difference: page.Difference, Policy: page.Policy(true)}, listener.Addr())
	if err := t.stdout.PrintTrusted(server.URL(listener.Addr()) + "\n"); err != nil {
		return err
	}
	stop, _, release := t.contexts(func(bool) {})
	defer release()
	if open {
		warn := func(err error) { _ = t.stderr.Printf("warning: open the browser: %v; open the address above\n", err) }
		forget, err := openBrowser(server.URL(listener.Addr()), t.environ, workTrees(boards), warn)
		if err != nil {
			warn(err)
		}
		defer forget()
	}
	return server.Serve(stop, listener)
}

// workTrees returns the tops of the work trees of this folder and of boards.
func workTrees(boards []string) (tops []string) {
	folders := []string{"."}
	for _, name := range boards {
		folders = append(folders, filepath.Dir(name))
	}
	for _, dir := range folders {
		if path, err := filepath.Abs(dir); err == nil {
			tops = append(tops, git.TopOf(path))
		}
	}
	return tops
}

// openBrowser opens an address in the browser. The address holds a token, and all users can see the
// arguments of a process. So the address is passed in a file that only this user can read. The
// returned function removes the file. The opening program gets no secret of environ, and is looked
// for outside of the folders in which agents work. If it ends with an error, failed is called.
func openBrowser(address string, environ, agents []string, failed func(error)) (forget func(), err error) {
	folder, err := os.MkdirTemp("", "kanban-run-view-")
	if err != nil {
		return func() {}, err
	}
	forget = func() { _ = os.RemoveAll(folder) }
	file := filepath.Join(folder, "open.html")
	text := fmt.Sprintf("<!DOCTYPE html><meta http-equiv=\"refresh\" content=\"0; url=%s\">\n",
		html.EscapeString(address))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return forget, err
	}
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	search := proc.OutsideOf(agents...)
	path, err := search.Look(opener)
	if err != nil {
		return forget, err
	}
	env := append(roster.PublicEnviron(environ, roster.EnvRule{}), search.Entry())
	wait, err := proc.Detach([]string{path, file}, env) // a Ctrl-C ends this command, not the browser
	if err != nil {
		return forget, err
	}
	go func() {
		if err := wait(); err != nil {
			failed(fmt.Errorf("%s: %w", opener, err))
		}
	}()
	return forget, nil
}

// gallery renders boards. Only one goroutine at a time may use it.
type gallery struct {
	*terminal
	boards  []string
	readers []*inspect.Reader // of boards
	page    page.Renderer
	hidden  int // result of [console.Secrets.Count] when page was begun
}

// state returns a text that changes with a board, its journal or its agent's activity.
func (g *gallery) state() string {
	var all strings.Builder
	for _, name := range g.boards {
		all.WriteString(inspect.Mark(name))
	}
	return all.String()
}

func (g *gallery) render() ([]byte, error) {
	var boards []*projection.Board
	inspect.LookAll(g.readers, func(b inspect.Board, err error) {
		if !isShown(err) && !errors.As(err, new(*ledger.NoRunError)) { // the board may be in the middle of a write, or gone
			b.Board.Damage = err.Error()
		}
		boards = append(boards, &b.Board)
	})
	if n := g.secrets.Count(); n != g.hidden { // what the page keeps may show the new ones
		g.hidden, g.page = n, page.Renderer{Options: g.page.Options}
	}
	return g.page.Render(boards)
}

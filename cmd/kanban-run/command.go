package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/agent/acp"
	"kanban-run/orchestrator/agent/stub"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/proc"
)

// terminal holds the streams, the environment and the secrets that a process has for its command.
type terminal struct {
	stdin          io.Reader
	stdout, stderr *console.Printer
	live           *os.File // stderr, for the live view
	screen         *os.File // stdout, for the size of the terminal
	secrets        *console.Secrets
	environ        []string
	startDir       string     // the current folder before -C
	guardian       *proc.Link // nil in a process without a guardian
	folders        []string   // folders whose settings may name secrets
	job            *job       // nil outside of GitHub Actions
	reports        bool       // true if this process writes the outputs of the job
	resumeHint     string     // see command.resumeHint
}

func newTerminal(stdin io.Reader, stdout, stderr *os.File) *terminal {
	t := &terminal{stdin: stdin, environ: os.Environ(), live: stderr, screen: stdout}
	t.secrets = console.NewSecrets(t.redactor)
	t.stdout, t.stderr = console.New(stdout, t.secrets), console.New(stderr, t.secrets)
	if t.job = newJob(t.environ, t.stderr); t.job != nil {
		t.stdout.InJob()
		t.stderr.InJob()
	}
	t.environ = slices.DeleteFunc(t.environ, func(entry string) bool {
		return strings.HasPrefix(entry, ownStep+"=") || strings.HasPrefix(entry, jobToken+"=")
	})
	return t
}

// command is one subcommand. The function setup declares the flags and returns the action. The
// action gets the arguments that are no flags, and returns an exit code, or an error for which
// codeOfError has the exit code.
type command struct {
	name       string
	args       string // arguments in the usage line
	summary    string
	long       string // paragraphs, and items that begin with two spaces; see layout
	examples   string // items: a command line, and what it is for
	agents     bool   // true if the command starts agents, and so runs under a guardian
	resumeHint string // advice to a person after the command was killed
	keys       bool   // true if the command sets the terminal to raw mode

	// many reports whether a command line that names no board is about all boards below the current
	// folder. nil means never.
	many  func(flags *pflag.FlagSet) bool
	setup func(flags *pflag.FlagSet) func(t *terminal, args []string) (int, error)
}

// group is a part of the list of commands in the help.
type group struct {
	title    string
	commands []command
}

func groups() []group {
	return []group{
		{"run", []command{runCommand(), checkCommand(), initCommand(), demoCommand()}},
		{"look", []command{statusCommand(), logCommand(), reportCommand(), viewCommand()}},
		{"decide", []command{inboxCommand(), ackCommand(), tellCommand(), landCommand(), teardownCommand()}},
		{"more", []command{onceCommand(), superviseCommand(), configCommand(), rolesCommand(), schemaCommand(), docsCommand(),
			versionCommand(), completionCommand()}},
	}
}

func commands() (all []command) {
	for _, g := range groups() {
		all = append(all, g.commands...)
	}
	return all
}

// run executes the program and returns its exit code.
func run(args []string, stdin io.Reader, stdout, stderr *os.File) int {
	if len(args) > 0 && args[0] == stub.Command { // a program reads the output, so nothing else may be printed
		return stub.Main(args[1:], stdin, stdout, stderr)
	}
	if len(args) > 0 && args[0] == acp.ClientCommand { // a program reads this output, too
		return acp.ClientMain(args[1:], stdin, stdout, stderr)
	}
	keepOwnRights()
	t := newTerminal(stdin, stdout, stderr)
	link, args, err := join(args)
	if err != nil {
		return t.explain(err)
	}
	t.guardian = link
	t.setZone()
	if err := hide(); err != nil {
		return t.explain(fmt.Errorf("hide the memory of this process: %w", err))
	}
	code := t.perform(args)
	if link == nil {
		return code
	}
	// EPIPE is no error, because a guardian that is gone does not need the code.
	if err := link.Leave(code); err != nil && !errors.Is(err, syscall.EPIPE) {
		return t.explain(err)
	}
	return code
}

// setZone makes the zone that the variable TZ means the one in which times are shown and read. The
// process of the run does not repeat the warning of its guardian.
func (t *terminal) setZone() {
	zone, err := config.Zone(os.Getenv("TZ"))
	if zone != nil {
		time.Local = zone
	}
	if err != nil && t.guardian == nil {
		_ = t.stderr.Printf("warning: %v; times are shown in UTC\n", err)
	}
}

// idleReader is the time after which output is given up at the end of a run, if its reader takes
// nothing.
const idleReader = 4 * time.Second

func (t *terminal) perform(args []string) int {
	dir, err := os.Getwd()
	if err != nil {
		return t.explain(fmt.Errorf("find the current folder: %w", err))
	}
	t.startDir = dir
	code, err := dispatch(t, args)
	_ = t.stderr.Flush(idleReader / 2) // the journal has what is lost
	_ = t.stdout.Flush(idleReader)     // Err tells it, too
	// EPIPE is no error, because a reader that closed its pipe needs no more output.
	lost := t.stdout.Err()
	cut := errors.Is(lost, syscall.EPIPE)
	if lost != nil && !cut && (err == nil && code == exitComplete || errors.Is(err, lost)) {
		err = &outputError{fmt.Errorf("write the results: %w", lost)}
	}
	if t.guardian != nil && cut {
		_ = t.stderr.Printf("kanban-run: standard output was closed by its reader; the run went on without it\n")
	}
	if err != nil {
		code = codeOfError(err)
		t.explain(err)
	}
	if t.reports {
		if err := t.job.close(code); err != nil {
			return t.explain(err)
		}
	}
	return code
}

// dispatch calls the subcommand that the first word names. If that word is no subcommand, the
// arguments are those of `run`, so that `kanban-run kanban.yaml` works.
func dispatch(t *terminal, args []string) (int, error) {
	if len(args) == 0 {
		return runCommand().call(t, nil)
	}
	if args[0] == "help" && len(args) == 1 || args[0] == "--help" || args[0] == "-h" {
		return exitComplete, writeHelp(t)
	}
	if args[0] == "--version" {
		args = []string{"version"}
	}
	if args[0] == "help" {
		args = []string{args[1], "--help"}
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.call(t, args[1:])
		}
	}
	if err := checkCommandWord(args[0]); err != nil {
		return 0, err
	}
	return runCommand().call(t, args)
}

// checkCommandWord returns an error if a word is neither a command nor a board. A board is an
// existing file, or has a dot or a slash in its name.
func checkCommandWord(word string) error {
	if strings.HasPrefix(word, "-") || strings.ContainsAny(word, "./\\") {
		return nil
	}
	if _, err := os.Lstat(word); err == nil {
		return nil
	}
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	hint := "kanban-run --help lists the commands"
	if near := nearest(word, names); near != "" {
		hint = "did you mean kanban-run " + near + "?"
	}
	return &usageError{text: fmt.Sprintf("%q is neither a command nor a board", word), hint: hint}
}

func (c command) call(t *terminal, args []string) (int, error) {
	t.reports, t.resumeHint = c.name == "run", c.resumeHint
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.SortFlags = false
	act := c.setup(flags)
	err := flags.Parse(args)
	t.noteSettingsFolders(flags)
	if errors.Is(err, pflag.ErrHelp) && c.name == "run" && t.job != nil && t.job.masks {
		// This is an error because exit code 0 would make the job green.
		return 0, &usageError{text: "--help runs no board", hint: "take it out of args"}
	}
	if errors.Is(err, pflag.ErrHelp) {
		t.reports = false
		return exitComplete, c.writeHelp(t, flags)
	}
	if err != nil {
		text, _, isBool := strings.Cut(err.Error(), ": strconv.ParseBool")
		if isBool {
			return 0, &usageError{text: text, hint: "write true or false"}
		}
		return 0, &usageError{text: text, hint: c.flagHint(err, flags)}
	}
	if extra := flags.Args(); c.args == "" && len(extra) > 0 {
		return 0, &usageError{
			text: fmt.Sprintf("%s takes no argument: %q", c.name, extra[0]),
			hint: "kanban-run " + c.name + " --help says more",
		}
	}
	words := c.withBoard(t, flags)
	if t.reports && t.job != nil {
		t.job.boards = words
	}
	if c.agents {
		surviveClosedPipes()
	}
	if c.agents && proc.Guards && t.guardian == nil {
		return c.runGuarded(t, args, words, documentsOf(flags, t.environ))
	}
	if !c.agents {
		return act(t, words)
	}
	t.job.rememberFiles(t.environ)
	code, err := act(t, words)
	return code, errors.Join(err, t.job.restoreFiles())
}

// runGuarded runs the command in a child process and is the guardian of this child. The parameter
// words holds the arguments without flags, and docs the files to write if the child is killed.
func (c command) runGuarded(t *terminal, args, words []string, docs documents) (int, error) {
	if err := t.job.shareToken(); err != nil {
		return 0, err
	}
	t.job.rememberFiles(t.environ)
	defer t.job.followParent()()
	code, told, err := c.guard(args)
	// The runner might have been killed while it waited for a reader of its output. This process
	// must not wait for the same reader.
	t.hurry()
	if !told {
		err = errors.Join(err, t.job.restoreFiles())
	}
	if c.keys {
		t.endPasteMode()
	}
	if t.reports = t.reports && !told; t.reports {
		if err == nil {
			err = docs.enter()
		}
		t.job.concludeKilled(words)
		if docs.check(t, words) == nil { // the runner may have been killed before it looked
			err = errors.Join(err, docs.write(t, words))
		}
	}
	return code, err
}

// withBoard returns the arguments. If they name no board, it looks for a board in the current
// folder or, with --workdir, in the work directory, and puts this board before the arguments. If
// c.many returns true, withBoard returns all boards below the folder instead. If it finds no board,
// it returns the arguments unchanged.
func (c command) withBoard(t *terminal, flags *pflag.FlagSet) []string {
	words := flags.Args()
	named := len(words) > 0 && !slices.Contains(ackWords, words[0])
	dir := "."
	if f := flags.Lookup("workdir"); f != nil && f.Value.String() != "" {
		dir = f.Value.String()
	}
	if !strings.Contains(c.args, "BOARD") || named {
		return t.withoutOthers(c, dir, words)
	}
	if c.many != nil && c.many(flags) {
		if all := inspect.Below(dir); len(all) > 0 {
			return relativeTo(dir, all)
		}
	}
	found, err := inspect.FindBoard(dir)
	if err != nil {
		return words
	}
	return append([]string{found}, words...)
}

// withoutOthers returns the boards without YAML files of other kinds, which a pattern such as *.yaml names,
// too. It says which these are. If all are of another kind, it leaves them to the command.
func (t *terminal) withoutOthers(c command, dir string, words []string) []string {
	if len(words) < 2 || !strings.Contains(c.args, "BOARD...") {
		return words
	}
	var boards, others []string
	for _, word := range words {
		path := word
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if inspect.IsOther(path) {
			others = append(others, word)
		} else {
			boards = append(boards, word)
		}
	}
	if len(boards) == 0 {
		return words
	}
	if t.guardian == nil || !c.agents { // the guardian has said it
		for _, name := range others {
			_ = t.stderr.Printf("passed over: %s has no field of a board\n", name)
		}
	}
	return boards
}

// relativeTo makes paths relative to a folder.
func relativeTo(folder string, paths []string) []string {
	for i, p := range paths {
		if rel, err := filepath.Rel(folder, p); err == nil {
			paths[i] = rel
		}
	}
	return paths
}

func (c command) flagHint(err error, flags *pflag.FlagSet) string {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var names []string
		flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := nearest(unknown.GetSpecifiedName(), names); near != "" {
			return "did you mean --" + near + "?"
		}
	}
	return "kanban-run " + c.name + " --help lists the flags"
}

// usageError is a command line that cannot be carried out.
type usageError struct{ text, hint string }

func (e *usageError) Error() string { return e.text }

// Hint returns the hint line that explain prints.
func (e *usageError) Hint() string { return e.hint }

// boardArgs returns a *usageError unless args name a board. If the parameter one is true, args must
// name exactly one board.
func boardArgs(command string, args []string, one bool) error {
	switch {
	case len(args) == 0:
		e := &usageError{
			text: "which board?",
			hint: "kanban-run init makes one",
		}
		_, err := inspect.FindBoard(".")
		if err != nil {
			e.text += " " + err.Error()
		}
		if gone, ok := errors.AsType[*board.FileError](err); ok {
			e.hint = gone.Hint()
		}
		if several, ok := errors.AsType[*inspect.SeveralError](err); ok {
			e.hint = strings.TrimSuffix("kanban-run "+command, " run") + " " + failure.Quote(several.Boards[0])
		}
		return e
	case one && len(args) > 1:
		return &usageError{
			text: fmt.Sprintf("%s takes one board, not %d", command, len(args)),
			hint: "run it once for each",
		}
	}
	return nil
}

// nearest returns the name that is closest to word. It returns "" if every name is more than two
// edits away.
func nearest(word string, names []string) string {
	best, distance := "", 3
	for _, n := range names {
		if d := edits(word, n); d < distance {
			best, distance = n, d
		}
	}
	return best
}

// edits returns the Levenshtein distance of two words.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

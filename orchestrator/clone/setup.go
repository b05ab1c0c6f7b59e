package clone

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/plainfile"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/redact"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// includeFile names, at the top of a repository, ignored files that clones get.
const includeFile = ".worktreeinclude"

const (
	mostNamed = 5 // bounds the names in a text
	setupTime = 15 * time.Minute
	mostLeft  = 1000    // files of a setup that are known by name
	mostSetup = 2 << 10 // bytes of the end of its output that are shown
)

// Setup makes a new clone ready: it gives it what git does not have.
type Setup struct {
	Repo     *git.Repo // of the checkout
	Clone    *Clone
	Tip      string                         // commit at which the clone was made
	Command  string                         // of clones_setup; "": none
	Dir      func() (dir string, err error) // folder in the clone in which commands are started
	Env      []string                       // of commands
	Redactor *redact.Redactor
	Notice   func(text string)
	Stop     context.Context // when it is done, a command is asked to end
	Kill     context.Context // when it is done, git is killed
}

// Prepare copies the files that .worktreeinclude names, and runs the setup. It returns the paths of both from the top, which go into
// no commit. No agent may have worked in the clone, because git is asked in it. Errors: *failure.Invalid.
func (s *Setup) Prepare() (files []string, err error) {
	if files, err = s.include(); err == nil {
		err = learnSecrets(s.Redactor, s.Clone, files)
	}
	if err != nil {
		return nil, err
	}
	if missing := lacking(s.Repo, s.Clone); len(missing) > 0 {
		s.Notice("the clone lacks files that git does not have, and that " + includeFile + " does not name: " + event.List(missing, mostNamed))
	}
	if s.Command == "" {
		return files, nil
	}
	left, err := s.setUp()
	return append(files, left...), err
}

// prepare makes the clone of the board ready, and reserves its references.
func (k *Keeper) prepare(repo *git.Repo, c *Clone, tip string) error {
	setup := &Setup{Repo: repo, Clone: c, Tip: tip, Command: k.Run.ClonesSetup, Env: k.Roster.AgentEnviron(), Redactor: k.Redactor, Notice: k.Notice, Stop: k.Stop, Kill: k.Kill,
		Dir: func() (string, error) { return k.Workspace.PlaceIn(c.Top, c.Home) }}
	files, err := setup.Prepare()
	if err != nil {
		return err
	}
	branch, err := k.reserve(repo, k.Journal.State().Clone)
	if err != nil {
		return err
	}
	failpoint.At("clone-set-up")
	return k.Journal.Record(event.CloneReady{Board: k.Board, Branch: branch, Files: files, Setup: k.Run.ClonesSetup})
}

// lacking returns settings and secrets of the checkout that the clone does not have, by their usual names at the top.
func lacking(repo *git.Repo, c *Clone) (missing []string) {
	for _, pattern := range []string{".env*", ".mcp.json", ".claude/settings.local.json"} {
		found, _ := fs.Glob(os.DirFS(repo.Top), pattern)
		for _, name := range found {
			if _, err := os.Lstat(filepath.Join(c.Top, filepath.FromSlash(name))); errors.Is(err, fs.ErrNotExist) {
				missing = append(missing, name)
			}
		}
	}
	return missing
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == 0 })
}

// include copies the files that .worktreeinclude names and that git ignores, and returns their paths from the top.
func (s *Setup) include() (files []string, err error) {
	repo, c := s.Repo, s.Clone
	list := filepath.Join(repo.Top, includeFile)
	if _, err := os.Lstat(list); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	out, err := repo.ForUser(s.Kill, repo.Top, makeTime, "ls-files", "-z", "--others", "--ignored", "--exclude-from="+list)
	if err != nil {
		return nil, err
	}
	root, err := plainfile.OpenRoot(c.Top)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, name := range split(out) {
		if strings.Contains("/"+name, "/.kanban-run/") {
			continue
		}
		if err := copyInto(root, repo.Top, name); err != nil {
			return nil, fmt.Errorf("copy %s into the clone: %w", name, err)
		}
		files = append(files, name)
	}
	return files, nil
}

// learnSecrets has the redactor know the secrets in copied files such as .env: values whose names say so, as the checkout has them and as
// they were copied.
func learnSecrets(r *redact.Redactor, c *Clone, files []string) error {
	var values []string
	for _, top := range []string{c.Home, c.Top} {
		root, err := plainfile.OpenRoot(top)
		if errors.Is(err, fs.ErrNotExist) {
			continue // who removed the clone is told where it is made anew
		}
		if err != nil {
			return err
		}
		for _, name := range files {
			values = append(values, secretsIn(readIn(root, filepath.FromSlash(name)))...)
		}
		root.Close()
	}
	r.Learn(values)
	return nil
}

// secretsIn returns the values in lines KEY=VALUE that look secret, as a shell and as other programs read them.
func secretsIn(text string) (values []string) {
	note := func(key, value string) {
		if redact.IsSecretName(strings.TrimSpace(key)) || redact.IsSecretValue(value) {
			values = append(values, value)
		}
	}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "="); ok {
			whole, _, _ := strings.Cut(value, " #")
			note(key, strings.Trim(strings.TrimSpace(whole), `"'`))
			note(key, strings.Trim(strings.TrimSpace(value), `"'`))
		}
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return values
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if a, is := n.(*syntax.Assign); is && a.Name != nil && a.Value != nil {
			if value, err := expand.Literal(&expand.Config{}, a.Value); err == nil {
				note(a.Name.Value, value)
			}
		}
		return true
	})
	return values
}

// copyInto copies a file or a link of the checkout. Anything else, such as a pipe, is passed over.
func copyInto(root *os.Root, top, name string) error {
	from, to := filepath.Join(top, filepath.FromSlash(name)), filepath.FromSlash(name)
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if err := root.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return root.Symlink(target, to)
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	in, err := plainfile.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// setUp runs the command of the settings in the new clone, puts back what it has changed that git tracks, and returns what else it
// leaves. Errors: *failure.Invalid with the end of its output.
func (s *Setup) setUp() (left []string, err error) {
	repo, c, tip := s.Repo, s.Clone, s.Tip
	switch red, err := s.Run("clones_setup", s.Command, setupTime); {
	case err != nil:
		return nil, err
	case red != "":
		return nil, &failure.Invalid{Err: errors.New("clones_setup: " + red), Fix: "mend it, and the next run makes the clone anew"}
	}
	changed, err := repo.ForUser(s.Kill, c.Top, makeTime, "diff", "--name-only", "-z", tip, "--")
	if err != nil {
		return nil, err
	}
	if names := split(changed); len(names) > 0 {
		s.Notice("the setup has changed what git tracks, which is put back: " + event.List(names, mostNamed))
		if _, err := repo.ForUser(s.Kill, c.Top, makeTime, "reset", "--quiet", "--hard", tip); err != nil {
			return nil, err
		}
	}
	list := func(more ...string) (names []string) { // a folder with a .git of its own is one name
		args := append([]string{"ls-files", "-z", "--others", "--exclude-standard"}, more...)
		out, failed := repo.ForUser(s.Kill, c.Top, makeTime, args...)
		err = errors.Join(err, failed)
		for _, name := range split(out) {
			names = append(names, strings.TrimSuffix(name, "/"))
		}
		return names
	}
	if left = list(); len(left) > mostLeft { // and what tasks put beside them is in no commit either
		left = list("--directory", "--no-empty-directory")
		s.Notice(fmt.Sprintf("the setup leaves more than %d files that git does not ignore: all in their folders goes into no commit: %s", mostLeft, event.List(left, mostNamed)))
	}
	return left, err
}

// Run runs a command of the setting name in the clone. The result red is "" if it succeeds; else it says how it failed, with the end of
// its output. Errors: *failure.Invalid for a command that cannot be started.
func (s *Setup) Run(name, command string, timeout time.Duration) (red string, err error) {
	argv, err := agent.SplitCommand(command)
	if err != nil {
		return "", &failure.Invalid{Err: fmt.Errorf("%s: %w", name, err)}
	}
	dir, err := s.Dir()
	if err != nil {
		return "", err
	}
	if argv[0], err = agent.LookPath(argv[0], dir); err != nil {
		return "", &failure.Invalid{Err: fmt.Errorf("%s: %w", name, err), Fix: "name a program that is installed, or that the repository has"}
	}
	var out bytes.Buffer
	exit, err := proc.Run(s.Stop, s.Kill, &proc.Spec{Argv: argv, Dir: dir, Env: s.Env, Stdout: &out, Stderr: &out, Mark: s.Repo.Mark, Timeout: timeout, Grace: 5 * time.Second})
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", name, err)
	case exit.Stopped:
		return "", context.Cause(s.Stop)
	case exit.Succeeded():
		return "", nil
	}
	text := s.Redactor.String(out.String()) // before it is cut
	said := strings.TrimSpace(strings.ToValidUTF8(text[max(0, len(text)-mostSetup):], ""))
	return fmt.Sprintf("%s: %s: %s", command, exit.String(), said), nil
}

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

// prepare gives a new clone what git does not have: files that .worktreeinclude names, and what the setup makes. Neither goes into
// a commit. No agent has worked in the clone yet, so that git may be asked in it.
func (k *Keeper) prepare(repo *git.Repo, c *Clone, tip string) error {
	files, err := k.include(repo, c)
	if err == nil {
		err = k.learnSecrets(c, files)
	}
	if err != nil {
		return err
	}
	if missing := lacking(repo, c); len(missing) > 0 {
		k.Notice("the clone lacks files that git does not have, and that " + includeFile + " does not name: " + event.List(missing, mostNamed))
	}
	if command := k.Run.ClonesSetup; command != "" {
		left, err := k.setUp(repo, c, command, tip)
		if err != nil {
			return err
		}
		files = append(files, left...)
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
func (k *Keeper) include(repo *git.Repo, c *Clone) (files []string, err error) {
	list := filepath.Join(repo.Top, includeFile)
	if _, err := os.Lstat(list); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	out, err := repo.ForUser(k.Kill, repo.Top, makeTime, "ls-files", "-z", "--others", "--ignored", "--exclude-from="+list)
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
func (k *Keeper) learnSecrets(c *Clone, files []string) error {
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
	k.Redactor.Learn(values)
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
func (k *Keeper) setUp(repo *git.Repo, c *Clone, command, tip string) (left []string, err error) {
	if err := k.runSetup(repo, c, command); err != nil {
		return nil, err
	}
	changed, err := repo.ForUser(k.Kill, c.Top, makeTime, "diff", "--name-only", "-z", tip, "--")
	if err != nil {
		return nil, err
	}
	if names := split(changed); len(names) > 0 {
		k.Notice("the setup has changed what git tracks, which is put back: " + event.List(names, mostNamed))
		if _, err := repo.ForUser(k.Kill, c.Top, makeTime, "reset", "--quiet", "--hard", tip); err != nil {
			return nil, err
		}
	}
	list := func(more ...string) (names []string) { // a folder with a .git of its own is one name
		args := append([]string{"ls-files", "-z", "--others", "--exclude-standard"}, more...)
		out, failed := repo.ForUser(k.Kill, c.Top, makeTime, args...)
		err = errors.Join(err, failed)
		for _, name := range split(out) {
			names = append(names, strings.TrimSuffix(name, "/"))
		}
		return names
	}
	if left = list(); len(left) > mostLeft { // and what tasks put beside them is in no commit either
		left = list("--directory", "--no-empty-directory")
		k.Notice(fmt.Sprintf("the setup leaves more than %d files that git does not ignore: all in their folders goes into no commit: %s", mostLeft, event.List(left, mostNamed)))
	}
	return left, err
}

// runSetup runs the command of the settings in the new clone. Errors: *failure.Invalid with the end of its output.
func (k *Keeper) runSetup(repo *git.Repo, c *Clone, command string) error {
	argv, err := agent.SplitCommand(command)
	if err != nil {
		return &failure.Invalid{Err: fmt.Errorf("clones_setup: %w", err)}
	}
	dir, err := k.Workspace.PlaceIn(c.Top, c.Home)
	if err != nil {
		return err
	}
	if argv[0], err = agent.LookPath(argv[0], dir); err != nil {
		return &failure.Invalid{Err: fmt.Errorf("clones_setup: %w", err), Fix: "name a program that is installed, or that the repository has"}
	}
	var out bytes.Buffer
	exit, err := proc.Run(k.Stop, k.Kill, &proc.Spec{Argv: argv, Dir: dir, Env: k.Roster.AgentEnviron(), Stdout: &out, Stderr: &out, Mark: repo.Mark, Timeout: setupTime, Grace: 5 * time.Second})
	switch {
	case err != nil:
		return fmt.Errorf("clones_setup: %w", err)
	case exit.Stopped:
		return context.Cause(k.Stop)
	case !exit.Succeeded():
		text := k.Redactor.String(out.String()) // before it is cut
		said := strings.TrimSpace(strings.ToValidUTF8(text[max(0, len(text)-mostSetup):], ""))
		return &failure.Invalid{Err: fmt.Errorf("clones_setup: %s: %s: %s", command, exit.String(), said), Fix: "mend it, and the next run makes the clone anew"}
	}
	return nil
}

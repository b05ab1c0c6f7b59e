package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/plainfile"
	"kanban-run/orchestrator/proc"
)

// Repo is a repository, and where its parts are.
type Repo struct {
	Program string
	Mark    proc.Mark // of the processes of its calls

	Top     string // of the work tree
	Prefix  string // of the folder in it that the repository was found from, with a slash behind; "" for the top
	Folder  string // its .git, or that of a linked work tree
	Common  string // its .git
	Objects string
	Format  string // sha1 or sha256

	Settings Settings
	exclude  string // what it ignores by itself and by its user's wish, in the words of .gitignore
	shallow  string // where its history ends; "": it is whole
	attrs    string // of its own, beside those of the work tree
}

// Errors of Open.
var (
	ErrNoRepository = errors.New("no git repository")
	ErrNoWorkTree   = errors.New("a git repository without a work tree")
)

const (
	userTime = 10 * time.Second // that a question to the user's repository may take
	maxList  = 256 << 20        // bytes of the output of a call
	maxText  = 4 << 20          // bytes of a file below .git that is read
	maxIndex = 1 << 30
)

// Open finds the repository around a folder, and reads what counts of its settings. Errors:
// ErrNoRepository, ErrNoWorkTree, *Error.
func Open(stop context.Context, program, dir string, mark proc.Mark) (*Repo, error) {
	r := &Repo{Program: program, Mark: mark, Top: dir}
	out, err := r.User(stop, "rev-parse", "--path-format=absolute", "--is-inside-work-tree", "--show-toplevel", "--show-prefix", "--git-dir", "--git-common-dir",
		"--git-path", "objects", "--show-object-format", "--git-path", "info/exclude", "--git-path", "info/attributes", "--git-path", "shallow")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if failed := (*Error)(nil); errors.As(err, &failed) && !failed.Exit.TimedOut {
		if lines[0] == "false" {
			return nil, ErrNoWorkTree
		}
		return nil, fmt.Errorf("%w: %s", ErrNoRepository, strings.TrimSpace(failed.Stderr))
	}
	if err != nil {
		return nil, err
	}
	if len(lines) != 10 || lines[0] != "true" {
		return nil, ErrNoWorkTree
	}
	r.Top, r.Prefix, r.Folder, r.Common, r.Objects, r.Format = lines[1], lines[2], lines[3], lines[4], lines[5], lines[6]
	list, err := r.User(stop, "config", "--list", "-z", "--show-scope")
	if err != nil {
		return nil, err
	}
	r.Settings = parseSettings(list)
	r.exclude = textOf(r.ignoreFile()) + textOf(lines[7])
	r.attrs, r.shallow = textOf(lines[8]), strings.TrimSuffix(textOf(lines[9]), "\n")
	return r, nil
}

// User asks the repository itself. The command is rev-parse, for-each-ref, update-ref or config --list:
// what they read of it starts no program.
func (r *Repo) User(stop context.Context, args ...string) (string, error) {
	g := Git{Program: r.Program, Dir: r.Top, Env: callers(), Mark: r.Mark, Timeout: userTime, MaxOutput: maxList}
	out, err := g.Run(stop, nil, args...)
	return strings.TrimSuffix(out, "\n"), err // the list of settings ends with a NUL
}

// ignoreFile is the file in which the user says what git is to ignore everywhere.
func (r *Repo) ignoreFile() string {
	file := r.Settings.Get("core.excludesfile")
	if rest, home := strings.CutPrefix(file, "~/"); home {
		return filepath.Join(os.Getenv("HOME"), rest)
	}
	if file != "" {
		return file
	}
	dir := os.Getenv("XDG_CONFIG_HOME")
	if dir == "" {
		dir = filepath.Join(os.Getenv("HOME"), ".config")
	}
	return filepath.Join(dir, "git", "ignore")
}

// textOf is the text of a file, with a newline behind it; what is no file has none.
func textOf(path string) string {
	text, err := plainfile.Read(path, maxText)
	if err != nil || len(text) == 0 {
		return ""
	}
	return string(text) + "\n"
}

// Converts says whether files of any name may be converted on their way into the repository, by what
// is said outside of the work tree.
func (r *Repo) Converts() bool {
	return r.attrs != "" || r.Settings.Get("core.attributesfile") != "" || r.Settings.GetOwn("core.autocrlf") != "" && r.Settings.GetOwn("core.autocrlf") != "false"
}

// Index is git's index between two calls: no agent reaches it here.
type Index struct {
	text []byte
	when time.Time // by it git tells which files may have changed since they were looked at

	parts map[string][]byte // of a user's index that is split, by the names of their files
}

// IsEmpty says whether nothing was written to it.
func (x *Index) IsEmpty() bool { return x == nil || len(x.text) == 0 }

// ReadIndex is the index of the user's, which is only looked at.
func (r *Repo) ReadIndex() (*Index, error) {
	index, err := readIndex(r.Folder)
	if err != nil {
		return nil, err
	}
	parts, err := filepath.Glob(filepath.Join(r.Folder, "sharedindex.*"))
	index.parts = map[string][]byte{}
	for _, part := range parts {
		if text, failed := plainfile.Read(part, maxIndex); failed == nil {
			index.parts[filepath.Base(part)] = text
		}
	}
	return index, err
}

func readIndex(folder string) (*Index, error) {
	path := filepath.Join(folder, "index")
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return &Index{}, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := plainfile.Read(path, maxIndex)
	return &Index{text: text, when: info.ModTime()}, err
}

// Call is how a call sees the repository.
type Call struct {
	Git
	Index   *Index   // what the call does to it stays; nil: it has none
	Objects string   // where new objects go; "": to the others
	Raw     bool     // every file is the bytes that it has; else line ends and encodings are converted
	Remote  Settings // of the user, that lead to a remote; nil: none
}

// writesIndex are the commands that change the index.
var writesIndex = []string{"add", "read-tree", "rm", "update-index"}

// rawAttributes leave every byte as it is.
const rawAttributes = "* -text -filter -ident -eol -working-tree-encoding\n"

// Own asks git in a folder that is made for the call; other files in it are removed. The caller removes
// the folder. Where it is still there, the next call writes less.
func (r *Repo) Own(stop context.Context, folder string, c Call, stdin []byte, args ...string) (out string, err error) {
	if err := r.make(folder, c, args[0]); err != nil {
		return "", fmt.Errorf("make the folder of a call of git: %w", err)
	}
	g := c.Git
	g.Program, g.Mark, g.Dir = r.Program, r.Mark, r.Top
	if g.MaxOutput == 0 {
		g.MaxOutput = maxList
	}
	objects := r.Objects
	if c.Objects != "" {
		objects = c.Objects
	}
	if !slices.ContainsFunc(c.Env, func(e string) bool { return strings.HasPrefix(e, "HOME=") }) { // else it needs the user's keys
		g.Env = append(g.Env, "HOME="+folder, "XDG_CONFIG_HOME="+folder)
	}
	g.Env = append(g.Env, "GIT_DIR="+folder, "GIT_WORK_TREE="+r.Top, "GIT_INDEX_FILE="+filepath.Join(folder, "index"), "GIT_OBJECT_DIRECTORY="+objects,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES="+quote(r.Objects), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(folder, "global"))
	g.settings = r.settings(c)
	if c.Raw {
		g.Env = append(g.Env, "GIT_ATTR_NOSYSTEM=1")
	}
	out, err = g.Run(stop, stdin, args...)
	if c.Index != nil && err == nil && slices.Contains(writesIndex, args[0]) {
		now, failed := readIndex(folder)
		if failed != nil {
			return out, failed
		}
		c.Index.text, c.Index.when = now.text, now.when
	}
	return out, err
}

// readsFiles are the commands that look at files of the work tree, or at their names: what is ignored
// and converted counts for them. The others get no more than they need, for each file of the folder
// has its price.
var readsFiles = []string{"add", "check-attr", "check-ignore", "checkout-index", "hash-object", "ls-files", "update-index"}

// make makes the folder of a call, with what has to be in it and nothing else.
func (r *Repo) make(folder string, c Call, command string) error {
	files := map[string][]byte{"HEAD": []byte("ref: refs/heads/none\n"), "shallow": []byte(r.shallow), "global": []byte(c.Remote.File())}
	if r.Format != "sha1" {
		files["config"] = []byte("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = " + r.Format + "\n")
	}
	info := map[string][]byte{}
	if slices.Contains(readsFiles, command) {
		info["exclude"], info["attributes"] = []byte(r.exclude), []byte(r.attrs)
		if c.Raw {
			info["attributes"] = []byte(rawAttributes)
		}
	}
	if c.Index != nil {
		maps.Copy(files, c.Index.parts)
		files["index"] = c.Index.text
	}
	if err := fill(folder, files, "refs", "info"); err != nil {
		return err
	}
	if err := fill(filepath.Join(folder, "refs"), nil); err != nil {
		return err
	}
	if err := fill(filepath.Join(folder, "info"), info); err != nil || c.Index.IsEmpty() {
		return err
	}
	return os.Chtimes(filepath.Join(folder, "index"), c.Index.when, c.Index.when)
}

// fill brings a folder to what is to be in it: files, of which those without a text are not there, and
// folders.
func fill(folder string, files map[string][]byte, folders ...string) error {
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		if err := errors.Join(os.RemoveAll(folder), os.Mkdir(folder, 0o700)); err != nil {
			return err
		}
	}
	there, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range there {
		path, text := filepath.Join(folder, e.Name()), files[e.Name()]
		switch {
		case slices.Contains(folders, e.Name()):
		case e.Type().IsRegular() && len(text) > 0:
			if was, err := plainfile.Read(path, int64(len(text))); err == nil && bytes.Equal(was, text) {
				continue
			}
			err = os.WriteFile(path, text, 0o600)
		default:
			err = os.RemoveAll(path)
		}
		if err != nil {
			return err
		}
	}
	for name, text := range files {
		path := filepath.Join(folder, name)
		if _, err := os.Lstat(path); len(text) == 0 || err == nil {
			continue
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// settings are those of a call: what the work tree is, and, where files are converted, how.
func (r *Repo) settings(c Call) (args []string) {
	names := []string{"filemode", "symlinks", "ignorecase", "precomposeunicode"}
	if !c.Raw {
		names = append(names, "autocrlf", "eol", "checkroundtripencoding")
	}
	for _, name := range names {
		if value := r.Settings.GetOwn("core." + name); value != "" {
			args = append(args, "core."+name+"="+value)
		}
	}
	if file := r.Settings.Get("core.attributesfile"); file != "" && !c.Raw {
		args = append(args, "core.attributesFile="+file)
	}
	return append(args, "core.safecrlf=false")
}

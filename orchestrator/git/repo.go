package git

import (
	"bytes"
	"cmp"
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

// Repo is a repository, with the absolute paths of its parts.
type Repo struct {
	Program Program
	Mark    proc.Mark // mark of all processes of git

	Top     string // top of the work tree
	Tree    string // top of the work tree of the calls of Own, which may be another one; "": Top
	Prefix  string // path from Top to the folder of Open, ending in a slash; "": both are the same
	Folder  string // the folder .git; for a linked work tree, its own folder below .git
	Common  string // the folder .git, shared by all work trees
	Objects string
	Format  string // sha1 or sha256

	Settings Settings
	texts    [3]string // paths of the files info/exclude, info/attributes and shallow
	exclude  string    // patterns of ignored files, from the user's file and from info/exclude
	shallow  string    // text of git's file "shallow"; "": the history is complete, not cut
	attrs    string    // the text of info/attributes
}

// Errors of Open.
var (
	ErrMissing      = errors.New("git cannot be started")
	ErrNoRepository = errors.New("no git repository")
	ErrNoWorkTree   = errors.New("a git repository without a work tree")
	ErrForeign      = errors.New("a git repository of another user, which git refuses (safe.directory)")
)

const (
	userTime = 10 * time.Second // time limit of a call of User
	maxList  = 256 << 20        // maximum output of a call, in bytes
	maxText  = 4 << 20          // maximum size of a file below .git, in bytes
	maxIndex = 1 << 30          // maximum size of an index, in bytes
)

// Open finds git and the repository around a folder, and reads the repository's settings. Errors:
// ErrMissing, *InsideError, ErrNoRepository, ErrNoWorkTree, ErrForeign, *Error.
func Open(stop context.Context, dir string, mark proc.Mark) (*Repo, error) {
	program, err := find(dir)
	if err != nil {
		return nil, err
	}
	r := &Repo{Program: program, Mark: mark, Top: dir}
	out, err := r.User(stop, "rev-parse", "--path-format=absolute", "--is-inside-work-tree",
		"--show-toplevel", "--show-prefix", "--git-dir", "--git-common-dir",
		"--git-path", "objects", "--show-object-format",
		"--git-path", "info/exclude", "--git-path", "info/attributes", "--git-path", "shallow")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if failed := (*Error)(nil); IsRefusal(err) && errors.As(err, &failed) {
		if lines[0] == "false" {
			return nil, ErrNoWorkTree
		}
		if strings.Contains(failed.Stderr, "dubious ownership") {
			return nil, ErrForeign
		}
		if strings.Contains(failed.Stderr, "not a git repository") {
			return nil, fmt.Errorf("%w: %s", ErrNoRepository, strings.TrimSpace(failed.Stderr))
		}
	}
	if err != nil {
		return nil, err
	}
	if len(lines) != 10 || lines[0] != "true" {
		return nil, ErrNoWorkTree
	}
	r.Top, r.Prefix, r.Folder, r.Common = lines[1], lines[2], lines[3], lines[4]
	r.Objects, r.Format = lines[5], lines[6]
	list, err := r.User(stop, "config", "--list", "-z", "--show-scope")
	if err != nil {
		return nil, err
	}
	r.Settings = parseSettings(list)
	r.texts = [3]string(lines[7:])
	return r.Again(mark), nil
}

// Again returns the repository as another call of Open does for the same folder if only the files
// changed that hold patterns, attributes and the cut of the history.
func (r *Repo) Again(mark proc.Mark) *Repo {
	now := *r
	now.Mark = mark
	now.exclude = textOf(r.ignoreFile()) + textOf(r.texts[0])
	now.attrs, now.shallow = textOf(r.texts[1]), strings.TrimSuffix(textOf(r.texts[2]), "\n")
	return &now
}

// User calls git in the repository itself. The command is rev-parse, for-each-ref, update-ref or
// config --list, because these read nothing that can start a program.
func (r *Repo) User(stop context.Context, args ...string) (string, error) {
	g := Git{Program: r.Program, Dir: r.Top, Env: callers(), Mark: r.Mark, Timeout: userTime, MaxOutput: maxList}
	if args[0] == "update-ref" {
		g.Writes = []string{r.Common}
	}
	out, err := g.Run(stop, nil, args...)
	return strings.TrimSuffix(out, "\n"), err // a list of settings ends with a NUL, not a newline
}

// ForUser is like User, but calls git in any folder, with a time limit.
func (r *Repo) ForUser(stop context.Context, dir string, timeout time.Duration, args ...string) (string, error) {
	g := Git{Program: r.Program, Dir: dir, Env: callers(), Mark: r.Mark, Timeout: timeout, MaxOutput: maxList, Writes: []string{dir}}
	return g.Run(stop, nil, args...)
}

// ignoreFile returns the path of the user's own ignore file, which applies to all repositories.
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

// textOf returns the text of a file, with a newline after it, or "" if the file cannot be read.
func textOf(path string) string {
	text, err := plainfile.Read(path, maxText)
	if err != nil || len(text) == 0 {
		return ""
	}
	return string(text) + "\n"
}

// Converts reports whether settings or attributes outside of the work tree may convert files on
// their way into the repository.
func (r *Repo) Converts() bool {
	autocrlf := r.Settings.GetOwn("core.autocrlf")
	return r.attrs != "" || r.Settings.Get("core.attributesfile") != "" || autocrlf != "" && autocrlf != "false"
}

// Index is git's index between two calls, kept in memory, out of reach of agents.
type Index struct {
	text []byte
	when time.Time // time of the index, with which git compares the times of other files

	parts map[string][]byte // files of a user's split index, by name
}

// IsEmpty reports whether the index is nil or has no bytes.
func (x *Index) IsEmpty() bool { return x == nil || len(x.text) == 0 }

// Bytes returns the index as git wrote it. The caller must not change it.
func (x *Index) Bytes() []byte { return x.text }

// ReadIndex reads the user's index.
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

// ReadIndexIn returns the index in a folder .git, without the parts of a split one.
func ReadIndexIn(folder string) (*Index, error) { return readIndex(folder) }

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

// Call describes a call of git and the view of the repository that the call gets.
type Call struct {
	Git
	Index   *Index   // index, which the call may change; nil: the call has no index
	Objects string   // folder of new objects; "": that of the repository
	Further string   // a further folder of objects that the call reads; "": none
	Raw     bool     // git leaves files as they are; false: git converts line ends and encodings
	Remote  Settings // the user's settings, for a call to a remote
}

// writesIndex lists the commands that change the index.
var writesIndex = []string{"add", "read-tree", "rm", "update-index"}

// rawAttributes switch off all conversion of files.
const rawAttributes = "* -text -filter -ident -eol -working-tree-encoding\n"

// Own calls git with folder as GIT_DIR. First it makes the folder, or changes it until it has
// exactly the files that the call needs, so one folder can serve many calls. The caller removes the
// folder in the end. If the command changes the index, Own updates c.Index, also after an error:
// git may have added some files and not others.
func (r *Repo) Own(stop context.Context, folder string, c Call, stdin []byte, args ...string) (out string, err error) {
	if err := r.make(folder, c, args[0]); err != nil {
		return "", fmt.Errorf("make the folder of a call of git: %w", err)
	}
	g := c.Git
	tree := cmp.Or(r.Tree, r.Top)
	g.Program, g.Mark, g.Dir = r.Program, r.Mark, tree
	if g.MaxOutput == 0 {
		g.MaxOutput = maxList
	}
	objects := r.Objects
	if c.Objects != "" {
		objects = c.Objects
	}
	g.Writes = []string{folder, objects, tree}
	// The caller sets HOME if git needs the user's keys. Otherwise git must not see the user's
	// home.
	if !slices.ContainsFunc(c.Env, func(e string) bool { return strings.HasPrefix(e, "HOME=") }) {
		g.Env = append(g.Env, "HOME="+folder, "XDG_CONFIG_HOME="+folder)
	}
	alternates := quote(r.Objects)
	if c.Further != "" {
		alternates += string(filepath.ListSeparator) + quote(c.Further)
	}
	g.Env = append(g.Env,
		"GIT_DIR="+folder,
		"GIT_WORK_TREE="+tree,
		"GIT_INDEX_FILE="+filepath.Join(folder, "index"),
		"GIT_OBJECT_DIRECTORY="+objects,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES="+alternates,
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL="+filepath.Join(folder, "global"))
	g.settings = r.settings(c)
	if c.Raw {
		g.Env = append(g.Env, "GIT_ATTR_NOSYSTEM=1")
	}
	out, err = g.Run(stop, stdin, args...)
	if c.Index != nil && slices.Contains(writesIndex, args[0]) {
		now, failed := readIndex(folder)
		if failed != nil {
			return out, errors.Join(err, failed)
		}
		c.Index.text, c.Index.when = now.text, now.when
	}
	return out, err
}

// readsFiles lists the commands that look at files of the work tree or at their names, and so need
// the files with ignore patterns and attributes. Other commands do not get these two files, because
// each file costs time.
var readsFiles = []string{
	"add", "check-attr", "check-ignore", "checkout-index", "hash-object", "ls-files", "update-index",
}

// make makes the folder of a call with exactly the files that the command needs.
func (r *Repo) make(folder string, c Call, command string) error {
	files := map[string][]byte{
		"HEAD":    []byte("ref: refs/heads/none\n"),
		"shallow": []byte(r.shallow),
		"global":  []byte(c.Remote.File()),
	}
	if r.Format != "sha1" {
		files["config"] = []byte("[core]\n\trepositoryformatversion = 1\n" +
			"[extensions]\n\tobjectformat = " + r.Format + "\n")
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

// fill makes a folder hold the given files, except those without bytes. It removes all other
// entries except the given subfolders. It makes the folder again if it is missing, is not a folder,
// or does not have the mode 0700.
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

// settings returns the settings of a call. They are those about the file system of the work tree
// and, unless the call is raw, those about conversion.
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

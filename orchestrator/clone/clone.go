package clone

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/failpoint"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/plainfile"
)

// Clone is a clone of a checkout, for the agents of one board.
type Clone struct {
	Top  string // its folder
	ID   string
	Home string // top of the checkout from which it was made
}

// Name returns the name of a board's clone: that of its branch of checkpoints, as one folder. The parameter
// branch is the name of that branch below board/.
func Name(branch string) string { return strings.ReplaceAll(branch, "/", "+") }

// Place returns the folder of a board's clone: NAME in DIR/CHECKOUT, or beside the checkout in
// CHECKOUT.clones.
func Place(top, dir, name string) string {
	if dir == "" {
		return filepath.Join(top+".clones", name)
	}
	return filepath.Join(dir, filepath.Base(top), name)
}

// Making has what a new clone is made from.
type Making struct {
	Repo   *git.Repo
	Tip    string // commit
	Branch string // of HEAD in the checkout, with refs/heads/; "": it is detached
}

const (
	makeTime = 15 * time.Minute
	maxFile  = 16 << 20
	source   = "kanban-run-home" // name of the remote while the clone is made
	idFile   = "kanban-run-clone"
)

// making returns the folder in which a clone is made before it gets its name.
func (c *Clone) making() string { return c.Top + ".making" }

// Is reports whether the folder is there, and is the clone that was made from this checkout. A copy of a checkout has
// none, until one is made for it.
func (c *Clone) Is() bool {
	text, err := plainfile.Read(filepath.Join(c.Top, ".git", idFile), maxFile)
	if err != nil {
		return false
	}
	var id madeFor
	return json.Unmarshal(text, &id) == nil && id == madeFor{c.ID, c.Home}
}

// homeOf returns the checkout of which a folder is the clone of a board, or "".
func homeOf(top string) string {
	text, err := plainfile.Read(filepath.Join(top, ".git", idFile), maxFile)
	var id madeFor
	if err != nil || json.Unmarshal(text, &id) != nil {
		return ""
	}
	return id.Home
}

// madeFor is the content of the file that tells a clone from any other repository.
type madeFor struct {
	ID   string `json:"id"`
	Home string `json:"home"`
}

// isGone reports whether nothing is in the place of the clone.
func (c *Clone) isGone() bool {
	_, err := os.Lstat(c.Top)
	return errors.Is(err, fs.ErrNotExist)
}

// Make makes the clone. What is in its place is set aside, under the name that record gets, or "". The function record
// is called before the clone has its name. Errors: *failure.Invalid for a folder that cannot be used.
func (c *Clone) Make(stop context.Context, m Making, record func(aside string) error) error {
	if err := c.makeParent(); err != nil {
		return err
	}
	if err := os.RemoveAll(c.making()); err != nil { // a run was killed while it made it
		return fmt.Errorf("make the clone: %w", err)
	}
	if err := c.fill(stop, m); err != nil {
		return fmt.Errorf("make the clone %s: %w", c.Top, err)
	}
	failpoint.At("clone-made")
	aside, err := c.setAside()
	if err == nil {
		err = record(aside)
	}
	if err != nil {
		return err
	}
	failpoint.At("clone-journaled")
	if err := os.Rename(c.making(), c.Top); err != nil {
		return fmt.Errorf("make the clone: %w", err)
	}
	return durable.SyncDir(filepath.Dir(c.Top))
}

// makeParent makes the folder of the clones, which must be the user's own.
func (c *Clone) makeParent() error {
	parent := filepath.Dir(c.Top)
	if err := durable.MkdirAll(filepath.Dir(parent), 0o755); err != nil {
		return unusable(parent, err)
	}
	if err := os.Mkdir(parent, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return unusable(parent, err)
	}
	info, err := os.Lstat(parent)
	if err != nil {
		return unusable(parent, err)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || ok && int(owner.Uid) != os.Geteuid() {
		return unusable(parent, errors.New("it is a link, no folder, or another user's"))
	}
	return nil
}

func unusable(parent string, err error) error {
	if durable.IsMachineFault(err) {
		return fmt.Errorf("make the folder for clones %s: %w", parent, err)
	}
	return &failure.Invalid{Err: fmt.Errorf("clones cannot lie in %s: %w", parent, err), Fix: "--clones-dir DIR names another folder"}
}

// fill makes the clone under another name: its objects by git clone, which links them, the rest by hand.
func (c *Clone) fill(stop context.Context, m Making) error {
	at := c.making()
	if _, err := m.Repo.ForUser(stop, filepath.Dir(at), makeTime, "clone", "--quiet", "--template=", "--dissociate", "--no-checkout", "--no-tags",
		"--origin", source, "--", m.Repo.Top, at); err != nil {
		return err
	}
	folder := filepath.Join(at, ".git")
	refs, err := m.Repo.ForUser(stop, m.Repo.Top, makeTime, "for-each-ref", "--format=%(objectname) %(refname)", "refs/remotes", "refs/tags")
	if err != nil {
		return err
	}
	if refs != "" && !strings.HasSuffix(refs, "\n") {
		refs += "\n"
	}
	for _, left := range []string{"refs", "packed-refs", "logs"} {
		if err := os.RemoveAll(filepath.Join(folder, left)); err != nil {
			return err
		}
	}
	head := m.Tip
	if m.Branch != "" {
		head, refs = "ref: "+m.Branch, refs+m.Tip+" "+m.Branch+"\n"
	}
	id, err := json.Marshal(madeFor{c.ID, c.Home})
	if err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(folder, "refs", "heads"), 0o755), os.MkdirAll(filepath.Join(folder, "info"), 0o755)); err != nil {
		return err
	}
	exclude, _ := plainfile.Read(filepath.Join(m.Repo.Common, "info", "exclude"), maxFile)
	attributes, _ := plainfile.Read(filepath.Join(m.Repo.Common, "info", "attributes"), maxFile)
	for name, text := range map[string]string{"HEAD": head + "\n", "packed-refs": withoutHeads(refs), "config": configOf(m.Repo),
		idFile: string(id) + "\n", "info/exclude": string(exclude), "info/attributes": string(attributes)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	_, err = m.Repo.ForUser(stop, at, makeTime, "reset", "--quiet", "--hard", m.Tip)
	return err
}

// withoutHeads returns a list of references without those such as origin/HEAD, which are symbolic.
func withoutHeads(refs string) string {
	var kept strings.Builder
	for line := range strings.Lines(refs) {
		if !strings.HasSuffix(strings.TrimSpace(line), "/HEAD") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// copied are the settings of the checkout that the clone gets, and no others: a remote, a hook or a filter of the
// checkout is none of the clone.
var copied = []string{"user.name", "user.email", "core.autocrlf", "core.eol", "core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode"}

func configOf(r *git.Repo) string {
	text := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tlogallrefupdates = true\n"
	if r.Format != "sha1" {
		text = strings.Replace(text, "= 0", "= 1", 1) + "[extensions]\n\tobjectformat = " + r.Format + "\n"
	}
	return text + r.Settings.Only(copied...).File()
}

// setAside renames what is in the place of the clone, and returns the new name, or "" if nothing is there.
func (c *Clone) setAside() (string, error) {
	if c.isGone() {
		return "", nil
	}
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s.old-%d", c.Top, n)
		if _, err := os.Lstat(aside); err == nil {
			continue
		}
		if err := os.Rename(c.Top, aside); err != nil {
			return "", fmt.Errorf("set aside what is in the place of the clone: %w", err)
		}
		return aside, nil
	}
}

// Remove removes the clone, and what a killed call has left of it. What else lies in its place stays.
func (c *Clone) Remove() error {
	going := c.Top + ".landed"
	if c.Is() {
		if err := errors.Join(os.RemoveAll(going), os.Rename(c.Top, going)); err != nil {
			return fmt.Errorf("remove the clone: %w", err)
		}
	}
	return RemoveAll(going)
}

// RemoveAll removes a folder in which agents or commands have worked, also one with folders that nobody may write into.
func RemoveAll(folder string) error {
	err := os.RemoveAll(folder)
	if errors.Is(err, fs.ErrPermission) {
		_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, _ error) error {
			if e != nil && e.IsDir() {
				_ = os.Chmod(path, 0o700)
			}
			return nil
		})
		err = os.RemoveAll(folder)
	}
	if err != nil {
		return fmt.Errorf("remove the clone: %w", err)
	}
	return nil
}

// Head returns what is checked out in the clone. It has no commit if there is none, or if the folder .git is not the one
// that was made.
func (c *Clone) Head() git.Head {
	root, err := c.openGit()
	if err != nil {
		return git.Head{}
	}
	defer root.Close()
	return git.ReadHead(func(name string) string { return readIn(root, name) })
}

// Objects returns the clone's folder of objects.
func (c *Clone) Objects() string { return filepath.Join(c.Top, ".git", "objects") }

// Follow has the clone's HEAD and index stand at a commit, whose pack it gets. The files stay as they are.
func (c *Clone) Follow(commit string, pack map[string][]byte, index []byte) (err error) {
	root, err := c.openGit()
	if err != nil {
		return fmt.Errorf("the clone follows its commit: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	write := func(name string, data []byte) error {
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		next := name + ".kanban-run"
		if err := root.WriteFile(next, data, 0o644); err != nil {
			return err
		}
		return root.Rename(next, name)
	}
	for _, suffix := range []string{".pack", ".idx"} { // git looks for the pack as soon as it sees the index of it
		for name, data := range pack {
			if strings.HasSuffix(name, suffix) && err == nil {
				err = write(filepath.Join("objects", "pack", name), data)
			}
		}
	}
	if err == nil {
		err = write(cmp.Or(c.Head().Branch, "HEAD"), []byte(commit+"\n"))
	}
	if err == nil {
		err = write("index", index)
	}
	if err != nil {
		return fmt.Errorf("the clone follows its commit: %w", err)
	}
	return nil
}

// openGit opens the folder .git of the clone, in which no link leads out.
func (c *Clone) openGit() (*os.Root, error) {
	if !c.Is() {
		return nil, errors.New("its folder .git is not the one that was made")
	}
	info, err := os.Lstat(filepath.Join(c.Top, ".git"))
	if err != nil || !info.IsDir() {
		return nil, errors.Join(err, errors.New("its .git is no folder"))
	}
	return plainfile.OpenRoot(filepath.Join(c.Top, ".git"))
}

func readIn(root *os.Root, name string) string {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return ""
	}
	text, err := root.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

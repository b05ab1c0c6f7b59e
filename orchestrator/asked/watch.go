package asked

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/git"
	"kanban-run/orchestrator/plainfile"
)

// Source is a file that decides, or the folder of the roles.
type Source struct {
	By   event.Decider `json:"by"`
	Path string        `json:"path"` // absolute
}

// IsFolder reports whether the source is a folder of role files.
func (s Source) IsFolder() bool {
	return s.By == event.RoleFile && !strings.EqualFold(filepath.Ext(s.Path), ".md")
}

// Look is what a source says.
type Look struct {
	Role    string           // name of the role, of a role file
	Values  map[string]Value // by field; "": the whole file
	Entries []Source         // role files, of a folder
	Text    []byte           // of settings and roles, and of a program up to keptText; nil: not kept
	Link    bool             // the path is a symbolic link

	id status
}

// keptText bounds the text of a program that is kept to show a person what was changed, in bytes.
const keptText = 64 << 10

// Watch looks at sources. It reads a file again only if the file's status has changed.
type Watch struct {
	Top  string // top of the work tree, in which no git is looked for
	seen map[Source]*Look
}

// Look returns what a source says now. It is the same pointer as before if the file is the same. A
// file that is not there has no values.
func (w *Watch) Look(s Source) *Look {
	if w.seen == nil {
		w.seen = map[Source]*Look{}
	}
	id := statusOf(s.Path)
	if l := w.seen[s]; l != nil && l.id == id {
		return l
	}
	l := &Look{id: id, Link: isLink(s.Path)}
	w.seen[s] = l
	switch {
	case id == (status{}):
	case s.IsFolder():
		l.Entries = roleFiles(s.Path)
	case s.By == event.RoleFile, s.By == event.PromptFile:
		if l.Text = read(s.Path); l.Text != nil {
			l.Values, l.Role = roleValues(s.Path, l.Text)
		}
	case s.By == event.SettingsFile:
		if l.Text = read(s.Path); l.Text != nil {
			l.Values = settingValues(l.Text)
		}
	case s.By == event.GitFile:
		l.Values, l.Text = wayValues(git.WayIn(s.Path, w.Top))
	default:
		l.readProgram(s)
	}
	return l
}

// ValueIn returns the value of a field that a text of the source would have.
func ValueIn(s Source, field string, text []byte) Value {
	switch {
	case text == nil:
		return Value{}
	case s.By == event.SettingsFile:
		return settingValues(text)[field]
	case s.By == event.RoleFile, s.By == event.PromptFile:
		values, _ := roleValues(s.Path, text)
		return values[field]
	default:
		return Value{SHA: board.SHA(text)}
	}
}

// readProgram takes the bytes of a program. A file that became a link has changed, whatever it leads to.
func (l *Look) readProgram(s Source) {
	v := Value{SHA: hashOf(s.Path, l.id)}
	if l.id.size <= keptText {
		l.Text = read(s.Path)
	}
	if filepath.Base(s.Path) == "package.json" && s.By == event.ReviewFile {
		if of, ok := scripts(read(s.Path)); ok {
			v = of
		}
	}
	if l.Link {
		v.SHA = board.SHA([]byte("link " + v.SHA))
	}
	l.Values = map[string]Value{"": v}
}

// Fields returns the names of the fields whose values differ, sorted. A nil look is one at a file that
// was not there.
func Fields(before, now *Look) (names []string) {
	if before == nil {
		before = &Look{}
	}
	for name, v := range now.Values {
		if before.Values[name].SHA != v.SHA {
			names = append(names, name)
		}
	}
	for name := range before.Values {
		if _, is := now.Values[name]; !is {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// statusOf returns the status of a file. The time of the last change of the status cannot be set back,
// unlike that of the contents.
func statusOf(path string) status {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return status{}
	}
	return status{uint64(st.Dev), st.Ino, st.Size, uint32(st.Mode), st.Mtim.Nano(), st.Ctim.Nano()}
}

// status is what tells one version of a file from another. The zero value is that of no file.
type status struct {
	dev, ino     uint64
	size         int64
	mode         uint32
	mtime, ctime int64
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

type version struct {
	path string
	id   status
}

// hashes has the hashes of large files, by path and status, for all looks of this process.
var hashes sync.Map

// hashOf returns the SHA-256 of a file with the given status, or "" if there is none. Of what cannot
// be read the status counts.
func hashOf(path string, id status) string {
	if id == (status{}) {
		return ""
	}
	key := version{path, id}
	if known, ok := hashes.Load(key); ok {
		return known.(string)
	}
	f, err := plainfile.Open(path)
	if err != nil {
		return board.SHA(fmt.Append(nil, id))
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return board.SHA(fmt.Append(nil, id))
	}
	sum := hex.EncodeToString(h.Sum(nil))
	hashes.Store(key, sum)
	return sum
}

// roleFiles returns the files of a folder that may be roles.
func roleFiles(dir string) (files []Source) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.EqualFold(filepath.Ext(e.Name()), ".md") {
			files = append(files, Source{event.RoleFile, filepath.Join(dir, e.Name())})
		}
	}
	return files
}

// ShowPath returns a path as people see it, relative to the top of the work tree if it is below it.
func ShowPath(top, path string) string {
	if rel, err := filepath.Rel(top, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// pathOf is the inverse of [ShowPath].
func pathOf(top, shown string) string {
	if filepath.IsAbs(shown) {
		return shown
	}
	return filepath.Join(top, filepath.FromSlash(shown))
}

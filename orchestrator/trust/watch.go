package trust

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
	"kanban-run/orchestrator/plainfile"
)

// source is a place with values that decide: a file, or the folder of the roles.
type source struct {
	by   event.Decider
	path string // absolute
	role string // role whose calls the file decides; "": the file says so, or it decides all
}

// watch looks at sources. It reads a file again only if the file's status has changed.
type watch struct {
	top     string                 // top of the work tree
	decides func(role string) bool // whether a role's prompt decides, too
	redact  func(string) string    // hides secrets in names; nil: they are not kept
	seen    map[source]look
	reads   int // number of sources that were read
}

// look is a source as it was read last.
type look struct {
	id      status
	values  []event.ChangedFile
	entries []source // role files, if the source is a folder
}

// values returns the values of all sources. A file that is not there has the value "".
func (w *watch) values(sources []source) (all []event.ChangedFile) {
	for _, s := range sources {
		l := w.look(s)
		all = append(all, l.values...)
		for _, file := range l.entries {
			all = append(all, w.look(file).values...)
		}
	}
	return all
}

func (w *watch) look(s source) look {
	id := statusOf(s.path)
	l, known := w.seen[s]
	if known && l.id == id {
		return l
	}
	l = look{id: id}
	w.reads++
	switch {
	case s.by == event.RoleFile && s.role == "":
		l.entries = roleFiles(s.path)
	case s.by == event.RoleFile:
		l.values = roleValues(s.path, w.decides)
	case s.by == event.SettingsFile:
		l.values = settingValues(s.path)
	default:
		l.values = []event.ChangedFile{{SHA: hashOf(s.path, id)}}
		if s.role != "" {
			l.values[0].Roles = []string{s.role}
		}
	}
	for i := range l.values {
		l.values[i].By, l.values[i].File = s.by, w.show(s.path)
		if w.redact != nil { // an agent has the name of the file, and may have the secret
			l.values[i] = event.Redacted(l.values[i], w.redact)
		}
	}
	w.seen[s] = l
	return l
}

// show returns a path as people see it.
func (w *watch) show(path string) string {
	if rel, err := filepath.Rel(w.top, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// statusOf returns the status of a file. The time of the
// last change of the status cannot be set back, unlike that of the contents.
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

type version struct {
	path string
	id   status
}

// hashes has the hashes of large files, by path and status, for all boards of this process.
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
func roleFiles(dir string) (files []source) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.EqualFold(filepath.Ext(e.Name()), ".md") {
			files = append(files, source{event.RoleFile, filepath.Join(dir, e.Name()), "a file"})
		}
	}
	return files
}

// difference returns the values of now that differ from those before. A role's value that was there
// before and is not there now is among them, with the value "".
func difference(before, now []event.ChangedFile) (changed []event.ChangedFile) {
	for _, v := range now {
		i := slices.IndexFunc(before, v.Is)
		isNew := i < 0 && (v.By == event.RoleFile || v.By == event.SettingsFile) // others are new because their role is
		if i >= 0 {
			v.Was = before[i].SHA
		}
		if isNew || i >= 0 && before[i].SHA != v.SHA {
			changed = append(changed, v)
		}
	}
	for _, v := range before {
		if !slices.ContainsFunc(now, v.Is) && (v.By == event.RoleFile || v.By == event.SettingsFile) {
			v.SHA, v.Was = "", v.SHA
			changed = append(changed, v)
		}
	}
	return changed
}

// valueOf returns the value that a file or field has now; "" if it is not there.
func valueOf(now []event.ChangedFile, f event.ChangedFile) string {
	if i := slices.IndexFunc(now, f.Is); i >= 0 {
		return now[i].SHA
	}
	return ""
}

package board

import (
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

const (
	enough  = 16 // paths must name a folder for it to be listed
	crowded = 64 // times as many files are too many to list

	longestName = 143  // bytes: what eCryptfs allows, which is the least
	longestPath = 1024 // bytes: what macOS allows
)

// Absent finds out which of many paths certainly lead to no file, by listing folders once instead of looking for each file. What
// it does not say is to be asked of Resolve: a folder that cannot be listed, or that few paths name, makes nothing certain, and for a
// path that is too long for some file system there may be another reason.
func (p *Place) Absent(paths []string) func(i int) bool {
	a := &absentees{place: p, paths: paths, seed: maphash.MakeSeed(), written: map[string]*written{}, folders: map[string]*folder{}}
	if runtime.GOOS == "windows" { // where a file may have names that no list shows
		return a.certain
	}
	r, err := enterRoot(p)
	if err != nil {
		return a.certain
	}
	a.count()
	for dir, f := range a.folders {
		if f.paths >= enough {
			f.list(r.(rooted).root, dir, a.seed)
		}
	}
	_ = r.Close() // nothing was written
	return a.certain
}

// absentees knows the folders that paths may lead to. It is not changed once they were listed.
type absentees struct {
	place   *Place
	paths   []string
	seed    maphash.Seed
	written map[string]*written // folders as the paths name them
	folders map[string]*folder
}

// written is where a folder may be that paths name: from the work directory, and from the board's folder. Both can be nil.
type written struct{ at [2]*folder }

// folder is what a folder holds.
type folder struct {
	paths int                 // that lead into it
	known bool                // what is not in names is not there
	names map[uint64]struct{} // hashes, which take less memory
}

// count finds the folders.
func (a *absentees) count() {
	for _, name := range a.paths {
		dir, _ := cut(name)
		w := a.written[dir]
		if w == nil {
			w = a.resolve(dir)
			a.written[dir] = w
		}
		for _, f := range w.at {
			if f != nil {
				f.paths++
			}
		}
	}
}

// resolve finds the folders that a written one may be.
func (a *absentees) resolve(dir string) *written {
	w, name := &written{}, dir+"/x"
	if badPath(name) != "" || filepath.IsAbs(name) {
		return w
	}
	fromDir, fromBoard := a.place.candidates(name, filepath.ToSlash(name))
	for i, candidate := range [2]string{fromDir, fromBoard} {
		if len(candidate) > longestPath-longestName {
			return &written{}
		}
		if !local(candidate) {
			continue
		}
		real, _ := cut(candidate)
		if a.folders[real] == nil {
			a.folders[real] = &folder{}
		}
		w.at[i] = a.folders[real]
	}
	return w
}

// certain says whether there is no file wherever there could be one.
func (a *absentees) certain(i int) bool {
	dir, base := cut(a.paths[i])
	w := a.written[dir]
	folded, ok := unmistakable(base)
	if w == nil || !ok || len(base) > longestName {
		return false
	}
	hash := maphash.String(a.seed, folded)
	return *w != written{} && w.at[0].lacks(hash) && w.at[1].lacks(hash)
}

// lacks says whether a name of this hash is certainly not there.
func (f *folder) lacks(hash uint64) bool {
	if f == nil {
		return true
	}
	_, has := f.names[hash]
	return f.known && !has
}

// cut takes a path apart.
func cut(name string) (dir, base string) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return ".", name
	}
	return name[:i], name[i+1:]
}

// unmistakable is how a name is compared, in lower case, and whether no other name could mean the same file anywhere: file
// systems may fold letters beyond ASCII, shorten names to ~1, and pass over dots and spaces at the end. Control characters are in no
// path.
func unmistakable(name string) (folded string, ok bool) {
	upper := false
	for i := range len(name) {
		c := name[i]
		if c < ' ' || c == '~' || c >= 0x7f {
			return "", false
		}
		upper = upper || c >= 'A' && c <= 'Z'
	}
	if name == "" || name[len(name)-1] == '.' || name[len(name)-1] == ' ' {
		return "", false
	}
	if upper {
		name = strings.ToLower(name)
	}
	return name, true
}

// list makes known what is in the folder, unless one of the names could mean more than one file, or to look for each path takes less.
func (f *folder) list(root *os.Root, dir string, seed maphash.Seed) {
	file, err := root.OpenFile(filepath.FromSlash(dir), os.O_RDONLY|nonblock, 0)
	if err != nil {
		f.known = errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
		return
	}
	f.names = map[uint64]struct{}{}
	f.known = f.read(file, seed)
	_ = file.Close() // nothing was written
}

func (f *folder) read(file *os.File, seed maphash.Seed) (whole bool) {
	for len(f.names) <= crowded*f.paths {
		names, err := file.Readdirnames(1024)
		for _, name := range names {
			folded, ok := unmistakable(name)
			if !ok {
				return false
			}
			f.names[maphash.String(seed, folded)] = struct{}{}
		}
		if err != nil {
			return errors.Is(err, io.EOF)
		}
	}
	return false
}

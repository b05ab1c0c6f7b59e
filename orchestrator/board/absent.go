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
	"unicode/utf8"
)

const (
	enough  = 16 // paths must name a folder for it to be listed
	crowded = 64 // times as many files are too many to list
)

// Absent finds out which of many paths certainly lead to no file, by listing folders once instead of looking for each file. What
// it does not say is to be asked of Resolve: a folder that cannot be listed, or that few paths name, makes nothing certain.
func (p *Place) Absent(paths []string) func(i int) bool {
	a := &absentees{place: p, paths: paths, folders: map[string]*folder{}}
	if runtime.GOOS == "windows" { // where a file may have names that no list shows
		return a.certain
	}
	r, err := enterRoot(p)
	if err != nil {
		return a.certain
	}
	a.count()
	for dir, f := range a.folders {
		if f.named >= enough {
			f.list(r.(rooted).root, dir)
		}
	}
	_ = r.Close() // nothing was written
	return a.certain
}

// absentees knows the folders that paths may lead to. It is not changed once they were listed.
type absentees struct {
	place   *Place
	paths   []string
	folders map[string]*folder
}

// folder is what a folder holds.
type folder struct {
	named int                 // how many paths lead into it
	known bool                // what is not in names is not there
	names map[uint64]struct{} // hashes, which take less memory
	seed  maphash.Seed
}

// count finds the folders.
func (a *absentees) count() {
	last, dir := &folder{}, "/" // which no path leads to
	for _, name := range a.paths {
		for _, candidate := range a.candidates(name) {
			if candidate == "" {
				continue
			}
			if in, _ := cut(candidate); in != dir {
				dir = in
				if last = a.folders[dir]; last == nil {
					last = &folder{}
					a.folders[dir] = last
				}
			}
			last.named++
		}
	}
}

// candidates are where there could be a file for a path; "" is nowhere.
func (a *absentees) candidates(name string) (all [2]string) {
	if badPath(name) != "" || filepath.IsAbs(name) {
		return all
	}
	all[0], all[1] = a.place.candidates(name, filepath.ToSlash(name))
	for i, candidate := range all {
		if !local(candidate) {
			all[i] = ""
		}
	}
	return all
}

// certain says whether there is no file wherever there could be one.
func (a *absentees) certain(i int) bool {
	all := a.candidates(a.paths[i])
	return all != [2]string{} && a.lacks(all[0]) && a.lacks(all[1])
}

func (a *absentees) lacks(candidate string) bool {
	if candidate == "" {
		return true
	}
	dir, base := cut(candidate)
	f := a.folders[dir]
	return f != nil && f.lacks(base)
}

// cut takes a clean path apart.
func cut(name string) (dir, base string) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return ".", name
	}
	return name[:i], name[i+1:]
}

// unmistakable is how a name is compared, in lower case, and whether no other name could mean the same file anywhere: file
// systems may fold letters beyond ASCII, shorten names to ~1, and pass over dots and spaces at the end.
func unmistakable(name string) (folded string, ok bool) {
	upper := false
	for i := range len(name) {
		c := name[i]
		if c >= utf8.RuneSelf || c == '~' {
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
func (f *folder) list(root *os.Root, dir string) {
	f.names, f.seed = map[uint64]struct{}{}, maphash.MakeSeed()
	file, err := root.OpenFile(filepath.FromSlash(dir), os.O_RDONLY|nonblock, 0)
	if err != nil {
		f.known = errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
		return
	}
	f.known = f.read(file, crowded*f.named)
	_ = file.Close() // nothing was written
}

func (f *folder) read(file *os.File, most int) (whole bool) {
	for len(f.names) <= most {
		names, err := file.Readdirnames(1024)
		for _, name := range names {
			folded, ok := unmistakable(name)
			if !ok {
				return false
			}
			f.names[maphash.String(f.seed, folded)] = struct{}{}
		}
		if err != nil {
			return errors.Is(err, io.EOF)
		}
	}
	return false
}

// lacks says whether a name is certainly not there.
func (f *folder) lacks(base string) bool {
	folded, ok := unmistakable(base)
	if !ok || !f.known {
		return false
	}
	_, has := f.names[maphash.String(f.seed, folded)]
	return !has
}

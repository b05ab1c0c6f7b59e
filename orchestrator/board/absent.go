package board

import (
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unicode/utf8"
)

// enough is how many paths must name a folder for it to be listed.
const enough = 16

// Absent finds out which of many paths certainly lead to no file, by listing folders once instead of looking for each file. What
// it does not say is to be asked of Resolve: a folder that cannot be listed, or that few paths name, makes nothing certain.
func (p *Place) Absent(paths []string) func(i int) bool {
	a := &absentees{paths: paths, asked: newBitset(2 * len(paths)), absent: newBitset(2 * len(paths))}
	if runtime.GOOS == "windows" { // where a file may have names that no list shows
		return a.certain
	}
	folders := a.group(p)
	r, err := enterRoot(p)
	if err != nil {
		return a.certain
	}
	for dir, members := range folders {
		if len(*members) >= enough {
			a.list(r.(rooted).root, dir, *members)
		}
	}
	_ = r.Close() // nothing was written
	return a.certain
}

// absentees has two bits for each path: for where it may lead from the work directory, and from the board's folder.
type absentees struct {
	paths  []string
	asked  bitset // there could be a file
	absent bitset // there is none
}

func (a *absentees) certain(i int) bool {
	return (a.asked.has(2*i) || a.asked.has(2*i+1)) && a.asked.has(2*i) == a.absent.has(2*i) && a.asked.has(2*i+1) == a.absent.has(2*i+1)
}

// group sorts the paths by the folders that they may lead to.
func (a *absentees) group(p *Place) map[string]*[]int32 {
	folders := map[string]*[]int32{}
	for i, name := range a.paths {
		if badPath(name) != "" || filepath.IsAbs(name) {
			continue
		}
		fromDir, fromBoard := p.candidates(name, filepath.ToSlash(name))
		for which, candidate := range [2]string{fromDir, fromBoard} {
			if !local(candidate) {
				continue
			}
			bit := 2*i + which
			a.asked.set(bit)
			dir, base := cut(candidate)
			if _, ok := unmistakable(base); !ok {
				continue
			}
			members := folders[dir]
			if members == nil {
				members = new([]int32)
				folders[dir] = members
			}
			*members = append(*members, int32(bit))
		}
	}
	return folders
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

// base is how the last part of the path of a bit is compared. It is the same before and after the path is cleaned, unless it is
// empty or made of dots.
func (a *absentees) base(bit int32) string {
	name := filepath.ToSlash(a.paths[bit/2])
	_, base := cut(name)
	if base == "" || base == "." || base == ".." {
		_, base = cut(path.Clean(name))
	}
	folded, _ := unmistakable(base)
	return folded
}

// list marks those of the members of a folder that are not in it. One name in it that could mean more than one file makes
// nothing certain.
func (a *absentees) list(root *os.Root, dir string, members []int32) {
	f, err := root.OpenFile(filepath.FromSlash(dir), os.O_RDONLY|nonblock, 0)
	missing := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	if err != nil && !missing {
		return
	}
	for _, bit := range members {
		a.absent.set(int(bit))
	}
	if missing {
		return
	}
	if !a.strike(f, members) {
		for _, bit := range members {
			a.absent.clear(int(bit))
		}
	}
	_ = f.Close() // nothing was written
}

// strike takes back what is in a folder after all; false when its names do not make anything certain.
func (a *absentees) strike(f *os.File, members []int32) bool {
	t := a.tabulate(members)
	for {
		names, err := f.Readdirnames(1024)
		for _, name := range names {
			folded, ok := unmistakable(name)
			if !ok {
				return false
			}
			t.strike(folded)
		}
		if err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// table finds the members of a folder by name. A map would cost more than all the rest.
type table struct {
	*absentees
	slots []int32 // bit of a member, counted from 1; 0 is free. At least half of them are.
	seed  maphash.Seed
}

func (a *absentees) tabulate(members []int32) *table {
	t := &table{a, make([]int32, 2<<bits.Len(uint(len(members)))), maphash.MakeSeed()}
	for _, bit := range members {
		at := t.first(a.base(bit))
		for t.slots[at] != 0 {
			at = t.next(at)
		}
		t.slots[at] = bit + 1
	}
	return t
}

func (t *table) first(name string) int {
	return int(maphash.String(t.seed, name) & uint64(len(t.slots)-1))
}

func (t *table) next(at int) int { return (at + 1) & (len(t.slots) - 1) }

// strike takes back all members of a name: a path may be listed twice.
func (t *table) strike(name string) {
	for at := t.first(name); t.slots[at] != 0; at = t.next(at) {
		if bit := t.slots[at] - 1; t.base(bit) == name {
			t.absent.clear(int(bit))
		}
	}
}

type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bitset) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) clear(i int)    { b[i/64] &^= 1 << (i % 64) }

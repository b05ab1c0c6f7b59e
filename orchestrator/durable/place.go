package durable

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Place identifies where files are, as BOOT DEVICE:INODE,DEVICE:INODE with "-" for a missing file. The
// files of a copy are others, wherever the copy lies and whatever its path is.
type Place string

// PlaceOf returns the place of the files at the paths.
func PlaceOf(paths ...string) Place {
	files := make([]string, len(paths))
	for i, path := range paths {
		files[i] = missingFile
		if info, err := os.Stat(path); err == nil {
			if stat, ok := info.Sys().(*syscall.Stat_t); ok {
				files[i] = fmt.Sprintf("%x:%d", uint64(stat.Dev), uint64(stat.Ino))
			}
		}
	}
	return Place(BootID() + " " + strings.Join(files, ","))
}

const missingFile = "-"

// IsAt reports whether one of the files is still the one at the same position of here. So a place
// stays the same when its folder is moved, or when some of its files are replaced. Devices get their
// numbers at boot, and so count only within one boot. Of an empty place nothing is known: it may be
// any.
func (p Place) IsAt(here Place) bool {
	if p == "" {
		return true
	}
	boot, files, _ := strings.Cut(string(p), " ")
	now, others, _ := strings.Cut(string(here), " ")
	there := strings.Split(others, ",")
	for i, file := range strings.Split(files, ",") {
		if i >= len(there) || file == missingFile || there[i] == missingFile {
			continue
		}
		if boot != now {
			_, file, _ = strings.Cut(file, ":")
			_, there[i], _ = strings.Cut(there[i], ":")
		}
		if file == there[i] {
			return true
		}
	}
	return false
}

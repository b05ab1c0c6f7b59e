package durable

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// Place identifies folders, as BOOT DEVICE:INODE,DEVICE:INODE with "-" for a missing one. The folders of
// a copy are others, wherever the copy lies and whatever its path is. Files would not do: a copy by hard
// links has the same.
type Place string

// PlaceOf returns the place of the folders at the paths.
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

// IsAt reports whether one of the folders is still the one at the same position of here. So a place
// stays the same when it is moved, or when one of its folders is replaced. Devices get their numbers at
// boot, and so count only within one boot. Of an empty place nothing is known: it may be any.
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

// IsInBootOf reports whether the place was seen in the boot of here: no process of an earlier boot
// lives. Of an empty place nothing is known.
func (p Place) IsInBootOf(here Place) bool {
	boot, _, _ := strings.Cut(string(p), " ")
	now, _, _ := strings.Cut(string(here), " ")
	return p == "" || boot == now
}

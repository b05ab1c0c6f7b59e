package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// readers are those of this program's output.
var readers = pipeReaders{find: findReaders}

// pipeReaders knows the processes that read some pipes, such as a tee. They are found once, because a
// look at the descriptors of all processes of a machine takes tens of milliseconds.
type pipeReaders struct {
	find func(pipe string) []string // returns their folders of descriptors

	mu sync.Mutex
	of map[string][]string // what find returned for a pipe
}

// files returns the regular files that the readers of a pipe have open for writing, such as the log
// that tee writes. It sees only the processes of this user.
func (p *pipeReaders) files(pipe os.FileInfo) []os.FileInfo {
	stat, ok := pipe.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	name := fmt.Sprintf("pipe:[%d]", stat.Ino)
	p.mu.Lock()
	defer p.mu.Unlock()
	folders, known := p.of[name]
	files, all := writtenBy(folders, name)
	if known && all {
		return files
	}
	// Find them anew if one reads no longer: it may have been the shell, which has started the reader by now.
	folders = p.find(name)
	if p.of == nil {
		p.of = map[string][]string{}
	}
	p.of[name] = folders
	files, _ = writtenBy(folders, name)
	return files
}

// writtenBy returns the regular files that readers of a pipe have open for writing, and whether all of
// them still read it.
func writtenBy(folders []string, pipe string) (files []os.FileInfo, all bool) {
	all = true
	for _, folder := range folders {
		written, reads := lookInto(folder, pipe)
		files = append(files, written...)
		all = all && reads
	}
	return files, all
}

// findReaders finds the processes that read a pipe: those of this session, where the readers of a shell's
// pipeline are, or else those of the machine.
func findReaders(pipe string) (own []string) {
	session, _ := unix.Getsid(0) // it never fails for the process itself
	var others []string
	processes, _ := filepath.Glob("/proc/[0-9]*/fd") // the pattern is well-formed
	for _, folder := range processes {
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(folder))) // as the pattern has it
		if of, err := unix.Getsid(id); err != nil || of != session {
			others = append(others, folder)
		} else if reads(folder, pipe) {
			own = append(own, folder)
		}
	}
	if len(own) > 0 {
		return own
	}
	for _, folder := range others {
		if reads(folder, pipe) {
			own = append(own, folder)
		}
	}
	return own
}

// reads reports whether a process reads a pipe.
func reads(folder, pipe string) bool {
	entries, _ := os.ReadDir(folder) // an error means a process of another user, or one that has ended
	for _, e := range entries {
		if isRead(filepath.Join(folder, e.Name()), pipe) {
			return true
		}
	}
	return false
}

// isRead reports whether a descriptor is one that reads a pipe.
func isRead(fd, pipe string) bool {
	target, err := os.Readlink(fd)
	if err != nil || target != pipe {
		return false
	}
	info, err := os.Lstat(fd) // the mode of the link is that of the descriptor
	return err == nil && info.Mode().Perm()&0o400 != 0
}

// lookInto returns the regular files that a process has open for writing, and whether it reads a pipe.
func lookInto(folder, pipe string) (files []os.FileInfo, reads bool) {
	entries, _ := os.ReadDir(folder) // an error means that the process has ended
	for _, e := range entries {
		fd := filepath.Join(folder, e.Name())
		if isRead(fd, pipe) {
			reads = true
			continue
		}
		info, err := os.Lstat(fd)
		if err != nil || info.Mode().Perm()&0o200 == 0 {
			continue
		}
		if file, err := os.Stat(fd); err == nil && file.Mode().IsRegular() {
			files = append(files, file)
		}
	}
	return files, reads
}

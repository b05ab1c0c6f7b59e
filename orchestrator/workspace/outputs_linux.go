package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// readersFiles returns the regular files that the readers of a pipe have open for writing, such as
// the log that tee writes. It sees only the processes of this user.
func readersFiles(pipe os.FileInfo) (files []os.FileInfo) {
	stat, ok := pipe.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	name := fmt.Sprintf("pipe:[%d]", stat.Ino)
	processes, _ := filepath.Glob("/proc/[0-9]*/fd") // the pattern is well-formed
	for _, folder := range processes {
		reads, writes := false, []os.FileInfo(nil)
		entries, _ := os.ReadDir(folder) // an error means a process of another user, or one that has ended
		for _, e := range entries {
			fd := filepath.Join(folder, e.Name())
			info, err := os.Lstat(fd) // the mode of the link is that of the descriptor
			if err != nil {
				continue
			}
			if target, err := os.Readlink(fd); err == nil && target == name {
				reads = reads || info.Mode().Perm()&0o400 != 0
			} else if file, err := os.Stat(fd); err == nil && file.Mode().IsRegular() && info.Mode().Perm()&0o200 != 0 {
				writes = append(writes, file)
			}
		}
		if reads {
			files = append(files, writes...)
		}
	}
	return files
}

// Package durable changes files so that after a crash or a power cut each is wholly old or wholly
// new, and holds the locks that keep a second writer away.
//
// An acknowledged write survives a crash and a power cut: the bytes are synced before the name
// appears, and the folder is synced before success is reported. A failed sync fails the write and
// is never repeated: a second sync would return nil although the data is gone.
package durable

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/failpoint"
)

// ErrReadBack reports that a file does not hold what was just written to it: another program
// changed it at the same instant, or the disk is faulty.
var ErrReadBack = errors.New("file does not hold what was written to it")

// maxLinks bounds the number of symbolic links that one name may lead through, as in Linux.
const maxLinks = 40

// WriteFile replaces the file at path with data. After any interruption the name leads to the old
// bytes or to the new bytes.
//
// A symbolic link at path stays and its target is replaced. An existing file keeps its mode, owner,
// group and access list as far as the system lets it, see adopt; a new one gets perm, before umask.
// A read-only file is refused, even if its folder would allow a replacement. Hard links to the file
// keep the old bytes.
//
// After an error the old file is still there, with two exceptions, which the error names: the sync
// of the folder failed (the new bytes may not survive a power cut), or the new bytes could not be
// read back (ErrReadBack when the file held other bytes).
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return writeFile(disk{}, path, data, perm)
}

func writeFile(sys system, path string, data []byte, perm fs.FileMode) error {
	target, err := followLinks(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	old, err := writable(sys, target)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := replace(sys, target, data, perm, old); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := verify(sys, target, data); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// replace stages data beside target and moves it into place. To keep the promise of this package,
// it syncs the bytes before the rename, and the folder after it.
func replace(sys system, target string, data []byte, perm fs.FileMode, old fs.FileInfo) error {
	temp, err := stage(sys, target, data, perm, old)
	if err != nil {
		return err
	}
	failpoint.At("temp-synced")
	if err := sys.rename(temp, target); err != nil {
		return errors.Join(cmp.Or(checkReplace(target), err), sys.remove(temp))
	}
	failpoint.At("renamed")
	if err := sys.syncDir(filepath.Dir(target)); err != nil {
		return fmt.Errorf("replaced, but a power cut may undo it: %w", err)
	}
	return nil
}

// stage writes data durably to a temporary file in target's folder: a rename is atomic only within
// one file system.
func stage(sys system, target string, data []byte, perm fs.FileMode, old fs.FileInfo) (string, error) {
	if old != nil {
		perm = 0o600 // no other user may read the new bytes before they have the old mode
	}
	f, name, err := createTemp(sys, target, perm)
	if err != nil {
		return "", err
	}
	if err := errors.Join(fill(f, target, data, old), f.Close()); err != nil {
		return "", errors.Join(err, sys.remove(name))
	}
	return name, nil
}

func fill(f file, target string, data []byte, old fs.FileInfo) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	if old != nil {
		if err := adopt(f, target, old); err != nil {
			return err
		}
	}
	failpoint.At("temp-written")
	// Sync before the rename: otherwise a crash may leave a file of length zero.
	return f.Sync()
}

// followLinks returns the name that a write through path replaces: the target of the last link,
// whether or not it exists.
func followLinks(path string) (string, error) {
	for range maxLinks {
		dir, base := filepath.Split(path)
		if dir == "" {
			dir = "."
		}
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return "", err
		}
		name := filepath.Join(dir, base)
		info, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return name, err
		}
		link, err := os.Readlink(name)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(link) {
			// Do not use Join: it would remove x/.. from the link, although x may be a link itself.
			link = dir + string(filepath.Separator) + link
		}
		path = link
	}
	return "", errors.New("too many levels of symbolic links")
}

// writable returns the file at target, or nil if it does not exist. It returns an error if an
// ordinary write to the file would fail.
func writable(sys system, target string) (fs.FileInfo, error) {
	info, err := sys.lstat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", target)
	}
	f, err := sys.open(target, os.O_WRONLY)
	if err != nil {
		return nil, err
	}
	return info, f.Close()
}

// verify compares the file at target with the wanted bytes. It reads the file in pieces, so that a
// large board needs no second copy in memory. Errors: ErrReadBack.
func verify(sys system, target string, want []byte) error {
	f, err := sys.open(target, os.O_RDONLY)
	if err != nil {
		return fmt.Errorf("replaced, but not read back: %w", err)
	}
	defer f.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		if !bytes.HasPrefix(want, buf[:n]) {
			return ErrReadBack
		}
		want = want[n:]
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("replaced, but not read back: %w", err)
		}
	}
	if len(want) > 0 {
		return ErrReadBack
	}
	return nil
}

// RealPath resolves the links of a path, or returns it unchanged if it does not exist.
func RealPath(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}

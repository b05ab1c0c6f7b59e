package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"kanban-run/orchestrator/failure"
)

// RefusedError reports that the system would refuse a write, before the write is tried.
type RefusedError struct {
	Text string // what is in the way; "" if Err says it all
	Fix  string
	Err  error // the error that the write would have
}

func (e *RefusedError) Error() string {
	if e.Text == "" {
		return e.Err.Error()
	}
	return e.Text + ": " + e.Err.Error()
}

// Unwrap returns the error that the write would have.
func (e *RefusedError) Unwrap() error { return e.Err }

// Hint returns what the user can do.
func (e *RefusedError) Hint() string { return e.Fix }

// checkReplace returns why the file target, which is no link, cannot be made or replaced, as far as that can
// be told without a write. A file that may be written is not enough: its folder gets a new file, which is
// renamed over the old one. Errors: *RefusedError.
func checkReplace(target string) error {
	dir := filepath.Dir(target)
	if info, err := os.Lstat(target); err == nil && !info.Mode().IsRegular() {
		return &RefusedError{Err: errors.New("it is not a regular file")}
	}
	if isMountPoint(target) {
		return &RefusedError{
			Text: "it is a mount point of its own, and cannot be replaced",
			Fix:  "mount its folder instead of the file",
			Err:  syscall.EBUSY,
		}
	}
	if err := CheckWrite(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := CheckFolder(dir); err != nil {
		return err
	}
	return checkSticky(target, dir)
}

// CheckWrite returns an error if a file or a folder may not be written. It writes nothing. Errors:
// *RefusedError.
func CheckWrite(path string) error {
	if name, option := fixedAttribute(path); name != "" {
		return &RefusedError{
			Text: "it is " + name,
			Fix:  fmt.Sprintf("chattr %s %s", option, failure.Quote(path)),
			Err:  syscall.EPERM,
		}
	}
	if err := access(path, unix.W_OK); err != nil {
		return &RefusedError{Err: err, Fix: permit(path, "u+w", err)}
	}
	return nil
}

// CheckFolder returns an error if no file can be made, renamed and removed in a folder. It writes
// nothing. Errors: *RefusedError.
func CheckFolder(dir string) error {
	text := noFileIn(dir)
	if name, option := fixedAttribute(dir); name != "" {
		return &RefusedError{
			Text: text + ", which is " + name,
			Fix:  fmt.Sprintf("chattr %s %s", option, failure.Quote(dir)),
			Err:  syscall.EPERM,
		}
	}
	if err := access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &RefusedError{Text: text, Err: err, Fix: permit(dir, "u+wx", err)}
	}
	return nil
}

func noFileIn(dir string) string { return "no file can be made in the folder " + dir }

// checkSticky returns an error if only other users may replace the file target, because its folder
// is sticky, as /tmp is.
func checkSticky(target, dir string) error {
	folder, err := os.Stat(dir)
	if err != nil || folder.Mode()&fs.ModeSticky == 0 || mayActAsOwner() {
		return err
	}
	file, err := os.Lstat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if me := os.Geteuid(); ownersOf(file).uid == me || ownersOf(folder).uid == me {
		return nil
	}
	return &RefusedError{
		Text: fmt.Sprintf("its folder %s is sticky, and lets only user %d replace it", dir, ownersOf(file).uid),
		Fix:  "make the file your own, or move the board to a folder of its own",
		Err:  syscall.EPERM,
	}
}

// access is access(2) for the effective user. Root may do everything except write to a read-only
// file system or to an immutable file.
func access(path string, mode uint32) error {
	return unix.Faccessat(unix.AT_FDCWD, path, mode, unix.AT_EACCESS)
}

// permit returns the way to get the rights of a mode, such as "u+w", on a file or a folder.
func permit(path, mode string, err error) string {
	if errors.Is(err, syscall.EROFS) {
		return "its file system is mounted read-only: mount it for writing, or work on a copy"
	}
	info, failed := os.Stat(path)
	if failed != nil {
		return ""
	}
	me := os.Geteuid()
	if ownersOf(info).uid == me {
		return fmt.Sprintf("chmod %s %s", mode, failure.Quote(path))
	}
	return fmt.Sprintf("%s belongs to user %d: run kanban-run as that user, or let root run: chown %d %s",
		path, ownersOf(info).uid, me, failure.Quote(path))
}

// OwnerHint returns advice for an error about a file of another user, as it occurs in a checkout
// that two users share. It returns "" for any other error.
func OwnerHint(err error) string {
	var denied *fs.PathError
	if !errors.Is(err, fs.ErrPermission) || !errors.As(err, &denied) {
		return ""
	}
	for path, below := denied.Path, ""; path != below; path, below = filepath.Dir(path), path {
		info, err := os.Lstat(path)
		if err != nil { // below a folder of the other user
			continue
		}
		if owner := ownersOf(info).uid; owner != os.Geteuid() {
			return fmt.Sprintf("%s belongs to user %d: run kanban-run as that user, or in a checkout of your own",
				path, owner)
		}
		return ""
	}
	return ""
}

// Rehearse does all that [WriteFile] does, except the replacement: it makes a file beside the one at path,
// which may be missing, with the same bytes, owner and mode, and removes it. So it also finds a full
// disk, and a file system that refuses what its modes allow. The result lost is what a replacement
// would not keep, such as "its group 100"; "" if the file keeps all. Errors: *RefusedError, and those of the system.
func Rehearse(path string) (lost string, err error) {
	target, err := followLinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &RefusedError{Err: err, Fix: "mkdir -p " + failure.Quote(filepath.Dir(path))}
	}
	if err != nil {
		return "", &RefusedError{Err: err}
	}
	if err := checkReplace(target); err != nil {
		return "", err
	}
	old, err := os.Lstat(target)
	var data []byte
	if err == nil {
		data, err = os.ReadFile(target)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	f, name, err := createTemp(disk{}, target, 0o600)
	if errors.Is(err, fs.ErrPermission) { // as with NFS, where a server has the last word
		dir := filepath.Dir(target)
		return "", &RefusedError{Text: noFileIn(dir), Err: err, Fix: permit(dir, "u+wx", err)}
	}
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil && old != nil {
		err = adopt(f, target, old)
	}
	if now, failed := f.Stat(); failed == nil && old != nil {
		lost = strings.Join(append(loss(ownersOf(now), ownersOf(old)), lostAttributes(target, name)...), " and ")
	}
	return lost, errors.Join(err, f.Close(), os.Remove(name))
}

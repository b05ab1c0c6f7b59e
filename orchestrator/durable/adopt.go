package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// owners are the user and the group of a file.
type owners struct{ uid, gid int }

func ownersOf(info fs.FileInfo) owners {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return owners{int(s.Uid), int(s.Gid)}
	}
	return owners{os.Geteuid(), os.Getegid()}
}

// loss returns what of the old owners a file with other owners has lost.
func loss(now, old owners) (lost []string) {
	if now.uid != old.uid {
		lost = append(lost, fmt.Sprintf("its owner %d", old.uid))
	}
	if now.gid != old.gid {
		lost = append(lost, fmt.Sprintf("its group %d", old.gid))
	}
	return lost
}

// adopt gives f the owner, the group, the attributes and the mode of the old file at target, as far
// as the system lets it. With another owner or group, the mode loses each right that a user would
// gain. The owner comes first: a change of owner clears the setuid and setgid bits.
func adopt(f file, target string, old fs.FileInfo) error {
	if err := adoptOwners(f, ownersOf(old)); err != nil {
		return err
	}
	now, err := f.Stat()
	if err != nil {
		return err
	}
	same := ownersOf(now) == ownersOf(old)
	kept, err := copyAttributes(target, f.Name(), same)
	if err != nil {
		return err
	}
	mode := reducedMode(ownersOf(now), old)
	if !kept {
		mode &^= 0o077 // the list of access may have denied what these bits allow
	}
	if now, err = f.Stat(); err != nil || now.Mode() == mode {
		return err
	}
	err = f.Chmod(mode)
	if isRefused(err) && now.Mode()&^mode&0o077 == 0 {
		return nil // some file systems have no modes; this one gives no user more
	}
	return err
}

// adoptOwners gives f the owner and the group, or else the group, or else neither.
func adoptOwners(f file, want owners) error {
	now, err := f.Stat()
	if err != nil || ownersOf(now) == want {
		return err
	}
	if err = f.Chown(want.uid, want.gid); isRefused(err) && ownersOf(now).gid != want.gid {
		err = f.Chown(-1, want.gid)
	}
	if isRefused(err) {
		return nil
	}
	return err
}

// isRefused reports whether the system will never let this process do it, on this file system or in
// this user namespace.
func isRefused(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported)
}

// reducedMode returns the mode of the old file, less what a file with other owners must not allow.
// Without the old group, its members are among the others, and the others may be in the new group:
// both get only what both had. Without the old owner, that user has no more than before.
func reducedMode(now owners, old fs.FileInfo) fs.FileMode {
	mode, was := old.Mode(), ownersOf(old)
	if now.gid != was.gid {
		both := mode >> 3 & mode & 0o7
		mode = mode&^(fs.ModeSetgid|0o077) | both<<3 | both
	}
	if now.uid != was.uid {
		own := mode >> 6 & 0o7
		mode &^= fs.ModeSetuid | (0o7&^own)<<3 | 0o7&^own
	}
	return mode
}

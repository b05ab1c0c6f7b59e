package durable

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// isMountPoint reports whether something is mounted at path itself, such as a single file that a
// container gets. Before Linux 5.8 it returns false.
func isMountPoint(path string) bool {
	return attributesOf(path)&unix.STATX_ATTR_MOUNT_ROOT != 0
}

// fixedAttribute returns the attribute that forbids all users to change a file or a folder, and the
// option of chattr that removes it, or "".
func fixedAttribute(path string) (name, option string) {
	switch a := attributesOf(path); {
	case a&unix.STATX_ATTR_IMMUTABLE != 0:
		return "immutable", "-i"
	case a&unix.STATX_ATTR_APPEND != 0:
		return "append-only", "-a"
	}
	return "", ""
}

// attributesOf returns the attributes of a file that statx tells, or 0.
func attributesOf(path string) uint64 {
	var s unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, 0, &s); err != nil {
		return 0 // the other checks report a file that cannot be looked up
	}
	return s.Attributes
}

func mayActAsOwner() bool { return hasCapability(unix.CAP_FOWNER) }

func hasCapability(c int) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&(1<<c) != 0
}

// accessList is the attribute with the POSIX ACL of a file.
const accessList = "system.posix_acl_access"

// copyAttributes gives the file "to" the extended attributes of the file "from" that belong to its
// author: the access list, the SELinux label and those that begin with "user.". If same is false,
// the files have different owners, for whom the list is not meant. The result is false if the new
// file lacks the list. A list that the new file has from its folder is removed.
func copyAttributes(from, to string, same bool) (kept bool, err error) {
	old, err := listAttributes(from)
	if err != nil {
		return false, err
	}
	kept = true
	if !same || !slices.Contains(old, accessList) {
		kept = !slices.Contains(old, accessList)
		if err := unix.Lremovexattr(to, accessList); err != nil && !isRefused(err) && err != unix.ENODATA {
			return false, err
		}
	}
	for _, name := range old {
		ofAuthor := strings.HasPrefix(name, "user.") || name == "security.selinux"
		if !ofAuthor && (name != accessList || !kept) {
			continue
		}
		switch err := copyAttribute(from, to, name); {
		case err == nil:
		case !isRefused(err) && !errors.Is(err, fs.ErrPermission): // a label has rules of its own
			return false, err
		case name == accessList:
			kept = false
		}
	}
	return kept, nil
}

func copyAttribute(from, to, name string) error {
	value := make([]byte, 64<<10) // the greatest length in Linux
	n, err := unix.Lgetxattr(from, name, value)
	if err != nil {
		return err
	}
	return unix.Lsetxattr(to, name, value[:n], 0)
}

// lostAttributes returns in words what the file "to" lacks of the attributes of the file "from" that
// copyAttributes copies.
func lostAttributes(from, to string) (lost []string) {
	old, err := listAttributes(from)
	now, failed := listAttributes(to)
	if err != nil || failed != nil {
		return nil
	}
	for _, name := range old {
		switch {
		case slices.Contains(now, name):
		case name == accessList:
			lost = append(lost, "its access list")
		case strings.HasPrefix(name, "user."):
			lost = append(lost, "its attribute "+name)
		}
	}
	return lost
}

// listAttributes returns the names of a file's extended attributes. A file system without any has
// none.
func listAttributes(path string) ([]string, error) {
	n, err := unix.Llistxattr(path, nil)
	if errors.Is(err, errors.ErrUnsupported) || n == 0 && err == nil {
		return nil, nil
	}
	names := make([]byte, 64<<10) // the greatest length in Linux
	if err == nil {
		n, err = unix.Llistxattr(path, names)
	}
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(names[:n]), "\x00"), "\x00"), nil
}

package git

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// protocols lists the protocols by which git is allowed to reach a remote.
const protocols = "https:http:ssh:git:file"

// CheckAddress refuses an address that git would mistake for an option, an address with a transport
// that runs a program, such as ext::, and an address with a line break or a NUL byte.
func CheckAddress(address string) error {
	scheme, _, _ := strings.Cut(address, ":")
	switch {
	case strings.HasPrefix(address, "-"):
		return fmt.Errorf("%q begins like an option", address)
	case strings.Contains(address, "::") && !strings.ContainsAny(scheme, "/[@"):
		return fmt.Errorf("%q names the transport %s, and only https, http, ssh, git and files are used",
			address, scheme)
	case strings.ContainsAny(address, "\x00\n"):
		return fmt.Errorf("%q is no address", address)
	}
	return nil
}

// IsLocal reports whether an address is a folder of this machine. In such a folder git obeys hooks
// and settings that an agent can have written.
func IsLocal(address string) bool {
	if strings.HasPrefix(address, "file:") || filepath.IsAbs(address) {
		return true
	}
	host, _, remote := strings.Cut(address, ":")
	return !remote || strings.Contains(host, "/") // git's rule for telling HOST:PATH from a path
}

// LocalFolder returns the path of the folder that an address names, seen from the folder dir. It
// returns "" if the address is not local; see IsLocal.
func LocalFolder(dir, address string) string {
	path := address
	if u, err := url.Parse(address); err == nil && u.Scheme == "file" {
		path = u.Path
	}
	switch {
	case !IsLocal(address):
		return ""
	case filepath.IsAbs(path):
		return path
	default:
		return filepath.Join(dir, path)
	}
}

// ShowAddress returns an address without its password.
func ShowAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	return u.Redacted()
}

package git

import (
	"errors"
	"syscall"
	"testing"
)

// TestSystemErrors: a fault of the machine is one whichever program met it. What a server says is about
// the server, and what is said of a full disk may be the name of a file.
func TestSystemErrors(t *testing.T) {
	for words, want := range map[string]error{
		"fatal: cannot create .git/index.lock: Disk quota exceeded":       syscall.EDQUOT,
		"fatal: unable to write loose object file: Read-only file system": syscall.EROFS,
		"remote: fatal: write error: Disk quota exceeded":                 nil,
		"error: open(\"No space left on device\"): Permission denied":     nil,
		"fatal: bad config line 3 in file .git/config":                    nil,
	} {
		if err := (&Error{Args: []string{"commit"}, Stderr: words}).Unwrap(); err != want {
			t.Errorf("%q is %v, want %v", words, err, want)
		}
	}
	full := &Error{Args: []string{"commit"}, Stderr: "fatal: unable to write loose object file", Full: true}
	if !errors.Is(full, syscall.ENOSPC) || IsRefusal(full) {
		t.Error("a full disk counts as an answer of git")
	}
}

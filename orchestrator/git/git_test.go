package git

import (
	"syscall"
	"testing"
)

// TestSystemErrors: a full disk is one whichever program met it. What a server says is about the server.
func TestSystemErrors(t *testing.T) {
	for words, want := range map[string]error{
		"error: file write error: No space left on device\nfatal: unable to write\n": syscall.ENOSPC,
		"fatal: cannot create .git/index.lock: Disk quota exceeded":                  syscall.EDQUOT,
		"fatal: unable to write loose object file: Read-only file system":            syscall.EROFS,
		"remote: fatal: write error: No space left on device":                        nil,
		"fatal: bad config line 3 in file .git/config":                               nil,
	} {
		if err := (&Error{Args: []string{"commit"}, Stderr: words}).Unwrap(); err != want {
			t.Errorf("%q is %v, want %v", words, err, want)
		}
	}
}

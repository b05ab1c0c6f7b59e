package config

import (
	"errors"
	"os/exec"
	"strconv"
	"testing"
)

// TestCheckBranch holds checkBranch to what git says.
func TestCheckBranch(t *testing.T) {
	for _, name := range []string{"a", "a/b", "a..b", "a b", "-a", "a/", "/a", "a.", "a.lock", "a.lock/b", "a.locks", "a@{1}", "a@b", "a:b",
		"a//b", ".a", "a/.b", "a~", "a^", "a?", "a*", "a[", "a\\b", "ä", "a\x7f", "refs/heads/a", "a.b", "{", "a-"} {
		t.Run(strconv.Quote(name), func(t *testing.T) {
			err := exec.Command("git", "check-ref-format", "--branch", name).Run()
			if errors.Is(err, exec.ErrNotFound) {
				t.Skip("there is no git here")
			}
			if got := checkBranch(name); (got == nil) != (err == nil) {
				t.Errorf("checkBranch = %v, git says %v", got, err)
			}
		})
	}
}

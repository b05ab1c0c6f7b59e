//go:build !linux

package proc

import (
	"errors"
	"os"
)

// Guards reports whether this system has a guardian.
const Guards = false

var errNoGuardian = errors.New("this system has no guardian")

// Guard returns an error on this system.
func Guard([]string) (Fate, error) { return Fate{Code: -1}, errNoGuardian }

// Link is the runner's end of its link to the guardian, which this system does not have.
type Link struct{}

// Join returns an error on this system.
func Join() (*Link, error) { return nil, errNoGuardian }

// Signals returns nil on this system.
func (*Link) Signals() <-chan os.Signal { return nil }

// Lost returns nil on this system.
func (*Link) Lost() <-chan struct{} { return nil }

// Hold returns an error on this system.
func (*Link) Hold(*os.File) (release func() error, err error) { return nil, errNoGuardian }

// Leave returns an error on this system.
func (*Link) Leave(int) error { return errNoGuardian }

//go:build !linux

package proc

import (
	"errors"
	"os"
)

// Guards says whether this system has a guardian.
const Guards = false

var errNoGuardian = errors.New("this system has no guardian")

// Guard always fails here.
func Guard([]string) (Fate, error) { return Fate{Code: -1}, errNoGuardian }

// Link is the runner's end of its link to the guardian. There is none on this system.
type Link struct{}

// Join always fails here.
func Join() (*Link, error) { return nil, errNoGuardian }

// Signals never gives one.
func (*Link) Signals() <-chan os.Signal { return nil }

// Lost is never closed.
func (*Link) Lost() <-chan struct{} { return nil }

// Hold always fails here.
func (*Link) Hold(*os.File) (release func() error, err error) { return nil, errNoGuardian }

// Leave always fails here.
func (*Link) Leave(int) error { return errNoGuardian }

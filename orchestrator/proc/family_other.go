//go:build !linux

package proc

import "os"

type kin struct {
	state *os.ProcessState
	err   error
}

// Adopt does nothing here: on this system orphans fall to the first process only. Run ends a command's process group, and
// what left the group lives on; on Windows it ends the command's first process.
func Adopt() error { return nil }

func spawn(s Spec, files []*os.File) (*child, error) {
	p, err := os.StartProcess(s.Argv[0], s.Argv, attributes(s, files))
	if err != nil {
		return nil, err
	}
	return newChild(p, kin{}), nil
}

// await reaps the leader at once: this system does not tell of its end otherwise.
func (c *child) await() { c.state, c.err = c.process.Wait() }

func (c *child) reap() (*os.ProcessState, error) { return c.state, c.err }

func (c *child) killBelow() {}

func (c *child) sweep() error { return nil }

// EndMarked does nothing: this system has no place for a mark.
func EndMarked(Mark) error { return nil }

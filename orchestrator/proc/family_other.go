//go:build !linux

package proc

import (
	"os"
	"syscall"
)

type kin struct {
	process *os.Process
	state   *os.ProcessState
	err     error
}

// Adopt does nothing here: on this system orphans fall to the first process only. Run ends a command's process group, and
// what left the group lives on; on Windows it ends the command's first process.
func Adopt() error { return nil }

func spawn(s *Spec, files inherited) (*child, error) {
	env := s.Env
	if env == nil {
		env = []string{} // nil would hand on our own
	}
	p, err := os.StartProcess(s.Argv[0], s.Argv, &os.ProcAttr{Dir: s.Dir, Env: env, Files: files.on(s), Sys: ownGroup(s.Terminal)})
	if err != nil {
		return nil, err
	}
	return newChild(p.Pid, kin{process: p}), nil
}

// await reaps the leader at its end: this system does not tell of it otherwise.
func (c *child) await() { c.state, c.err = c.process.Wait() }

// hasEnded: only await knows.
func (c *child) hasEnded() bool { return false }

func (c *child) reap() (syscall.WaitStatus, error) {
	var status syscall.WaitStatus
	if c.err == nil {
		status, _ = c.state.Sys().(syscall.WaitStatus)
	}
	return status, c.err
}

func (c *child) killLeader() { _ = c.process.Kill() }

func (c *child) killBelow() {}

func (c *child) sweep() error { return nil }

// EndMarked does nothing: this system has no place for a mark.
func EndMarked(Mark) error { return nil }

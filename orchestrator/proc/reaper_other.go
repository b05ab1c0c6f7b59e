//go:build !linux

package proc

import (
	"os"
	"os/exec"
	"syscall"

	"kanban-run/orchestrator/durable"
)

type handle struct {
	process *os.Process
	state   *os.ProcessState
	err     error
}

// Adopt does nothing, because on this system only process 1 adopts orphans. Run ends a command's
// process group, and processes that have left the group live on.
func Adopt() error { return nil }

func forkChild(s *Spec, files inherited) (*child, error) {
	env := s.Env
	if env == nil {
		env = []string{} // nil would mean the environment of this process
	}
	p, err := os.StartProcess(s.Argv[0], s.Argv, &os.ProcAttr{
		Dir:   s.Dir,
		Env:   env,
		Files: files.withTerminal(s),
		Sys:   newSessionAttr(s.Terminal),
	})
	if err != nil {
		return nil, err
	}
	return newChild(p.Pid, handle{process: p}), nil
}

func startMarked(cmd *exec.Cmd) error { return cmd.Start() }

// await reaps the leader, because this system has no other way to notice the leader's end.
func (c *child) await() { c.state, c.err = c.process.Wait() }

// hasEnded returns false, because the end is unknown before await returns.
func (c *child) hasEnded() bool { return false }

func (c *child) reap() (syscall.WaitStatus, error) {
	var status syscall.WaitStatus
	if c.err == nil {
		status, _ = c.state.Sys().(syscall.WaitStatus)
	}
	return status, c.err
}

func (c *child) killTree() {}

func (c *child) sweep() error { return nil }

// EndMarked does nothing, because this system has no place for a mark.
func EndMarked(_, _ durable.Place, _ ...Mark) error { return nil }

// Lives returns false, because this system has no place for a mark.
func Lives(Mark) bool { return false }

// IsWithin returns false, because this system has no place for a mark.
func IsWithin(Mark) bool { return false }

// IsMarked returns false, because this system has no place for a mark.
func IsMarked() bool { return false }

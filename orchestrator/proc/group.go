package proc

import (
	"os"
	"os/exec"
	"syscall"
)

const errTextBusy = syscall.ETXTBSY

// newSessionAttr returns attributes that start a command in a new session, and thereby in a new
// process group of the same number. The session is on the given terminal. If that is nil, the
// session has no terminal, so a program that wants to ask a person on /dev/tty fails at once. In
// the session of this process it would wait for an answer.
func newSessionAttr(terminal *os.File) *syscall.SysProcAttr {
	if terminal != nil {
		return &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	}
	return &syscall.SysProcAttr{Setsid: true}
}

// Detach starts a program that may outlive this one; all others are started by Start. It has no
// terminal, and its output is discarded. It bears a mark, as agents do, so it does not speak for a
// person. The returned function waits for its end. Errors: those of os/exec.
func Detach(argv, env []string) (wait func() error, err error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.SysProcAttr = env, newSessionAttr(nil)
	return cmd.Wait, startMarked(cmd)
}

// terminateGroup sends SIGTERM to the group, and then SIGCONT, because a suspended group does not
// act on SIGTERM before it continues. Errors mean that the group is gone.
func (c *child) terminateGroup() {
	_ = syscall.Kill(-c.pid, syscall.SIGTERM)
	_ = syscall.Kill(-c.pid, syscall.SIGCONT)
}

// killGroup kills the group and with it the leader, because the leader of a session can join no
// other group.
func (c *child) killGroup() { _ = syscall.Kill(-c.pid, syscall.SIGKILL) }

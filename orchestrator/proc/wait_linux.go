package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

func (c *child) await() { await(c.pid) }

func (c *child) hasEnded() bool { return hasDied(c.pid) }

// await waits for the end of a child, but does not reap the child. If the kernel has no pidfds, the
// wait occupies a thread.
func await(pid int) {
	if awaitPidfd(pid) == nil {
		return
	}
	for waitid(unix.P_PID, pid, 0, nil) == unix.EINTR {
		continue
	}
}

func awaitPidfd(pid int) error {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Read(func(uintptr) bool { return hasDied(pid) })
}

// hasDied reports whether a child has ended, but does not reap the child. It also returns true if
// pid is not a child of this process, because then there is nothing to wait for.
func hasDied(pid int) bool {
	var info unix.Siginfo
	err := waitid(unix.P_PID, pid, unix.WNOHANG, &info)
	for err == unix.EINTR {
		err = waitid(unix.P_PID, pid, unix.WNOHANG, &info)
	}
	return info.Signo != 0 || err != nil
}

func waitid(kind, id, options int, info *unix.Siginfo) error {
	return unix.Waitid(kind, id, info, unix.WEXITED|unix.WNOWAIT|options, nil)
}

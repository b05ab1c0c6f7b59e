package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// NoProcError reports that /proc is not mounted, or shows the processes of another PID namespace.
type NoProcError struct{ Foreign bool }

func (e *NoProcError) Error() string {
	if e.Foreign {
		return "/proc shows the processes of another PID namespace, and by it kanban-run finds and ends what agents start"
	}
	return "/proc is not mounted here, by which kanban-run finds and ends what agents start"
}

// Hint returns the remedy.
func (e *NoProcError) Hint() string {
	if e.Foreign {
		return "mount the /proc of this namespace (unshare --mount-proc; as root: mount -t proc proc /proc), or share the PID namespace, too"
	}
	return "as root: mount -t proc proc /proc"
}

// checkProc returns a *NoProcError unless /proc shows this process.
func checkProc() error {
	self, err := os.Readlink("/proc/self")
	if _, ok := readStat(os.Getpid()); ok && err == nil && self == strconv.Itoa(os.Getpid()) {
		return nil
	}
	info, err := os.Stat("/proc/stat")
	return &NoProcError{Foreign: err == nil && info.Mode().IsRegular()}
}

// stat is a process's entry in /proc.
type stat struct {
	dead   bool // it waits to be reaped
	halted bool // stopped by a signal, until SIGCONT
	parent int
	born   uint64 // time of its start, in clock ticks since boot
	memory bool   // its first thread has memory

	session int
	ticks   int64 // processor time in clock ticks, including that of ended children
}

// The fields of /proc/PID/stat after the name, from proc_pid_stat(5).
const (
	stateField   = 0
	parentField  = 1
	sessionField = 3
	ticksField   = 11 // first of four fields: user and system time, then the same of ended children
	threadsField = 17
	bornField    = 19
	memoryField  = 20
)

// readStat returns the entry of a process, or false if the process is gone. A process is dead only
// once all its threads have ended.
func readStat(pid int) (stat, bool) { return readStatFile(fmt.Sprintf("/proc/%d/stat", pid)) }

func readStatFile(path string) (stat, bool) {
	text, err := readProc(path)
	if err != nil {
		return stat{}, false
	}
	// The name may itself contain spaces and brackets.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) <= memoryField || fields[stateField][0] == 'X' {
		return stat{}, false
	}
	var s stat
	s.parent, _ = strconv.Atoi(string(fields[parentField]))
	s.born, _ = strconv.ParseUint(string(fields[bornField]), 10, 64)
	s.memory = string(fields[memoryField]) != "0"
	s.session, _ = strconv.Atoi(string(fields[sessionField]))
	for _, field := range fields[ticksField : ticksField+4] {
		n, _ := strconv.ParseInt(string(field), 10, 64)
		s.ticks += n
	}
	threads, _ := strconv.Atoi(string(fields[threadsField]))
	s.halted = fields[stateField][0] == 'T'
	s.dead = fields[stateField][0] == 'Z' && threads <= 1
	return s, true
}

// liveThread returns the ID of a thread that has memory, usually the first thread. It returns 0 if
// the process is dying: such a process runs no code and shows no environment, but may still have
// files open.
func liveThread(pid int) (thread int) {
	if s, ok := readStat(pid); !ok || s.memory {
		return pid
	}
	threads, _ := listNumbers(fmt.Sprintf("/proc/%d/task", pid))
	for _, thread := range threads {
		if s, ok := readStatFile(fmt.Sprintf("/proc/%d/task/%d/stat", pid, thread)); ok && s.memory {
			return thread
		}
	}
	return 0
}

// processID identifies a process for ever. The number alone does not, because another process may
// get it later.
type processID struct {
	pid  int
	born uint64
}

type processSet map[processID]struct{}

func (b processSet) has(pid int, s stat) bool {
	_, ok := b[processID{pid, s.born}]
	return ok
}

func (b processSet) add(pid int, s stat) { b[processID{pid, s.born}] = struct{}{} }

// alive lists the processes that are not dead.
func (b processSet) alive() []int {
	var pids []int
	for one := range b {
		if s, ok := readStat(one.pid); ok && !s.dead && s.born == one.born {
			pids = append(pids, one.pid)
		}
	}
	return pids
}

// listProcesses lists all processes of the system.
func listProcesses() ([]int, error) { return listNumbers("/proc") }

// listNumbers lists those entries of a folder whose names are numbers.
func listNumbers(path string) ([]int, error) {
	fd, err := openProc(path, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	buf := make([]byte, procRoom)
	var names []string
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err == unix.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			return parseNumbers(names), err
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

func parseNumbers(words []string) []int {
	var all []int
	for _, word := range words {
		if n, err := strconv.Atoi(word); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// procRoom is the first size of a read buffer, in bytes. Most files that are read here fit.
const procRoom = 1 << 10

// readProc is like os.ReadFile, but makes half as many system calls. This matters because a search
// for descendants reads a file for each of their threads.
func readProc(path string) ([]byte, error) {
	fd, err := openProc(path, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	text := make([]byte, 0, procRoom)
	for {
		n, err := unix.Read(fd, text[len(text):cap(text)])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return text, err
		case n == 0:
			return text, nil
		default:
			text = slices.Grow(text[:len(text)+n], procRoom/2)
		}
	}
}

func openProc(path string, flags int) (int, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0)
	for err == unix.EINTR {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0)
	}
	return fd, err
}

// appendDescendants appends a process and all its descendants. They must be killed together,
// because a process may start others as fast as they are killed. A descendant that was missed
// becomes an orphan when its parent dies, and is found then.
func appendDescendants(all []int, pid int) []int {
	if slices.Contains(all, pid) {
		return all
	}
	all = append(all, pid)
	below, _ := listChildren(pid)
	for _, child := range below {
		all = appendDescendants(all, child)
	}
	return all
}

// listChildren lists the children of all threads of a process. The list is empty if the process is
// gone.
func listChildren(pid int) ([]int, error) {
	threads, err := listNumbers(fmt.Sprintf("/proc/%d/task", pid))
	if isGone(err) {
		return nil, nil
	}
	var pids []int
	for _, thread := range threads {
		more, readErr := listThreadChildren(pid, thread)
		err = errors.Join(err, readErr)
		pids = append(pids, more...)
	}
	if len(pids) == 0 && !hasChildrenLists() {
		return scanChildren(pid)
	}
	return pids, err
}

// listThreadChildren lists the children that one thread of a process has started or adopted. The
// children of a thread that is gone are listed with another thread.
func listThreadChildren(pid, thread int) (pids []int, err error) {
	text, err := readProc(fmt.Sprintf("/proc/%d/task/%d/children", pid, thread))
	if isGone(err) {
		return nil, nil
	}
	for field := range bytes.FieldsSeq(text) {
		if child, err := strconv.Atoi(string(field)); err == nil {
			pids = append(pids, child)
		}
	}
	return pids, err
}

func isGone(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) }

// hasChildrenLists returns false on kernels without lists of children (CONFIG_PROC_CHILDREN).
var hasChildrenLists = sync.OnceValue(func() bool {
	_, err := os.Stat("/proc/thread-self/children")
	return !isGone(err)
})

func scanChildren(parent int) ([]int, error) {
	all, err := listProcesses()
	var pids []int
	for _, pid := range all {
		if s, ok := readStat(pid); ok && s.parent == parent {
			pids = append(pids, pid)
		}
	}
	return pids, err
}

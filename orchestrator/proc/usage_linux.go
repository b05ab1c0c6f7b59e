package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Usage is the use of resources by a command and its descendants so far.
type Usage struct {
	Own    Work // work of the processes in the command's session
	Others Work // work of processes in other sessions, such as the commands that an agent runs

	Halted bool // the command is stopped by a signal, and no debugger holds it
}

// Work is the use of resources by processes.
type Work struct {
	Ticks int64 // processor time in units of 10 ms, including that of ended children
	Bytes int64 // bytes read and written, as far as this user is allowed to see them
}

func (w *Work) add(pid int, s stat) {
	w.Ticks += s.ticks
	w.Bytes += readBytes(pid)
}

// Usage examines the command's processes. It returns false if the command has ended.
func (p *Process) Usage() (u Usage, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	root, ok := readStat(p.child.pid)
	if !ok || p.hasEnded() {
		return Usage{}, false
	}
	u.Halted = root.halted && readTracer(p.child.pid) == 0
	for _, pid := range appendDescendants(nil, p.child.pid) {
		s, ok := readStat(pid)
		switch {
		case !ok:
		case s.session == root.session:
			u.Own.add(pid, s)
		default:
			u.Others.add(pid, s)
		}
	}
	return u, true
}

// Family returns the living processes that the command has started, directly or through others. The
// keys are process IDs. A process stays in the family after its parent has ended.
func (p *Process) Family() map[int]Relative {
	all := processSet{}
	_ = eachMarked([]Mark{p.child.mark}, func(pid int, s stat) bool { // processes that cannot be listed are left out
		all.add(pid, s)
		return true
	})
	for _, pid := range appendDescendants(nil, p.child.pid) {
		if s, ok := readStat(pid); ok {
			all.add(pid, s)
		}
	}
	family := map[int]Relative{}
	for _, pid := range all.alive() {
		name := "of an unknown program"
		if program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil {
			// A process's short name is not used, since it may be a part of a secret.
			name = filepath.Base(program)
		}
		if s, ok := readStat(pid); ok && pid != p.child.pid {
			family[pid] = Relative{Name: name, Parent: s.parent}
		}
	}
	return family
}

// Continue resumes a stopped command.
func (p *Process) Continue() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.hasEnded() {
		_ = unix.Kill(p.child.pid, unix.SIGCONT)
	}
}

// EndOthers sends SIGTERM, or SIGKILL if kill is true, to the command's descendants in other
// sessions.
func (p *Process) EndOthers(kill bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	root, ok := readStat(p.child.pid)
	if !ok || p.hasEnded() {
		return
	}
	signal := unix.SIGTERM
	if kill {
		signal = unix.SIGKILL
	}
	for _, pid := range appendDescendants(nil, p.child.pid) {
		if s, ok := readStat(pid); ok && s.session != root.session {
			_ = unix.Kill(pid, signal)
		}
	}
}

// readBytes returns the number of bytes that a process has read and written, or 0 if this user is
// not allowed to examine it.
func readBytes(pid int) (sum int64) {
	text, err := readProc(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		name, value, _ := bytes.Cut(line, []byte(": "))
		if string(name) == "rchar" || string(name) == "wchar" {
			n, _ := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			sum += n
		}
	}
	return sum
}

// readTracer returns the ID of the process that debugs pid, or 0 if there is none.
func readTracer(pid int) int {
	text, err := readProc(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(text, []byte("TracerPid:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.Atoi(string(bytes.TrimSpace(line)))
	return n
}

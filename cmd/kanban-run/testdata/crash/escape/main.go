//go:build linux

// Command escape is started by an agent. It starts a process that tries to outlive the agent. It
// ends when the started process has written its process ID into FILE.
//
//	escape KIND MARKER FILE
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// lifetime bounds how long a process outlives a failed test.
const lifetime = 30 * time.Second

// stormPause is the lifetime of one process of a storm.
const stormPause = 2 * time.Millisecond

func main() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	kind, marker, up := os.Args[1], os.Args[2], os.Args[3]
	switch kind {
	case "stay":
		report(up)
		time.Sleep(lifetime)
	case "storm-on":
		storm(marker, up)
	default:
		leave(kind, marker, up)
		await(up)
	}
}

// leave starts the process that is to escape.
func leave(kind, marker, up string) {
	next := exec.Command("/proc/self/exe", "stay", marker, up)
	next.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	switch kind {
	case "setsid":
	case "double-fork":
		next.Args[1] = "setsid"
	case "cleared":
		next.Env = []string{}
	case "limits":
		unlimit()
	case "storm":
		next.Args[1] = "storm-on"
	default:
		fail(fmt.Errorf("unknown kind %q", kind))
	}
	fail(next.Start())
}

// storm is one process of a chain: each process of the chain starts the next one and ends.
func storm(marker, up string) {
	if len(os.Args) == 4 {
		report(up)
		os.Args = append(os.Args, strconv.FormatInt(time.Now().Add(lifetime).UnixNano(), 10))
	}
	until, err := strconv.ParseInt(os.Args[4], 10, 64)
	fail(err)
	time.Sleep(stormPause)
	if _, err := os.Stat(up); err != nil || time.Now().UnixNano() > until {
		return // the test is over
	}
	next := exec.Command("/proc/self/exe", "storm-on", marker, up, os.Args[4])
	next.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	fail(next.Start())
}

// unlimit raises the soft limit on file sizes to the hard limit.
func unlimit() {
	var limit syscall.Rlimit
	fail(syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	limit.Cur = limit.Max
	fail(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
}

func report(up string) {
	fail(os.WriteFile(up+".new", fmt.Appendln(nil, os.Getpid()), 0o644))
	fail(os.Rename(up+".new", up))
}

func await(up string) {
	for {
		if _, err := os.Stat(up); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "escape:", err)
		os.Exit(1)
	}
}

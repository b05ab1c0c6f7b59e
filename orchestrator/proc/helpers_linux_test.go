package proc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// guarding plays guardians: test-binary helper guard RUNNER-MODE [ARG]. The last line on standard
// output is the fate.
func guarding(mode string, args []string) int {
	switch mode {
	case "compute":
		compute(args[0])
	case "guard":
		return guard(args)
	case "guard-short": // of processes
		failures := 2
		subreaper.fork = func(name string, argv []string, attr *syscall.ProcAttr) (int, error) {
			if failures--; failures >= 0 {
				return 0, syscall.EAGAIN
			}
			return syscall.ForkExec(name, argv, attr)
		}
		return guard(args)
	case "guard-starved":
		subreaper.fork = func(string, []string, *syscall.ProcAttr) (int, error) {
			fmt.Println("no process to be had")
			return 0, syscall.EAGAIN
		}
		return guard(args)
	case "poor-guard": // of descriptors, until it has looked for orphans in vain
		go func() {
			for !looksAgain() {
				time.Sleep(time.Millisecond)
			}
			if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 100, Max: 100}, nil); err != nil {
				panic(err)
			}
		}()
		return guard(args)
	case "foreign-guard", "marked-foreign-guard": // as in `foreign & exec guard`
		if mode == "marked-foreign-guard" {
			_ = os.Setenv(markVariable, "feed")
		}
		setLimit(1 << 40) // as a daemon may have for itself
		launchWith(nil, "foreign", "group")
		setLimit(unix.RLIM_INFINITY)
		_ = os.Unsetenv(markVariable)
		err := syscall.Exec("/proc/self/exe", append([]string{os.Args[0], "helper", "guard"}, args...), os.Environ())
		panic(err)
	case "chain":
		playChain(args[0])
	case "foreign":
		playForeign()
	case "unadopted":
		playUnadopted()
	case "intermediate": // hands a link on that its parent has made
		cmd := exec.Command(os.Args[0], append([]string{RunnerCommand}, args...)...)
		cmd.Stdout, cmd.ExtraFiles = os.Stdout, []*os.File{os.NewFile(linkFD, "link")}
		_ = cmd.Run()
	default:
		return 99
	}
	return 0
}

func guard(args []string) int {
	fate, err := Guard(args)
	text, _ := json.Marshal(fate)
	fmt.Printf("fate %s %v\n", text, err)
	return 0
}

// looksAgain reports whether a goroutine waits between two looks for orphans: it has found some, or
// could not look.
func looksAgain() bool {
	stacks := make([]byte, 1<<16)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for goroutine := range strings.SplitSeq(string(stacks), "\n\n") {
		if state, _, _ := strings.Cut(goroutine, "\n"); strings.Contains(state, "[sleep") && strings.Contains(goroutine, ".killOrphans(") {
			return true
		}
	}
	return false
}

// playForeign says its number and starts a daemon at each SIGUSR1, until SIGUSR2.
func playForeign() {
	orders := make(chan os.Signal, 8)
	signal.Notify(orders, syscall.SIGUSR1, syscall.SIGUSR2)
	fmt.Println("foreign", os.Getpid())
	for order := range orders {
		if order == syscall.SIGUSR2 {
			return
		}
		leave("daemon")
	}
}

// playChain is one process of a chain, each of which starts the next one and ends, until a time.
func playChain(until string) {
	end, _ := strconv.ParseInt(until, 10, 64)
	time.Sleep(2 * time.Millisecond)
	if time.Now().UnixNano() > end {
		return
	}
	next := exec.Command("/proc/self/exe", "helper", "chain", until)
	next.Stdout, next.SysProcAttr = os.Stdout, &syscall.SysProcAttr{Setsid: true}
	if err := next.Start(); err != nil {
		panic(err)
	}
}

// gainWeight makes the end of this process last: the kernel gives its memory back page by page.
func gainWeight() {
	memory, err := unix.Mmap(-1, 0, 256<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		panic(err)
	}
	_ = unix.Madvise(memory, unix.MADV_NOHUGEPAGE)
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
}

// playUnadopted runs a command beside a child of its own.
func playUnadopted() {
	cmd := exec.Command("/proc/self/exe", "helper", "cat")
	stdin, _ := cmd.StdinPipe()
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	exit, err := Run(context.Background(), context.Background(), &Spec{Argv: []string{"/proc/self/exe", "helper", "exit", "3"}})
	_ = stdin.Close()
	fmt.Println(exit, err, cmd.Wait())
}

// playHeadless ends its first thread and lives on; see proc_pid_stat(5) on what looks like a zombie
// then.
func playHeadless() {
	go func() {
		for {
			if s, err := os.ReadFile("/proc/self/stat"); err == nil && strings.Contains(string(s), ") Z ") {
				break
			}
			time.Sleep(time.Millisecond)
		}
		fmt.Println(os.Getpid())
		_ = os.NewFile(3, "started").Close()
		hang()
	}()
	_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
}

// The first goroutine keeps the first thread only in this mode, for playHeadless.
func init() {
	if len(os.Args) > 2 && os.Args[2] == "headless" {
		runtime.LockOSThread()
	}
}

// resetMarks resets all limits that bear a mark.
func resetMarks() {
	for _, resource := range markLimits {
		all := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
		if err := unix.Prlimit(0, resource, &all, nil); err != nil {
			panic(err)
		}
	}
}

func resetLimits() { setLimit(unix.RLIM_INFINITY) }

func setLimit(n uint64) {
	all := unix.Rlimit{Cur: n, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(0, unix.RLIMIT_FSIZE, &all, nil); err != nil {
		panic(err)
	}
}

// runner plays a guardian's runner.
func runner(mode string, args []string) int {
	switch mode {
	case "crash":
		panic("as ordered")
	case "unjoined": // has not come to Join yet
		fmt.Println("unjoined", os.Getpid())
		hang()
	case "indiscreet": // hands the link on
		cmd := exec.Command("/proc/self/exe", "helper", "hang")
		cmd.ExtraFiles = []*os.File{os.NewFile(linkFD, "link")}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		fmt.Println(cmd.Process.Pid)
		return 6
	case "late":
		fmt.Println("unjoined", os.Getpid())
		_, _ = io.Copy(io.Discard, os.Stdin)
		mode = "forsaken"
	case "parting":
		playParting()
		return 9
	}
	link, err := Join()
	if err != nil {
		fmt.Println("no link:", err)
		return 8
	}
	if err := Adopt(); err != nil {
		panic(err)
	}
	return joined(link, mode, args)
}

func joined(link *Link, mode string, args []string) int {
	switch mode {
	case "leave": // and what it says counts
		_ = link.Leave(7)
	case "exit":
		return 5
	case "arguments":
		fmt.Printf("%q\n", os.Args)
		fmt.Println(unix.Getpgrp() == unixGroup(os.Getppid()), os.Getenv("GREETING"))
		_, _ = io.Copy(os.Stdout, os.Stdin)
		_ = link.Leave(0)
	case "listen":
		fmt.Println("joined", os.Getpid())
		for s := range link.Signals() {
			fmt.Println("took", s)
			if s == syscall.SIGQUIT {
				_ = link.Leave(3)
				return 3
			}
		}
	case "forsaken":
		fmt.Println("joined", os.Getpid())
		<-link.Lost()
		_, err := link.Hold(os.Stdin)
		fmt.Println("lost", err, link.Leave(0) != nil)
		hang()
	case "agent": // that leaves a process of that kind behind, and hangs
		fmt.Println("joined", os.Getpid())
		spec := &Spec{Argv: []string{"/proc/self/exe", "helper", "leak-and-hang", args[0]}, Env: os.Environ(), Stdout: os.Stdout}
		_, _ = Run(context.Background(), context.Background(), spec)
	case "careless": // starts processes of those kinds without Run and leaves when it is told
		playCareless(link, args)
	case "descriptors":
		spec := &Spec{Argv: []string{"/proc/self/exe", "helper", "descriptors"}, Env: os.Environ(), Stdout: os.Stdout}
		_, _ = Run(context.Background(), context.Background(), spec)
		_ = link.Leave(0)
	case "locks":
		playLocks(link, args)
	}
	return 0
}

func unixGroup(pid int) int {
	group, _ := syscall.Getpgid(pid)
	return group
}

func playCareless(link *Link, kinds []string) {
	for _, kind := range kinds {
		cmd := exec.Command("/proc/self/exe", "helper", "leak", kind)
		cmd.Stdout = os.Stdout
		if err := cmd.Run(); err != nil && !errors.Is(err, syscall.ECHILD) { // the reaper may have been quicker
			panic(err)
		}
	}
	fmt.Println("joined", os.Getpid())
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = link.Leave(0)
}

// playParting leaves, when it is told, while the link holds a signal that it has not read.
func playParting() {
	fmt.Println("unjoined", os.Getpid())
	_, _ = unix.Poll([]unix.PollFd{{Fd: linkFD, Events: unix.POLLIN}}, -1)
	fmt.Println("unread")
	_, _ = io.Copy(io.Discard, os.Stdin)
	w, err := newWire(linkFD)
	if err != nil {
		panic(err)
	}
	if err := w.trySend(packet{kind: exitCode, value: 4}); err != nil {
		panic(err)
	}
}

// playLocks has the guardian hold the locked files, and obeys: release N, free N (unlock, close and
// release), leave.
func playLocks(link *Link, paths []string) {
	var files []*os.File
	var releases []func() error
	for _, path := range paths {
		f, err := os.Create(path)
		if err != nil {
			panic(err)
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			panic(err)
		}
		files = append(files, f)
	}
	fmt.Println("joined", os.Getpid())
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		var err error
		var n int
		switch word, rest, _ := strings.Cut(orders.Text(), " "); word {
		case "hold":
			var release func() error
			release, err = link.Hold(files[len(releases)])
			releases = append(releases, release)
		case "close":
			_, _ = fmt.Sscan(rest, &n)
			err = files[n].Close()
		case "release":
			_, _ = fmt.Sscan(rest, &n)
			err = releases[n]()
		case "crowd": // processes that take their time to be ended
			for range 40 {
				cmd := exec.Command("/proc/self/exe", "helper", "leak", "daemon")
				cmd.Stdout = os.Stdout
				if err = cmd.Run(); errors.Is(err, syscall.ECHILD) {
					err = nil // the reaper was quicker
				}
			}
		case "leave":
			_ = link.Leave(0)
			return
		}
		fmt.Println("done", orders.Text(), err)
	}
}

// descriptors lists what a command has inherited.
func descriptors() {
	entries, _ := filepath.Glob("/proc/self/fd/*")
	for _, entry := range entries {
		target, _ := os.Readlink(entry)
		fmt.Println("descriptor", filepath.Base(entry), target)
	}
}

package proc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain plays the helpers, so that no test needs a shell: test-binary helper MODE [ARG]; and a
// guardian's runner.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "helper" {
		os.Exit(helper(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) > 2 && os.Args[1] == RunnerCommand {
		os.Exit(runner(os.Args[2], os.Args[3:]))
	}
	// Under nohup signals are ignored, and what is ignored is inherited. What is taken is not.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	if err := Adopt(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// quiet keeps the race detector's second of waiting and the coverage tool's warning out of helpers.
func quiet(t testing.TB) []string {
	t.Helper()
	return []string{"GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + t.TempDir()}
}

func helperArgv(t testing.TB, words ...string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{self, "helper"}, words...)
}

func helper(mode string, args []string) int {
	switch mode {
	case "cat":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "exit":
		code, _ := strconv.Atoi(args[0])
		return code
	case "environment":
		dir, _ := os.Getwd()
		fmt.Println(dir, os.Environ())
	case "deaf":
		fmt.Println("not listening")
	case "typist": // speaks through its terminal, whatever its standard output is
		tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		if err != nil {
			return 7
		}
		heard := make([]byte, 5)
		_, _ = io.ReadFull(os.Stdin, heard)
		fmt.Fprintf(tty, "heard %s", heard)
		fmt.Fprint(os.Stderr, "apart")
	case "hang":
		fmt.Println("ready")
		hang()
	case "graceful":
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		fmt.Println("ready")
		<-asked
		fmt.Println("bye")
	case "listener": // ends with its input
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "stubborn":
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		fmt.Println("ready")
		<-asked
		fmt.Println("asked")
		hang()
	case "suspended":
		sayReadyWhenSuspended()
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		hang()
	case "killed":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		hang()
	case "mute":
		_ = os.Stdout.Close()
		fmt.Fprintln(os.Stderr, "still here")
	case "flood":
		n, _ := strconv.Atoi(args[0])
		for block := strings.Repeat("x", 1<<16); n > 0; n -= len(block) {
			fmt.Print(block[:min(n, len(block))])
		}
	default:
		return leaver(mode, args)
	}
	return 0
}

// leaver plays those that leave processes behind. Each of them says its number on standard output,
// which it keeps open.
func leaver(mode string, args []string) int {
	switch mode {
	case "leak":
		leave(args[0])
	case "leak-and-hang":
		leave(args[0])
		hang()
	case "linger":
		if len(args) > 0 && args[0] == "heavy" {
			gainWeight()
		}
		fmt.Println(os.Getpid())
		_ = os.NewFile(3, "started").Close()
		hang()
	case "between": // the middle of a double fork
		launch("linger", args[0], args[0])
	case "chain": // gone again before it can be listed
		fmt.Println(os.Getpid())
		time.Sleep(2 * time.Millisecond)
		launch("chain", "session")
	case "shed": // a number of orphans, each of which ends at once
		n, _ := strconv.Atoi(args[0])
		for range n {
			_ = exec.Command(os.Args[0], "helper", "parent").Run()
		}
		fmt.Println("shed")
		hang()
	case "parent":
		_ = exec.Command(os.Args[0], "helper", "exit", "0").Start()
	case "descriptors":
		descriptors()
	case "headless":
		playHeadless()
	default:
		return guarding(mode, args)
	}
	return 0
}

func hang() { time.Sleep(time.Hour) }

// leave starts a process of that kind and waits until it runs.
func leave(kind string) {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	switch kind {
	case "daemon":
		launchWith(w, "between", "session", "session")
	case "chain":
		launch("chain", "session")
		_ = w.Close()
	case "headless":
		launchWith(w, "headless", "session")
	case "bare":
		launchWith(w, "between", "session", "bare")
	case "headless-limits":
		resetLimits()
		launchWith(w, "headless", "session")
	case "unmarked":
		resetMarks()
		launchWith(w, "between", kind, "bare")
	case "limits", "nothing", "heavy": // what sudo and container programs do
		resetLimits()
		launchWith(w, "between", kind, map[string]string{"limits": "session", "nothing": "bare", "heavy": "heavy"}[kind])
	default:
		launchWith(w, "linger", kind)
	}
	_ = w.Close()
	_, _ = r.Read(make([]byte, 1))
}

func launch(mode, kind string, args ...string) {
	launchWith(os.NewFile(3, "started"), mode, kind, args...)
}

func launchWith(started *os.File, mode, kind string, args ...string) {
	cmd := exec.Command(os.Args[0], append([]string{"helper", mode}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if started != nil {
		cmd.ExtraFiles = []*os.File{started}
	}
	switch kind {
	case "group":
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	case "session":
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	case "bare":
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Env = []string{"GORACE=atexit_sleep_ms=0"}
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

// sayReadyWhenSuspended has a shell print ready once this process is suspended: said before, the
// signals of the test could come first, and the process would sleep on.
func sayReadyWhenSuspended() {
	sh := exec.Command("/bin/sh", "-c", `until { cat "/proc/$PPID/status" 2>/dev/null || ps -o state= -p "$PPID"; } | grep -qE '^(State:.)?T'; do sleep 0.01; done; echo ready`)
	sh.Stdout = os.Stdout
	if err := sh.Start(); err != nil {
		fmt.Println(err)
	}
}

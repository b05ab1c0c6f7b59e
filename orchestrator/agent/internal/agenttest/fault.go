package agenttest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kanban-run/orchestrator/agent/stub"
	"kanban-run/orchestrator/testfile"
)

// faultFile is the name of a file beside a stub's rules. It has a fault that stubs do not know.
const faultFile = "fault"

// leaked is the argument of a process that an agent left behind.
const leaked = "--leaked"

// Rules writes a stub's file with one rule for [Play], and returns its path. The rule has the
// given `do`, which stubs may not know, and the lines in the parameter "more".
func Rules(t testing.TB, do string, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	if slices.Contains([]string{"missing-field", "duplicate-key", "trailing-text", "two-objects", "fence", "invalid-utf8",
		"ok-exit-1", "exit", "crash", "ignore-term", "close-stdout", "leak-child", "huge"}, do) {
		testfile.Write(t, filepath.Join(dir, faultFile), do)
		do = "reply"
	}
	lines := append([]string{"- do: " + do}, more...)
	return testfile.Write(t, filepath.Join(dir, "stub.yaml"), strings.Join(lines, "\n  ")+"\n")
}

// Play plays a stub agent with the rules of [Rules]. It returns the exit status.
func Play(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if slices.Contains(args, leaked) {
		hang()
	}
	var fault []byte
	if at := slices.Index(args, "--file"); at >= 0 {
		fault, _ = os.ReadFile(filepath.Join(filepath.Dir(args[at+1]), faultFile))
	}
	if fault == nil {
		return stub.Main(args, stdin, stdout, stderr)
	}
	var reply bytes.Buffer
	if code := stub.Main(args, stdin, &reply, stderr); code != 0 {
		return code
	}
	return misbehave(string(fault), reply.Bytes(), stdout, stderr)
}

// misbehave commits a fault in place of a good reply.
func misbehave(fault string, reply []byte, stdout, stderr io.Writer) (code int) {
	const message = `"message":"`
	switch fault {
	case "missing-field":
		reply = bytes.Replace(reply, []byte(message), []byte(`"massage":"`), 1)
	case "duplicate-key":
		reply = bytes.Replace(reply, []byte("{"), []byte(`{"status":"error",`), 1)
	case "trailing-text":
		reply = append(reply, "That is all.\n"...)
	case "two-objects":
		reply = append(reply, "{\"status\":\"error\"}\n"...)
	case "fence":
		reply = fmt.Appendf(nil, "```json\n%s```\n", reply)
	case "invalid-utf8":
		reply = bytes.Replace(reply, []byte(message), []byte(message+"\xff"), 1)
	case "ok-exit-1":
		code = 1
	case "exit":
		return 1
	case "crash":
		_, _ = stdout.Write(reply[:len(reply)/2])
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		hang()
	case "ignore-term":
		signal.Ignore(syscall.SIGTERM)
		fmt.Fprintln(stderr, "ignoring SIGTERM")
		hang()
	case "close-stdout":
		if closer, ok := stdout.(io.Closer); ok {
			_ = closer.Close() // no reply is lost, because none was written
		}
		fmt.Fprintln(stderr, "closed stdout, hanging")
		hang()
	case "leak-child":
		if err := leak(stderr); err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
	case "huge": // a reply that is valid except for its length
		reply = slices.Concat([]byte(`{"status":"ok","next_task":null,"tasks":[],"message":"`), bytes.Repeat([]byte("x"), 64<<20), []byte("\"}\n"))
	}
	if _, err := stdout.Write(reply); err != nil {
		return 1
	}
	return code
}

// hang waits for ever. It sleeps, because the runtime would report a deadlock if it waited for a
// channel.
func hang() {
	for {
		time.Sleep(time.Hour)
	}
}

// leak starts a process that outlives the agent and keeps standard output open.
func leak(stderr io.Writer) error {
	cmd := exec.Command(os.Args[0], stub.Command, leaked)
	// The process gets a session of its own, so that a signal to the group does not reach it.
	cmd.Stdout, cmd.SysProcAttr = os.Stdout, &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stderr, "left process %d behind\n", cmd.Process.Pid)
	return err
}

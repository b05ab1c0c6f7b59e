package durable

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The test binary also is the processes that get killed.
func TestMain(m *testing.M) {
	switch os.Getenv("DURABLE_TEST_MODE") {
	case "write":
		writeForever(os.Getenv("DURABLE_TEST_PATH"))
	case "lock":
		holdLock(os.Getenv("DURABLE_TEST_PATH"))
	case "linger":
		fmt.Println("ready")
		waitForStdin()
	case "refused":
		callRefused(os.Getenv("DURABLE_TEST_PATH"))
	default:
		os.Exit(m.Run())
	}
}

// writeForever replaces path by ever new contents, each one repeated byte whose value gives the
// length, and prints the number of each acknowledged write.
func writeForever(path string) {
	for i := 0; ; i++ {
		if err := WriteFile(path, version(i), 0o600); err != nil {
			fmt.Println("error:", err)
			return
		}
		fmt.Println(i)
	}
}

func version(i int) []byte {
	return bytes.Repeat([]byte{byte('a' + i%26)}, 10_000+i%26)
}

func holdLock(path string) {
	if _, err := Acquire(path); err != nil {
		fmt.Println("error:", err)
		return
	}
	fmt.Println("ready")
	waitForStdin()
}

func waitForStdin() {
	var b [1]byte
	for {
		if _, err := os.Stdin.Read(b[:]); err != nil {
			return
		}
	}
}

// helper starts the test binary in one of the modes above.
func helper(t *testing.T, mode, path string) (*exec.Cmd, *bytes.Buffer, func() string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DURABLE_TEST_MODE="+mode, "DURABLE_TEST_PATH="+path)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line := func() string {
		var s strings.Builder
		for b := make([]byte, 1); ; {
			if _, err := out.Read(b); err != nil || b[0] == '\n' {
				return s.String()
			}
			s.WriteByte(b[0])
		}
	}
	return cmd, &stderr, line
}

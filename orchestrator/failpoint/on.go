//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// variable is the environment variable that arms a place.
const variable = "KANBAN_TEST_FAILPOINT"

type trap struct {
	name   string
	at     int64
	victim string
	hold   string // the file of victim "hold"
	seen   atomic.Int64
}

var armed = parse(os.Getenv(variable))

func parse(text string) *trap {
	if text == "" {
		return &trap{}
	}
	name, rest, _ := strings.Cut(text, "@")
	count, victim, _ := strings.Cut(rest, "=")
	victim, hold, _ := strings.Cut(victim, ":")
	n, err := strconv.ParseInt(count, 10, 64)
	if name == "" || err != nil || !slices.Contains([]string{"self", "parent", "both", "hold"}, victim) {
		panic(fmt.Sprintf("%s=%q is not NAME@N=self|parent|both|hold:FILE", variable, text))
	}
	return &trap{name: name, at: n, victim: victim, hold: hold}
}

// At kills or delays the program at the armed place, when the program reaches that place for the
// N-th time (see the package comment).
func At(name string) {
	if name != armed.name || armed.seen.Add(1) != armed.at {
		return
	}
	if armed.victim == "hold" {
		hold(armed.hold)
		return
	}
	if armed.victim != "self" {
		kill(os.Getppid())
	}
	if armed.victim != "parent" {
		kill(os.Getpid())
		select {} // wait for SIGKILL
	}
}

// hold makes the file, and waits until somebody has removed it.
func hold(file string) {
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		panic(err)
	}
	for {
		if _, err := os.Lstat(file); err != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func kill(pid int) {
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		panic(err)
	}
}

// Cut returns the number of bytes to write, out of n, before the call of At with the same name. It
// returns half of n if that call will kill or delay the program, and n otherwise.
func Cut(name string, n int) int {
	if name == armed.name && armed.seen.Load()+1 == armed.at {
		return n / 2
	}
	return n
}

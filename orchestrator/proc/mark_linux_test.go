package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kanban-run/orchestrator/durable"
)

// TestMark: the limit that marks a command is gone from us after the fork and is different each
// time.
func TestMark(t *testing.T) {
	before := ownLimit(t)
	seen := map[Mark]bool{}
	for range 3 {
		mark := NewMark()
		unset := setMarkLimits(mark)
		if got := ownLimit(t).Cur; got != uint64(mark) || !isMark(uint64(mark)) || seen[mark] {
			t.Errorf("the limit is %#x after setMarkLimits(%#x), want the same new mark", got, mark)
		}
		seen[mark] = true
		unset()
	}
	if got := ownLimit(t); got != before {
		t.Errorf("the limit is %v afterwards, want %v", got, before)
	}
}

func ownLimit(t *testing.T) unix.Rlimit {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_FSIZE, nil, &limit); err != nil {
		t.Fatal(err)
	}
	return limit
}

func TestMarkEnv(t *testing.T) {
	for _, tt := range []struct {
		name, own string
		env, want []string
	}{
		{"none", "", nil, []string{"KANBAN_RUN_MARK=ab"}},
		{"others stay in order", "", []string{"B=1", "A=2"}, []string{"B=1", "A=2", "KANBAN_RUN_MARK=ab"}},
		{"below another kanban-run", "", []string{"KANBAN_RUN_MARK=1,2", "A=2"}, []string{"A=2", "KANBAN_RUN_MARK=1,2,ab"}},
		{"below another whose mark was filtered", "3", []string{"A=2"}, []string{"A=2", "KANBAN_RUN_MARK=3,ab"}},
		{"the given one counts", "3", []string{"KANBAN_RUN_MARK=4"}, []string{"KANBAN_RUN_MARK=4,ab"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(markVariable, tt.own)
			given := append([]string{}, tt.env...)
			if got := markEnv(tt.env, 0xab); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("markEnv(%v) = %v, want %v", tt.env, got, tt.want)
			}
			if len(given) > 0 && !reflect.DeepEqual(given, tt.env) {
				t.Errorf("markEnv changed its argument from %v to %v", given, tt.env)
			}
		})
	}
}

// TestMarkIsInTheEnvironment: the same in all attempts with the same mark.
func TestMarkIsInTheEnvironment(t *testing.T) {
	mark := NewMark()
	for range 2 {
		var out bytes.Buffer
		spec := &Spec{Argv: helperArgv(t, "environment"), Env: append(quiet(t), "KANBAN_RUN_MARK=outer"), Stdout: &out, Mark: mark}
		if _, err := Run(ctx, ctx, spec); err != nil {
			t.Fatal(err)
		}
		if want := "KANBAN_RUN_MARK=outer," + formatMark(mark); strings.Count(out.String(), want) != 1 || strings.Count(out.String(), markVariable) != 1 {
			t.Errorf("the command's environment is %s, want %s in it once", out.String(), want)
		}
	}
}

// TestLongEnvironment: the variable is found behind more than any page or pipe holds.
func TestLongEnvironment(t *testing.T) {
	long := []string{"A=" + strings.Repeat("x", 120<<10), "B=" + strings.Repeat("y", 120<<10), "NOT_KANBAN_RUN_MARK=1"}
	cmd := exec.Command(helperArgv(t, "cat")[0], "helper", "cat")
	cmd.Env = markEnv(long, 0xabc)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// It has come to its code. Start returns a little earlier, when the kernel does not show the
	// environment yet.
	_, _ = stdin.Write([]byte("x"))
	_, _ = stdout.Read(make([]byte, 1))
	if got := readMarkVariable(cmd.Process.Pid); got != "abc" || !hasMark(cmd.Process.Pid, 0xabc) || hasMark(cmd.Process.Pid, 0xab) {
		t.Errorf("markList = %q, want abc", got)
	}
	_ = stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// TestEndMarked: what a dead run left behind is found by either mark, however it tried to get away,
// and nothing else is touched.
func TestEndMarked(t *testing.T) {
	other := NewMark()
	bystander := orphan(t, "daemon", other)
	for _, kind := range []string{"child", "session", "bare", "limits", "daemon", "headless", "headless-limits", "heavy"} {
		t.Run(kind, func(t *testing.T) {
			mark := NewMark()
			pid := orphan(t, kind, mark)
			if err := EndMarked("", "", mark); err != nil {
				t.Fatal(err)
			}
			if s, ok := readStat(pid); ok && !s.dead {
				t.Errorf("process %d of kind %s lives on", pid, kind)
			}
			if s, ok := readStat(bystander); !ok || s.dead {
				t.Errorf("process %d with another mark was ended", bystander)
			}
		})
	}
	if err := subreaper.killAllOrphans(); err != nil {
		t.Error(err)
	}
}

// TestEndSeveral: one call ends what several dead runs left behind.
func TestEndSeveral(t *testing.T) {
	one, two := NewMark(), NewMark()
	pids := []int{orphan(t, "limits", one), orphan(t, "bare", two)}
	if err := EndMarked("", "", one, 0, two); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if s, ok := readStat(pid); ok && !s.dead {
			t.Errorf("process %d lives on", pid)
		}
	}
	if err := subreaper.killAllOrphans(); err != nil {
		t.Error(err)
	}
}

// TestChainIsSeen: a search that looks once at each process passes most of a chain of forks, whose processes live
// for milliseconds each (9 looks of 10 passed it).
func TestChainIsSeen(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	mark, until := NewMark(), time.Now().Add(20*time.Second).UnixNano()
	c, err := forkChild(&Spec{Argv: helperArgv(t, "chain", fmt.Sprint(until)), Env: quiet(t), Mark: mark}, inherited{nil, w, os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	c.await()
	if _, err := c.reap(); err != nil {
		t.Fatal(err)
	}
	const looks = 50
	seen := 0
	for range looks {
		if Lives(mark) {
			seen++
		}
	}
	if seen < looks*3/4 {
		t.Errorf("%d looks of %d saw the chain, want nearly all", seen, looks)
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, r)
		close(ended)
	}()
	for deadline := time.Now().Add(10 * time.Second); ; {
		if err := EndMarked("", "", mark); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ended:
			return
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatal("the chain lives on")
		}
	}
}

// orphan leaves a process behind, as a run does that is killed in the middle of a step.
func orphan(t *testing.T, kind string, mark Mark) int {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := forkChild(&Spec{Argv: helperArgv(t, "leak", kind), Env: quiet(t), Mark: mark}, inherited{nil, w, os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	c.await()
	if _, err := c.reap(); err != nil {
		t.Fatal(err)
	}
	return readPid(t, r)
}

// TestEndMarkedSparesItself: an agent that runs kanban-run on the board of its own dead run is
// told, and not killed.
func TestEndMarkedSparesItself(t *testing.T) {
	mark := NewMark()
	defer setMarkLimits(mark)()
	var left *LeftoverError
	if err := EndMarked("", "", mark); !errors.As(err, &left) || len(left.Pids) != 1 || left.Pids[0] != os.Getpid() {
		t.Errorf("EndMarked(our own mark) = %v, want our own number as left over", err)
	}
	if err := EndMarked("", "", 0); err != nil {
		t.Errorf("EndMarked(none) = %v", err)
	}
}

// TestEndMarkedElsewhere: the processes of a run that was at work in another place, such as the
// original of a copied folder, are left alone.
func TestEndMarkedElsewhere(t *testing.T) {
	mark := NewMark()
	pid := orphan(t, "daemon", mark)
	here := durable.PlaceOf(t.TempDir())
	if err := EndMarked(durable.PlaceOf(t.TempDir()), here, mark); err != nil {
		t.Fatal(err)
	}
	if s, ok := readStat(pid); !ok || s.dead {
		t.Errorf("process %d of another place was ended", pid)
	}
	if err := EndMarked(here, here, mark); err != nil {
		t.Fatal(err)
	}
	if s, ok := readStat(pid); ok && !s.dead {
		t.Errorf("process %d of this place lives on", pid)
	}
}

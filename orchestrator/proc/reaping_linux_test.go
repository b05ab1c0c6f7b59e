package proc

import (
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// TestDeadOrphansAreReaped: what a command has left behind and has died is gone within a second, while the command
// works on.
func TestDeadOrphansAreReaped(t *testing.T) {
	defer subreaper.startReaping()()
	shed := make(chan struct{})
	out := &watcher{want: "shed\n", saw: sync.OnceFunc(func() { close(shed) })}
	p, err := Start(ctx, &Spec{Argv: helperArgv(t, "shed", "40"), Env: quiet(t), Stdout: out})
	if err != nil {
		t.Fatal(err)
	}
	<-shed
	var left []int
	for over := time.Now().Add(time.Second); time.Now().Before(over); time.Sleep(10 * time.Millisecond) {
		left, err = listChildren(os.Getpid())
		if left = slices.DeleteFunc(left, func(pid int) bool { return pid == p.child.pid }); len(left) == 0 {
			break
		}
	}
	if len(left) > 0 || err != nil {
		t.Errorf("%d children are left, %v", len(left), err)
	}
	if p.child.hasEnded() {
		t.Error("the command has ended")
	}
	p.Kill()
	if _, err := p.Wait(); err != nil {
		t.Error(err)
	}
}

// TestReapingTakesNoLeader: each command ends with its own status, however often dead orphans are looked for meanwhile.
// 60 commands are run, and 300 if KANBAN_TEST_EXHAUSTIVE is set.
func TestReapingTakesNoLeader(t *testing.T) {
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-over:
				return
			case <-time.After(100 * time.Microsecond):
				subreaper.reapDead()
			}
		}
	}()
	defer func() { close(over); <-done }()
	commands := 60
	if os.Getenv("KANBAN_TEST_EXHAUSTIVE") != "" {
		commands = 300
	}
	for i := range commands {
		argv, want := helperArgv(t, "exit", strconv.Itoa(i%100)), Exit{Code: i % 100}
		if i%3 == 0 {
			argv, want = helperArgv(t, "killed"), Exit{Code: -1, Signal: "killed"}
		}
		got, err := Run(ctx, ctx, &Spec{Argv: argv, Env: []string{"GORACE=atexit_sleep_ms=0"}})
		if err != nil || got.Code != want.Code {
			t.Fatalf("command %d: Run = %+v, %v, want %+v", i, got, err, want)
		}
	}
}

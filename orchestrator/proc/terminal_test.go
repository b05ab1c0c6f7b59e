package proc

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// TestTerminal: the far side of a pty is the command's standard input and output and its
// controlling terminal; standard error stays apart.
func TestTerminal(t *testing.T) {
	near, far, err := pty.Open()
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	defer near.Close()
	if _, err := term.MakeRaw(int(far.Fd())); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(near, "hello"); err != nil {
		t.Fatal(err)
	}
	said := make(chan string)
	go func() {
		text, _ := io.ReadAll(near) // ends in an error once no process has the far side open
		said <- string(text)
	}()
	var stderr bytes.Buffer
	exit, err := Run(ctx, ctx, &Spec{Argv: helperArgv(t, "typist"), Env: quiet(t), Terminal: far, Stderr: &stderr})
	if err != nil || exit.String() != "exit status 0" {
		t.Fatalf("Run = %v, %v, want exit status 0", exit, err)
	}
	if err := far.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-said; !strings.HasPrefix(got, "heard hello") || stderr.String() != "apart" {
		t.Errorf("the terminal has %q and standard error %q, want them apart", got, stderr.String())
	}
}

// TestTerminalWithInput: a program that wants no terminal as its input gets a pipe, and has the
// terminal all the same.
func TestTerminalWithInput(t *testing.T) {
	near, far, err := pty.Open()
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	defer near.Close()
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ours.WriteString("hello"); err != nil {
		t.Fatal(err)
	}
	said := make(chan string)
	go func() {
		text, _ := io.ReadAll(near)
		said <- string(text)
	}()
	exit, err := Run(ctx, ctx, &Spec{Argv: helperArgv(t, "typist"), Env: quiet(t), Terminal: far, Input: theirs})
	if err != nil || exit.String() != "exit status 0" {
		t.Fatalf("Run = %v, %v, want exit status 0", exit, err)
	}
	for _, f := range []*os.File{far, theirs, ours} {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-said; !strings.HasPrefix(got, "heard hello") {
		t.Errorf("the terminal has %q, want what was said on the input", got)
	}
}

// TestTerminalStop: a command with a session of its own is asked to end, too, and nothing of it is
// left.
func TestTerminalStop(t *testing.T) {
	near, far, err := pty.Open()
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	defer near.Close()
	defer far.Close()
	stop, cancel := context.WithCancel(ctx)
	go func() {
		heard := make([]byte, 5)
		_, _ = io.ReadFull(near, heard) // "ready"
		cancel()
		_, _ = io.Copy(io.Discard, near)
	}()
	exit, err := Run(stop, ctx, &Spec{Argv: helperArgv(t, "graceful"), Env: quiet(t), Terminal: far, Grace: time.Minute})
	if err != nil || !exit.Stopped || exit.Signal != "" || exit.Code != 0 {
		t.Errorf("Run = %+v, %v, want it to end in order when it is asked to", exit, err)
	}
}

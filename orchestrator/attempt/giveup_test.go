package attempt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/testfile"
)

// impatient is an adapter that gives up with each of its reasons when the program has said
// something.
type impatient struct {
	agent.Adapter
	reasons []error
	heard   func() // nil: nothing is to be done besides
}

func (i impatient) Reader(_ contract.Kind, h agent.Host) agent.Reader {
	return impatientReader{h: h, impatient: i}
}

type impatientReader struct {
	io.Writer
	h agent.Host
	impatient
}

func (r impatientReader) Write(p []byte) (int, error) {
	for _, reason := range r.reasons {
		r.h.GiveUp(reason)
	}
	if r.heard != nil {
		r.heard()
	}
	return len(p), nil
}

func (impatientReader) End(proc.Exit) agent.Report {
	return agent.Report{Reply: `{"status":"ok","message":"an old one"}`, Session: "s", Spent: &agent.Spending{Input: 7}}
}

func giveUp(t *testing.T, reasons ...error) (*attempt.Ended, error) {
	t.Helper()
	return runImpatient(t, context.Background(), impatient{Adapter: agent.Exec(), reasons: reasons})
}

func runImpatient(t *testing.T, stop context.Context, adapter impatient) (*attempt.Ended, error) {
	t.Helper()
	if err := proc.Adopt(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	inv := agent.Invocation{Argv: []string{"/bin/sh", "-c", "echo; exec sleep 600"}, Dir: t.TempDir(), Grace: time.Minute}
	out, err := attempt.Run(stop, context.Background(), attempt.Spec{Adapter: adapter, Invocation: inv, Contract: contract.Task, Sinks: attempt.Sinks{Redactor: redact.New([]string{"hunter2hunter2"})}})

	if time.Since(began) > 30*time.Second {
		t.Errorf("it took %v, want an end at once", time.Since(began))
	}
	return out, err
}

// TestGiveUp: an adapter that sees that an attempt is in vain ends it, and its reason is the
// outcome, whatever the program left. The first reason counts.
func TestGiveUp(t *testing.T) {
	setup := &agent.ConfigError{Text: "the key hunter2hunter2 is refused", Fix: "not hunter2hunter2"}
	later := &agent.LaterError{Text: "later, hunter2hunter2", Reset: time.Unix(1e9, 0)}
	failure := contract.Failed("no progress with hunter2hunter2")
	for _, tt := range []struct {
		name     string
		reasons  []error
		err      string
		failure  string
		hopeless bool
	}{
		{"a set-up", []error{setup, later}, "the key " + redact.Mark + " is refused", "", true},
		{"a limit", []error{fmt.Errorf("wrapped: %w", later), failure}, "later, " + redact.Mark + " (until 2001-09-09T01:46:40Z)", "", true},
		{"a failure", []error{failure, setup}, "", "no progress with " + redact.Mark, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := giveUp(t, tt.reasons...)
			if out.Reply != nil || out.IsStopped() || out.Session != "s" || out.Spent == nil || out.Spent.Input != 7 {
				t.Errorf("Converse = %+v, want no reply, but what it came to", out)
			}
			if got := fmt.Sprint(err); tt.err != "" && got != tt.err || tt.err == "" && err != nil {
				t.Errorf("Converse = %v, want %s", err, tt.err)
			}
			if got := out.Failure; tt.failure != "" && (got == nil || got.Reason != tt.failure) || tt.failure == "" && got != nil {
				t.Errorf("Failure = %v, want %s", got, tt.failure)
			}
			if agent.IsHopeless(err) != tt.hopeless {
				t.Errorf("IsHopeless(%v) = %t, want %t", err, !tt.hopeless, tt.hopeless)
			}
		})
	}
	var config *agent.ConfigError
	if _, err := giveUp(t, setup); !errors.As(err, &config) || config.Fix != "not "+redact.Mark {
		t.Errorf("Converse = %+v, want a *ConfigError with a redacted hint", err)
	}
}

// TestStoppedReport: the outcome of an attempt that was stopped names its session and what it came
// to.
func TestStoppedReport(t *testing.T) {
	stop, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, err := runImpatient(t, stop, impatient{Adapter: agent.Exec(), heard: cancel})
	if err != nil || !out.IsStopped() || out.Reply != nil || out.Failure != nil || out.Session != "s" || out.Spent == nil {
		t.Errorf("Converse = %+v, %v, want it to be stopped, with its session and what it came to", out, err)
	}
}

// TestFiles: they are there when the program starts, private, in place of whatever an earlier
// attempt left, and count in the digest.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path, elsewhere := filepath.Join(dir, "handed", "a.md"), testfile.Write(t, filepath.Join(dir, "elsewhere"), "untouched")
	inv := agent.Invocation{Argv: []string{"/bin/sh", "-c", `cat "$0"; rm "$0"; ln -s "$1" "$0"`, path, elsewhere}, Dir: dir,
		Env: []string{"PATH=" + os.Getenv("PATH")}, Files: []agent.File{{Path: path, Data: []byte(`{"status":"ok","message":"handed"}`)}}}
	for range 2 {
		out, err := attempt.Run(context.Background(), context.Background(), attempt.Spec{Adapter: agent.Exec(), Invocation: inv, Contract: contract.Task, Sinks: attempt.Sinks{Redactor: redact.New(nil)}})
		if err != nil || out.Reply == nil || out.Reply.Message != "handed" {
			t.Fatalf("Converse = %+v, %v, want the file's bytes", out, err)
		}
	}
	if data, err := os.ReadFile(elsewhere); err != nil || string(data) != "untouched" {
		t.Errorf("the file behind the link has %q, %v, want it left alone", data, err)
	}
	first := inv.Digest()
	inv.Files[0].Data = bytes.ToUpper(inv.Files[0].Data)
	if inv.Digest() == first {
		t.Error("Digest() is the same for another file")
	}
	inv.Files[0].Path = filepath.Join(elsewhere, "a")
	if _, err := attempt.Run(context.Background(), context.Background(), attempt.Spec{Adapter: agent.Exec(), Invocation: inv, Contract: contract.Task, Sinks: attempt.Sinks{Redactor: redact.New(nil)}}); err == nil ||
		agent.IsHopeless(err) || !strings.Contains(err.Error(), "write a file for the agent") {
		t.Errorf("Converse = %v, want the error of writing the file", err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "handed", "a.md")
	inv := agent.Invocation{Argv: []string{"/bin/sh", "-c", `ls -l "$0" | cut -c1-10`, path}, Dir: t.TempDir(),
		Env: []string{"PATH=" + os.Getenv("PATH")}, Files: []agent.File{{Path: path, Data: []byte("x")}}}
	var stdout bytes.Buffer
	_, err := attempt.Run(context.Background(), context.Background(), attempt.Spec{Adapter: agent.Exec(), Invocation: inv, Contract: contract.Task, Sinks: attempt.Sinks{Stdout: &stdout, Redactor: redact.New(nil)}})
	if err != nil || strings.TrimSpace(stdout.String()) != "-rw-------" {
		t.Errorf("the file has %q, %v, want only its owner to read it", stdout.String(), err)
	}
}

// TestFailureAfterTheTimeout: an agent that calls our own signal a failure has timed out; one that told of its
// failure before, and only lingers, has failed.
func TestFailureAfterTheTimeout(t *testing.T) {
	if err := proc.Adopt(); err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]string{
		`trap 'echo terminated; exit 0' TERM; sleep 600 & wait`:              "timed out after 500ms",
		`echo failed; trap 'echo terminated; exit 0' TERM; sleep 600 & wait`: "its own words",
	} {
		inv := agent.Invocation{Argv: []string{"/bin/sh", "-c", script}, Dir: t.TempDir(), Timeout: 500 * time.Millisecond, Grace: time.Minute}
		out, err := attempt.Run(context.Background(), context.Background(), attempt.Spec{Adapter: failing{agent.Exec()}, Invocation: inv, Contract: contract.Task, Sinks: attempt.Sinks{Redactor: redact.New(nil)}})
		if err != nil || out.Failure == nil || !strings.HasPrefix(out.Failure.Reason, want) {
			t.Errorf("%s: %+v, %v, want %s", script, out.Failure, err, want)
		}
	}
}

// failing is an adapter of an agent whose first line tells of a failure.
type failing struct{ agent.Adapter }

func (failing) Reader(_ contract.Kind, h agent.Host) agent.Reader { return &failingReader{h: h} }

type failingReader struct {
	h    agent.Host
	told bool
}

func (r *failingReader) Write(p []byte) (int, error) {
	if !r.told {
		r.told = true
		r.h.Emit(agent.Event{Kind: agent.Result, Failed: true})
	}
	return len(p), nil
}

func (r *failingReader) End(exit proc.Exit) agent.Report {
	if exit.TimedOut {
		return agent.Report{Failure: contract.Failed("%s", exit)}
	}
	return agent.Report{Failure: contract.Failed("its own words")}
}

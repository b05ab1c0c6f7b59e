package claude_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/modeltest"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/proc"
)

// unset removes a variable from an environment.
func unset(env []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(e string) bool { return strings.HasPrefix(e, name+"=") })
}

// TestRealSetUp: what no retry can mend ends the run at once, with the provider's words and a
// remedy. Claude would try a refused key ten times, for minutes.
func TestRealSetUp(t *testing.T) {
	for _, tt := range []struct {
		name      string
		env       func([]string) []string
		fault     modeltest.Step
		text, fix string
		most      int // requests
	}{
		{"401", slices.Clone[[]string], modeltest.Status(401), "refuses the key or the login (401 authentication_failed)", "ANTHROPIC_API_KEY", 4},
		{"401 of a login", modeltest.Subscribed, modeltest.Status(401), "refuses the key or the login", "claude /login", 4},
		{"403", slices.Clone[[]string], modeltest.Status(403), "Failed to authenticate. API Error: 403", "env.only", 2},
		{"404", slices.Clone[[]string], modeltest.Status(404), "There's an issue with the selected model", "another model", 3},
		{"no key", func(env []string) []string { return unset(env, "ANTHROPIC_API_KEY") }, modeltest.Hang(), "Not logged in", "claude /login", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t)
			r.assignment.Env = unset(tt.env(r.assignment.Env), "CLAUDE_CODE_MAX_RETRIES")
			r.play(tt.fault, structured("ok", "m"))
			_, err := r.run(t)
			var config *agent.ConfigError
			if !errors.As(err, &config) || !strings.Contains(config.Text, tt.text) || !strings.Contains(config.Fix, tt.fix) {
				t.Errorf("Converse = %v, want a *ConfigError with %q and the hint %q", err, tt.text, tt.fix)
			}
			if n := len(r.server.Requests()); n > tt.most {
				t.Errorf("the model was asked %d times, want %d at most", n, tt.most)
			}
		})
	}
}

// TestRealRefusedOnce: a first refusal may be the end of a token's life; claude fetches another.
func TestRealRefusedOnce(t *testing.T) {
	r := start(t)
	r.play(modeltest.Status(401).Times(1), structured("ok", "m"))
	out, err := r.run(t)
	wantReply(t, out, err, contract.OK, "m")
	if got := r.said(agent.Retry); !strings.HasPrefix(got, "retry: 401 authentication_failed, again in ") {
		t.Errorf("retries = %q, want the one", got)
	}
}

// TestRealLimit: a spent allowance is no failed attempt. With a login the provider says when it is
// renewed.
func TestRealLimit(t *testing.T) {
	reset := time.Now().Add(time.Hour).Truncate(time.Second)
	for _, tt := range []struct {
		name  string
		env   func([]string) []string
		reset time.Time
		text  string
	}{
		{"login", modeltest.Subscribed, reset, "You've hit your 5-hour limit"},
		{"key", slices.Clone[[]string], time.Time{}, "Request rejected (429)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t)
			r.assignment.Env = tt.env(r.assignment.Env)
			r.play(modeltest.Limited(reset, time.Hour), structured("ok", "m"))
			_, err := r.run(t)
			var later *agent.LaterError
			if !errors.As(err, &later) || !later.Reset.Equal(tt.reset) || !strings.Contains(later.Text, tt.text) {
				t.Errorf("Converse = %v, want a *LaterError of %v with %q", err, tt.reset, tt.text)
			}
		})
	}
}

// TestRealFaults: a fault that passes with time makes the provider busy, in its own words.
func TestRealFaults(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fault  modeltest.Step
		reason string
	}{
		{"500", modeltest.Status(500), "API Error: 500 Internal server error"},
		{"529", modeltest.Status(529), "529 Overloaded"},
		{"cut", modeltest.Cut(), "Connection to the API was lost"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t)
			r.play(tt.fault, structured("ok", "m"))
			out, err := r.run(t)
			var later *agent.LaterError
			if !errors.As(err, &later) || !later.Busy || out.Class != event.ClassBusy || !strings.Contains(later.Text, tt.reason) {
				t.Errorf("Converse = %+v, %v, want a busy provider with %q", out, err, tt.reason)
			}
			if r.said(agent.Retry) == "" {
				t.Error("there is no event of the retry")
			}
		})
	}
}

func TestRealFaultThatPasses(t *testing.T) {
	r := start(t)
	r.play(modeltest.Status(529).Times(1), modeltest.Shell("true"), modeltest.Cut().Times(1), structured("ok", "m"))
	out, err := r.run(t)
	wantReply(t, out, err, contract.OK, "m")
}

func TestRealTimeout(t *testing.T) {
	r := start(t)
	r.assignment.Timeout = 4 * time.Second
	r.play(modeltest.Hang())
	out, err := r.run(t)
	wantFailure(t, out, err, "timed out after 4s")
}

// TestRealStop: claude is stopped in the middle of a tool, which has a session of its own; neither
// leaves a process.
func TestRealStop(t *testing.T) {
	if err := proc.Adopt(); err != nil {
		t.Fatal(err)
	}
	r := start(t)
	marker := fmt.Sprintf("kanban-run-marker-%d", time.Now().UnixNano())
	r.play(modeltest.Shell("touch began; exec -a "+marker+" sleep 600"), structured("ok", "m"))
	stop, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		for limit := time.Now().Add(never); time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
			if _, err := os.Stat(r.path("began")); err == nil {
				return
			}
		}
	}()
	out, err := r.runUntil(t, stop)
	if err != nil || !out.IsStopped() || out.Reply != nil || out.Failure != nil {
		t.Errorf("Converse = %+v, %v, want it to be stopped", out, err)
	}
	if out.Session == "" || out.Spent == nil || out.Spent.Input != 1000 || out.Spent.Cost != nil {
		t.Errorf("Session = %q, Spent = %+v, want the session, and the tokens of one answer at no known price", out.Session, out.Spent)
	}
	if left := processes(t, marker); len(left) > 0 {
		t.Errorf("processes %q outlived claude", left)
	}
}

// processes lists the command lines of all processes that hold a word.
func processes(t *testing.T, word string) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		return nil
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no processes: %v", err)
	}
	var found []string
	for _, f := range files {
		if line, err := os.ReadFile(f); err == nil && strings.Contains(string(line), word) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// TestRealFollow: a session goes on with a new message, and another role sees a copy of it. Seed
// 003, "Fork session 调用 Supervisor". Each attempt is charged its own cost, although claude counts
// by session and parent. A role that was edited before its session goes on reaches it.
func TestRealFollow(t *testing.T) {
	r := start(t)
	r.assignment.Prompt, r.assignment.Review = "You are the Implementor.", true
	r.assignment.Input = []byte(`{"instruction":"` + modeltest.Play(structured("ok", "one")).String() + `"}`)
	first, err := r.run(t)
	wantReply(t, first, err, contract.OK, "one")

	const words = "Tests are missing. This was the reply:\n\n```json\n{\"status\":\"ok\"}\n```"
	review := copyRun(r)
	review.assignment.Contract, review.assignment.Prompt, review.assignment.Permission = contract.Review, "You are the Supervisor.", agent.ReadOnly
	review.assignment.Follow = &agent.Follow{Session: first.Session, Fork: true, Text: "Review it. " + modeltest.Play(modeltest.Say(words)).String()}
	second, err := review.run(t)
	if err != nil || second.Reply == nil || second.Reply.Message != words {
		t.Fatalf("Converse = %+v, %v, want the review", second, err)
	}
	q := review.last(t)
	if !strings.Contains(q.System, "You are the Supervisor.") || strings.Contains(q.System, "You are the Implementor.") || q.Schema {
		t.Errorf("the reviewer's system prompt is %.200q, schema %t, want its own and none", q.System, q.Schema)
	}
	if second.Session == first.Session || second.Session == "" {
		t.Errorf("the review has session %s, want another than %s", second.Session, first.Session)
	}
	wantOwn(t, second)

	again := copyRun(r)
	again.assignment.Prompt = "You are the Implementor, and polite since a person edited the role."
	again.assignment.Follow = &agent.Follow{Session: first.Session, Text: "Feedback. " + modeltest.Play(structured("ok", "two")).String()}
	third, err := again.run(t)
	wantReply(t, third, err, contract.OK, "two")
	q = again.last(t)
	said := ""
	for _, m := range q.Messages {
		said += m.Text
	}
	if third.Session != first.Session || !strings.Contains(q.System, "and polite since a person edited the role") || strings.Contains(said, "Review it.") || !strings.Contains(said, "Feedback.") {
		t.Errorf("session %s with %q, want %s to go on without the review", third.Session, said, first.Session)
	}
	wantOwn(t, third)
}

// copyRun returns another run with the same model.
func copyRun(r *real) *real { return &real{server: r.server, assignment: r.assignment} }

func wantOwn(t *testing.T, out *attempt.Ended) {
	t.Helper()
	if s := out.Spent; s == nil || s.Input != 1000 || s.Cost == nil || *s.Cost != 5000 || out.Cumulative {
		t.Errorf("Spent = %+v, cumulative %t, want one answer's tokens and price", out.Spent, out.Cumulative)
	}
}

// TestRealUnknownSession: claude names the session that it cannot find.
func TestRealUnknownSession(t *testing.T) {
	r := start(t)
	r.assignment.Follow = &agent.Follow{Session: "99999999-2222-4333-8444-555555555555", Text: "Go on."}
	out, err := r.run(t)
	wantFailure(t, out, err, "it broke off: No conversation found with session ID: 99999999")
	if !out.Failure.Lost {
		t.Errorf("Failure = %+v, want a lost session", out.Failure)
	}
}

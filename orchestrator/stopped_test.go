package orchestrator_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator"
	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/result"
	"kanban-run/orchestrator/roster"
	"kanban-run/roles"
)

// teller is an adapter whose tool says at its end what it spent, also when it was stopped, and
// with the first output why it gives up.
type teller struct {
	argv  []string
	spent *agent.Spending
	gives error
}

func (teller) Name() string                 { return "teller" }
func (teller) Check(agent.Assignment) error { return nil }
func (teller) Tool() agent.Tool             { return agent.Tool{} }
func (w teller) Invoke(a agent.Assignment) (agent.Invocation, error) {
	return agent.Invocation{Argv: w.argv, Stdin: a.Input, Env: a.Env, Dir: a.Dir, Grace: time.Second}, nil
}
func (w teller) Reader(_ contract.Kind, host agent.Host) agent.Reader { return &telling{w, host} }

type telling struct {
	teller
	host agent.Host
}

func (r *telling) Write(p []byte) (int, error) {
	if r.gives != nil {
		r.host.GiveUp(r.gives)
	}
	return len(p), nil
}

func (r *telling) End(proc.Exit) agent.Report {
	return agent.Report{Failure: contract.Failed("no reply"), Session: "s1", Spent: r.spent}
}

// played is how a run ends in which the adapter plays all roles, and what its
// journal says of the attempts.
func played(t *testing.T, w teller, limits event.Limits) (result.Result, []event.AttemptStopped) {
	t.Helper()
	program, err := exec.LookPath(w.argv[0])
	if err != nil {
		t.Skip(err)
	}
	w.argv = append([]string{program}, w.argv[1:]...)
	dir := t.TempDir()
	for name, text := range map[string]string{"kanban.yaml": "current: a.md\ntasks: [a.md]\n", "a.md": "---\nrole: Implementor\n---\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := roles.Load()
	if err != nil {
		t.Fatal(err)
	}
	made, _ := redact.NewNamed(nil)
	agents := &roster.Roster{Settings: &config.Settings{Agent: "teller", Grace: time.Second}, Roles: set, Adapters: []agent.Adapter{w}}
	job := preflight.Job{Board: filepath.Join(dir, "kanban.yaml"), StartDir: dir, Observer: &ledger.Silent{}, Now: time.Now,
		Configure: func(string) (*preflight.Setup, error) {
			return &preflight.Setup{Limits: limits, Run: config.Run{OnDivergence: "accept", Strict: true}, Roster: agents, Redactor: made}, nil
		}}
	prepared, errs := preflight.PrepareAll([]preflight.Job{job})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	result := orchestrator.RunAll(context.Background(), context.Background(), prepared, orchestrator.Bounds{Jobs: 1})[0]
	var stopped []event.AttemptStopped
	if _, _, err := inspect.History(job.Board, func(e event.Entry) error {
		if s, ok := e.Event.(event.AttemptStopped); ok {
			stopped = append(stopped, s)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return result, stopped
}

// TestAStoppedAttemptIsPaidFor: a limit of time ends the agent, and what its tool
// said at its end is journaled.
func TestAStoppedAttemptIsPaidFor(t *testing.T) {
	cost := int64(7)
	result, stopped := played(t, teller{argv: []string{"sleep", "60"}, spent: &agent.Spending{Input: 5, Cost: &cost}}, event.Limits{MaxMillis: 200})
	if result.End.Outcome != event.LimitReached || !strings.HasPrefix(result.End.Reason, "the limit of 200ms (max_duration) is reached") || result.Err != nil {
		t.Errorf("the run ended with %s: %s, %v", result.End.Outcome, result.End.Reason, result.Err)
	}
	if len(stopped) != 1 || stopped[0].Millis < 200 || stopped[0].Session != "s1" || stopped[0].Spent == nil || *stopped[0].Spent.Cost != 7 {
		t.Errorf("stopped = %+v, want one attempt with all that is known of it", stopped)
	}
}

// TestNoRetryWhereNoneIsOfUse: "What is not retried": what the provider says ends the run at
// once, in the provider's words.
func TestNoRetryWhereNoneIsOfUse(t *testing.T) {
	reset := time.Date(2037, 1, 2, 4, 4, 5, 0, time.FixedZone("CET", 3600))
	tests := []struct {
		name    string
		gives   error
		outcome event.Outcome
		text    string
		until   string
	}{
		{"a limit with a time", &agent.LaterError{Text: "limit reached", Reset: reset}, event.Later, "limit reached (until 2037-01-02T03:04:05Z)", "2037-01-02T03:04:05Z"},
		{"a limit without one", &agent.LaterError{Text: "limit reached"}, event.Later, "limit reached", ""},
		{"a login", &agent.ConfigError{Text: "Please run /login", Fix: "log in"}, event.Invalid, "Please run /login", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result, stopped := played(t, teller{argv: []string{"cat"}, gives: tt.gives, spent: &agent.Spending{Input: 5}}, event.Limits{MaxRetries: 3})
			if result.End.Outcome != tt.outcome || result.End.Reason != tt.text || result.End.Until != tt.until || result.Err == nil {
				t.Errorf("the run ended with %s: %q, until %q, %v, want %s: %q", result.End.Outcome, result.End.Reason, result.End.Until, result.Err, tt.outcome, tt.text)
			}
			if len(stopped) != 1 || stopped[0].Spent == nil || stopped[0].Spent.Input != 5 || !strings.HasPrefix(tt.text, stopped[0].Reason) {
				t.Errorf("stopped = %+v, want one attempt with what it came to", stopped)
			}
		})
	}
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"kanban-run/docs"
	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/once"
	"kanban-run/orchestrator/result"
)

// TestExitCodes: the table, the help and what the code returns are one.
func TestExitCodes(t *testing.T) {
	outcomes := map[event.Outcome]int{
		event.Complete: 0, event.Failed: 1, event.Invalid: 2, event.NeedsPerson: 3, event.Exhausted: 4, event.Frozen: 5, event.Owned: 6, event.LimitReached: 7,
		event.Later: 75, event.Unsaved: 1, event.Incomplete: 3,
	}
	action, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, words, _ := strings.Cut(string(action), "in one word:")
	words, _, _ = strings.Cut(words, "value:")
	for _, o := range append(slices.Collect(maps.Keys(outcomes)), event.Interrupted, dryRun) {
		if !regexp.MustCompile(`\b` + string(o) + `\b`).MatchString(words) {
			t.Errorf("action.yml does not name the outcome %s", o)
		}
	}
	known := map[int]bool{}
	for outcome, want := range outcomes {
		if got := (event.RunInterrupted{Outcome: outcome}).Code(); got != want {
			t.Errorf("the code of %s = %d, want %d", outcome, got, want)
		}
		known[want] = true
	}
	for signal, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 143, syscall.SIGQUIT: 131} {
		if got := stoppedBy(&signalError{signal}).End.Code(); got != want {
			t.Errorf("the code after %v = %d, want %d", signal, got, want)
		}
		known[want] = true
	}
	killed := &killedError{signal: syscall.SIGKILL}
	if got := stoppedBy(killed).End.Code(); got != 137 || codeOfError(killed) != 137 {
		t.Errorf("the code of a killed run = %d, want 137", got)
	}
	known[137] = true
	var help bytes.Buffer
	if err := writeHelp(&terminal{stdout: console.New(&help, nil)}); err != nil {
		t.Fatal(err)
	}
	for _, row := range exitTable() {
		if !known[row.code] {
			t.Errorf("the table has code %d, which nothing returns", row.code)
		}
		delete(known, row.code)
		if line := fmt.Sprintf("  %-4d %s\n", row.code, row.meaning); !strings.Contains(help.String(), line) {
			t.Errorf("the help lacks %q", line)
		}
	}
	if len(known) > 0 {
		t.Errorf("codes without a row in the table: %v", known)
	}
}

func TestCodeOfError(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"usage", &usageError{}, exitInvalid},
		{"invalid board", fmt.Errorf("wrapped: %w", &failure.Invalid{Err: errors.New("x")}), exitInvalid},
		{"settings", &invalidSettings{errors.New("x")}, exitInvalid},
		{"agent's set-up", &agent.ConfigError{}, exitInvalid},
		{"never run", &ledger.NoRunError{}, exitInvalid},
		{"another run", &durable.HeldError{}, exitOwned},
		{"no valid reply", &once.ExhaustedError{}, exitExhausted},
		{"a usage limit", fmt.Errorf("wrapped: %w", &agent.LaterError{Text: "x"}), exitLater},
		{"signal", &signalError{os.Interrupt}, exitInterrupted},
		{"anything else", errors.New("disk full"), exitFailed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := codeOfError(tt.err); got != tt.want {
				t.Errorf("codeOfError(%v) = %d, want %d", tt.err, got, tt.want)
			}
		})
	}
}

// TestWorst: several boards end with the worst of 130/143, 1, 2, 5, 3, 4, 6, 7, 75: behind a signal first the codes for
// which a person acts.
func TestWorst(t *testing.T) {
	order := []int{exitInterrupted, exitFailed, exitInvalid, exitFrozen, exitNeedsPerson, exitExhausted, exitOwned, exitLimit, exitLater, exitComplete}
	for i, worse := range order {
		for _, better := range order[i:] {
			if got := worst([]int{better, worse, better}); got != worse {
				t.Errorf("worst(%d, %d) = %d, want %d", better, worse, got, worse)
			}
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"run", "check", "status", "schema"}
	for word, want := range map[string]string{"chekc": "check", "statu": "status", "schma": "schema", "banana": "", "rnu": "run"} {
		if got := nearest(word, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

// TestDocumentedExitCodes: docs/running.md has the same table.
func TestDocumentedExitCodes(t *testing.T) {
	page, err := docs.Page("running")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range exitTable() {
		if line := fmt.Sprintf("| %d | %s |\n", row.code, row.meaning); !strings.Contains(page, line) {
			t.Errorf("docs/running.md lacks %q", line)
		}
	}
}

// stoppedBy returns the result of a run that a cause has stopped.
func stoppedBy(cause error) (r result.Result) {
	stopped, stop := context.WithCancelCause(context.Background())
	stop(cause)
	r.Explain(stopped, cause)
	return r
}

// TestUnitRestarts: the unit of the examples starts again what goes on by itself, and nothing that would be paid for again;
// the page says the same.
func TestUnitRestarts(t *testing.T) {
	text, err := os.ReadFile("../../examples/overnight/kanban.service")
	if err != nil {
		t.Fatal(err)
	}
	page, err := docs.Page("overnight")
	if err != nil {
		t.Fatal(err)
	}
	var ends []string
	for _, row := range exitTable() {
		if exitComplete < row.code && row.code < exitLater {
			ends = append(ends, fmt.Sprint(row.code))
		}
	}
	for _, line := range []string{
		"Restart=on-failure",
		"RestartPreventExitStatus=" + strings.Join(ends, " "),
		fmt.Sprintf("RestartForceExitStatus=%d %d %d", exitLater, exitKilled, exitTerminated),
		"RestartSec=15min",
	} {
		if !strings.Contains(string(text), "\n"+line+"\n") || !strings.Contains(page, "\n"+line+"\n") {
			t.Errorf("the unit or docs/overnight.md lacks %s", line)
		}
	}
	if !strings.Contains(string(text), "\nStartLimitBurst=4\n") {
		t.Error("the unit may be started without end")
	}
}

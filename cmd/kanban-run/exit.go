package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/once"
	"kanban-run/orchestrator/result"
	"kanban-run/orchestrator/supervise"
)

// The exit codes. Their meanings are in exitTable, which the help shows.
const (
	exitComplete    = 0
	exitFailed      = 1
	exitInvalid     = 2
	exitNeedsPerson = 3
	exitExhausted   = 4
	exitFrozen      = 5
	exitOwned       = 6
	exitLimit       = 7
	exitLater       = 75
	exitInterrupted = 130
	exitQuit        = 131
	exitKilled      = 137
	exitTerminated  = 143
)

type exitRow struct {
	code    int
	meaning string // one line of the help
}

// exitTable returns the exit codes and their meanings, in the order of the codes.
func exitTable() []exitRow {
	return []exitRow{
		{exitComplete, "the board is complete"},
		{exitFailed, "an internal or I/O error"},
		{exitInvalid, "usage or invalid input"},
		{exitNeedsPerson, "a person has to decide; kanban-run inbox says about what"},
		{exitExhausted, "no valid reply: an agent gave none within its retries"},
		{exitFrozen, "frozen: the board and the journal, or the board and the Manager, disagree"},
		{exitOwned, "another run owns the board, or works on its task"},
		{exitLimit, "a limit was reached: of steps, cost or time"},
		{exitLater, "the provider is busy or its limit is reached, and the patience used up"},
		{exitInterrupted, "interrupted by SIGINT, resumable"},
		{exitQuit, "stopped at once by SIGQUIT, resumable"},
		{exitKilled, "the runner was killed (SIGKILL, out of memory), resumable"},
		{exitTerminated, "interrupted by SIGTERM or SIGHUP, resumable"},
	}
}

// severity returns all exit codes except exitComplete: behind the signals first those for which a person
// acts.
func severity() []int {
	return []int{exitInterrupted, exitTerminated, exitQuit, exitKilled, exitFailed, exitInvalid, exitFrozen,
		exitNeedsPerson, exitExhausted, exitOwned, exitLimit, exitLater}
}

// rank returns a code's index in severity; exitComplete ranks after all others.
func rank(code int) int {
	if at := slices.Index(severity(), code); at >= 0 {
		return at
	}
	return len(severity())
}

// worst returns the most severe of the exit codes of several boards.
func worst(codes []int) int {
	for _, code := range severity() {
		if slices.Contains(codes, code) {
			return code
		}
	}
	return exitComplete
}

// codeOfError returns the exit code for an error that ended the program. What can end a board's run ends
// another command alike.
func codeOfError(err error) int {
	end := result.Of(context.Background(), err)
	switch {
	case durable.IsMachineFault(err):
		return exitFailed
	case end.Exit != 0 || end.Outcome != event.Failed:
		return end.Code()
	case errors.As(err, new(*supervise.UnfinishedError)), errors.As(err, new(*once.DeclinedError)):
		return exitNeedsPerson
	case errors.As(err, new(*once.ExhaustedError)):
		return exitExhausted
	case errors.As(err, new(*usageError)), errors.As(err, new(*ledger.NoRunError)), errors.As(err, new(*agent.ConfigError)),
		errors.As(err, new(*invalidSettings)):
		return exitInvalid
	default:
		return exitFailed
	}
}

// explain prints an error and its hint, or annotates them in a job, and returns the exit code.
func (t *terminal) explain(err error) int {
	said := map[string]bool{}
	for _, e := range flatten(err) {
		text, hint := e.Error(), hintOf(e)
		if said[text+hint] {
			continue
		}
		said[text+hint] = true
		if t.job != nil {
			t.job.explain(e, hint)
			continue
		}
		_ = t.stderr.Printf("kanban-run: %s\n", indented(text))
		if hint != "" {
			_ = t.stderr.Printf("hint: %s\n", indented(hint))
		}
	}
	return codeOfError(err)
}

// hintOf returns what a person can do about an error, or "".
func hintOf(err error) string {
	if errors.As(err, new(*outputError)) {
		return failure.HintOf(err)
	}
	return result.HintOf(err)
}

// indented indents all lines but the first. Otherwise those lines would look like messages of
// kanban-run.
func indented(text string) console.Lines {
	return console.Lines(strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  "))
}

// flatten splits joined errors, so that explain prints each error with its own hint.
func flatten(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || strings.Count(err.Error(), "\n") == 0 {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, flatten(e)...)
	}
	return all
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/once"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/trust"
)

func onceCommand() command {
	return command{
		name:       "once",
		args:       "--role ROLE INSTRUCTION",
		summary:    "one single-shot agent call, without a board",
		agents:     true,
		resumeHint: "the same command asks afresh",
		long: `
The agent gets {"instruction": INSTRUCTION} and its reply is printed as JSON. INSTRUCTION may be - for standard input.
The exit code is 0 for status ok, 3 for any other status, 4 when no reply was valid.`,
		examples: `
  kanban-run once 'Say what this repository is for.'
  kanban-run once -r Architect - < question.txt`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, agentSettings()...)
			role := flags.StringP("role", "r", "Implementor", "`ROLE` gets the instruction")
			return func(t *terminal, args []string) (int, error) {
				if len(args) != 1 {
					return 0, &usageError{
						text: "once takes one instruction",
						hint: `kanban-run once --role Architect "Review the README"`,
					}
				}
				instruction, err := instructionOf(t, args[0])
				if err != nil {
					return 0, err
				}
				u, err := s.load(t)
				if err != nil {
					return 0, err
				}
				return u.once(t, *role, instruction)
			}
		},
	}
}

func instructionOf(t *terminal, arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	data, err := io.ReadAll(io.LimitReader(t.stdin, 16<<20))
	if err != nil {
		return "", fmt.Errorf("read the instruction: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}

func (u *setup) once(t *terminal, role, instruction string) (code int, err error) {
	r, err := u.resolve(u.dir)
	if err != nil {
		return 0, err
	}
	executable, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("find kanban-run itself: %w", err)
	}
	t.free()
	stubs, remove := stubFolder(t)
	defer remove()
	if err := proc.Adopt(); err != nil {
		return 0, err
	}
	if err := once.EndLeftovers(u.dir); err != nil {
		return 0, err
	}
	stop, kill, release := t.contexts(func(bool) {})
	defer release()
	agents := u.roster(r, executable, stubs, false)
	agents.Single = true
	if _, err := agents.Player(role, u.dir); err == nil { // call.Do reports the error
		if err := trust.RefuseHere(u.dir, agents, false); err != nil {
			return 0, err
		}
	}
	call := once.Call{
		Role:        role,
		Instruction: instruction,
		Dir:         u.dir,
		Limits:      limits(r.settings, false),
		MaxOutput:   r.settings.MaxOutput,
		Roster:      agents,
		Redactor:    u.redactor(agents),
		Now:         time.Now,
		Notice:      func(text string) { _ = t.stderr.Printf("kanban-run: %s\n", text) },
	}
	told := func() error { return nil }
	if p, err := agents.Player(role, u.dir); err == nil {
		told = u.watchOnce(stop, t, agents, p)
	}
	reply, err := call.Do(stop, kill)
	if err = errors.Join(err, told()); err != nil {
		return 0, err
	}
	code = exitNeedsPerson
	if reply.Status == contract.OK {
		code = exitComplete
	}
	err = t.stdout.JSON(struct {
		Status  contract.Status `json:"status"`
		Message string          `json:"message"`
	}{reply.Status, reply.Message}, "  ")
	if errors.Is(err, syscall.EPIPE) { // the reader is gone, and perform says so
		err = nil
	}
	return code, err
}

// watchOnce opens the turn of the one call. The returned function closes it, and tells what was changed.
func (u *setup) watchOnce(stop context.Context, t *terminal, agents *roster.Roster, p *roster.Player) (end func() error) {
	trees := trust.NewTrees(stop, []trust.Board{{Dir: u.dir, Roster: agents, Files: func() []string { return nil }, Redact: u.redactor(agents).String,
		Notice: func(text string) { _ = t.stderr.Printf("kanban-run: %s\n", text) }}})
	closeTurn := trees.Of(u.dir).Single(p, "a call of once")
	return func() error {
		closeTurn()
		trees.Close()
		return t.printAsked(t.stderr, []string{u.dir})
	}
}

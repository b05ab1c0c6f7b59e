package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/review"
	"kanban-run/orchestrator/supervise"
	"kanban-run/orchestrator/trust"
)

func superviseCommand() command {
	return command{
		name:       "supervise",
		args:       "[-- ARGS]",
		summary:    "talk to an agent whose work a supervisor looks at",
		agents:     true,
		keys:       true,
		resumeHint: "kanban-run supervise -- --continue goes on in the last session of this folder",
		long: `
Type what is to be done. When the agent stops, a supervisor with the prompt of SUPERVISOR.md (in the current folder,
else in ~/.claude) looks at its work in a fork of the session. What it finds missing is the agent's next message; when
its final message has the line [TASK_COMPLETED], it is your turn again. You can type while the agent works. Ctrl-C
stops the agent or the supervisor, once more kills it, and Ctrl-D leaves.

ARGS are added to the agent's command line; those that choose a session (--continue, --resume SESSION, --session-id
UUID) are for its first start, and the conversation goes on in that session. Without a terminal each line of standard
input is a message.`,
		examples: `
  kanban-run supervise --example > SUPERVISOR.md   a prompt to start from
  kanban-run supervise -- --continue               go on with the last session`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir", "agent")
			model := flags.StringP("model", "m", "", "`MODEL` of the agent and the supervisor")
			permission := flags.String("permission", "full",
				"what they may do without asking: `PERMISSION` is read-only, edit or full")
			rounds := flags.Int("rounds", defaultRounds,
				"the supervisor may send the work back `N` times before you are asked")
			example := flags.Bool("example", false, "print a SUPERVISOR.md to start from")
			return func(t *terminal, args []string) (int, error) {
				if *example {
					return exitComplete, t.stdout.PrintTrusted(review.Example)
				}
				if err := checkSupervise(args, flags.ArgsLenAtDash(), *rounds, *permission); err != nil {
					return 0, err
				}
				u, err := s.load(t)
				if err != nil {
					return 0, err
				}
				a := agent.Assignment{
					Role:    "Supervised",
					Options: agent.Options{Model: *model, Permission: agent.Permission(*permission)},
					Args:    args,
				}
				return u.supervise(t, a, *rounds)
			}
		},
	}
}

const defaultRounds = 10

// checkSupervise returns a *usageError for a command line that cannot be carried out. Only arguments behind
// the dash, which is at index dash, are for the agent.
func checkSupervise(args []string, dash, rounds int, permission string) error {
	switch {
	case len(args) > 0 && dash != 0:
		return &usageError{
			text: fmt.Sprintf("supervise takes no message on its command line: %q", args[0]),
			hint: "type it, or pipe it in: echo MESSAGE | kanban-run supervise; what stands after -- is for claude",
		}
	case rounds < 0:
		return &usageError{text: "--rounds must not be negative", hint: "0: you are asked each time"}
	case !slices.Contains([]string{"read-only", "edit", "full"}, permission):
		return &usageError{text: fmt.Sprintf("--permission %s is unknown", permission), hint: "it is read-only, edit or full"}
	default:
		return nil
	}
}

// supervise runs the conversation of a person with the agent that the assignment names.
func (u *setup) supervise(t *terminal, a agent.Assignment, rounds int) (int, error) {
	r, err := u.resolve(u.dir)
	if err != nil {
		return 0, err
	}
	agents := u.roster(r, "", "", false)
	prompt, err := agents.SupervisorPrompt(u.dir)
	if err != nil {
		return 0, &invalidSettings{err}
	}
	if err := trust.RefuseHere(u.dir, agents, true); err != nil {
		return 0, err
	}
	talker, withheld, err := agents.Talker(&a, u.dir)
	if err != nil {
		return 0, err
	}
	if err := proc.Adopt(); err != nil {
		return 0, err
	}
	stop, kill, release := t.contexts(func(bool) {})
	defer release()
	redactor := u.redactor(agents)
	if len(withheld) > 0 {
		_ = t.stderr.Printf("kanban-run: %s\n", event.WithheldText(withheld, nil, ".kanban-run.yaml"))
	}
	talk, err := openConversation(t)
	if err != nil {
		return 0, err
	}
	if a.Scratch, err = os.MkdirTemp("", "kanban-run-supervise-"); err != nil {
		return 0, errors.Join(fmt.Errorf("make a folder for a long prompt: %w", err), talk.close())
	}
	supervisor := a
	supervisor.Prompt = prompt.Text
	supervisor.Permission = cmp.Or(prompt.Permission, agent.ReadOnly)
	loop := supervise.Supervision{
		Agent:      talker,
		Worker:     a,
		Supervisor: supervisor,
		Rounds:     rounds,
		Sinks:      attempt.Sinks{Redactor: redactor},
		Screen:     talk,
		Keyboard:   talk.keyboard,
		Resize:     talk.resize,
		Size:       talk.size,
	}
	err = errors.Join(loop.Run(stop, kill), talk.close(), os.RemoveAll(a.Scratch))
	if err != nil {
		return 0, err
	}
	return exitComplete, nil
}

// Package stub plays agents that do no work, for dry runs and tests. A stub always gives the same
// reply at once, or misbehaves as a file of rules demands.
package stub

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// Command is the hidden subcommand of kanban-run that plays a stub agent; see [Main].
const Command = "stub-agent"

// Options control the behaviour of stub agents. Relative paths start in the current directory.
type Options struct {
	File     string // path of a file of rules, see schema "stub"; "" means no rules
	StateDir string // folder in which stubs count their calls; "" if no rule has the key "attempt"
	// InProcess lets stubs reply within this process, for dry runs. Stubs with a file of rules have
	// processes of their own all the same, because a rule can demand a crash or a hang.
	InProcess bool
}

// New returns the adapter for stub agents. A stub Manager works through the list of tasks. The
// parameter executable is the path of kanban-run, which plays a stub that has its own process.
func New(executable string, opts Options) agent.Adapter {
	return adapter{executable, opts, &taskCache{known: map[listed]board.TaskResult{}}}
}

type adapter struct {
	executable string
	opts       Options
	tasks      *taskCache // tasks that stubs in this process have read
}

func (adapter) Name() string { return "stub" }

func (a adapter) Check(call agent.Assignment) error {
	if _, err := agent.LookPath(a.executable, call.Dir); err != nil {
		return err
	}
	if _, err := loadRules(a.opts.File); err != nil {
		return &agent.ConfigError{
			Text: fmt.Sprintf("stub file %s", a.opts.File),
			Fix:  "kanban-run schema stub says what such a file may hold",
			Err:  err,
		}
	}
	return nil
}

// Invoke returns the start of a stub. It makes paths absolute, because the stub starts in the work
// directory.
func (a adapter) Invoke(call agent.Assignment) (agent.Invocation, error) {
	argv := []string{a.executable, Command, "--role", call.Role}
	for _, opt := range [...]struct{ flag, path string }{{"--file", a.opts.File}, {"--state", a.opts.StateDir}} {
		if opt.path == "" {
			continue
		}
		path, err := filepath.Abs(opt.path)
		if err != nil {
			return agent.Invocation{}, fmt.Errorf("find %s: %w", opt.path, err)
		}
		argv = append(argv, opt.flag, path)
	}
	if call.Review {
		argv = append(argv, "--reviewed")
	}
	if call.Follow != nil {
		text, err := json.Marshal(struct {
			Instruction string `json:"instruction"`
		}{call.Follow.Text})
		if err != nil {
			return agent.Invocation{}, err
		}
		call.Input, argv = text, append(argv, "--call", followed(call.Contract))
	}
	inv := call.Invocation(argv)
	if a.opts.InProcess && a.opts.File == "" {
		inv.Func = a.player(inv)
	}
	return inv, nil
}

// player returns the function that plays a stub in place of its process. It looks for no end of its
// context, because a stub without rules replies at once.
func (a adapter) player(inv agent.Invocation) func(ctx context.Context, stdout, stderr io.Writer) proc.Exit {
	return func(_ context.Context, stdout, stderr io.Writer) proc.Exit {
		c := &call{dir: inv.Dir, tasks: a.tasks, stdout: stdout, stderr: stderr}
		return proc.Exit{Code: c.play(inv.Argv[2:], bytes.NewReader(inv.Stdin))}
	}
}

// The kinds of calls that a rule can name. They are a task's first call, the review of its work,
// the work that goes on after a review, and the two kinds of calls of a supervisor.
const (
	callTask   = "task"
	callReview = "review"
	callResume = "resume"

	callReady      = "ready"      // a supervisor starts
	callCheckpoint = "checkpoint" // a supervisor is woken at a checkpoint
)

func followed(k contract.Kind) string {
	switch k {
	case contract.Review:
		return callReview
	case contract.Ready:
		return callReady
	case contract.Checkpoint:
		return callCheckpoint
	default:
		return callResume
	}
}

// Reader returns a reader that looks for extras.
func (a adapter) Reader(k contract.Kind, _ agent.Host) agent.Reader {
	return &extrasReader{agent.NewObjectReader(), k == contract.Review}
}

func (adapter) Tool() agent.Tool { return agent.Tool{Resumes: true, EndsAt: true} }

// Package stub plays agents that do no work, for dry runs and tests: they reply at once, always the
// same, or misbehave by a file of rules.
package stub

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
)

// Command is the hidden subcommand of kanban-run that plays a stub agent; see [Main].
const Command = "stub-agent"

// Options control the behaviour of stub agents. Relative paths start in the current directory.
type Options struct {
	File     string // rules by which they misbehave, in the schema "stub"; "" without rules
	StateDir string // folder in which they count their calls; "" when no rule asks for an attempt
}

// New returns the adapter for stub agents. The Manager among them works through the list of tasks.
// executable is kanban-run's own path, so that a stub is a real process.
func New(executable string, opts Options) agent.Adapter { return adapter{executable, opts} }

type adapter struct {
	executable string
	opts       Options
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

// Invoke makes paths absolute, because the stub is started in the work directory.
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
	if call.Follow == nil {
		return call.Invocation(argv), nil
	}
	text, err := json.Marshal(struct {
		Instruction string `json:"instruction"`
	}{call.Follow.Text})
	if err != nil {
		return agent.Invocation{}, err
	}
	call.Input = text
	return call.Invocation(append(argv, "--call", followed(call.Contract))), nil
}

// The calls that a rule may be for: one that begins, the review of its work, work that goes on
// after it, and those of a supervisor.
const (
	callTask   = "task"
	callReview = "review"
	callResume = "resume"

	callReady      = "ready"      // a supervisor that starts
	callCheckpoint = "checkpoint" // one that is woken
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

// Reader looks for more than a reply only if a rule may have added it, or a supervisor names its
// session.
func (a adapter) Reader(k contract.Kind, _ agent.Host) agent.Reader {
	if a.opts.File == "" && k != contract.Ready {
		return agent.NewObjectReader()
	}
	return &extrasReader{agent.NewObjectReader(), k == contract.Review}
}

func (adapter) Tool() agent.Tool { return agent.Tool{Resumes: true} }

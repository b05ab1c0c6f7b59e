package agent

import (
	"fmt"
	"os"
	"path/filepath"

	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// StubCommand is the hidden subcommand of kanban-run that plays a stub agent; see StubMain.
const StubCommand = "stub-agent"

// StubOptions say how stub agents behave. Relative paths start in the current directory.
type StubOptions struct {
	File     string // rules by which they misbehave, in the schema "stub"; "" for none
	StateDir string // folder in which they count their calls; "" when no rule asks for an attempt
}

// Stub is the adapter for agents that do no work: they reply at once, always the same, and the Manager among them goes through
// the list of tasks. executable is kanban-run's own path, so that a real process is started and spoken to.
func Stub(executable string, opts StubOptions) Adapter { return stub{executable, opts} }

type stub struct {
	executable string
	opts       StubOptions
}

func (stub) Name() string { return "stub" }

func (s stub) Check(a Assignment) error {
	if _, err := proc.LookPath(s.executable, a.Dir); err != nil {
		return startProblem(err)
	}
	if _, err := loadRules(s.opts.File); err != nil {
		return &ConfigError{Text: fmt.Sprintf("stub file %s", s.opts.File), Fix: "kanban-run schema stub says what such a file may hold", Err: err}
	}
	return nil
}

// Invoke makes paths absolute, because the stub is started in the work directory.
func (s stub) Invoke(a Assignment) (Invocation, error) {
	argv := []string{s.executable, StubCommand, "--role", a.Role}
	for _, opt := range [...]struct{ flag, path string }{{"--file", s.opts.File}, {"--state", s.opts.StateDir}} {
		if opt.path == "" {
			continue
		}
		path, err := filepath.Abs(opt.path)
		if err != nil {
			return Invocation{}, fmt.Errorf("find %s: %w", opt.path, err)
		}
		argv = append(argv, opt.flag, path)
	}
	return invocation(a, argv), nil
}

// Reader looks for more than a reply only where a rule may have told it.
func (s stub) Reader(contract.Kind, Host) Reader {
	if s.opts.File == "" {
		return &objectReader{}
	}
	return &taleReader{}
}

func (stub) Tool() Tool { return Tool{} }

// readSmall reads a file that a person wrote. It asks before it opens: opening a pipe would wait for its writer.
func readSmall(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s is larger than %d KiB", path, most>>10)
	}
	return os.ReadFile(path)
}

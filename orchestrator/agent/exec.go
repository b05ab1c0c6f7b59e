package agent

import (
	"cmp"
	"errors"
	"slices"

	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// Exec returns the adapter for programs that have no adapter of their own. Such a program reads the
// input from standard input, prints the reply on standard output, and exits with 0. The input and
// the reply are one JSON object each. Standard error is for people.
func Exec() Adapter { return execAdapter{} }

type execAdapter struct{}

func (execAdapter) Name() string { return "exec" }

func (execAdapter) Check(a Assignment) error {
	if err := a.Support("an exec agent", "model", "tools"); err != nil {
		return err
	}
	_, err := program(a)
	return err
}

func (execAdapter) Invoke(a Assignment) (Invocation, error) {
	path, err := program(a)
	if err != nil {
		return Invocation{}, err
	}
	return a.Invocation(slices.Concat([]string{path}, a.Command[1:], a.Args)), nil
}

func (execAdapter) Reader(contract.Kind, Host) Reader { return NewObjectReader() }

func (execAdapter) Tool() Tool { return Tool{Ignores: []string{"tools", "model"}} }

func program(a Assignment) (string, error) {
	if len(a.Command) == 0 || a.Command[0] == "" {
		return "", &ConfigError{
			Text: "no command is set for the exec agent",
			Fix:  "give one with --exec 'COMMAND ARGS', or as command in the role file",
		}
	}
	return a.LookPath(a.Command[0])
}

// LookPath returns the path of the assignment's program, which has the given name. A program that
// was found when the run began is not looked for again, so that one with its name that an agent
// puts into PATH meanwhile is not started. Errors: *ConfigError.
func (a Assignment) LookPath(name string) (string, error) {
	return LookPath(cmp.Or(a.Path, name), a.Dir)
}

// LookPath returns the path of the program that a start would use. It looks for a name in the folders
// of PATH, and resolves a relative path from dir. Errors: *ConfigError.
func LookPath(name, dir string) (string, error) {
	path, err := proc.LookPath(name, dir)
	if err != nil {
		return "", startProblem(err)
	}
	return path, nil
}

// startProblem turns a *proc.StartError into a *ConfigError, so that a check and a start report the
// same words.
func startProblem(err error) error {
	var start *proc.StartError
	if errors.As(err, &start) {
		return &ConfigError{Text: start.Error(), Fix: start.Hint(), Missing: true}
	}
	return err
}

// Invocation describes how to start the program argv. The program gets the assignment's input,
// unchanged, as its standard input.
func (a Assignment) Invocation(argv []string) Invocation {
	return Invocation{Argv: argv, Stdin: a.Input, Env: a.Env, Dir: a.Dir, Timeout: a.Timeout, Grace: a.Grace}
}

// NewObjectReader returns the reader for an agent whose whole standard output is the reply. Byte order
// marks, colours and NULs around the reply are taken off: a pipe, a shell or a runtime puts them there.
func NewObjectReader() Reader { return &objectReader{} }

type objectReader struct{ capture }

// onlyTheReply is the remedy where an agent has printed more than its reply.
const onlyTheReply = "only the reply goes to standard output, everything else to standard error"

// End returns the report. It rejects the output of an agent that ended badly, because such output
// might be an old or incomplete answer.
func (r *objectReader) End(exit proc.Exit) Report {
	report := Report{Reply: withoutDecoration(r.take()), Advice: onlyTheReply}
	switch {
	case exit.Code != 0 || exit.Signal != "" || exit.TimedOut:
		report.Failure = &contract.Failure{Reason: exit.String()}
	case r.size > contract.MaxReply:
		report.Failure = contract.Failed("stdout is larger than 16 MiB")
	case decoration(report.Reply) == len(report.Reply):
		report.Failure = contract.Failed("stdout is empty")
	}
	return report
}

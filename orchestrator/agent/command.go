package agent

import (
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// ReviewCommand returns the adapter for a program that reviews an agent's work. The program reads
// the input of the task from standard input, and its exit status is the verdict.
func ReviewCommand() Adapter { return reviewCommand{} }

type reviewCommand struct{ execAdapter }

func (reviewCommand) Name() string { return "command" }

func (reviewCommand) Check(a Assignment) error {
	_, err := program(a)
	return err
}

func (reviewCommand) Reader(contract.Kind, Host) Reader { return noReader{} }

func (reviewCommand) Tool() Tool { return Tool{Free: true} }

// noReader ignores the output, which is for people and for the agent.
type noReader struct{}

func (noReader) Write(p []byte) (int, error) { return len(p), nil }

func (noReader) End(proc.Exit) Report { return Report{} }

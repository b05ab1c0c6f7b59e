package preflight

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/decisions"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/rundir"
)

// checkWritable returns an error for a board that cannot be replaced, or whose runs have no place
// for their files, before an agent works in vain. The result lost is what the board loses at the first
// write, see [durable.Rehearse].
func checkWritable(job *Job, path string) (lost string, err error) {
	if job.DryRun {
		return "", nil
	}
	lost, err = durable.Rehearse(path)
	op := "write board"
	if err == nil {
		op, err = "run board", rundir.Of(path).CheckWritable()
	}
	if err != nil {
		return "", &board.FileError{Op: op, File: job.Board, Err: err, Fix: failure.HintOf(err)}
	}
	return lost, nil
}

// checkDecisions returns an error if the file for decisions is there and cannot be written.
func (p *Prepared) checkDecisions() error {
	path := decisions.FindFile(p.Run.Decisions, p.Workspace.Path, p.Workspace.HomeDir())
	if p.DryRun || path == "" {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		p.Warnings = append(p.Warnings, decisions.MissingText(path)) // a run gives a notice itself
		return nil
	}
	_, err := durable.Rehearse(path)
	if err == nil {
		return nil
	}
	return p.Roster.Settings.Fault("decisions", fmt.Errorf("note decisions in %s: %w", path, err))
}

// LossText is the warning about a board that cannot keep its owner or its group.
func LossText(lost string) string {
	return "the board cannot keep " + lost + ", which this user may not give away; no user gets more rights by that"
}

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
// for their files, before an agent works in vain.
func checkWritable(job *Job, path string) error {
	if job.DryRun {
		return nil
	}
	if err := durable.CheckReplace(path); err != nil {
		return &board.FileError{Op: "write board", File: job.Board, Err: err, Fix: failure.HintOf(err)}
	}
	if err := rundir.Of(path).CheckWritable(); err != nil {
		return &board.FileError{Op: "run board", File: job.Board, Err: err, Fix: failure.HintOf(err)}
	}
	return nil
}

// checkDecisions returns an error if the file for decisions is there and cannot be written.
func (p *Prepared) checkDecisions() error {
	path := decisions.FindFile(p.Run.Decisions, p.Workspace.Path, p.Dir())
	if p.DryRun || path == "" {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		p.Warnings = append(p.Warnings, decisions.MissingText(path)) // a run gives a notice itself
		return nil
	}
	err := durable.CheckReplace(path)
	if err == nil {
		return nil
	}
	return p.Roster.Settings.Fault("decisions", fmt.Errorf("note decisions in %s: %w", path, err))
}

// warnOfOwner warns of an owner or a group that a board loses at the first write. A run itself
// warns when it has tried.
func (p *Prepared) warnOfOwner() {
	if lost := durable.ForeseeLoss(p.Workspace.Path); lost != "" && !p.DryRun {
		p.Warnings = append(p.Warnings, LossText(lost))
	}
}

// LossText is the warning about a board that cannot keep its owner or its group.
func LossText(lost string) string {
	return "the board cannot keep " + lost + ", which this user may not give away; no user gets more rights by that"
}

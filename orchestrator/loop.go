package orchestrator

import (
	"path"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/flow"
)

// suspectLoop puts a task into quarantine: seed 002, "Review Loop". The Manager is told, if its role accepts that.
func (r *run) suspectLoop(e flow.SuspectLoop, b *board.Board) error {
	manager, err := r.Player(flow.ManagerRole)
	return r.ledger.Record(flow.LoopSuspected{Step: e.Step, Task: e.Task, Role: e.Role, BoardSHA: b.SHA, TaskSHA: r.Workspace.TaskSHA(e.Task),
		Told: err == nil && manager.Role.Anomalies, Suspicion: e.Suspicion})
}

// leaving is how a step leaves the work tree; nil: a task is next that was not worked on lately.
func (r *run) leaving(step *flow.Step) *flow.Leaving {
	if r.DryRun || step.Reply.NextTask == nil {
		return nil
	}
	next := r.Workspace.Seen(*step.Reply.NextTask)
	switch {
	case path.Clean(next) == path.Clean(step.Task):
	case r.ledger.State().WasWorkedOn(next):
		return &flow.Leaving{Other: true, Tree: r.projectHash()}
	default:
		return nil
	}
	l := &flow.Leaving{Tree: r.projectHash(), Said: r.said}
	entry := r.Workspace.LastEntry(step.Task)
	if l.Tree == "" { // else the files tell more: an approval of each of many parts is the same word, too
		l.Finding = flow.FindingOf(r.said + "\n" + entry)
	}
	return l
}

// projectHash identifies the state of the project's files; "": it is not known.
func (r *run) projectHash() string {
	if r.DryRun {
		return ""
	}
	return r.Workspace.ProjectHash(r.stop, agent.ParseMark(r.ledger.State().Step.Mark))
}

// quarantined are the files of tasks in quarantine.
func (r *run) quarantined() (files []flow.TaskFile) {
	for _, q := range r.ledger.State().Quarantine {
		files = append(files, flow.TaskFile{Task: q.Task, SHA: r.Workspace.TaskSHA(q.Task)})
	}
	return files
}

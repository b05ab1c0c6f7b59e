package orchestrator

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/flow"
)

// judge looks at a reply whose JSON is valid. A task agent's is accepted as it is: its content is nobody's business here
// (seed 004, "Constraints": never interpret agent output content). The Manager's must name things that exist and agree with
// the board that the Manager left; disagreed says that it contradicts the board. An error is a shortage of this machine, because of which
// nobody can tell.
func (r *run) judge(e flow.StartAgent, reply *agent.Reply) (accepted flow.ReplyAccepted, failure *agent.Failure, disagreed bool, err error) {
	accepted = flow.ReplyAccepted{Step: e.Step, Call: e.Call, Task: e.Task, Attempt: e.Attempt, Status: string(reply.Status),
		Message: clip(r.setup.Redactor.String(reply.Message))}
	if e.Call == flow.TaskCall {
		return accepted, nil, false, nil
	}
	given, err := r.sameInput()
	if err != nil {
		failure, err = faultOf(err, err.Error())
		return accepted, failure, false, err
	}
	accepted.SameTasks = reply.SameTasks || slices.Equal(reply.Tasks, given.list.paths)
	replied := given.list
	if !accepted.SameTasks {
		replied = newList(reply.Tasks)
	}
	if failure, err := r.namesGoodPaths(reply, accepted.SameTasks); failure != nil || err != nil {
		return accepted, failure, false, err
	}
	after, err := r.lookAtBoard()
	if err != nil {
		failure, err = r.unreadable(err)
		return accepted, failure, false, err
	}
	next := ""
	if reply.NextTask != nil {
		next = r.seen(*reply.NextTask)
	}
	verdict := flow.Reconcile(r.baseline(given.list), r.fields(after), next, replied.clean)
	if verdict.Disagreement != "" {
		return accepted, &agent.Failure{Reason: verdict.Disagreement}, true, nil
	}
	if _, _, err := r.plan(after, verdict, next, replied.paths); err != nil {
		return accepted, &agent.Failure{Reason: "the reply cannot be written onto the board: " + err.Error()}, false, nil
	}
	accepted.NextTask = reply.NextTask
	if !accepted.SameTasks {
		accepted.Tasks = replied.paths
	}
	return accepted, nil, false, nil
}

// faultOf is the Manager's failure, or err again where it is the machine that is at fault.
func faultOf(err error, reason string) (*agent.Failure, error) {
	if durable.IsShortage(err) {
		return nil, err
	}
	return &agent.Failure{Reason: reason}, nil
}

// unreadable puts a board back that the Manager left unreadable. One that could not be opened for want of files is as good as it was.
func (r *run) unreadable(err error) (*agent.Failure, error) {
	if durable.IsShortage(err) {
		return nil, err
	}
	reason := fmt.Sprintf("the Manager left the board unreadable: %v; its earlier bytes were put back from %s", err, r.files.before())
	if back := r.putBack(); back != nil {
		reason = fmt.Sprintf("the Manager left the board unreadable: %v; its earlier bytes are in %s and could not be put back: %v", err, r.files.before(), back)
	}
	return &agent.Failure{Reason: reason}, nil
}

// maxMessage is how much of a message is journaled, in bytes: it is a summary, and the work log is in the task file.
const maxMessage = 32 << 10

func clip(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return fmt.Sprintf("%s… (%d bytes in all)", strings.ToValidUTF8(message[:maxMessage], ""), len(message))
}

// namesGoodPaths checks what next_task and tasks name. A secret in them would be journaled and written onto the board, and a
// redacted path is no path. A list that comes back as it was given was looked at before it was given.
func (r *run) namesGoodPaths(reply *agent.Reply, sameTasks bool) (*agent.Failure, error) {
	if !sameTasks && slices.ContainsFunc(reply.Tasks, r.setup.Redactor.Changes) {
		return &agent.Failure{Reason: "tasks holds a secret"}, nil
	}
	if reply.NextTask == nil {
		return nil, nil
	}
	if r.setup.Redactor.Changes(*reply.NextTask) {
		return &agent.Failure{Reason: "next_task holds a secret"}, nil
	}
	if _, err := r.place.Resolve(*reply.NextTask); err != nil {
		return faultOf(err, "next_task: "+err.Error())
	}
	return nil, nil
}

func (r *run) baseline(given *list) flow.Fields {
	return flow.Fields{Current: r.history.State.Step.Before.Current, Tasks: given.clean}
}

func (r *run) fields(b *board.Board) flow.Fields {
	f := flow.Fields{Terminal: b.Terminal(), Tasks: r.listOf(b).clean}
	if b.Current.Set && !b.Current.Null {
		f.Current = r.seen(b.Current.Path)
	}
	return f
}

// seen is a path as agents see it: as the board writes it when that resolves from the work directory, else rewritten so that
// it does. A path without a file stays as it is. Where the two spellings are one, no file has to be looked at.
func (r *run) seen(p string) string {
	if r.place.Flat() && filepath.IsLocal(p) && path.Clean(p) == p && filepath.ToSlash(p) == p {
		return p
	}
	ref, err := r.place.Resolve(p)
	if err != nil {
		return path.Clean(p)
	}
	return ref.Path
}

// seenAll is seen for a list. Where the board lies in the work directory itself, the two spellings are one and no file has to
// be looked at, which matters for lists of a hundred thousand.
func (r *run) seenAll(paths []string) []string {
	if r.place.Flat() {
		return paths
	}
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = p
		if ref, err := r.place.Resolve(p); err == nil {
			out[i] = ref.Path
		}
	}
	return out
}

// position is the task's place in the board's list, from 1, and the list's length; 0 when it is not listed.
func (r *run) position(b *board.Board, task string) (index, of int) {
	l := r.listOf(b)
	i := slices.Index(l.paths, task)
	if i < 0 {
		i = slices.Index(l.clean, path.Clean(task))
	}
	return i + 1, len(l.paths)
}

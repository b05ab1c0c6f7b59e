package call

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/workspace"
)

// decided is the caller of a run with an accepted reply of the Manager, whose long list was stored
// beside the journal, on a board of b.md and c.md.
func decided(t *testing.T) (c *Caller, b *board.Board, step *flow.Step, given []string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "k.yaml")
	source := []byte("current: b.md\ntasks: [b.md, c.md]\n")
	if err := os.WriteFile(path, source, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := board.Parse(path, source)
	if err != nil {
		t.Fatal(err)
	}
	place, err := board.OpenPlace(dir, path)
	if err != nil {
		t.Fatal(err)
	}
	made := redact.New(nil)
	w := workspace.New(path, path, place, b, made)
	if err := rundir.Of(path).Ensure(); err != nil {
		t.Fatal(err)
	}
	c = NewCaller(Turn{Redactor: made, Workspace: w, Folder: rundir.Of(path)})
	given = slices.Repeat([]string{"tasks/a-task-of-many.md"}, 400)
	in, err := contract.ForManager("k.yaml", "a.md", nil, given)
	if err != nil {
		t.Fatal(err)
	}
	inline, rest, err := in.Journaled()
	if err != nil {
		t.Fatal(err)
	}
	step = &flow.Step{Number: 1, Task: "a.md", Call: event.ManagerCall, Input: inline, Before: &event.Baseline{Current: "a.md"}}
	if step.Stored, err = c.Folder.Store(rest); err != nil {
		t.Fatal(err)
	}
	return c, b, step, given
}

// TestDecision: an accepted reply is written by what was journaled and stored. Where a list is
// lost, what the Manager did to the board stands: it could not be told from what was there before.
func TestDecision(t *testing.T) {
	next := "b.md"
	other := slices.Repeat([]string{"tasks/another-task.md"}, 400)
	for name, tt := range map[string]struct {
		reply event.ReplyAccepted
		gone  bool // all that was stored is gone
		tasks string
		lost  bool
	}{
		"the given list":                   {event.ReplyAccepted{TasksSHA: "given"}, false, "given", false},
		"another long list":                {event.ReplyAccepted{TasksSHA: "other"}, false, "other", false},
		"a short list":                     {event.ReplyAccepted{Tasks: []string{"x.md"}}, false, "short", false},
		"the given list, gone":             {event.ReplyAccepted{TasksSHA: "given"}, true, "board", true},
		"another long list, gone":          {event.ReplyAccepted{TasksSHA: "other"}, true, "board", true},
		"a short list, the given one gone": {event.ReplyAccepted{Tasks: []string{"x.md"}}, true, "short", true},
	} {
		t.Run(name, func(t *testing.T) {
			c, b, step, given := decided(t)
			list, err := json.Marshal(other)
			if err != nil {
				t.Fatal(err)
			}
			otherSHA, err := c.Folder.Store(list)
			if err != nil {
				t.Fatal(err)
			}
			reply := tt.reply
			reply.NextTask = &next
			switch reply.TasksSHA {
			case "given":
				reply.TasksSHA = step.Stored
			case "other":
				reply.TasksSHA = otherSHA
			}
			if step.Reply = &reply; tt.gone {
				c.Folder.SweepStored("")
			}
			d, err := c.Decision(step, b)
			if err != nil || d.Lost != tt.lost || d.Next == nil {
				t.Fatalf("decision = %+v, %v", d, err)
			}
			want := map[string][]string{"given": given, "other": other, "short": {"x.md"}, "board": {"b.md", "c.md"}}[tt.tasks]
			if !slices.Equal(d.Tasks, want) || !d.Lost && !slices.Equal(d.Given, given) {
				t.Errorf("the lists are %.60q and %.60q, want %.60q", d.Given, d.Tasks, want)
			}
			after, err := c.Workspace.Decide(b, &flow.State{Step: step}, d)
			if stands := slices.Equal(after.Board.TaskPaths(), b.TaskPaths()); err != nil || after.Disagreement != "" || d.Lost && !stands {
				t.Errorf("the board is %+v, %v, want its own list to stand", after, err)
			}
		})
	}
}

// TestManager: seed 004, "Manager": a reply that names what is not there, or contradicts the board
// that the Manager left, is rejected; the last rejection takes back an end without a reply.
func TestManager(t *testing.T) {
	next, unknown, long := "b.md", "gone.md", make([]string, 0, 400)
	for range 400 {
		long = append(long, "a.md", "b.md")
	}
	decide := func(n *string, tasks ...string) attempt.Ended {
		e := replied("b is next")
		e.Reply.NextTask, e.Reply.Tasks = n, tasks
		return e
	}
	for name, tt := range map[string]struct {
		set       func(*testing.T, *rig)
		end       attempt.Ended
		reason    string // "": it is accepted
		disagrees bool
	}{
		"accepted":            {nil, decide(&next, "a.md", "b.md"), "", false},
		"the end":             {nil, decide(nil, "a.md", "b.md"), "", false},
		"a task that is none": {nil, decide(&unknown, "a.md"), "gone.md", false},
		"a role that is none": {func(t *testing.T, r *rig) { r.write(t, "b.md", "---\nrole: Nobody\n---\n") }, decide(&next, "a.md", "b.md"), "Nobody", false},
		"against its board": {func(t *testing.T, r *rig) {
			r.write(t, "k.yaml", "current: a.md\nphase: complete\ntasks: [a.md, b.md]\n")
			r.Workspace.Forget()
		},
			decide(&next, "a.md", "b.md"), "", true},
		"against its board, at last": {func(t *testing.T, r *rig) {
			r.journal.state.Step.Rejected = 3
			r.write(t, "k.yaml", "phase: complete\ncurrent: null\ntasks: [a.md, b.md]\n")
			r.Workspace.Forget()
		}, decide(&next, "a.md", "b.md"), "", true},
		"an end without a reply": {func(t *testing.T, r *rig) {
			r.journal.state.Step.Rejected = 3
			r.write(t, "k.yaml", "phase: complete\ncurrent: null\ntasks: [a.md, b.md]\n")
			r.Workspace.Forget()
		}, attempt.Ended{Failure: contract.Failed("no JSON")}, "it ended the board without a valid reply: the earlier bytes were put back", false},
		"one of several": {func(t *testing.T, r *rig) {
			r.journal.state.Step.Rejected = 2
			r.write(t, "k.yaml", "phase: complete\ncurrent: null\ntasks: [a.md, b.md]\n")
			r.Workspace.Forget()
		}, attempt.Ended{Failure: contract.Failed("no JSON")}, "no JSON", false},
		"a long list": {nil, decide(&next, long...), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.open(event.ManagerCall)
			a := r.start(t)
			if tt.set != nil {
				tt.set(t, r)
			}
			switch got := r.end(t, a, tt.end).(type) {
			default:
				t.Errorf("journaled %T", got)
			case event.ReplyAccepted:
				if tt.reason != "" || tt.disagrees || !cmp.Equal(got.NextTask, tt.end.Reply.NextTask) {
					t.Errorf("accepted %+v", got)
				}
				if stored := got.TasksSHA != ""; stored == (got.Tasks != nil) || stored != (len(tt.end.Reply.Tasks) > 100) {
					t.Errorf("the list is stored %t, and inline %t", stored, got.Tasks != nil)
				}
			case event.ReplyRejected:
				if !strings.Contains(got.Reason, tt.reason) || got.Disagreed != tt.disagrees || tt.reason == "" && !tt.disagrees {
					t.Errorf("rejected %+v", got)
				}
				if put := strings.Contains(got.Reason, "put back"); put != strings.Contains(tt.reason, "put back") || put && got.Left != r.board.SHA {
					t.Errorf("put back: %t, left %s", put, got.Left)
				}
			}
		})
	}
}

package call

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/proc"
)

// TestStreams: what an attempt printed is kept unless its reply counts; then it is emptied once that
// is on disk.
func TestStreams(t *testing.T) {
	for name, tt := range map[string]struct {
		set  func(*rig)
		end  attempt.Ended
		kept bool
		disk int // events on disk
	}{
		"accepted":                  {nil, replied("ok"), false, 0},
		"with all output":           {func(r *rig) { r.Run.KeepOutput = true }, replied("ok"), true, 0},
		"in commits":                {func(r *rig) { r.Run.Git.On = true }, replied("ok"), false, 1},
		"rejected":                  {nil, attempt.Ended{Failure: contract.Failed("no JSON")}, true, 1},
		"stopped":                   {nil, attempt.Ended{Cut: attempt.ByWatch}, true, 1},
		"a command that is content": {func(r *rig) { r.open(event.CommandCall) }, attempt.Ended{}, false, 0},
		"one that is not":           {func(r *rig) { r.open(event.CommandCall) }, attempt.Ended{Exit: proc.Exit{Code: 1}}, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			if tt.set != nil {
				tt.set(r)
			}
			a := r.start(t)
			r.journal.committed = 0
			if _, err := a.Spec.Sinks.Stdout.Write([]byte("hello\n")); err != nil {
				t.Fatal(err)
			}
			r.measure(a, &tt.end)
			e := r.end(t, a, tt.end)
			if kept := r.Folder.Output(1) != ""; kept != tt.kept || r.journal.committed != tt.disk {
				t.Errorf("kept: %t, %d events on disk, want %t and %d", kept, r.journal.committed, tt.kept, tt.disk)
			}
			if rejected, ok := e.(event.ReplyRejected); ok && rejected.Output == "" {
				t.Error("the rejection does not say where the output is")
			}
			if counts := !tt.kept || r.Run.KeepOutput; counts != (len(r.emptied) == 1) {
				t.Errorf("%v are emptied later", r.emptied)
			}
			if r.EmptyStreams(); r.emptied != nil {
				t.Error("nothing is forgotten")
			}
			stream := filepath.Join(r.Folder.Path, "output", string(a.Intent.Call)+".stdout")
			if text, err := os.ReadFile(stream); !tt.kept && (err != nil || len(text) > 0) {
				t.Errorf("the stream has %q, %v", text, err)
			}
		})
	}
}

// TestEarlierOutput: when a run keeps the output of a call, what an earlier run has kept of the same
// call is removed, and what this run has kept stays.
func TestEarlierOutput(t *testing.T) {
	r := newRig(t)
	if err := os.MkdirAll(filepath.Join(r.Folder.Steps(), "0001"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"task-1.stdout", "task-2.stderr", "review-1.stdout"} {
		if err := os.WriteFile(filepath.Join(r.Folder.Steps(), "0001", name), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := r.start(t)
	for a.Intent.Attempt = 3; a.Intent.Attempt < 5; a.Intent.Attempt++ {
		if _, err := a.Spec.Sinks.Stdout.Write([]byte("new")); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(r.close(a), r.keepStreams(a)); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(r.Folder.Output(1), "*"))
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	if got := strings.Join(left, " "); err != nil || got != "review-1.stdout task-3.stdout task-4.stdout" {
		t.Errorf("kept %s, %v", got, err)
	}
}

// TestProgram: a program is started, and what it does is passed on: all of it to the observer, what a
// person may ask for to the file of the step, and what is journaled to the run.
func TestProgram(t *testing.T) {
	r := newRig(t)
	r.emptied = []event.Call{event.ReviewCall}
	a := r.start(t)
	echo, err := exec.LookPath("echo")
	if err != nil {
		t.Skip(err)
	}
	a.Spec.Invocation.Argv, a.Spec.Invocation.Dir = []string{echo, "hello"}, r.dir
	turns := 0
	if err := r.Settle(a, r.Start(a), func([]string) error { turns++; return nil }); err != nil {
		t.Fatal(err)
	}
	kinds := ""
	for _, e := range r.journal.events {
		kinds += e.Kind() + " "
	}
	if kinds != "TOOLS_USED REPLY_ACCEPTED " || turns != 1 || r.used.Attempts != 1 || r.used.Input != 5 {
		t.Errorf("journaled %s, %d looks at the board, used %+v", kinds, turns, r.used)
	}
	if got := r.journal.events[1].(event.ReplyAccepted); got.Message != "done" || got.Session != "s" || got.Spent.Input != 5 {
		t.Errorf("accepted %+v", got)
	}
	want := []agent.Kind{agent.Session, agent.ToolStarted, agent.Text, agent.Heartbeat, agent.ToolEnded, agent.Heard}
	if !slices.Equal(r.notices.signs, want) || !slices.Equal(r.notices.told, []string{"an unknown event"}) {
		t.Errorf("shown %v, told %q", r.notices.signs, r.notices.told)
	}
	var passed []agent.Kind
	for len(a.Signs) > 0 {
		passed = append(passed, (<-a.Signs).Kind)
	}
	if !slices.Equal(passed, []agent.Kind{agent.Session, agent.ToolEnded, agent.Heard}) {
		t.Errorf("passed on to be journaled: %v", passed)
	}
	kept, err := r.Folder.ReadEvents(1)
	if err != nil || len(kept) != 3 || !strings.Contains(string(kept[1]), "looking at the task") {
		t.Errorf("kept %q, %v", kept, err)
	}
	if len(r.emptied) != 1 || r.emptied[0] != event.TaskCall {
		t.Errorf("%v are emptied later", r.emptied)
	}
}

// TestFullSigns: signs that nobody takes are dropped, and hold no agent up.
func TestFullSigns(t *testing.T) {
	r := newRig(t)
	a := r.start(t)
	for range 2 * fewSigns {
		a.Spec.Emit(agent.Event{Kind: agent.Heard, ID: "m"})
	}
	if len(a.Signs) != fewSigns {
		t.Errorf("%d signs wait", len(a.Signs))
	}
}

// TestShow: other programs see what an agent does, and a reviewer that others wait for it.
func TestShow(t *testing.T) {
	for c, wait := range map[event.Call]string{event.TaskCall: "model", event.ReviewCall: "waiting_review"} {
		r := newRig(t)
		r.open(c)
		a := r.start(t)
		a.Spec.Show(health.Live{WaitReason: "model"})
		text, err := os.ReadFile(r.Folder.Live())
		if err != nil || !strings.Contains(string(text), wait) || !strings.Contains(string(text), `"step":1`) {
			t.Errorf("%s shows %s, %v", c, text, err)
		}
	}
}

// TestSweep: with a Manager's new input those of earlier steps are removed, and a retry keeps its own.
func TestSweep(t *testing.T) {
	r := newRig(t)
	old, err := r.Folder.Store([]byte("old"))
	if err != nil {
		t.Fatal(err)
	}
	stored := func() bool {
		_, err := r.Folder.Stored(old)
		return err == nil
	}
	for _, tt := range []struct {
		call  event.Call
		input string
		kept  bool
	}{{event.TaskCall, "{}", true}, {event.ManagerCall, "", true}, {event.ManagerCall, "{}", false}} {
		a := &Attempt{}
		if a.Intent.Call = tt.call; tt.input != "" {
			a.Intent.Input = []byte(tt.input)
		}
		if r.sweep(a); stored() != tt.kept {
			t.Errorf("behind %s with the input %q it is stored: %t", tt.call, tt.input, stored())
		}
	}
}

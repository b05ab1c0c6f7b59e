package call

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/roster"
)

// TestReady: seed 001, "Core Loop": a supervisor that reports an error is not ready, nor one that
// could not remember.
func TestReady(t *testing.T) {
	says := func(kind, session string) attempt.Ended {
		return attempt.Ended{Session: session, Reply: &contract.Reply{Status: contract.OK, Checkpoint: &contract.SupervisorReply{Type: kind, Message: "no disk"}}}
	}
	for name, tt := range map[string]struct {
		end    attempt.Ended
		memory event.Memory
		reason string
	}{
		"ready":                     {says("ready", "s"), event.InSession, ""},
		"an error":                  {says("error", "s"), event.InSession, "it reports an error: no disk"},
		"no session":                {says("ready", ""), event.InSession, "it named no session, in which it could remember"},
		"none needed for a program": {says("ready", ""), event.InProcess, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.open(event.ReadyCall)
			r.journal.state.Supervisor.Memory = tt.memory
			a := r.start(t)
			switch got := r.end(t, a, tt.end).(type) {
			default:
				t.Errorf("journaled %T", got)
			case event.ReplyAccepted:
				if tt.reason != "" || got.Message == "" {
					t.Errorf("accepted %+v", got)
				}
				if _, err := os.Stat(r.Folder.TeamSession()); err != nil {
					t.Error(err)
				}
			case event.ReplyRejected:
				if got.Reason != tt.reason {
					t.Errorf("rejected for %q, want %q", got.Reason, tt.reason)
				}
			}
		})
	}
}

// TestBriefing: the supervisor is told the requirement that the settings name, or else the first task,
// and which entries are done; no secret, and a model text.
func TestBriefing(t *testing.T) {
	r := newRig(t)
	r.write(t, "k.yaml", "current: b.md\ntasks:\n  - a.md [done]\n  - b.md\n")
	r.Workspace.Forget()
	var err error
	if r.board, err = r.Workspace.Look(); err != nil {
		t.Fatal(err)
	}
	r.open(event.ReadyCall)
	for named, want := range map[string]string{"": "a.md", "spec hunter2hunter2.md": "spec [REDACTED"} {
		r.journal.state.Supervisor.Plan.Requirement, r.journal.state.Step.Input = named, nil
		p, _ := r.Player(r.journal.state.Afresh())
		a, err := r.Prepare(r.journal.state.Afresh(), p, r.board)
		if err != nil || !strings.Contains(string(a.Input.JSON), want) || strings.Contains(string(a.Input.JSON), "hunter2") {
			t.Errorf("with the requirement %q it is told %s, %v", named, a.Input.JSON, err)
		}
		if about := r.surroundings(a, r.board); len(about.Done) != 2 || !about.Done[0] || about.Done[1] {
			t.Errorf("done are %v", about.Done)
		}
	}
	r.journal.state.Supervisor.Plan.Requirement, r.journal.state.Step.Input = "", nil
	r.write(t, "k.yaml", "current: b.md\ntasks: []\n")
	r.Workspace.Forget()
	if r.board, err = r.Workspace.Look(); err != nil {
		t.Fatal(err)
	}
	if about := r.surroundings(&Attempt{Player: &roster.Player{}}, r.board); about.Requirement != "" {
		t.Errorf("without tasks the requirement is %q", about.Requirement)
	}
}

// TestReadsText: a supervisor gets text where it goes on in a conversation.
func TestReadsText(t *testing.T) {
	for name, tt := range map[string]struct {
		from     string
		resident bool
		session  bool
		want     bool
	}{
		"a program": {"", false, false, false}, "a program that stays": {"", true, false, false}, "a model that begins": {"", false, true, false},
		"a model that goes on": {"s", false, true, true}, "a model whose program stays": {"", true, true, true},
	} {
		r := newRig(t)
		if tt.resident {
			r.Supervisor.(*supervisor).resident = attempt.NewResident(0)
		}
		a := &Attempt{Player: &roster.Player{Adapter: tool{session: tt.session}}}
		a.Intent.From = tt.from
		if got := r.readsText(a); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestResident: a program that stays is told a message, and another is started.
func TestResident(t *testing.T) {
	for _, stays := range []bool{true, false} {
		r := newRig(t)
		r.open(event.ReadyCall)
		if stays {
			r.Supervisor.(*supervisor).resident = attempt.NewResident(0)
		}
		p, _ := r.Player(r.journal.state.Afresh())
		p.Adapter = staying{r.players.tool}
		a, err := r.Prepare(r.journal.state.Afresh(), p, r.board)
		if err != nil || (string(a.Spec.Invocation.Stdin) == "a message\n") != stays || (a.Spec.Resident != nil) != stays {
			t.Errorf("stays %t: %+v, %v", stays, a.Spec.Invocation, err)
		}
		if died := r.rejected(a, &attempt.Ended{}, contract.Failure{}).Died; died != stays {
			t.Errorf("stays %t: died %t", stays, died)
		}
	}
}

// TestSessionFollowsTheJournal: what the supervisor knows is saved after its reply is journaled, and not
// where that fails. A board that cannot be read is the next round's to report.
func TestSessionFollowsTheJournal(t *testing.T) {
	reply := attempt.Ended{Session: "s", Reply: &contract.Reply{Status: contract.OK, Checkpoint: &contract.SupervisorReply{Type: "ready"}}}
	for name, tt := range map[string]struct {
		set   func(*testing.T, *rig)
		saved bool
		err   error
	}{
		"journaled":    {func(*testing.T, *rig) {}, true, nil},
		"a full disk":  {func(_ *testing.T, r *rig) { r.journal.full = io.ErrShortWrite }, false, io.ErrShortWrite},
		"a torn board": {func(t *testing.T, r *rig) { r.write(t, "k.yaml", "tasks: ["); r.Workspace.Forget() }, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.open(event.ReadyCall)
			a := r.start(t)
			if err := os.Remove(r.Folder.TeamSession()); err != nil {
				t.Fatal(err)
			}
			tt.set(t, r)
			if err := r.settle(a, &reply, nil); !errors.Is(err, tt.err) {
				t.Errorf("settled with %v, want %v", err, tt.err)
			}
			if _, err := os.Stat(r.Folder.TeamSession()); (err == nil) != tt.saved {
				t.Errorf("saved: %v, want %t", err, tt.saved)
			}
		})
	}
}

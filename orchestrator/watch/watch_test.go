package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/frontmatter"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/inbox"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/roster"
	"kanban-run/orchestrator/rundir"
	"kanban-run/roles"
)

// journal keeps what is recorded, and applies it as the ledger does.
type journal struct {
	flow.Journal // nil: what a test does not need
	t            *testing.T
	state        flow.State
	kinds        []string
	last         event.Event
	full         error

	answer event.JudgeAnswered // the last one
}

func (j *journal) State() *flow.State { return &j.state }

func (j *journal) Record(e event.Event) error {
	if j.full != nil {
		return j.full
	}
	if err := j.state.Apply(e); err != nil {
		j.t.Errorf("the journal refuses %s: %v", e.Kind(), err)
	}
	j.kinds, j.last = append(j.kinds, e.Kind()), e
	if answer, ok := e.(event.JudgeAnswered); ok {
		j.answer = answer
	}
	return nil
}

// program is an agent's program that does what it is told, and remembers it.
type program struct {
	report   health.Report
	look     func(time.Time, *health.Monitor) health.Report // nil: report
	did      []string
	deaf     bool   // it takes no message
	obstacle string // what its calls fail with
	timedOut time.Duration
	frozen   time.Duration
	refusal  string // of its provider
}

func (p *program) do(format string, args ...any) { p.did = append(p.did, fmt.Sprintf(format, args...)) }

func (p *program) Check(now time.Time, m *health.Monitor) health.Report {
	if p.look != nil {
		return p.look(now, m)
	}
	return p.report
}

func (p *program) EndCall(tool string) bool         { p.do("end call %s", tool); return true }
func (p *program) EndCalls(kill bool)               { p.do("end calls %t", kill) }
func (p *program) Continue()                        { p.do("continue") }
func (p *program) End(graceful, kill time.Duration) { p.do("end %s %s", graceful, kill) }
func (p *program) Refusal() string                  { return p.refusal }
func (p *program) EndRefused(why string, graceful, kill time.Duration) {
	p.do("end refused %s", why)
}
func (p *program) Obstacle() string        { return p.obstacle }
func (p *program) Frozen() time.Duration   { return p.frozen }
func (p *program) Took() time.Duration     { return time.Minute }
func (p *program) TimedOut() time.Duration { return p.timedOut }

func (p *program) Ask(_, question string) bool {
	p.do("ask %s", question)
	return !p.deaf
}

func (p *program) Tell(_, text string) bool {
	p.do("tell %s", text)
	return !p.deaf
}

// tool is an adapter of which only the name counts.
type tool struct{ agent.Adapter }

func (tool) Name() string                                      { return "tool" }
func (tool) Check(agent.Assignment) error                      { return nil }
func (tool) Tool() agent.Tool                                  { return agent.Tool{} }
func (tool) Invoke(agent.Assignment) (agent.Invocation, error) { return agent.Invocation{}, nil }

// players plays every role but Nobody. The Manager accepts anomalies where it says so.
type players struct{ replans bool }

func (p players) Player(role string) (*roster.Player, error) {
	if role == "Nobody" {
		return nil, errors.New("there is no role Nobody")
	}
	return &roster.Player{Role: roles.Role{Name: role, Anomalies: p.replans}, Adapter: tool{}}, nil
}

func (p players) ReadOnlyPlayer(role string) (*roster.Player, error) { return p.Player(role) }

type tasks struct{ board.Brief }

func (t tasks) ReadBrief(string) board.Brief { return t.Brief }

// rig is a watch of a running agent in step 2, and what is around it.
type rig struct {
	*Watch
	journal *journal
	program *program
	notices []string
	used    event.Used
	bound   string // the limit of the command that is reached
}

func newRig(t *testing.T, policy health.Policy) *rig {
	t.Helper()
	r := &rig{journal: &journal{t: t}, program: &program{}}
	ref := event.AttemptRef{Step: 2, Call: event.TaskCall, Task: "t.md", Role: "Implementor", Attempt: 1}
	r.journal.state = flow.State{Limits: event.Limits{MaxRetries: 1}, Step: &flow.Step{Number: 2, Call: ref.Call, Task: ref.Task, Role: ref.Role, Started: 1, Running: 1}}
	folder := rundir.Dir{Path: t.TempDir()}
	if err := errors.Join(folder.Ensure(), folder.MakeInbox()); err != nil {
		t.Fatal(err)
	}
	player, _ := players{}.Player("Implementor")
	r.Watch = Start(Turn{Bound: func() string { return r.bound }, Board: "k.yaml", Kanban: "k.yaml", Journal: r.journal, Tasks: tasks{board.Brief{HasText: true}}, Folder: folder, Roster: players{}, Trust: trusts{},
		Crowd: &health.Crowd{}, Notice: func(text string) { r.notices = append(r.notices, text) }, Redactor: redact.New([]string{"hunter2hunter2"}), Used: &r.used,
		Now: time.Now, Stop: t.Context(), Kill: t.Context(), Run: config.Run{OnTool: event.ToolCaveat}},
		Agent{AttemptRef: ref, Program: r.program, Player: player, Listens: true, Signs: make(chan *agent.Event, 8)})
	if r.policy = policy; !policy.Off() {
		r.monitor, r.ticker = health.NewMonitor(time.Now(), policy, agent.Signals{}), time.NewTicker(policy.Frequency)
		r.C = r.ticker.C
		t.Cleanup(r.Close)
	}
	return r
}

// want holds what was journaled and what was done to the program since the last want.
func (r *rig) want(t *testing.T, kinds string, did ...string) {
	t.Helper()
	if got := strings.Join(r.journal.kinds, " "); got != kinds {
		t.Errorf("journaled %q, want %q", got, kinds)
	}
	if !slices.EqualFunc(r.program.did, did, strings.HasPrefix) {
		t.Errorf("the program was told %q, want %q", r.program.did, did)
	}
	r.journal.kinds, r.program.did = nil, nil
}

func (r *rig) check(t *testing.T, report health.Report) {
	t.Helper()
	r.program.report = report
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
}

var (
	policy = health.Policy{Frequency: time.Minute, MaxRestarts: 1, Graceful: 5 * time.Second, Kill: 9 * time.Second}
	silent = health.Finding{Check: health.Idle, Severity: health.Critical, For: 20 * time.Minute, Details: "silent for 20m", Act: true}
	hangs  = health.Report{Action: health.Test, On: silent, Findings: []health.Finding{silent}}
)

// TestCheckActs: seed 000, "检查流程" and "动作执行": what is journaled and done for each action.
func TestCheckActs(t *testing.T) {
	call := silent
	call.Call = &health.Call{Tool: "Bash"}
	for name, tt := range map[string]struct {
		action health.Action
		kinds  string
		did    []string
		ends   bool // no check follows
	}{
		"nothing":            {health.Nothing, "", nil, false},
		"ask":                {health.Ask, "MESSAGE_SENT", []string{"ask Quick ping on task #t.md"}, false},
		"ask again":          {health.AskAgain, "MESSAGE_SENT", []string{"ask I see a pause on task #t.md"}, false},
		"resume":             {health.Resume, "", []string{"continue"}, false},
		"end a call":         {health.EndCall, "", []string{"end call Bash"}, false},
		"end its processes":  {health.TermCall, "", []string{"end calls false"}, false},
		"kill its processes": {health.KillCall, "", []string{"end calls true"}, false},
		"end what is over":   {health.EndOver, "", []string{"end 5s 9s"}, true},
		"reboot test":        {health.Test, "REBOOT_TESTED", []string{"end 5s 9s"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, policy)
			r.check(t, health.Report{Action: tt.action, On: call, Status: "idle"})
			r.want(t, tt.kinds, tt.did...)
			if ended := r.C == nil; ended != tt.ends {
				t.Errorf("no check follows: %t, want %t", ended, tt.ends)
			}
			if tt.ends {
				r.check(t, hangs) // a tick that was on its way
				r.want(t, "")
			}
			if m, ok := r.journal.last.(event.MessageSent); ok && m.Urgent != (tt.action == health.AskAgain) {
				t.Errorf("urgent: %t", m.Urgent)
			}
		})
	}
}

// TestABusyProviderIsNoHang: an agent whose provider refuses its calls is ended as that, without a reboot
// test, and costs no restart.
func TestABusyProviderIsNoHang(t *testing.T) {
	r := newRig(t, policy)
	r.program.refusal = "529 overloaded, again in 300ms (9 of 10)"
	r.check(t, hangs)
	r.want(t, "", "end refused 529 overloaded, again in 300ms (9 of 10)")
	if r.C != nil {
		t.Error("a check follows")
	}
}

// TestTwoDeafAgents: a single agent that answers no question is put to the reboot test. Where an agent of
// another board is as deaf, their provider is waited for.
func TestTwoDeafAgents(t *testing.T) {
	r := newRig(t, policy)
	deaf := silent
	deaf.Deaf = true
	warned := health.Report{Told: []health.Finding{deaf}}
	ends := health.Report{Action: health.Test, On: deaf, Findings: []health.Finding{deaf}}
	r.check(t, warned)
	r.Board = "other.yaml"
	r.check(t, warned)
	r.want(t, "ANOMALY_FOUND ANOMALY_FOUND")
	r.check(t, ends)
	r.want(t, "", "end refused silent for 20m, nor has the agent of another board")

	r = newRig(t, policy)
	r.check(t, warned)
	r.check(t, ends)
	r.want(t, "ANOMALY_FOUND REBOOT_TESTED", "end 5s 9s")
}

// TestFindings: what a check finds is journaled with what is done about it, and so are a recovery
// and the stages of seed 002, "Event Monitoring Model".
func TestFindings(t *testing.T) {
	r := newRig(t, policy)
	r.program.obstacle = "Bash fails: no such file"
	fails := health.Finding{Check: health.Errors, Severity: health.Warning, Details: "3 errors in a row"}
	tool := health.Finding{Check: health.MCPStuck, Severity: health.Warning, Details: "waits", Call: &health.Call{Tool: "db"}}
	r.Crowd.Note("other.yaml", health.Describe(tool).Key(), time.Now())

	r.check(t, health.Report{Told: []health.Finding{tool}, Action: health.EndCall, On: tool})
	if e := r.journal.last.(event.AnomalyFound); e.Action != "the call is ended" || e.Advice != "replan" || !strings.HasSuffix(e.Details, "an agent of another board has the same") {
		t.Errorf("found %+v, want the act and that another board has the same", e)
	}
	r.want(t, "ANOMALY_FOUND", "end call db")

	r.check(t, health.Report{Told: []health.Finding{silent, fails}, Recovered: true})
	r.want(t, "RECOVERED ANOMALY_FOUND ANOMALY_FOUND REBOOT_TESTED MESSAGE_SENT", "tell The watch of this run found: Bash fails: no such file")
	r.check(t, health.Report{Stage: health.Stage{Number: 2, For: time.Hour}})
	r.want(t, "IDLE_BREACH")
	r.agent.Call = event.ReviewCall
	r.journal.state.Step.Call = event.ReviewCall
	r.check(t, health.Report{Stage: health.Stage{Number: 3, For: time.Hour}})
	if e := r.journal.last.(event.ReviewBreach); e.Severity != "CRITICAL" || e.Millis != time.Hour.Milliseconds() {
		t.Errorf("the review is overdue as %+v", e)
	}
	r.want(t, "REVIEW_SLA_BREACH")

	r.journal.full = errors.New("disk full")
	r.program.report = health.Report{Recovered: true, Told: []health.Finding{fails}}
	if err := r.Check(); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("a check that cannot be journaled says %v", err)
	}
}

// TestReboot: seed 000, "5-Question Reboot Test": what the task and the step say decides.
func TestReboot(t *testing.T) {
	late := silent
	for name, tt := range map[string]struct {
		set      func(*rig)
		decision event.Decision
		text     string
	}{
		"the first time":        {func(*rig) {}, event.Restart, "The watch ended your program: silent for 20m."},
		"a task without a text": {func(r *rig) { r.Tasks = tasks{} }, event.Restart, "The task has no text"},
		"an obstacle":           {func(r *rig) { r.program.obstacle = "Bash fails" }, event.Restart, "Bash fails: try another way"},
		"a second time":         {func(r *rig) { r.journal.state.Step.Restarts = 1 }, event.Stuck, "a restart would not help: it was restarted once already"},
		"late, and the Manager plans anew": {func(r *rig) {
			r.Tasks, r.Roster = tasks{board.Brief{HasText: true, Expected: time.Second}}, players{replans: true}
		}, event.Replan, "it worked for 1m"},
		"late, and planned anew before": {func(r *rig) {
			r.Tasks, r.Roster = tasks{board.Brief{HasText: true, Expected: time.Second}}, players{replans: true}
			r.journal.state.Replanned = []string{"t.md"}
		}, event.Stuck, "has planned anew once already"},
		"late, and the Manager cannot": {func(r *rig) { r.Tasks = tasks{board.Brief{HasText: true, Expected: time.Second}} }, event.Stuck, "a person has to plan anew"},
		"late, but a review": {func(r *rig) {
			r.Tasks = tasks{board.Brief{HasText: true, Expected: time.Second}}
			r.agent.Call, r.journal.state.Step.Call = event.ReviewCall, event.ReviewCall
		}, event.Restart, "The watch ended"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, policy)
			tt.set(r)
			r.check(t, health.Report{Action: health.Test, On: late})
			e, ok := r.journal.last.(event.RebootTested)
			if !ok || e.Decision != tt.decision || !strings.Contains(e.Text, tt.text) || e.AttemptRef != r.agent.AttemptRef {
				t.Errorf("decided %+v, want %s: %s", e, tt.decision, tt.text)
			}
			r.want(t, "REBOOT_TESTED", "end 5s 9s")
		})
	}
}

// TestConsent: seed 000, "Supervisor 的角色定位": where a person has to consent the agent is left alone
// until one has, or until the time for it is over.
func TestConsent(t *testing.T) {
	personal := policy
	personal.Person, personal.Consent = true, 10*time.Minute
	for name, tt := range map[string]struct {
		do    func(t *testing.T, r *rig)
		kinds string
		did   []string
	}{
		"no answer yet": {func(t *testing.T, r *rig) {
			time.Sleep(10*time.Minute - time.Second)
			r.check(t, hangs)
		}, "", nil},
		"no answer in time": {func(t *testing.T, r *rig) {
			time.Sleep(10 * time.Minute)
			r.check(t, hangs)
			if e := r.journal.last.(event.RebootTested); e.Decision != event.Stuck || !strings.Contains(e.Text, "no person has consented to end it within 10m0s") {
				t.Errorf("decided %+v", e)
			}
		}, "REBOOT_TESTED", []string{"end 5s 9s"}},
		"no limit": {func(t *testing.T, r *rig) {
			r.policy.Consent = 0
			time.Sleep(24 * time.Hour)
			r.check(t, hangs)
		}, "", nil},
		"restart": {func(t *testing.T, r *rig) {
			r.post(t, inbox.Message{Step: 2, Choice: "restart"})
			if e := r.journal.last.(event.RebootTested); e.Decision != event.Restart {
				t.Errorf("decided %+v", e)
			}
		}, "CONSENT_GIVEN REBOOT_TESTED", []string{"end 5s 9s"}},
		"restart of what would be given up": {func(t *testing.T, r *rig) {
			r.test.Decision = event.Stuck
			r.post(t, inbox.Message{Step: 2, Choice: "restart"})
			if e := r.journal.last.(event.RebootTested); e.Decision != event.Restart || e.Text != "The watch ended your program: silent for 20m." {
				t.Errorf("decided %+v", e)
			}
		}, "CONSENT_GIVEN REBOOT_TESTED", []string{"end 5s 9s"}},
		"continue": {func(t *testing.T, r *rig) {
			r.post(t, inbox.Message{Step: 2, Choice: "continue"})
			if !r.asked.IsZero() || r.C == nil {
				t.Error("the question is open, or nothing is watched")
			}
			r.check(t, hangs) // asked anew
		}, "CONSENT_GIVEN CONSENT_ASKED", nil},
		"another word": {func(t *testing.T, r *rig) { r.post(t, inbox.Message{Step: 2, Choice: "release-it"}) }, "MESSAGE_LOST", nil},
		"the agent goes on": {func(t *testing.T, r *rig) {
			time.Sleep(time.Minute)
			r.check(t, health.Report{Last: time.Now()})
			if e := r.journal.last.(event.ConsentGiven); e.Choice != event.ConsentVoid {
				t.Errorf("the question is %s", e.Choice)
			}
			r.post(t, inbox.Message{Step: 2, Choice: "restart"}) // too late
		}, "CONSENT_GIVEN MESSAGE_LOST", nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, personal)
				r.check(t, hangs)
				r.want(t, "CONSENT_ASKED")
				tt.do(t, r)
				r.want(t, tt.kinds, tt.did...)
			})
		})
	}
}

// watched returns a player whose agents are watched by the settings.
func watched(t *testing.T) *roster.Player {
	t.Helper()
	set, err := roles.Load()
	if err != nil {
		t.Fatal(err)
	}
	settings := &config.Settings{Agent: "tool", Watch: config.Watch{Enabled: true, Policy: health.Policy{Frequency: time.Minute, IdleWarning: 2 * time.Minute, IdleTimeout: 5 * time.Minute}}}
	p, err := (&roster.Roster{Settings: settings, Roles: set, Adapters: []agent.Adapter{tool{}}}).Player("Implementor", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTune: a task's own settings count from the first look on; what is wrong with them is told, and the
// watch goes on as before.
func TestTune(t *testing.T) {
	value := func(name, text string) frontmatter.Value {
		return frontmatter.Value{Name: name, Text: text, Node: &yaml.Node{Kind: yaml.ScalarNode}}
	}
	for name, tt := range map[string]struct {
		value   frontmatter.Value
		notice  string
		off     bool
		judge   string
		warning time.Duration
	}{
		"none":             {warning: 2 * time.Minute},
		"off":              {value: value("enabled", "false"), off: true},
		"a limit":          {value: value("idle_warning", "3m"), warning: 3 * time.Minute},
		"an unknown key":   {value: value("nonsense", "1m"), notice: "it is left out", warning: 2 * time.Minute},
		"a judge":          {value: value("judge", "Manager"), judge: "Manager", warning: 2 * time.Minute},
		"an unknown judge": {value: value("judge", "Nobody"), notice: "the judge of t.md (watch.judge): there is no role Nobody; the evidence decides", warning: 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, policy)
			r.agent.Player = watched(t)
			r.policy = r.agent.Player.Policy(r.agent.Duty)
			if tt.value.Name != "" {
				r.Tasks = tasks{board.Brief{Watch: []frontmatter.Value{tt.value}}}
			}
			r.check(t, health.Report{})
			if got := strings.Join(r.notices, "\n"); !strings.Contains(got, tt.notice) || (got == "") != (tt.notice == "") {
				t.Errorf("told %q, want %q", got, tt.notice)
			}
			if off := r.C == nil; off != tt.off || r.policy.Judge != tt.judge || r.policy.IdleWarning != tt.warning {
				t.Errorf("off: %t, the policy %+v, want off %t, judge %q and a warning after %s", off, r.policy, tt.off, tt.judge, tt.warning)
			}
		})
	}
}

// TestDryRun: a dry run watches nothing and takes no message.
func TestDryRun(t *testing.T) {
	r := newRig(t, health.Policy{})
	if w := Start(r.Turn, Agent{Player: watched(t)}); w.C == nil {
		t.Error("a run watches nothing")
	} else {
		w.Close()
	}
	r.Run.DryRun = true
	if w := Start(r.Turn, Agent{Player: watched(t)}); w.C != nil {
		t.Error("a dry run watches an agent")
	}
	r.leave(t, inbox.Message{Step: 2, Text: "x"})
	if err := errors.Join(r.Deliver(), r.Check(), r.End()); err != nil || r.C != nil {
		t.Errorf("%v, checks %v", err, r.C)
	}
	r.want(t, "")
}

// leave leaves a message in the inbox.
func (r *rig) leave(t *testing.T, m inbox.Message) {
	t.Helper()
	m.ID = agent.NewMessageID()
	if err := inbox.Post(r.Folder.Inbox(), m); err != nil {
		t.Fatal(err)
	}
}

// post leaves a message and has it delivered.
func (r *rig) post(t *testing.T, m inbox.Message) {
	t.Helper()
	r.leave(t, m)
	if err := r.Deliver(); err != nil {
		t.Fatal(err)
	}
}

// TestDeliver: what a person tells an agent reaches it, and whatever becomes of it is journaled.
func TestDeliver(t *testing.T) {
	for name, tt := range map[string]struct {
		message inbox.Message
		set     func(*rig)
		kinds   string
		did     []string
		reason  string
	}{
		"a word":                      {inbox.Message{Step: 2, Text: "use Go"}, nil, "MESSAGE_SENT", []string{"tell A person who watches this run tells you:\n\nuse Go\n\nTake it"}, ""},
		"with a secret":               {inbox.Message{Step: 2, Text: "hunter2hunter2"}, nil, "MESSAGE_SENT", []string{"tell A person who watches this run tells you:\n\n[REDACTED"}, ""},
		"for another step":            {inbox.Message{Step: 1, Text: "use Go"}, nil, "MESSAGE_LOST", nil, "it is for step 1"},
		"to one that is deaf":         {inbox.Message{Step: 2, Text: "use Go"}, func(r *rig) { r.program.deaf = true }, "MESSAGE_SENT MESSAGE_LOST", []string{"tell "}, "it cannot take one now"},
		"to one that never can":       {inbox.Message{Step: 2, Text: "use Go"}, func(r *rig) { r.agent.Listens = false }, "MESSAGE_LOST", nil, "tool agents cannot be told anything while they work"},
		"a decision nobody asked for": {inbox.Message{Step: 2, Choice: "restart"}, nil, "MESSAGE_LOST", nil, "no such decision about this agent waits"},
		"a release of nothing":        {inbox.Message{Step: 2, Choice: "release"}, nil, "MESSAGE_LOST", nil, "no task is in quarantine"},
		"a release": {inbox.Message{Step: 1, Choice: "release", Text: "fine"}, func(r *rig) {
			r.journal.state.Quarantine = []flow.Quarantine{{Task: "a.md"}, {Task: "b.md"}}
		}, "QUARANTINE_ENDED QUARANTINE_ENDED", nil, "you decided: fine"},
		"a release of long ago": {inbox.Message{Choice: "release"}, nil, "MESSAGE_LOST", nil, "it is for step 0"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, policy)
			if tt.set != nil {
				tt.set(r)
			}
			r.post(t, tt.message)
			reason := ""
			switch e := r.journal.last.(type) {
			case event.MessageSent:
				if e.Hidden != (name == "with a secret") {
					t.Errorf("a secret was taken out: %t", e.Hidden)
				}
			case event.MessageLost:
				reason = e.Reason
			case event.QuarantineEnded:
				reason = e.Reason
			}
			if reason != tt.reason {
				t.Errorf("the reason is %q, want %q", reason, tt.reason)
			}
			r.want(t, tt.kinds, tt.did...)
		})
	}
}

// TestFlood: any process of the user can leave messages; of more than a hundred the others are
// removed unread, which is journaled once.
func TestFlood(t *testing.T) {
	r := newRig(t, policy)
	for range mostMessages + 5 {
		r.leave(t, inbox.Message{Step: 1, Text: "x"})
	}
	if err := r.Deliver(); err != nil || len(r.journal.kinds) != mostMessages+1 {
		t.Errorf("%d events, %v; want one for each of %d messages, and one for the others", len(r.journal.kinds), err, mostMessages)
	}
	r.post(t, inbox.Message{Step: 2, Text: "x"})
	if len(r.journal.kinds) != mostMessages+1 || r.program.did != nil {
		t.Errorf("%d events, and the program was told %q, behind a flood", len(r.journal.kinds), r.program.did)
	}
}

// TestSigns: what becomes of a message is journaled once, and the session of the agent.
func TestSigns(t *testing.T) {
	r := newRig(t, policy)
	sign := func(e agent.Event) {
		t.Helper()
		if err := r.OnSign(&e); err != nil {
			t.Fatal(err)
		}
	}
	id := func() string {
		t.Helper()
		r.post(t, inbox.Message{Step: 2, Text: "x"})
		m := r.journal.last.(event.MessageSent)
		r.want(t, "MESSAGE_SENT", "tell ")
		return m.ID
	}
	sign(agent.Event{Kind: agent.Session, ID: "s"})
	r.want(t, "SESSION_NAMED")
	sign(agent.Event{Kind: agent.Heard, ID: "another"})
	r.want(t, "")

	first := id()
	sign(agent.Event{Kind: agent.Heard, ID: first})
	sign(agent.Event{Kind: agent.Heard, ID: first})
	r.want(t, "MESSAGE_HEARD")
	sign(agent.Event{Kind: agent.Dropped, ID: id(), Text: "it writes its reply already"})
	if e := r.journal.last.(event.MessageLost); e.Reason != "it writes its reply already" || e.Type != event.Tell {
		t.Errorf("lost as %+v", e)
	}
	r.want(t, "MESSAGE_LOST")

	late := id()
	r.agent.Signs <- &agent.Event{Kind: agent.Session, ID: "s"}
	r.agent.Signs <- &agent.Event{Kind: agent.Heard, ID: late}
	lost := id()
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	if e := r.journal.last.(event.MessageLost); e.ID != lost || e.Reason != "its work ended before" {
		t.Errorf("lost as %+v", e)
	}
	r.want(t, "MESSAGE_HEARD MESSAGE_LOST")
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	r.want(t, "")
}

// TestMissingTool: seed 002, "Tool Unavailability": what the settings say, once for each call. A
// reviewer goes on, and so does an agent that was started again for a tool before.
func TestMissingTool(t *testing.T) {
	for name, tt := range map[string]struct {
		on    event.OnTool
		set   func(*rig)
		then  event.OnTool
		kinds string
		did   []string
	}{
		"caveat":               {event.ToolCaveat, nil, event.ToolCaveat, "TOOL_UNAVAILABLE", nil},
		"skip":                 {event.ToolSkip, nil, event.ToolSkip, "TOOL_UNAVAILABLE MESSAGE_SENT", []string{"tell The watch of this run found: gh is not available. Do without it"}},
		"retry":                {event.ToolRetry, nil, event.ToolRetry, "TOOL_UNAVAILABLE REBOOT_TESTED", []string{"end 5s 9s"}},
		"retry a second time":  {event.ToolRetry, func(r *rig) { r.journal.state.Step.LastHung = "tool gh" }, event.ToolCaveat, "TOOL_UNAVAILABLE", nil},
		"stop":                 {event.ToolStop, nil, event.ToolStop, "TOOL_UNAVAILABLE REBOOT_TESTED", []string{"end 5s 9s"}},
		"of a reviewer":        {event.ToolStop, func(r *rig) { r.agent.Call, r.journal.state.Step.Call = event.ReviewCall, event.ReviewCall }, event.ToolCaveat, "TOOL_UNAVAILABLE", nil},
		"of one that is ended": {event.ToolRetry, func(r *rig) { r.journal.state.Step.Hung = &flow.Hung{} }, event.ToolCaveat, "TOOL_UNAVAILABLE", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, policy)
			if r.Run.OnTool = tt.on; tt.set != nil {
				tt.set(r)
			}
			missing := &agent.Event{Kind: agent.ToolEnded, Missing: "gh", Text: "not found: hunter2hunter2"}
			if err := r.OnSign(missing); err != nil {
				t.Fatal(err)
			}
			if got := r.journal.kinds[0]; got != "TOOL_UNAVAILABLE" {
				t.Fatalf("journaled %s first", got)
			}
			r.want(t, tt.kinds, tt.did...)
			if e, ok := r.journal.last.(event.RebootTested); ok && (e.Decision == event.Stuck) != (tt.then == event.ToolStop) {
				t.Errorf("decided %+v", e)
			}
			if m := r.journal.state.Tools[0]; m.Tool != "gh" || m.Agents != 1 {
				t.Errorf("the state has %+v", m)
			}
			if err := r.OnSign(missing); err != nil {
				t.Fatal(err)
			}
			r.want(t, "") // known
		})
	}
}

// TestMissingToolOfTheDead: of an agent that has ended only the run can be stopped.
func TestMissingToolOfTheDead(t *testing.T) {
	for on, kinds := range map[event.OnTool]string{event.ToolRetry: "TOOL_UNAVAILABLE", event.ToolSkip: "TOOL_UNAVAILABLE", event.ToolStop: "TOOL_UNAVAILABLE REBOOT_TESTED"} {
		r := newRig(t, policy)
		r.Run.OnTool = on
		r.agent.Signs <- &agent.Event{Missing: "gh"}
		if err := r.End(); err != nil {
			t.Fatal(err)
		}
		r.want(t, kinds)
	}
}

// TestMissingToolIsStoppedFor: an attempt that died between the two records was not stopped, so the next one is.
func TestMissingToolIsStoppedFor(t *testing.T) {
	for on, kinds := range map[event.OnTool]string{event.ToolCaveat: "", event.ToolSkip: "", event.ToolStop: "REBOOT_TESTED"} {
		r := newRig(t, policy)
		r.Run.OnTool = on
		if err := r.journal.Record(event.ToolUnavailable{AttemptRef: r.agent.AttemptRef, Tool: "gh", Agents: 1}); err != nil {
			t.Fatal(err)
		}
		r.want(t, "TOOL_UNAVAILABLE")
		if err := r.OnSign(&agent.Event{Missing: "gh"}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.journal.kinds, " "); got != kinds {
			t.Errorf("%s: %s, want %s", on, got, kinds)
		}
	}
}

// TestUndelivered: messages that a run sent before it died are lost, unless their attempt ended.
func TestUndelivered(t *testing.T) {
	sent := func(id string) event.Event { return event.MessageSent{ID: id, Type: event.Tell} }
	for name, tt := range map[string]struct {
		events []event.Event
		lost   string
	}{
		"none":              {nil, ""},
		"sent":              {[]event.Event{sent("a"), sent("b")}, "a b"},
		"heard":             {[]event.Event{sent("a"), sent("b"), event.MessageHeard{ID: "a"}}, "b"},
		"lost":              {[]event.Event{sent("a"), event.MessageLost{ID: "a"}}, ""},
		"the attempt ended": {[]event.Event{sent("a"), event.ReplyAccepted{}, sent("b")}, "b"},
	} {
		var u Undelivered
		for _, e := range tt.events {
			u.Restore(e)
		}
		var lost []string
		record := func(e event.Event) error {
			lost = append(lost, e.(event.MessageLost).ID)
			return nil
		}
		if err := errors.Join(u.Close(record), u.Close(record)); err != nil || strings.Join(lost, " ") != tt.lost {
			t.Errorf("%s: lost %q, %v, want %q", name, lost, err, tt.lost)
		}
	}
}

// answered is the reply of a judge.
func answered(clear, context, obstacle, late, restart bool) *attempt.Ended {
	yes := func(y bool) contract.JudgeAnswer { return contract.JudgeAnswer{Yes: y, Evidence: "seen"} }
	return &attempt.Ended{Session: "j", Spent: &agent.Spending{Input: 5}, Reply: &contract.Reply{Message: "read the log",
		Judge: &contract.JudgeReply{Q1: yes(clear), Q2: yes(context), Q3: yes(obstacle), Q4: yes(late), Q5: yes(restart), Message: "read the log"}}}
}

// TestJudge: a judge, where the settings name one, answers the reboot test. Its answers may leave
// the agent alone once; without them the evidence decides.
func TestJudge(t *testing.T) {
	judged := policy
	judged.Judge, judged.Consent = "Judge", 10*time.Minute
	for name, tt := range map[string]struct {
		replies []*attempt.Ended // nil: it does not answer
		set     func(*rig)
		reason  string
		tries   int
		kinds   string // behind JUDGE_ASKED
		text    string // of the decision
	}{
		"a restart helps":         {[]*attempt.Ended{answered(true, true, false, false, true)}, nil, "", 1, "JUDGE_ANSWERED REBOOT_TESTED", "The watch ended your program: silent for 20m. read the log"},
		"a restart does not":      {[]*attempt.Ended{answered(true, true, false, false, false)}, nil, "", 1, "JUDGE_ANSWERED REBOOT_TESTED", "a restart would not help: seen"},
		"the agent is left alone": {[]*attempt.Ended{answered(false, true, false, false, true)}, nil, "", 1, "JUDGE_ANSWERED MESSAGE_SENT", ""},
		"but was before":          {[]*attempt.Ended{answered(false, true, false, false, true)}, func(r *rig) { r.spared = true }, "", 1, "JUDGE_ANSWERED REBOOT_TESTED", "The watch ended"},
		"but cannot be told":      {[]*attempt.Ended{answered(false, true, false, false, true)}, func(r *rig) { r.agent.Listens = false }, "", 1, "JUDGE_ANSWERED REBOOT_TESTED", "The watch ended"},
		"a second reply":          {[]*attempt.Ended{{Failure: contract.Failed("no JSON"), Spent: &agent.Spending{Input: 5}}, answered(true, true, false, false, true)}, nil, "", 2, "JUDGE_ANSWERED REBOOT_TESTED", "read the log"},
		"no valid reply":          {[]*attempt.Ended{{Failure: contract.Failed("no JSON")}, {Failure: contract.Failed("nor this")}}, nil, "nor this", 2, "JUDGE_ANSWERED REBOOT_TESTED", "The watch ended"},
		"no answer in time":       {nil, nil, "it has not answered within 10m0s", 1, "JUDGE_ANSWERED REBOOT_TESTED", "The watch ended"},
		"it cannot be started":    {nil, func(r *rig) { r.policy.Judge = "Nobody" }, "there is no role Nobody", 0, "JUDGE_ANSWERED REBOOT_TESTED", "The watch ended"},
		"the command did":         {nil, func(r *rig) { r.bound = "max_cost_total" }, "max_cost_total", 0, "JUDGE_ANSWERED REBOOT_TESTED", "The watch ended"},
		"the run reached a limit": {nil, func(r *rig) { r.journal.state.Limits.MaxCost, r.journal.state.Used.Cost = 1, 2 }, "max_cost", 0, "JUDGE_ANSWERED REBOOT_TESTED", "The watch ended"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, judged)
				calls := 0
				r.Ask = func(stop, _ context.Context, _ attempt.Spec) (*attempt.Ended, error) {
					if calls++; calls > len(tt.replies) {
						<-stop.Done()
						return &attempt.Ended{Stopped: true}, nil
					}
					return tt.replies[calls-1], nil
				}
				if tt.set != nil {
					tt.set(r)
				}
				r.check(t, hangs)
				if tt.tries > 0 {
					r.check(t, hangs) // it is at work
					r.want(t, "JUDGE_ASKED")
					for r.Judged != nil {
						if err := r.OnJudgement(<-r.Judged); err != nil {
							t.Fatal(err)
						}
						if r.Judged != nil {
							r.want(t, "JUDGE_ANSWERED JUDGE_ASKED")
						}
					}
					answer := r.journal.answer
					if answer.Reason != tt.reason || answer.Try != tt.tries || r.used.Attempts != tt.tries {
						t.Errorf("answered %+v, used %+v, want the reason %q after %d attempts", answer, r.used, tt.reason, tt.tries)
					}
					if strings.Contains(tt.kinds, "REBOOT") {
						r.check(t, hangs)
					}
				}
				e, decided := r.journal.last.(event.RebootTested)
				if decided != (tt.text != "") || !strings.Contains(e.Text, tt.text) {
					t.Errorf("decided %+v, want %q", e, tt.text)
				}
				did := []string{"end 5s 9s"}
				if !decided {
					did = []string{"tell The watch of this run found: read the log"}
				}
				r.want(t, tt.kinds, did...)
			})
		})
	}
}

// TestJudgeOfTheMoving: the verdict about an agent that goes on by itself, or has ended, is void.
func TestJudgeOfTheMoving(t *testing.T) {
	judged := policy
	judged.Judge = "Judge"
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, judged)
		reply := make(chan *attempt.Ended, 1)
		r.Ask = func(stop, _ context.Context, _ attempt.Spec) (*attempt.Ended, error) {
			select {
			case e := <-reply:
				return e, nil
			case <-stop.Done():
				return &attempt.Ended{Stopped: true}, nil
			}
		}
		r.check(t, hangs)
		time.Sleep(time.Minute)
		r.check(t, health.Report{Last: time.Now()})
		reply <- answered(true, true, false, false, true)
		if err := r.OnJudgement(<-r.Judged); err != nil {
			t.Fatal(err)
		}
		if got := r.journal.answer; got.Reason != "the agent goes on by itself" || r.verdict != nil {
			t.Errorf("answered %+v", got)
		}
		r.want(t, "JUDGE_ASKED JUDGE_ANSWERED")

		r.check(t, hangs)
		r.Dismiss()
		if err := r.End(); err != nil {
			t.Fatal(err)
		}
		if got := r.journal.answer; got.Reason != "the agent that it judges has ended" {
			t.Errorf("answered %+v", got)
		}
		r.want(t, "JUDGE_ASKED JUDGE_ANSWERED")
		r.Dismiss()
	})
}

// trusts knows of no change.
type trusts struct{}

func (trusts) RefuseInTurn(*roster.Player) error { return nil }

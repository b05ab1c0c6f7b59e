//go:build unix

package orchestrator

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/redact"
	"kanban-run/roles"
)

// part is what one program of a reviewed attempt makes of its turn.
type part struct {
	says    string
	session string
	cost    int64 // of the session so far, in millionths; -1: it does not say
	fails   string
}

// players are the agent, its supervisor and the Manager, whose programs do nothing: what they say is written down beforehand.
type players struct {
	program string
	parts   *[]part
	asked   *[]agent.Assignment
}

func (players) Name() string                 { return "players" }
func (players) Check(agent.Assignment) error { return nil }
func (players) Tool() agent.Tool             { return agent.Tool{} }

func (p players) Invoke(a agent.Assignment) (agent.Invocation, error) {
	*p.asked = append(*p.asked, a)
	return agent.Invocation{Argv: []string{p.program, "hello"}, Dir: a.Dir, Timeout: a.Timeout}, nil
}

func (p players) Reader(c agent.Contract, _ agent.Host) agent.Reader { return reciter{p, c} }

type reciter struct {
	players
	contract agent.Contract
}

func (reciter) Write(p []byte) (int, error) { return len(p), nil }

func (r reciter) End(proc.Exit) agent.Report {
	if r.contract == agent.ManagerContract {
		return agent.Report{Reply: []byte(`{"status":"ok","message":"over","next_task":null,"tasks":["a.md"]}`), Session: "m"}
	}
	if len(*r.parts) == 0 {
		return agent.Report{Failure: agent.Failed("nobody said what to say")}
	}
	p := (*r.parts)[0]
	*r.parts = (*r.parts)[1:]
	report := agent.Report{Reply: []byte(p.says), Session: p.session, Cumulative: true}
	if p.cost >= 0 {
		report.Spent = &agent.Spending{Input: p.cost, Cost: &p.cost}
	}
	if p.fails != "" {
		report.Failure = agent.Failed("%s", p.fails)
	}
	return report
}

const good = `{"status":"ok","message":"done"}`

// staged is a run of one task whose role is reviewed, and all that it was about.
type staged struct {
	result Result
	events []flow.Event
	asked  []agent.Assignment
	left   []part
	dir    string
}

func stage(t *testing.T, limits flow.Limits, change func(*Player), parts ...part) staged {
	t.Helper()
	program, err := exec.LookPath("echo")
	if err != nil {
		t.Skip(err)
	}
	s := staged{dir: t.TempDir()}
	for name, text := range map[string]string{"kanban.yaml": "current: a.md\ntasks: [a.md]\n", "a.md": "---\nrole: Implementor\n---\nWrite a parser.\n"} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made, _ := redact.NewNamed(nil)
	cast := &Cast{Settings: &config.Settings{}, known: map[[2]string]*Player{}}
	for _, role := range []string{"Implementor", flow.ManagerRole} {
		p := &Player{Role: roles.Role{Name: role}, Adapter: players{program, &parts, &s.asked}, template: agent.Assignment{Role: role, Dir: s.dir, Prompt: "the role"}}
		if role == "Implementor" {
			p.Role.Review, p.Supervisor = true, "the supervisor"
			change(p)
		}
		cast.known[[2]string{role, s.dir}] = p
	}
	job := Job{Board: filepath.Join(s.dir, "kanban.yaml"), StartDir: s.dir, Observer: &Silent{}, Now: time.Now, Configure: func(string) (*Setup, error) {
		return &Setup{Limits: limits, OnDivergence: "accept", KeepOutput: true, Cast: cast, Redactor: made}, nil
	}}
	prepared, errs := PrepareAll([]Job{job})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	s.result = RunAll(context.Background(), context.Background(), prepared, 1)[0]
	if _, _, err := Inspect(job.Board, func(e flow.Entry) error {
		s.events = append(s.events, e.Event)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	s.left = parts
	return s
}

// eventsOf are the events of a kind.
func eventsOf[E flow.Event](s staged) (all []E) {
	for _, e := range s.events {
		if e, ok := e.(E); ok {
			all = append(all, e)
		}
	}
	return all
}

func asIs(*Player) {}

// TestReviewLoop is seed 003, "Supervisor 主循环": agent, supervisor in a fork, feedback in the agent's session, until the mark. A session tells what
// it came to from its beginning, and a fork what its parent came to: each millionth is charged once.
func TestReviewLoop(t *testing.T) {
	s := stage(t, flow.Limits{}, asIs, part{good, "s", 100, ""}, part{"Add a test.", "f1", 130, ""}, part{good, "s", 160, ""}, part{"Good.\n[TASK_COMPLETED]", "f2", 175, ""})
	if s.result.Outcome != flow.Complete || len(s.left) != 0 {
		t.Fatalf("the run ended with %s: %s, and %d parts were not played", s.result.Outcome, s.result.Text, len(s.left))
	}
	supervisor, again := s.asked[1], s.asked[2]
	if f := supervisor.Follow; supervisor.Prompt != "the supervisor" || supervisor.Contract != agent.ReviewContract || f == nil || !f.Fork || f.Session != "s" ||
		!strings.Contains(f.Text, `"task_file":"a.md"`) || !strings.Contains(f.Text, "Write a parser.") {
		t.Errorf("the supervisor is asked %+v, %+v, want its prompt, a fork of the session, the input and the task", supervisor, supervisor.Follow)
	}
	if f := again.Follow; again.Prompt != "the role" || again.Contract != agent.TaskContract || f == nil || f.Fork || f.Session != "s" || !strings.Contains(f.Text, "Add a test.") {
		t.Errorf("the agent is asked %+v, %+v, want its role, its session and the feedback", again, again.Follow)
	}
	accepted, held, worked := eventsOf[flow.ReplyAccepted](s)[0], eventsOf[flow.ReviewHeld](s), eventsOf[flow.WorkFinished](s)
	if accepted.Spent == nil || *accepted.Spent.Cost != 100+30+60+15 || accepted.Spent.Partial || accepted.Session != "s" || s.result.Used.Cost != 205 {
		t.Errorf("accepted %+v, %+v, used %+v, want each millionth once", accepted, accepted.Spent, s.result.Used)
	}
	if len(held) != 2 || held[0].Completed || held[0].Feedback != "Add a test." || *held[0].Spent.Cost != 130 || !held[1].Completed || *held[1].Spent.Cost != 205 {
		t.Errorf("reviews %+v, want both verdicts with what the attempt came to so far", held)
	}
	if len(worked) != 2 || *worked[0].Spent.Cost != 100 || *worked[1].Spent.Cost != 190 {
		t.Errorf("work %+v, want both parts of it", worked)
	}
	for _, name := range []string{"task-1.stdout", "task-1-review-1.1.stdout", "task-1-work-2.stdout", "task-1-review-2.1.stdout"} {
		if text, err := os.ReadFile(filepath.Join(s.dir, ".kanban-run/runs/kanban.yaml/steps/0001", name)); string(text) != "hello\n" {
			t.Errorf("%s has %q, %v, want what its program printed", name, text, err)
		}
	}
}

// TestReviewWithoutVerdict: no verdict is no acceptance. The supervisor is asked again, and not the agent.
func TestReviewWithoutVerdict(t *testing.T) {
	s := stage(t, flow.Limits{MaxRetries: 1}, asIs, part{good, "s", 10, ""}, part{"", "f1", -1, "API Error"}, part{"[TASK_COMPLETED]", "f2", 15, ""})
	if s.result.Outcome != flow.Complete || len(s.left) != 0 || !strings.HasPrefix(s.result.Used.Money(), "at least") {
		t.Errorf("the run ended with %s: %s, %s; %d parts were not played", s.result.Outcome, s.result.Text, s.result.Used.Money(), len(s.left))
	}
	s = stage(t, flow.Limits{}, asIs, part{good, "s", -1, ""}, part{"[TASK_COMPLETED]", "f1", 15, ""})
	if spent := eventsOf[flow.ReplyAccepted](s)[0].Spent; spent == nil || !spent.Partial || *spent.Cost != 15 {
		t.Errorf("accepted with %+v, want a sum that lacks the agent's part", spent)
	}
	s = stage(t, flow.Limits{MaxRetries: 1}, asIs, part{good, "s", 10, ""}, part{"", "f1", -1, "API Error"}, part{"", "f2", -1, "API Error"})
	if s.result.Outcome != flow.NeedsPerson || !strings.Contains(s.result.Text, "gave no verdict in 2 attempts; the last: API Error") || len(eventsOf[flow.ReplyAccepted](s)) != 0 {
		t.Errorf("the run ended with %s: %s", s.result.Outcome, s.result.Text)
	}
}

// TestReviewOfMissedVerdictsIsPaid: the limits of the run are looked at before a supervisor is asked again, and what its failed attempts came
// to is journaled with each: a run that dies then has spent it all the same.
func TestReviewOfMissedVerdictsIsPaid(t *testing.T) {
	s := stage(t, flow.Limits{MaxRetries: 3, MaxCost: 200}, asIs, part{good, "s", 10, ""}, part{"", "f1", 110, "API Error"}, part{"", "f2", 120, "API Error"}, part{"", "f3", 110, "never asked"})
	if s.result.Outcome != flow.LimitReached || len(s.left) != 1 || s.result.Used.Cost != 10+100+110 {
		t.Errorf("the run ended with %s: %s, used %+v; %d parts were not played", s.result.Outcome, s.result.Text, s.result.Used, len(s.left))
	}
	missed := eventsOf[flow.VerdictMissed](s)
	if len(missed) != 2 || *missed[0].Spent.Cost != 110 || *missed[1].Spent.Cost != 220 || missed[1].Round != 1 || missed[1].Try != 2 || missed[1].Of != 4 ||
		missed[1].Reason != "API Error" || missed[1].Session != "f2" || len(eventsOf[flow.AttemptStopped](s)) != 1 {
		t.Errorf("journaled %+v, want both attempts of the supervisor", missed)
	}
	s = stage(t, flow.Limits{MaxRetries: 1, MaxCost: 20}, asIs, part{good, "s", 10, ""}, part{"", "f1", 15, "API Error"}, part{"", "f2", 30, "API Error"})
	if s.result.Outcome != flow.NeedsPerson || len(eventsOf[flow.VerdictMissed](s)) != 2 {
		t.Errorf("the run ended with %s: %s, want the retries to be used up", s.result.Outcome, s.result.Text)
	}
}

// TestReviewIsNeverContent: the rounds are bounded, and what nobody accepted is no reply.
func TestReviewIsNeverContent(t *testing.T) {
	s := stage(t, flow.Limits{}, func(p *Player) { p.Role.Rounds = 1 }, part{good, "s", 1, ""}, part{"more", "f1", 2, ""}, part{good, "s", 3, ""}, part{"more still", "f2", 4, ""})
	if s.result.Outcome != flow.NeedsPerson || !strings.Contains(s.result.Text, "is not content after 2 rounds: more still") || len(eventsOf[flow.ReplyAccepted](s)) != 0 || len(s.left) != 0 {
		t.Errorf("the run ended with %s: %s", s.result.Outcome, s.result.Text)
	}
	if failed := eventsOf[flow.ReviewFailed](s); len(failed) != 1 || failed[0].Rounds != 1 || failed[0].Spent == nil {
		t.Errorf("journaled %+v", failed)
	}
}

// TestReviewOfNoSession: work that nobody can look at is not accepted.
func TestReviewOfNoSession(t *testing.T) {
	s := stage(t, flow.Limits{}, asIs, part{good, "", 1, ""})
	if s.result.Outcome != flow.Exhausted || !strings.Contains(s.result.Text, "the agent named no session") {
		t.Errorf("the run ended with %s: %s", s.result.Outcome, s.result.Text)
	}
}

// TestReviewBadReply: a reply in the wrong format after a verdict is a format failure like any other: everything from the beginning.
func TestReviewBadReply(t *testing.T) {
	s := stage(t, flow.Limits{MaxRetries: 1}, asIs, part{good, "s", 1, ""}, part{"more", "f1", 2, ""}, part{"no JSON", "s", 3, ""},
		part{good, "t", 1, ""}, part{"[TASK_COMPLETED]", "f2", 2, ""})
	rejected := eventsOf[flow.ReplyRejected](s)
	if s.result.Outcome != flow.Complete || len(rejected) != 1 || rejected[0].Session != "s" || *rejected[0].Spent.Cost != 1+1+2 || s.asked[3].Follow != nil {
		t.Errorf("the run ended with %s: %s; rejected %+v", s.result.Outcome, s.result.Text, rejected)
	}
}

// TestReviewRations: time and money are those of the attempt, and the limits of the run are looked at after each verdict.
func TestReviewRations(t *testing.T) {
	s := stage(t, flow.Limits{}, func(p *Player) { p.template.MaxCost, p.template.Timeout = 100, time.Hour },
		part{good, "s", 60, ""}, part{"more", "f1", 90, ""}, part{good, "s", 70, ""})
	if s.asked[1].MaxCost != 40 || s.asked[2].MaxCost != 10 || s.asked[1].Timeout <= 0 || s.asked[1].Timeout >= time.Hour {
		t.Errorf("the phases may cost %d and %d and take %v, want what is left", s.asked[1].MaxCost, s.asked[2].MaxCost, s.asked[1].Timeout)
	}
	if s.result.Outcome != flow.LimitReached || !strings.Contains(s.result.Text, "max_cost") {
		t.Errorf("the run ended with %s: %s, want the money to be used up", s.result.Outcome, s.result.Text)
	}
	s = stage(t, flow.Limits{MaxCost: 80}, asIs, part{good, "s", 60, ""}, part{"more", "f1", 90, ""})
	if s.result.Outcome != flow.LimitReached || !strings.HasPrefix(s.result.Text, "the limit of") || len(s.left) != 0 || s.result.Used.Cost != 90 {
		t.Errorf("the run ended with %s: %s, used %+v", s.result.Outcome, s.result.Text, s.result.Used)
	}
}

// TestNobodyReviewsTheManager: what it decides is on the board, not in its session.
func TestNobodyReviewsTheManager(t *testing.T) {
	c := &Cast{Settings: &config.Settings{}}
	if _, err := c.supervisor(roles.Role{Name: flow.ManagerRole, Review: true}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "for roles that work on tasks") {
		t.Errorf("supervisor of the Manager: %v", err)
	}
	if prompt, err := (&Cast{Single: true}).supervisor(roles.Role{Name: "x", Review: true}, t.TempDir()); prompt != "" || err != nil {
		t.Errorf("supervisor of a single call: %q, %v, want none", prompt, err)
	}
}

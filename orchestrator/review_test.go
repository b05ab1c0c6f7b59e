package orchestrator_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator"
	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/config"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/preflight"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/result"
	"kanban-run/orchestrator/roster"
	"kanban-run/roles"
)

// part is what one program makes of its turn.
type part struct {
	says    string
	session string
	cost    int64 // of the session so far, in millionths; -1: it does not say
	fails   string
	lost    bool // its tool does not know the session to go on in
}

// actors are the agent, its supervisor and the Manager, whose programs do nothing: what they say
// is written down beforehand.
type actors struct {
	program string
	parts   *[]part
	asked   *[]agent.Assignment
}

func (actors) Name() string                 { return "actors" }
func (actors) Check(agent.Assignment) error { return nil }
func (actors) Tool() agent.Tool             { return agent.Tool{EndsAt: true} }

func (p actors) Invoke(a agent.Assignment) (agent.Invocation, error) {
	*p.asked = append(*p.asked, a)
	return agent.Invocation{Argv: []string{p.program, "hello"}, Dir: a.Dir, Timeout: a.Timeout}, nil
}

func (p actors) Reader(c contract.Kind, _ agent.Host) agent.Reader { return reciter{p, c} }

type reciter struct {
	actors
	kind contract.Kind
}

func (reciter) Write(p []byte) (int, error) { return len(p), nil }

func (r reciter) End(proc.Exit) agent.Report {
	if r.kind == contract.Manager {
		return agent.Report{Reply: `{"status":"ok","message":"over","next_task":null,"tasks":["a.md"]}`, Session: "m"}
	}
	if len(*r.parts) == 0 {
		return agent.Report{Failure: contract.Failed("there is no part left to play")}
	}
	p := (*r.parts)[0]
	*r.parts = (*r.parts)[1:]
	report := agent.Report{Reply: p.says, Session: p.session, Cumulative: true}
	if p.cost >= 0 {
		report.Spent = &agent.Spending{Input: p.cost, Cost: &p.cost}
	}
	if p.fails != "" {
		report.Failure = &contract.Failure{Reason: p.fails, Lost: p.lost}
	}
	return report
}

const good = `{"status":"ok","message":"done"}`

// staged is a run of one task whose role is reviewed, and all that it was about.
type staged struct {
	result result.Result
	board  inspect.Board // as it stands behind the run
	events []event.Event
	asked  []agent.Assignment
	left   []part
	dir    string
}

// stage plays the parts on a new board. role are options of the role file of the agent.
func stage(t *testing.T, limits event.Limits, role string, parts ...part) *staged {
	t.Helper()
	s := &staged{dir: t.TempDir()}
	for name, text := range map[string]string{
		"kanban.yaml":          "current: a.md\ntasks: [a.md]\n",
		"a.md":                 "---\nrole: Implementor\n---\nWrite a parser.\n",
		"SUPERVISOR.md":        "the supervisor",
		"roles/implementor.md": "---\nname: Implementor\nreview: supervisor\n" + role + "---\nthe role",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(s.dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.play(t, limits, parts...)
	return s
}

// play runs the board once more.
func (s *staged) play(t *testing.T, limits event.Limits, parts ...part) {
	t.Helper()
	program, err := exec.LookPath("echo")
	if err != nil {
		t.Skip(err)
	}
	set, err := roles.Load(filepath.Join(s.dir, "roles"))
	if err != nil {
		t.Fatal(err)
	}
	made, _ := redact.NewNamed(nil)
	s.asked = nil
	cast := &roster.Roster{Settings: &config.Settings{Agent: "actors"}, Roles: set, Adapters: []agent.Adapter{actors{program, &parts, &s.asked}}}
	job := preflight.Job{Board: filepath.Join(s.dir, "kanban.yaml"), StartDir: s.dir, Observer: &ledger.Silent{}, Now: time.Now,
		Configure: func(string) (*preflight.Setup, error) {
			return &preflight.Setup{Limits: limits, Run: config.Run{OnDivergence: "accept", KeepOutput: true, Strict: true}, Roster: cast, Redactor: made}, nil
		}}
	prepared, errs := preflight.PrepareAll([]preflight.Job{job})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	s.result = orchestrator.RunAll(context.Background(), context.Background(), prepared, orchestrator.Bounds{Jobs: 1})[0]
	s.events = nil
	if _, _, err := inspect.History(job.Board, func(e event.Entry) error {
		s.events = append(s.events, e.Event)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if s.board, err = (inspect.Looker{}).Look(job.Board); err != nil {
		t.Fatal(err)
	}
	s.left = parts
}

// eventsOf are the events of a kind.
func eventsOf[E event.Event](s *staged) (all []E) {
	for _, e := range s.events {
		if e, ok := e.(E); ok {
			all = append(all, e)
		}
	}
	return all
}

// TestReviewLoop is seed 003, "Supervisor 主循环": agent, supervisor in a fork, feedback in the
// agent's session, until the mark. A session tells what it came to from its beginning, and a fork
// what its parent came to: each millionth is charged once.
func TestReviewLoop(t *testing.T) {
	s := stage(t, event.Limits{}, "", part{good, "s", 100, "", false}, part{"Add a test.", "f1", 130, "", false}, part{good, "s", 160, "", false}, part{"Good.\n[TASK_COMPLETED]", "f2", 175, "", false})
	if s.result.End.Outcome != event.Complete || len(s.left) != 0 {
		t.Fatalf("the run ended with %s: %s, and %d parts were not played", s.result.End.Outcome, s.result.End.Reason, len(s.left))
	}
	supervisor, again := s.asked[1], s.asked[2]
	if f := supervisor.Follow; supervisor.Prompt != "the supervisor" || supervisor.Contract != contract.Review || f == nil || !f.Fork || f.Session != "s" ||
		!strings.Contains(f.Text, `"task_file":"a.md"`) || !strings.Contains(f.Text, "Write a parser.") {
		t.Errorf("the supervisor is asked %+v, %+v, want its prompt, a fork of the session, the input and the task", supervisor, supervisor.Follow)
	}
	if f := again.Follow; again.Prompt != "the role" || again.Contract != contract.Task || f == nil || f.Fork || f.Session != "s" || !strings.Contains(f.Text, "Add a test.") {
		t.Errorf("the agent is asked %+v, %+v, want its role, its session and the feedback", again, again.Follow)
	}
	accepted, held := eventsOf[event.ReplyAccepted](s), eventsOf[event.ReviewHeld](s)
	if len(accepted) != 3 || *accepted[0].Spent.Cost != 100 || *accepted[1].Spent.Cost != 60 || accepted[1].Session != "s" || s.board.LastRun.Used.Cost != 205 || s.board.LastRun.Used.Attempts != 5 {
		t.Errorf("accepted %+v, used %+v, want each program with its own cost, and each millionth once", accepted, s.board.LastRun.Used)
	}
	if len(held) != 2 || held[0].Completed || held[0].Feedback != "Add a test." || *held[0].Spent.Cost != 30 || held[0].Session != "f1" ||
		!held[1].Completed || *held[1].Spent.Cost != 15 {
		t.Errorf("reviews %+v, want both verdicts, each with its own cost", held)
	}
	for _, name := range []string{"task-1.stdout", "review-2.stdout", "task-3.stdout", "review-4.stdout", "manager-1.stdout"} {
		if text, err := os.ReadFile(filepath.Join(s.dir, ".kanban-run/runs/kanban.yaml/steps/0001", name)); string(text) != "hello\n" {
			t.Errorf("%s has %q, %v, want what its program printed", name, text, err)
		}
	}
}

// TestReviewWithoutVerdict: no verdict is no acceptance. The supervisor is asked
// again, and not the agent.
func TestReviewWithoutVerdict(t *testing.T) {
	s := stage(t, event.Limits{MaxRetries: 1}, "", part{good, "s", 10, "", false}, part{"", "f1", -1, "API Error", false}, part{"[TASK_COMPLETED]", "f2", 15, "", false})
	if s.result.End.Outcome != event.Complete || len(s.left) != 0 || !strings.HasPrefix(s.board.LastRun.Used.Money(), "at least") {
		t.Errorf("the run ended with %s: %s, %s; %d parts were not played", s.result.End.Outcome, s.result.End.Reason, s.board.LastRun.Used.Money(), len(s.left))
	}
	s = stage(t, event.Limits{}, "", part{good, "s", -1, "", false}, part{"[TASK_COMPLETED]", "f1", 15, "", false})
	if used := s.board.LastRun.Used; used.Priced != 1 || used.Attempts != 3 || used.Cost != 15 {
		t.Errorf("used %+v, want a sum that lacks the agent's part and the Manager's", used)
	}
	s = stage(t, event.Limits{MaxRetries: 1}, "", part{good, "s", 10, "", false}, part{"", "f1", -1, "API Error", false}, part{"", "f2", -1, "API Error", false})
	if s.result.End.Outcome != event.NeedsPerson || !strings.Contains(s.result.End.Reason, "gave no verdict in 2 attempts; the last: API Error") || s.board.About() != event.AboutStep {
		t.Errorf("the run ended with %s: %s", s.result.End.Outcome, s.result.End.Reason)
	}
	// The work is not done again: the next run asks the supervisor once more.
	s.play(t, event.Limits{MaxRetries: 1}, part{"[TASK_COMPLETED]", "f3", -1, "", false})
	if s.result.End.Outcome != event.Complete || len(s.left) != 0 || len(eventsOf[event.ReplyAccepted](s)) != 2 {
		t.Errorf("the next run ended with %s: %s", s.result.End.Outcome, s.result.End.Reason)
	}
}

// TestReviewOfMissedVerdictsIsPaid: the limits of the run are looked at before a supervisor is
// asked again, and what its failed attempts came to is journaled with each: a run that dies then
// has spent it all the same.
func TestReviewOfMissedVerdictsIsPaid(t *testing.T) {
	s := stage(t, event.Limits{MaxRetries: 3, MaxCost: 200}, "", part{good, "s", 10, "", false}, part{"", "f1", 110, "API Error", false}, part{"", "f2", 120, "API Error", false}, part{"", "f3", 110, "never asked", false})
	if s.result.End.Outcome != event.LimitReached || len(s.left) != 1 || s.board.LastRun.Used.Cost != 10+100+110 {
		t.Errorf("the run ended with %s: %s, used %+v; %d parts were not played", s.result.End.Outcome, s.result.End.Reason, s.board.LastRun.Used, len(s.left))
	}
	missed := eventsOf[event.ReplyRejected](s)
	if len(missed) != 2 || *missed[0].Spent.Cost != 100 || *missed[1].Spent.Cost != 110 || missed[1].Call != event.ReviewCall || missed[1].Round != 1 ||
		missed[1].Retries != 1 || missed[1].Of != 3 || missed[1].Reason != "API Error" || missed[1].Session != "f2" || len(eventsOf[event.AttemptStopped](s)) != 0 {
		t.Errorf("journaled %+v, want both attempts of the supervisor", missed)
	}
	s = stage(t, event.Limits{MaxRetries: 1, MaxCost: 200}, "", part{good, "s", 10, "", false}, part{"", "f1", 15, "API Error", false}, part{"", "f2", 30, "API Error", false})
	if s.result.End.Outcome != event.NeedsPerson || len(eventsOf[event.ReplyRejected](s)) != 2 {
		t.Errorf("the run ended with %s: %s, want the retries to be used up", s.result.End.Outcome, s.result.End.Reason)
	}
}

// TestReviewIsNeverContent: the rounds are bounded, and the next run starts the task afresh.
func TestReviewIsNeverContent(t *testing.T) {
	s := stage(t, event.Limits{}, "review_rounds: 1\n", part{good, "s", 1, "", false}, part{"more", "f1", 2, "", false}, part{good, "s", 3, "", false}, part{"more still", "f2", 4, "", false})
	if s.result.End.Outcome != event.NeedsPerson || !strings.Contains(s.result.End.Reason, "is not content after 2 rounds: more still") || len(s.left) != 0 || s.board.About() != event.AboutStep {
		t.Errorf("the run ended with %s: %s", s.result.End.Outcome, s.result.End.Reason)
	}
	s.play(t, event.Limits{}, part{good, "t", 1, "", false}, part{"[TASK_COMPLETED]", "g", 2, "", false})
	if s.result.End.Outcome != event.Complete || len(s.left) != 0 || s.asked[0].Follow != nil || s.asked[1].Follow.Session != "t" {
		t.Errorf("the next run ended with %s: %s", s.result.End.Outcome, s.result.End.Reason)
	}
}

// TestReviewOfALostSession: a tool that does not know the session any more has the task done
// again from its beginning.
func TestReviewOfALostSession(t *testing.T) {
	lost := part{"", "", -1, "No conversation found with session ID: s", true}
	s := stage(t, event.Limits{MaxRetries: 1}, "", part{good, "s", 1, "", false}, lost, part{good, "t", 1, "", false}, part{"[TASK_COMPLETED]", "g", 2, "", false})
	if s.result.End.Outcome != event.Complete || len(s.left) != 0 || s.asked[2].Follow != nil || s.asked[3].Follow.Session != "t" {
		t.Errorf("the run ended with %s: %s", s.result.End.Outcome, s.result.End.Reason)
	}
	if rejected := eventsOf[event.ReplyRejected](s); len(rejected) != 1 || !rejected[0].Lost {
		t.Errorf("journaled %+v, want the session to be lost", rejected)
	}
	s = stage(t, event.Limits{}, "", part{good, "s", 1, "", false}, lost)
	if s.result.End.Outcome != event.Exhausted || !strings.Contains(s.result.End.Reason, "the session of Implementor was lost 1 time: No conversation found") {
		t.Errorf("the run ended with %s: %s, want it to end by the lost session", s.result.End.Outcome, s.result.End.Reason)
	}
}

// TestReviewOfNoSession: work that no supervisor can look at is not accepted.
func TestReviewOfNoSession(t *testing.T) {
	s := stage(t, event.Limits{}, "", part{good, "", 1, "", false})
	if s.result.End.Outcome != event.Exhausted || !strings.Contains(s.result.End.Reason, "the agent named no session") {
		t.Errorf("the run ended with %s: %s", s.result.End.Outcome, s.result.End.Reason)
	}
}

// TestReviewBadReply: a reply in the wrong format after a verdict is a format failure like any
// other: the same call again, in the same session.
func TestReviewBadReply(t *testing.T) {
	s := stage(t, event.Limits{MaxRetries: 1}, "", part{good, "s", 1, "", false}, part{"more", "f1", 2, "", false}, part{"no JSON", "s", 3, "", false},
		part{good, "s", 4, "", false}, part{"[TASK_COMPLETED]", "f2", 5, "", false})
	rejected := eventsOf[event.ReplyRejected](s)
	if s.result.End.Outcome != event.Complete || len(rejected) != 1 || rejected[0].Session != "s" || *rejected[0].Spent.Cost != 2 ||
		s.asked[3].Follow == nil || *s.asked[3].Follow != *s.asked[2].Follow {
		t.Errorf("the run ended with %s: %s; rejected %+v", s.result.End.Outcome, s.result.End.Reason, rejected)
	}
}

// TestReviewLimits: each program has the whole of --timeout and --max-attempt-cost, and the limits
// of the run are looked at before each.
func TestReviewLimits(t *testing.T) {
	s := stage(t, event.Limits{}, "max_cost: 0.0001\ntimeout: 1h\n", part{good, "s", 60, "", false}, part{"more", "f1", 90, "", false}, part{good, "s", 70, "", false}, part{"[TASK_COMPLETED]", "f2", 75, "", false})
	for i, a := range s.asked[:4] {
		if a.MaxCost != 100 || a.Timeout != time.Hour {
			t.Errorf("program %d may cost %d and take %v, want 100 and 1h", i+1, a.MaxCost, a.Timeout)
		}
	}
	if s.result.End.Outcome != event.Complete {
		t.Errorf("the run ended with %s: %s", s.result.End.Outcome, s.result.End.Reason)
	}
	s = stage(t, event.Limits{MaxCost: 80}, "", part{good, "s", 60, "", false}, part{"more", "f1", 90, "", false})
	if s.result.End.Outcome != event.LimitReached || !strings.HasPrefix(s.result.End.Reason, "the limit of") || len(s.left) != 0 || s.board.LastRun.Used.Cost != 90 {
		t.Errorf("the run ended with %s: %s, used %+v", s.result.End.Outcome, s.result.End.Reason, s.board.LastRun.Used)
	}
	// The next run goes on with the work in its session, and does none of it again.
	s.play(t, event.Limits{}, part{good, "s", 100, "", false}, part{"[TASK_COMPLETED]", "f2", 110, "", false})
	if s.result.End.Outcome != event.Complete || s.asked[0].Follow == nil || s.asked[0].Follow.Session != "s" || s.board.LastRun.Used.Cost != 40+10 {
		t.Errorf("the next run ended with %s: %s, used %+v", s.result.End.Outcome, s.result.End.Reason, s.board.LastRun.Used)
	}
}

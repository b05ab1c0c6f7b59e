//go:build unix

package supervise_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/supervise"
)

// TestMain plays the agent and the supervisor: test-binary talker|supervisor FOLDER [SESSION].
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "talker" {
		os.Exit(talker(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "supervisor" {
		os.Exit(supervisor(os.Args[2]))
	}
	if err := proc.Adopt(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

type line struct {
	Kind string `json:"kind"`
	Text string `json:"text,omitempty"`
}

func print(kind, text string) {
	data, _ := json.Marshal(line{kind, text})
	fmt.Printf("%s\n", data)
}

func note(dir, name, text string) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = fmt.Fprintln(f, text)
		_ = f.Close()
	}
}

// talker does what each message says.
func talker(dir string, resumed []string) int {
	note(dir, "starts", "start "+strings.Join(resumed, ""))
	in := bufio.NewReader(os.Stdin)
	for {
		text, err := in.ReadBytes('\n')
		var l line
		if err != nil || json.Unmarshal(text, &l) != nil {
			return 0
		}
		note(dir, "told", l.Kind+": "+l.Text)
		print("session", "s1")
		switch {
		case l.Kind == "interrupt":
			print("result", "")
		case strings.HasPrefix(l.Text, "wait"):
			print("text", "waiting")
		case l.Text == "die":
			fmt.Fprintln(os.Stderr, "no more memory")
			return 9
		case l.Text == "deaf":
			print("text", "not listening")
			time.Sleep(time.Hour)
		case l.Text == "fail":
			print("failure", "API Error: 500")
		case l.Text == "login":
			print("login", "Not logged in")
		default:
			print("text", "did: "+l.Text)
			print("result", "")
		}
	}
}

// supervisor is content the second time.
func supervisor(dir string) int {
	var asked bytes.Buffer
	_, _ = asked.ReadFrom(os.Stdin)
	note(dir, "asked", asked.String())
	verdicts, _ := os.ReadFile(filepath.Join(dir, "verdicts"))
	first, rest, _ := strings.Cut(string(verdicts), "\n")
	_ = os.WriteFile(filepath.Join(dir, "verdicts"), []byte(rest), 0o600)
	switch first {
	case "wait":
		print("text", "looking")
		time.Sleep(time.Hour)
	case "crash":
		return 3
	}
	print("text", strings.ReplaceAll(first, "|", "\n"))
	return 0
}

// fake is an adapter for both.
type fake struct {
	t   *testing.T
	dir string
}

func (f fake) Name() string                 { return "fake" }
func (f fake) Check(agent.Assignment) error { return nil }
func (f fake) Tool() agent.Tool             { return agent.Tool{} }

func (f fake) argv(words ...string) agent.Invocation {
	self, err := os.Executable()
	if err != nil {
		f.t.Fatal(err)
	}
	return agent.Invocation{Argv: append([]string{self}, words...), Env: []string{"GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + f.dir}, Dir: f.dir, Grace: time.Minute}
}

func (f fake) Talk(a agent.Assignment) (agent.Invocation, error) {
	if a.Follow != nil {
		return f.argv("talker", f.dir, a.Follow.Session), nil
	}
	return f.argv("talker", f.dir), nil
}

func (f fake) Invoke(a agent.Assignment) (agent.Invocation, error) {
	if a.Follow == nil || !a.Follow.Fork || a.Prompt != "the supervisor's prompt" || a.Contract != agent.ReviewContract {
		f.t.Errorf("the supervisor gets %+v, want its prompt and a fork of the session", a)
	}
	inv := f.argv("supervisor", f.dir)
	inv.Stdin = []byte("session " + a.Follow.Session + "\n" + a.Follow.Text)
	return inv, nil
}

func (f fake) Message(text string) []byte { return encode("user", text) }
func (f fake) Interrupt() []byte          { return encode("interrupt", "") }

func encode(kind, text string) []byte {
	data, _ := json.Marshal(line{kind, text})
	return append(data, '\n')
}

func (f fake) Reader(_ agent.Contract, h agent.Host) agent.Reader {
	r := &fakeReader{host: h}
	r.lines.Each = r.line
	return r
}

type fakeReader struct {
	host  agent.Host
	lines agent.Lines
	text  string
}

func (r *fakeReader) Write(p []byte) (int, error) { return r.lines.Write(p) }

func (r *fakeReader) line(data []byte) {
	var l line
	if json.Unmarshal(data, &l) != nil {
		return
	}
	switch l.Kind {
	case "session":
		r.host.Emit(agent.Event{Kind: agent.Session, ID: l.Text})
	case "text":
		r.text = l.Text
		r.host.Emit(agent.Event{Kind: agent.Text, Text: l.Text})
	case "login":
		r.host.GiveUp(&agent.ConfigError{Text: l.Text})
	case "failure":
		r.host.Emit(agent.Event{Kind: agent.Result, Text: l.Text, Failed: true})
	case "result":
		r.host.Emit(agent.Event{Kind: agent.Result})
	}
}

func (r *fakeReader) End(exit proc.Exit) agent.Report {
	report := agent.Report{Reply: []byte(r.text)}
	if exit.Code != 0 {
		report.Failure = agent.Failed("%s", exit.String())
	}
	return report
}

// site is a conversation with a person who is a test.
type site struct {
	t          *testing.T
	dir        string
	mu         sync.Mutex
	shown      []string
	changed    chan struct{}
	lines      chan string
	interrupts chan struct{}
	ended      chan error
	stop       context.CancelCauseFunc
}

func (s *site) show(text string) {
	s.mu.Lock()
	s.shown = append(s.shown, text)
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *site) Notice(text string)       { s.show("== " + text) }
func (s *site) Agent(e agent.Event)      { s.show("agent: " + e.Text) }
func (s *site) Supervisor(e agent.Event) { s.show("supervisor: " + e.Text) }

// begin starts a conversation whose supervisor gives the verdicts.
func begin(t *testing.T, rounds int, verdicts ...string) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), changed: make(chan struct{}, 1), lines: make(chan string), interrupts: make(chan struct{}, 1), ended: make(chan error, 1)}
	if err := os.WriteFile(filepath.Join(s.dir, "verdicts"), []byte(strings.Join(verdicts, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	stop, cancel := context.WithCancelCause(context.Background())
	s.stop = cancel
	loop := supervise.Supervision{Agent: fake{t, s.dir}, Supervisor: agent.Assignment{Prompt: "the supervisor's prompt"}, Rounds: rounds, Screen: s,
		Keyboard: supervise.Keyboard{Lines: s.lines, Interrupts: s.interrupts}, Size: func() (uint16, uint16) { return 10, 40 }}
	go func() { s.ended <- loop.Run(stop, context.Background()) }()
	s.sees("== Supervisor mode enabled")
	return s
}

// sees waits until a text was shown, and forgets what was shown up to it.
func (s *site) sees(text string) {
	s.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		s.mu.Lock()
		for i, line := range s.shown {
			if strings.Contains(line, text) {
				s.shown = s.shown[i+1:]
				s.mu.Unlock()
				return
			}
		}
		shown := strings.Join(s.shown, "\n")
		s.mu.Unlock()
		select {
		case <-s.changed:
		case err := <-s.ended:
			s.t.Fatalf("it ended (%v) before %q was shown, but:\n%s", err, text, shown)
		case <-limit:
			s.t.Fatalf("%q was not shown, but:\n%s", text, shown)
		}
	}
}

// leaves ends the input and waits for the end.
func (s *site) leaves(want error) {
	s.t.Helper()
	close(s.lines)
	s.ends(want)
}

func (s *site) ends(want error) {
	s.t.Helper()
	select {
	case err := <-s.ended:
		if !errors.Is(err, want) {
			s.t.Errorf("Run = %v, want %v", err, want)
		}
	case <-time.After(20 * time.Second):
		s.t.Fatalf("it does not end; shown: %q", s.shown)
	}
}

func (s *site) file(name string) string {
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// TestTwoRoundsAndCompletion is seed 003, "Supervisor 主循环": the feedback is the agent's next message, the mark ends the loop, and the
// original session is resumed and waits for the person.
func TestTwoRoundsAndCompletion(t *testing.T) {
	s := begin(t, 5, "add tests", "run them", "Good.|[TASK_COMPLETED]", "[TASK_COMPLETED]")
	s.lines <- "write a parser"
	s.sees("agent: did: write a parser")
	s.sees("== Supervisor phase")
	s.sees("supervisor: add tests")
	s.sees("== The supervisor sends the work back (1 of at most 5)")
	s.sees("agent: did: A supervisor has looked at your work")
	s.sees("== The supervisor sends the work back (2 of at most 5)")
	s.sees("== The supervisor says that the task is completed")
	s.lines <- "and a manual"
	s.sees("agent: did: and a manual")
	s.sees("== The supervisor says that the task is completed")
	s.leaves(nil)
	if got, want := s.file("starts"), "start \nstart s1\nstart s1\nstart s1\n"; !strings.HasPrefix(got, want) {
		t.Errorf("the agent was started as %q, want a new session that is resumed: %q", got, want)
	}
	if got := s.file("told"); !strings.Contains(got, "is not complete yet:\n\nadd tests") || !strings.Contains(got, "is not complete yet:\n\nrun them") {
		t.Errorf("the agent was told %q, want both verdicts", got)
	}
	asked := strings.Split(s.file("asked"), "session s1\n")
	if len(asked) != 5 || strings.Count(asked[3], "<input>\nwrite a parser\n</input>") != 1 ||
		strings.Contains(asked[4], "write a parser") || !strings.Contains(asked[4], "<input>\nand a manual\n</input>") {
		t.Errorf("the supervisor was asked %q, want what the person said about the work at hand", asked)
	}
}

// TestRounds: a supervisor that is never content hands over to the person.
func TestRounds(t *testing.T) {
	s := begin(t, 1, "more", "more [TASK_COMPLETED] not", "[TASK_COMPLETED]")
	s.lines <- "work"
	s.sees("== The supervisor sends the work back (1 of at most 1)")
	s.sees("== The supervisor has sent the work back once. It is your turn.")
	s.lines <- "go on"
	s.sees("task is completed")
	s.leaves(nil)
	if asked := s.file("asked"); !strings.Contains(asked, "<input>\nwork\n</input>\n\n<input>\ngo on\n</input>") {
		t.Errorf("the supervisor was asked %q, want all that the person said", asked)
	}
}

// TestSayMoreWhileItWorks: what is said meanwhile reaches the agent, and its answer is waited for.
func TestSayMoreWhileItWorks(t *testing.T) {
	s := begin(t, 1, "[TASK_COMPLETED]")
	s.lines <- "wait for me"
	s.sees("agent: waiting")
	s.lines <- "now"
	s.sees("agent: did: now")
	s.sees("task is completed")
	s.leaves(nil)
	if asked := s.file("asked"); !strings.Contains(asked, "wait for me") || !strings.Contains(asked, "<input>\nnow\n</input>") {
		t.Errorf("the supervisor was asked %q, want both messages", asked)
	}
}

// TestInterrupt: Ctrl-C stops the agent, not the conversation, and no supervisor looks at what was stopped.
func TestInterrupt(t *testing.T) {
	s := begin(t, 1, "[TASK_COMPLETED]")
	s.lines <- "wait"
	s.sees("agent: waiting")
	s.interrupts <- struct{}{}
	s.sees("== Stopping the agent")
	s.sees("== The agent has stopped. It is your turn.")
	s.lines <- "work"
	s.sees("agent: did: work")
	s.sees("task is completed")
	s.interrupts <- struct{}{}
	s.sees("== Nothing is going on")
	s.interrupts <- struct{}{}
	s.ends(nil)
	if told := s.file("told"); !strings.Contains(told, "user: wait\ninterrupt: \n") {
		t.Errorf("the agent was told %q, want an interrupt", told)
	}
}

// TestInterruptSupervisor: Ctrl-C stops a supervisor, too.
func TestInterruptSupervisor(t *testing.T) {
	s := begin(t, 1, "wait", "[TASK_COMPLETED]")
	s.lines <- "work"
	s.sees("supervisor: looking")
	s.interrupts <- struct{}{}
	s.sees("== The supervisor was stopped. It is your turn.")
	s.lines <- "more"
	s.sees("task is completed")
	s.leaves(nil)
}

// TestAgentDies: why it died is told, and the conversation goes on when the person says more.
func TestAgentDies(t *testing.T) {
	s := begin(t, 1, "[TASK_COMPLETED]")
	s.lines <- "die"
	s.sees("== The agent's program ended: exit status 9 (no more memory)")
	s.lines <- "work"
	s.sees("agent: did: work")
	s.sees("task is completed")
	s.leaves(nil)
	if got := s.file("starts"); !strings.HasPrefix(got, "start \nstart s1\n") {
		t.Errorf("the agent was started as %q, want its session to go on", got)
	}
}

// TestDeafAgent: an agent that does not read keeps nobody from stopping it, however much it was told.
func TestDeafAgent(t *testing.T) {
	s := begin(t, 1, "[TASK_COMPLETED]")
	s.lines <- "deaf"
	s.sees("agent: not listening")
	for range 200 {
		s.lines <- strings.Repeat("x", 4<<10)
	}
	s.interrupts <- struct{}{}
	s.sees("== Stopping the agent")
	s.interrupts <- struct{}{}
	s.sees("== The agent was ended. It is your turn.")
	s.leaves(nil)
}

// TestAgentFails: nobody looks at work that was not done.
func TestAgentFails(t *testing.T) {
	s := begin(t, 1, "[TASK_COMPLETED]")
	s.lines <- "fail"
	s.sees("== The agent could not do it: API Error: 500. It is your turn.")
	s.lines <- "work"
	s.sees("agent: did: work")
	s.sees("task is completed")
	s.leaves(nil)
}

// TestSupervisorDies: no verdict is no completion.
func TestSupervisorDies(t *testing.T) {
	s := begin(t, 1, "crash")
	s.lines <- "work"
	s.sees("== The supervisor gave no verdict: exit status 3. It is your turn.")
	s.leaves(nil)
}

// TestLogin: what no message can mend ends the conversation.
func TestLogin(t *testing.T) {
	s := begin(t, 1)
	s.lines <- "login"
	select {
	case err := <-s.ended:
		if setup, ok := errors.AsType[*agent.ConfigError](err); !ok || setup.Text != "Not logged in" {
			t.Errorf("Run = %v, want what the provider said", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
}

// TestStop: a signal ends it whatever goes on.
func TestStop(t *testing.T) {
	cause := errors.New("a signal")
	for _, tt := range []struct{ say, sees string }{{"", ""}, {"wait", "agent: waiting"}, {"work", "supervisor: looking"}} {
		s := begin(t, 1, "wait")
		if tt.say != "" {
			s.lines <- tt.say
			s.sees(tt.sees)
		}
		s.stop(cause)
		s.ends(cause)
	}
}

// TestLeaveWhileItWorks: the end of the input lets the agent finish, and the supervisor look at it.
func TestLeaveWhileItWorks(t *testing.T) {
	s := begin(t, 1, "more", "[TASK_COMPLETED]")
	s.lines <- "work"
	close(s.lines)
	s.sees("task is completed")
	s.ends(nil)
}

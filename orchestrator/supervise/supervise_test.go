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
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/supervise"
)

// TestMain also is the agent and the supervisor: test-binary talker|supervisor FOLDER [SESSION].
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "talker" {
		os.Exit(playAgent(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "supervisor" {
		os.Exit(playSupervisor(os.Args[2]))
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

// playAgent does what each message says.
func playAgent(dir string, resumed []string) int {
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
		case l.Text == "busy":
			print("busy", "Overloaded.")
		case l.Text == "/cost":
			print("text", "$0.00")
			print("local", "")
		default:
			print("text", "did: "+l.Text)
			print("result", "")
		}
	}
}

// playSupervisor accepts the work the second time.
func playSupervisor(dir string) int {
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
	case "busy":
		print("busy", "Overloaded.")
		return 1
	}
	print("text", strings.ReplaceAll(first, "|", "\n"))
	return 0
}

// fakeTool is an adapter for both.
type fakeTool struct {
	t   *testing.T
	dir string
}

func (f fakeTool) Name() string                 { return "fake" }
func (f fakeTool) Check(agent.Assignment) error { return nil }
func (f fakeTool) Tool() agent.Tool             { return agent.Tool{} }

func (f fakeTool) argv(words ...string) agent.Invocation {
	self, err := os.Executable()
	if err != nil {
		f.t.Fatal(err)
	}
	return agent.Invocation{Argv: append([]string{self}, words...),
		Env: []string{"GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + f.dir}, Dir: f.dir, Grace: time.Minute}
}

func (f fakeTool) Talk(a agent.Assignment) (agent.Invocation, error) {
	if a.Follow != nil {
		return f.argv("talker", f.dir, a.Follow.Session), nil
	}
	return f.argv("talker", f.dir), nil
}

func (f fakeTool) Invoke(a agent.Assignment) (agent.Invocation, error) {
	if a.Follow == nil || !a.Follow.Fork || a.Prompt != "the supervisor's prompt" ||
		a.Contract != contract.Review {
		f.t.Errorf("the supervisor gets %+v, want its prompt and a fork of the session", a)
	}
	inv := f.argv("supervisor", f.dir)
	inv.Stdin = []byte("session " + a.Follow.Session + "\n" + a.Follow.Text)
	return inv, nil
}

func (f fakeTool) Message(text string) []byte { return encode("user", text) }
func (f fakeTool) Interrupt() []byte          { return encode("interrupt", "") }

func encode(kind, text string) []byte {
	data, _ := json.Marshal(line{kind, text})
	return append(data, '\n')
}

func (f fakeTool) Reader(_ contract.Kind, h agent.Host) agent.Reader {
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
	case "busy":
		r.host.GiveUp(&agent.LaterError{Text: l.Text, Busy: true})
	case "failure":
		r.host.Emit(agent.Event{Kind: agent.Result, Text: l.Text, Failed: true})
	case "result":
		r.host.Emit(agent.Event{Kind: agent.Result})
	case "local":
		r.host.Emit(agent.Event{Kind: agent.Result, Local: true})
	}
}

func (r *fakeReader) End(exit proc.Exit) agent.Report {
	report := agent.Report{Reply: r.text}
	if exit.Code != 0 {
		report.Failure = contract.Failed("%s", exit.String())
	}
	return report
}

// site is a conversation with the test as the person.
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

// startSite starts a conversation whose supervisor gives the verdicts.
func startSite(t *testing.T, rounds int, verdicts ...string) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), changed: make(chan struct{}, 1), lines: make(chan string),
		interrupts: make(chan struct{}, 1), ended: make(chan error, 1)}
	if err := os.WriteFile(filepath.Join(s.dir, "verdicts"), []byte(strings.Join(verdicts, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	stop, cancel := context.WithCancelCause(context.Background())
	s.stop = cancel
	loop := supervise.Supervision{Agent: fakeTool{t, s.dir},
		Supervisor: agent.Assignment{Prompt: "the supervisor's prompt"}, Rounds: rounds, Screen: s, Sinks: attempt.Sinks{Redactor: redact.New(nil)},
		Keyboard: supervise.Keyboard{Lines: s.lines, Interrupts: s.interrupts},
		Size:     func() (uint16, uint16) { return 10, 40 }}
	go func() { s.ended <- loop.Run(stop, context.Background()) }()
	s.waitFor("== Supervisor mode enabled")
	return s
}

// waitFor waits until a text was shown, and drops all up to it.
func (s *site) waitFor(text string) {
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

// leave ends the input and waits for the end of the conversation.
func (s *site) leave(want error) {
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

// TestTwoRoundsAndCompletion is seed 003, "Supervisor 主循环": the feedback is the agent's next
// message, the mark ends the loop, and the original session is resumed and waits for the person.
func TestTwoRoundsAndCompletion(t *testing.T) {
	s := startSite(t, 5, "add tests", "run them", "Good.|[TASK_COMPLETED]", "[TASK_COMPLETED]")
	s.lines <- "write a parser"
	s.waitFor("agent: did: write a parser")
	s.waitFor("== Supervisor phase")
	s.waitFor("supervisor: add tests")
	s.waitFor("== The supervisor sends the work back (1 of at most 5)")
	s.waitFor("agent: did: Your work was reviewed")
	s.waitFor("== The supervisor sends the work back (2 of at most 5)")
	s.waitFor("== The supervisor says that the task is completed")
	s.lines <- "and a manual"
	s.waitFor("agent: did: and a manual")
	s.waitFor("== The supervisor says that the task is completed")
	s.leave(nil)
	if got, want := s.file("starts"), "start \nstart s1\nstart s1\nstart s1\n"; !strings.HasPrefix(got, want) {
		t.Errorf("the agent was started as %q, want a new session that is resumed: %q", got, want)
	}
	if got := s.file("told"); !strings.Contains(got, "is not complete yet:\n\nadd tests") ||
		!strings.Contains(got, "is not complete yet:\n\nrun them") {
		t.Errorf("the agent was told %q, want both verdicts", got)
	}
	asked := strings.Split(s.file("asked"), "session s1\n")
	if len(asked) != 5 || strings.Count(asked[3], "<input>\nwrite a parser\n</input>") != 1 ||
		strings.Contains(asked[4], "write a parser") || !strings.Contains(asked[4], "<input>\nand a manual\n</input>") {
		t.Errorf("the supervisor was asked %q, want what the person said about the work at hand", asked)
	}
}

// TestRounds: a supervisor that never accepts the work passes the turn to the person.
func TestRounds(t *testing.T) {
	s := startSite(t, 1, "more", "more [TASK_COMPLETED] not", "[TASK_COMPLETED]")
	s.lines <- "work"
	s.waitFor("== The supervisor sends the work back (1 of at most 1)")
	s.waitFor("== The supervisor has sent the work back once. It is your turn.")
	s.lines <- "go on"
	s.waitFor("task is completed")
	s.leave(nil)
	if asked := s.file("asked"); !strings.Contains(asked, "<input>\nwork\n</input>\n\n<input>\ngo on\n</input>") {
		t.Errorf("the supervisor was asked %q, want all that the person said", asked)
	}
}

// TestSayMoreWhileItWorks: a message during the work reaches the agent, and its answer is awaited.
func TestSayMoreWhileItWorks(t *testing.T) {
	s := startSite(t, 1, "[TASK_COMPLETED]")
	s.lines <- "wait for me"
	s.waitFor("agent: waiting")
	s.lines <- "now"
	s.waitFor("agent: did: now")
	s.waitFor("task is completed")
	s.leave(nil)
	if asked := s.file("asked"); !strings.Contains(asked, "wait for me") ||
		!strings.Contains(asked, "<input>\nnow\n</input>") {
		t.Errorf("the supervisor was asked %q, want both messages", asked)
	}
}

// TestCommand: what the agent's program answers itself is no work, and costs no supervisor.
func TestCommand(t *testing.T) {
	s := startSite(t, 1, "[TASK_COMPLETED]")
	s.lines <- "/cost"
	s.waitFor("agent: $0.00")
	s.waitFor("== No model was asked")
	s.lines <- "write a parser"
	s.waitFor("agent: did: write a parser")
	s.waitFor("task is completed")
	s.lines <- "/cost"
	s.waitFor("== No model was asked")
	s.leave(nil)
	if asked := s.file("asked"); strings.Contains(asked, "/cost") || strings.Count(asked, "session s1") != 1 {
		t.Errorf("the supervisor was asked %q, want the work only, once", asked)
	}
}

// TestInterrupt: Ctrl-C stops the agent, not the conversation, and no supervisor checks the stopped
// work.
func TestInterrupt(t *testing.T) {
	s := startSite(t, 1, "[TASK_COMPLETED]")
	s.lines <- "wait"
	s.waitFor("agent: waiting")
	s.interrupts <- struct{}{}
	s.waitFor("== Stopping the agent")
	s.waitFor("== The agent has stopped. It is your turn.")
	s.lines <- "work"
	s.waitFor("agent: did: work")
	s.waitFor("task is completed")
	s.interrupts <- struct{}{}
	s.waitFor("== Nothing is going on")
	s.interrupts <- struct{}{}
	s.ends(nil)
	if told := s.file("told"); !strings.Contains(told, "user: wait\ninterrupt: \n") {
		t.Errorf("the agent was told %q, want an interrupt", told)
	}
}

// TestInterruptSupervisor: Ctrl-C also stops a supervisor.
func TestInterruptSupervisor(t *testing.T) {
	s := startSite(t, 1, "wait", "[TASK_COMPLETED]")
	s.lines <- "work"
	s.waitFor("supervisor: looking")
	s.interrupts <- struct{}{}
	s.waitFor("== The supervisor was stopped. It is your turn.")
	s.lines <- "more"
	s.waitFor("task is completed")
	s.leave(nil)
}

// TestAgentDies: the reason is shown, and the person's next message continues the conversation.
func TestAgentDies(t *testing.T) {
	s := startSite(t, 1, "[TASK_COMPLETED]")
	s.lines <- "die"
	s.waitFor("== The agent's program ended: exit status 9 (no more memory)")
	s.lines <- "work"
	s.waitFor("agent: did: work")
	s.waitFor("task is completed")
	s.leave(nil)
	if got := s.file("starts"); !strings.HasPrefix(got, "start \nstart s1\n") {
		t.Errorf("the agent was started as %q, want its session to go on", got)
	}
}

// TestDeafAgent: an agent that does not read its input can still be stopped.
func TestDeafAgent(t *testing.T) {
	s := startSite(t, 1, "[TASK_COMPLETED]")
	s.lines <- "deaf"
	s.waitFor("agent: not listening")
	for range 200 {
		s.lines <- strings.Repeat("x", 4<<10)
	}
	s.interrupts <- struct{}{}
	s.waitFor("== Stopping the agent")
	s.interrupts <- struct{}{}
	s.waitFor("== The agent was ended. It is your turn.")
	s.leave(nil)
}

// TestAgentFails: failed work is not checked.
func TestAgentFails(t *testing.T) {
	s := startSite(t, 1, "[TASK_COMPLETED]")
	s.lines <- "fail"
	s.waitFor("== The agent could not do it: API Error: 500. It is your turn.")
	s.lines <- "work"
	s.waitFor("agent: did: work")
	s.waitFor("task is completed")
	s.leave(nil)
}

// TestProviderIsBusy: a provider that does not serve for now ends no conversation, whether the agent asked it or
// the supervisor.
func TestProviderIsBusy(t *testing.T) {
	s := startSite(t, 1, "busy", "[TASK_COMPLETED]")
	s.lines <- "busy"
	s.waitFor("== The agent could not do it: Overloaded. It is your turn.")
	s.lines <- "work"
	s.waitFor("agent: did: work")
	s.waitFor("== The supervisor gave no verdict: Overloaded. It is your turn.")
	s.lines <- "work"
	s.waitFor("task is completed")
	s.leave(nil)
}

// TestSupervisorDies: without a verdict the work is not completed.
func TestSupervisorDies(t *testing.T) {
	s := startSite(t, 1, "crash")
	s.lines <- "work"
	s.waitFor("== The supervisor gave no verdict: exit status 3. It is your turn.")
	s.leave(nil)
}

// TestLogin: an error that no message can mend ends the conversation.
func TestLogin(t *testing.T) {
	s := startSite(t, 1)
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

// TestStop: a signal ends the conversation in every phase.
func TestStop(t *testing.T) {
	cause := errors.New("a signal")
	for _, tt := range []struct{ say, sees string }{{"", ""}, {"wait", "agent: waiting"},
		{"work", "supervisor: looking"}} {
		s := startSite(t, 1, "wait")
		if tt.say != "" {
			s.lines <- tt.say
			s.waitFor(tt.sees)
		}
		s.stop(cause)
		s.ends(cause)
	}
}

// TestLeaveWhileItWorks: at the end of the input the agent finishes and the supervisor checks its
// work.
func TestLeaveWhileItWorks(t *testing.T) {
	s := startSite(t, 1, "more", "[TASK_COMPLETED]")
	s.lines <- "work"
	close(s.lines)
	s.waitFor("task is completed")
	s.ends(nil)
}

//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"kanban-run/orchestrator/agent/modeltest"
)

// seat is a person at a terminal in front of `kanban-run supervise`.
type seat struct {
	*realSite
	keys   *os.File
	screen *os.File // the far side, to look at how the terminal is set
	run    *launched
	mu     sync.Mutex
	seen   bytes.Buffer
}

// newSeat has claude in the site, and a supervisor that says what the verdicts say.
func newSeat(t *testing.T, verdicts ...string) *seat {
	t.Helper()
	s := &seat{realSite: newReal(t, "claude", 0)}
	must(t, os.MkdirAll(s.path("out"), 0o755))
	s.write("SUPERVISOR.md", "You are strict.\n")
	s.write(".kanban-run.yaml", "")
	s.converses(verdicts...)
	return s
}

// converses has the model write a file for whatever it is told.
func (s *seat) converses(verdicts ...string) {
	s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
		rounds := 0
		for _, m := range q.Messages {
			if m.Role == "user" {
				rounds += strings.Count(m.Text, feedback)
			}
		}
		switch {
		case strings.Contains(said, "You are now the supervisor"):
			return modeltest.Play(modeltest.Say(verdicts[min(rounds, len(verdicts)-1)])), true
		case strings.Contains(said, feedback):
			return modeltest.Play(modeltest.WriteFile(s.path(fmt.Sprintf("out/round-%d.txt", rounds)), said), modeltest.Say(fmt.Sprintf("Round %d is done.", rounds))), true
		case strings.Contains(said, "please wait"):
			return modeltest.Play(modeltest.Shell("touch " + s.path("busy") + "; sleep 600")), true
		case strings.Contains(said, "please"):
			return modeltest.Play(modeltest.WriteFile(s.path("out/work.txt"), said), modeltest.Say("The work is done.")), true
		default:
			return modeltest.Script{}, false
		}
	})
}

// sits starts it on a terminal.
func (s *seat) sits(args ...string) {
	s.t.Helper()
	keys, screen, err := pty.Open()
	if err != nil {
		s.t.Skipf("there are no terminals here: %v", err)
	}
	must(s.t, pty.Setsize(keys, &pty.Winsize{Rows: 30, Cols: 100}))
	s.keys, s.screen = keys, screen
	s.t.Cleanup(func() { _, _ = keys.Close(), screen.Close() })
	cmd := s.command([]string{"TERM=xterm"}, append([]string{"supervise"}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	s.run = s.launch(cmd)
	go func() {
		buf := make([]byte, 32<<10)
		for {
			n, err := keys.Read(buf)
			s.mu.Lock()
			s.seen.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
}

// sees waits until a text is on the screen, and forgets all before it.
func (s *seat) sees(text string) {
	s.t.Helper()
	if !within(stuckAfter, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		at := bytes.Index(s.seen.Bytes(), []byte(text))
		if at >= 0 {
			s.seen.Next(at + len(text))
		}
		return at >= 0
	}) {
		s.t.Fatalf("%q is not shown, but:\n%s\n%s", text, s.seen.String(), s.asked())
	}
}

func (s *seat) types(keys string) {
	s.t.Helper()
	_, err := io.WriteString(s.keys, keys)
	must(s.t, err)
}

// isRaw says how the terminal is set.
func (s *seat) isRaw() bool {
	s.t.Helper()
	state, err := unix.IoctlGetTermios(int(s.screen.Fd()), unix.TCGETS)
	must(s.t, err)
	return state.Lflag&unix.ICANON == 0 || state.Lflag&unix.ECHO == 0
}

// leaves checks the end, and that the terminal is as it was.
func (s *seat) leaves(code int) {
	s.t.Helper()
	if got := s.run.wait(); got != code {
		s.t.Errorf("exit code %d, want %d\n%s", got, code, s.seen.String())
	}
	if s.isRaw() {
		s.t.Error("the terminal was not given back")
	}
	s.nobodyIsLeft()
}

// TestRealSupervise is seed 003 at a terminal: two rounds of feedback, completion, the session
// goes on, and Ctrl-D leaves.
func TestRealSupervise(t *testing.T) {
	t.Parallel()
	s := newSeat(t, "Add a test.", "Run it.", "All is there.\n\n[TASK_COMPLETED]")
	s.sits()
	s.sees("Supervisor mode enabled")
	s.sees("> ")
	if !s.isRaw() {
		t.Error("the terminal is not raw: what the agent says and what is typed would mix")
	}
	s.types("/cost\r")
	s.sees("Estimated cost:")
	s.sees("No model was asked")
	s.types("please write a parser\r")
	for _, text := range []string{"[Write]", "The work is done.", "Supervisor phase", "supervisor: Add a test.", "sends the work back (1 of at most 10)",
		"Round 1 is done.", "supervisor: Run it.", "Round 2 is done.", "supervisor: All is there.", "the task is completed. It is your turn."} {
		s.sees(text)
	}
	for file, want := range map[string]string{"out/work.txt": "please write a parser", "out/round-1.txt": "Add a test.", "out/round-2.txt": "Run it."} {
		if got := s.read(file); !strings.Contains(got, want) {
			t.Errorf("%s = %q, want %q in it", file, got, want)
		}
	}
	s.strict()
	s.unchanged("claude")
	s.types("please write a manual\r")
	s.sees("The work is done.")
	s.sees("the task is completed. It is your turn.")
	requests := s.model.Requests()
	if last := requests[len(requests)-1]; !strings.Contains(last.Messages[len(last.Messages)-1].Text, "<input>\nplease write a manual\n</input>") {
		t.Errorf("the supervisor is asked %q, want what was typed last", last.Messages[len(last.Messages)-1].Text)
	}
	s.types("\x04")
	s.leaves(exitComplete)
}

// TestRealSuperviseInterrupt: Ctrl-C stops what the agent does, and what is typed then
// goes to the same session.
func TestRealSuperviseInterrupt(t *testing.T) {
	t.Parallel()
	s := newSeat(t, "[TASK_COMPLETED]")
	s.sits()
	s.sees("> ")
	s.types("please wait\r")
	s.await("busy")
	must(t, pty.Setsize(s.keys, &pty.Winsize{Rows: 20, Cols: 60}))
	s.types("\x03")
	s.sees("Stopping the agent")
	s.sees("The agent has stopped. It is your turn.")
	s.types("please go on\r")
	s.sees("The work is done.")
	s.sees("the task is completed")
	s.types("\x03")
	s.sees("Nothing is going on")
	s.types("\x03")
	s.leaves(exitComplete)
	if last := s.model.Requests(); !strings.Contains(last[len(last)-1].Messages[0].Text+fmt.Sprint(last[len(last)-1].Messages), "please wait") {
		t.Error("the session does not go on after it was interrupted")
	}
}

// stubborn is a seat in front of a claude that does not end when it is asked to, for as long as
// the test may take; with its supervisor it is the supervisor that does not.
func stubborn(t *testing.T, supervisor bool) *seat {
	t.Helper()
	s := &seat{realSite: &realSite{site: newSite(t, built(t, buildPlain), 0), name: "claude"}}
	s.env = []string{"PATH=" + s.path("bin") + ":/usr/bin:/bin", "IS_SANDBOX=1", "KANBAN_RUN_GRACE=1h"}
	s.write("SUPERVISOR.md", "You are strict.\n")
	s.write("bin/claude", `#!/bin/sh
read -r line || exit 0
case " $* " in *" --fork-session "*) stubborn=`+fmt.Sprint(supervisor)+`;; *) stubborn=`+fmt.Sprint(!supervisor)+`;; esac
if [ $stubborn = true ]; then
  trap '' TERM INT HUP
  echo '{"type":"system","subtype":"init","session_id":"s1"}'
  touch busy
  while :; do sleep 1; done
fi
echo '{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"s1"}'
while read -r line; do :; done
`)
	must(t, os.Chmod(s.path("bin/claude"), 0o755))
	return s
}

// TestSuperviseKills: a second Ctrl-C kills an agent that does not end when asked to.
func TestSuperviseKills(t *testing.T) {
	t.Parallel()
	for name, supervisor := range map[string]bool{"agent": false, "supervisor": true} {
		t.Run(name, func(t *testing.T) {
			s := stubborn(t, supervisor)
			s.sits()
			s.sees("> ")
			s.types("hello\r")
			s.await("busy")
			s.types("\x03")
			s.sees("Stopping the " + name + "; Ctrl-C once more ends it at once.")
			s.types("\x03")
			s.sees(" was ")
			s.sees("It is your turn.")
			s.types("\x04")
			s.leaves(exitComplete)
		})
	}
}

// TestSuperviseTakesLongLines: nothing of a line is lost that is typed, or pasted in a
// terminal that does not mark it.
func TestSuperviseTakesLongLines(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"letters": strings.Repeat("0123456789", 1000), "of two bytes": strings.Repeat("äöüß ßüöä.", 500)} {
		t.Run(name, func(t *testing.T) {
			s := stubborn(t, false)
			s.write("bin/claude", `#!/bin/sh
read -r line
[ -e told ] || { printf '%s' "$line" >told.new && mv told.new told; } # what the supervisor is told comes after it
echo '{"type":"result","subtype":"success","is_error":false,"result":"[TASK_COMPLETED]","session_id":"s1"}'
`)
			s.sits()
			s.sees("> ")
			s.types(text + "\x1b[D!\r") // the cursor is one to the left then
			s.await("told")
			if told, want := s.read("told"), text[:len(text)-1]+"!"+text[len(text)-1:]; !strings.Contains(told, want) {
				t.Errorf("of %d bytes that were typed the agent got %d: %.300q", len(want), len(told), told)
			}
			signalTo(t, s.run.guardian.pid, syscall.SIGTERM)
			s.leaves(exitTerminated)
		})
	}
}

// TestSuperviseSaysWhatToDo: a hint is true of a conversation.
func TestSuperviseSaysWhatToDo(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, input string) (*seat, *launched) {
		s := stubborn(t, false)
		cmd := s.command(nil, "supervise", "--", "--no-such-option")
		cmd.Stdin = strings.NewReader(input)
		return s, s.launch(cmd)
	}
	t.Run("a message that is too long", func(t *testing.T) {
		s, run := start(t, strings.Repeat("x", maxMessage+1))
		if code := run.wait(); code != exitInvalid {
			t.Errorf("exit code %d, want %d\n%s", code, exitInvalid, s.read("output"))
		}
		s.says("a message is longer than 8 MiB: each line of standard input is one", "hint: put it into a file")
	})
	t.Run("no session was begun", func(t *testing.T) {
		s := stubborn(t, false)
		s.write("bin/claude", "#!/bin/sh\nread -r line\necho \"error: unknown option '--no-such-option'\" >&2\nexit 1\n")
		cmd := s.command(nil, "supervise", "--", "--no-such-option")
		cmd.Stdin = strings.NewReader("hello\n")
		if code := s.launch(cmd).wait(); code != exitNeedsPerson {
			t.Errorf("exit code %d, want %d\n%s", code, exitNeedsPerson, s.read("output"))
		}
		s.says("error: unknown option '--no-such-option'")
		if strings.Contains(s.read("output"), "hint:") {
			t.Errorf("there is nothing to go on with, but:\n%s", s.read("output"))
		}
	})
	t.Run("the runner is killed", func(t *testing.T) {
		s, run := start(t, "hello\n")
		s.await("busy")
		run.kill(runnerOnly)
		if code := run.wait(); code != exitKilled {
			t.Errorf("exit code %d, want %d\n%s", code, exitKilled, s.read("output"))
		}
		s.says("hint: kanban-run supervise -- --continue goes on in the last session of this folder; signal this process instead")
		s.nobodyIsLeft()
	})
}

// TestRealSuperviseEnds: whatever ends it, the terminal is restored and no process is left.
func TestRealSuperviseEnds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		end  func(s *seat)
		code int
	}{
		{"SIGTERM", func(s *seat) { signalTo(s.t, s.run.guardian.pid, syscall.SIGTERM) }, exitTerminated},
		{"SIGHUP", func(s *seat) { signalTo(s.t, s.run.guardian.pid, syscall.SIGHUP) }, exitTerminated},
		{"the runner is killed", func(s *seat) { s.run.kill(runnerOnly) }, exitKilled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSeat(t, "[TASK_COMPLETED]")
			s.sits()
			s.sees("> ")
			s.types("please wait\r")
			s.await("busy")
			tt.end(s)
			s.leaves(tt.code)
			s.sees("\x1b[?2004l") // what is pasted is the shell's again
		})
	}
}

// TestRealSuperviseKeys: Ctrl-C is heard whatever else was typed: after Ctrl-D, and behind a
// line that waits for its turn.
func TestRealSuperviseKeys(t *testing.T) {
	t.Parallel()
	t.Run("after Ctrl-D", func(t *testing.T) {
		s := newSeat(t, "[TASK_COMPLETED]")
		s.sits()
		s.sees("> ")
		s.types("please wait\r")
		s.await("busy")
		s.types("\x04")
		s.sees("Leaving once the work is done")
		s.types("\x03")
		s.sees("Stopping the agent")
		s.leaves(exitComplete)
	})
	t.Run("behind a line", func(t *testing.T) {
		s := newSeat(t, "")
		s.write("SUPERVISOR.md", "---\npermission: full\n---\nYou are strict.\n")
		s.model.SetFallback(func(q *modeltest.Request, said string) (modeltest.Script, bool) {
			switch {
			case strings.Contains(said, "You are now the supervisor"):
				return modeltest.Play(modeltest.Shell("touch " + s.path("busy") + "; sleep 600")), true
			default:
				return modeltest.Play(modeltest.Say("Done: " + said)), true
			}
		})
		s.sits()
		s.sees("> ")
		s.types("please write\r")
		s.await("busy")
		s.types("please go on\r")
		s.types("\x03")
		s.sees("The supervisor was stopped. It is your turn.")
		s.sees("Done: please go on")
		signalTo(t, s.run.guardian.pid, syscall.SIGTERM)
		s.leaves(exitTerminated)
	})
}

// TestRealSuperviseLongPrompt: a SUPERVISOR.md that is too long for a command line goes to claude
// as a file, which does not stay.
func TestRealSuperviseLongPrompt(t *testing.T) {
	t.Parallel()
	s := newSeat(t, "[TASK_COMPLETED]")
	s.write("SUPERVISOR.md", strings.Repeat("Be patient. ", 5000)+"You are strict.\n")
	cmd := s.command([]string{"TMPDIR=" + s.path("tmp")}, "supervise")
	must(t, os.MkdirAll(s.path("tmp"), 0o755))
	cmd.Stdin = strings.NewReader("please write a parser\n")
	if code := s.launch(cmd).wait(); code != exitComplete {
		t.Errorf("exit code %d, want 0\n%s", code, s.read("output"))
	}
	requests := s.model.Requests()
	if last := requests[len(requests)-1]; !strings.Contains(last.System, "You are strict.") {
		t.Error("the supervisor was not told its role")
	}
	if left, _ := filepath.Glob(s.path("tmp/kanban-run-*")); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

// TestRealSuperviseUnfinished: without a person the exit code says that the work is not completed.
func TestRealSuperviseUnfinished(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, says string
		step       modeltest.Step
	}{
		{"the API fails", "The agent could not do it: API Error: 500", modeltest.Status(500)},
		{"never content", "The supervisor has sent the work back once.", modeltest.Say("More.")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSeat(t, "")
			s.model.SetFallback(func(*modeltest.Request, string) (modeltest.Script, bool) { return modeltest.Play(tt.step), true })
			cmd := s.command(nil, "supervise", "--rounds", "1")
			cmd.Stdin = strings.NewReader("please write a parser\n")
			if code := s.launch(cmd).wait(); code != exitNeedsPerson {
				t.Errorf("exit code %d, want %d\n%s", code, exitNeedsPerson, s.read("output"))
			}
			s.says("the work is not completed: "+tt.says, "kanban-run supervise -- --resume ")
		})
	}
}

// TestRealSuperviseGoesOn: a conversation goes on where it was left, and what is added to the
// agent's command line to that end is for its first start: later ones, and the supervisor, have
// the session that it named.
func TestRealSuperviseGoesOn(t *testing.T) {
	t.Parallel()
	s := newSeat(t, "More.")
	converse := func(code int, says, message string, args ...string) {
		t.Helper()
		s.write("output", "")
		cmd := s.command(nil, append([]string{"supervise", "--rounds", "1"}, args...)...)
		cmd.Stdin = strings.NewReader(message + "\n")
		if got := s.launch(cmd).wait(); got != code {
			t.Fatalf("exit code %d with %q, want %d\n%s", got, args, code, s.read("output"))
		}
		s.says(says)
	}
	const named = "0c3f6a52-5a0b-4f6e-9d55-0d2ad1f6b7c1"
	converse(exitNeedsPerson, "hint: go on in the same session: kanban-run supervise -- --resume "+named, "please write a parser", "--", "--session-id", named)
	s.converses("More.", "More.", "[TASK_COMPLETED]")
	s.sits("--rounds", "1", "--", "--resume", named)
	s.sees("> ")
	s.types("please go on\r\x04")
	s.sees("the task is completed")
	s.leaves(exitComplete) // the supervisor is the last that has worked
	s.converses("More.", "More.", "More.", "[TASK_COMPLETED]")
	converse(exitComplete, "the task is completed", "please go on again", "--", "--continue")
	for _, q := range s.model.Requests() {
		for n, m := range q.Messages[:max(0, len(q.Messages)-1)] {
			if m.Role == "user" && strings.Contains(m.Text, "You are now the supervisor") {
				t.Errorf("message %d of %d of a request is the supervisor's: the agent goes on in its fork", n+1, len(q.Messages))
			}
		}
	}
	requests := s.model.Requests()
	if last := fmt.Sprint(requests[len(requests)-1].Messages); !strings.Contains(last, "please write a parser") || !strings.Contains(last, "please go on again") {
		t.Errorf("the last request has not all that was said: %s", last)
	}
}

// TestSuperviseHidesSecrets: what an agent says on standard error, or what of its output cannot be
// read, is redacted before it is shortened.
func TestSuperviseHidesSecrets(t *testing.T) {
	t.Parallel()
	const secret = "tr0ub4dor-and-3-horses-and-a-battery-staple"
	for name, says := range map[string]string{
		"stderr":          `printf %480s x >&2; printf %s "$TOLD" >&2`,
		"stderr in parts": `printf '%.20s' "$TOLD" >&2; sleep 0.2; printf %s "${TOLD#????????????????????}" >&2`,
		"no JSON":         `printf '%930s%s\n' x "$TOLD"`,
	} {
		t.Run(name, func(t *testing.T) {
			s := &seat{realSite: &realSite{site: newSite(t, built(t, buildPlain), 0), name: "claude"}}
			s.write("SUPERVISOR.md", "You are strict.\n")
			s.write("bin/claude", "#!/bin/sh\nread -r _\n"+says+"\nexit 3\n")
			must(t, os.Chmod(s.path("bin/claude"), 0o755))
			s.write(".kanban-run.yaml", "env: {set: {TOLD: "+secret+"}}\nredact: ["+secret+"]\n")
			cmd := s.command([]string{"PATH=" + s.path("bin") + ":/usr/bin:/bin", "IS_SANDBOX=1"}, "supervise")
			cmd.Stdin = strings.NewReader("please\n")
			s.launch(cmd).wait()
			said := s.read("output")
			for n := 0; n+8 <= len(secret); n++ {
				if strings.Contains(said, secret[n:n+8]) {
					t.Fatalf("it shows %q:\n%s", secret[n:n+8], said)
				}
			}
			if !strings.Contains(said, "exit status 3") {
				t.Errorf("it does not say how the agent ended:\n%s", said)
			}
		})
	}
}

// TestRealSuperviseLogin: a login that is refused ends it with the provider's words.
func TestRealSuperviseLogin(t *testing.T) {
	t.Parallel()
	s := newSeat(t, "")
	s.model.SetFallback(func(*modeltest.Request, string) (modeltest.Script, bool) {
		return modeltest.Play(modeltest.Status(401)), true
	})
	s.sits()
	s.sees("> ")
	s.types("hello\r")
	s.sees("API key")
	s.leaves(exitInvalid)
}

// TestRealSupervisePiped: without a terminal each line is a message, and the
// end of the input is the end.
func TestRealSupervisePiped(t *testing.T) {
	t.Parallel()
	s := newSeat(t, "More.", "[TASK_COMPLETED]")
	cmd := s.command(nil, "supervise")
	cmd.Stdin = strings.NewReader("please write a parser\nplease write a manual\n")
	run := s.launch(cmd)
	if code := run.wait(); code != exitComplete {
		t.Errorf("exit code %d, want 0\n%s", code, s.read("output"))
	}
	s.says("Supervisor mode enabled", "The work is done.", "sends the work back", "Round 1 is done.", "the task is completed")
	if n := strings.Count(s.read("output"), "the task is completed"); n != 2 {
		t.Errorf("%d tasks were completed, want 2\n%s", n, s.read("output"))
	}
	s.nobodyIsLeft()
}

// TestSuperviseTakesNoMessage: a message on the command line is not handed to
// claude, which would ignore it.
func TestSuperviseTakesNoMessage(t *testing.T) {
	t.Parallel()
	s := newSite(t, built(t, buildPlain), 0)
	out, err := s.command(nil, "supervise", "please do it").CombinedOutput()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != exitInvalid || !strings.Contains(string(out), "echo MESSAGE | kanban-run supervise") {
		t.Errorf("supervise with a message: %v, %s", err, out)
	}
}

// TestRealSuperviseNeedsPrompt is seed 003, "SUPERVISOR.md 不存在".
func TestRealSuperviseNeedsPrompt(t *testing.T) {
	t.Parallel()
	s := newSeat(t, "")
	s.remove("SUPERVISOR.md")
	var out bytes.Buffer
	cmd := s.command(nil, "supervise")
	cmd.Stdout, cmd.Stderr = &out, &out
	if err, ok := cmd.Run().(*exec.ExitError); !ok || err.ExitCode() != exitInvalid || !strings.Contains(out.String(), "supervise --example > SUPERVISOR.md") {
		t.Errorf("supervise without SUPERVISOR.md: %v, %s", err, out.String())
	}
	example, err := s.command(nil, "supervise", "--example").Output()
	must(t, err)
	s.write("SUPERVISOR.md", string(example))
	if !strings.Contains(string(example), "\n[TASK_COMPLETED]\n") {
		t.Errorf("the example does not say how work is accepted: %s", example)
	}
}

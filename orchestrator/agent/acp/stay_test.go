package acp_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/agent/acp"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// stay starts a client that stays, and returns how to tell it something and what it prints.
func stay(t *testing.T, program string) (a agent.Resident, tell func(text string), lines *bufio.Scanner, cmd *exec.Cmd) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	a = acp.New(self).(agent.Resident)
	inv, err := a.Stay(agent.Assignment{Command: []string{self, program}, Prompt: "You look.", Input: []byte(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(inv.Argv[0], inv.Argv[1:]...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GORACE=atexit_sleep_ms=0", "GOCOVERDIR="+t.TempDir())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return a, func(text string) { _, _ = in.Write([]byte(text)) }, bufio.NewScanner(out), cmd
}

// turn reads the answer to one prompt.
func turn(t *testing.T, a agent.Resident, lines *bufio.Scanner) (report agent.Report, read string) {
	t.Helper()
	done := false
	r := a.Turn(contract.Review, agent.Host{Emit: func(e agent.Event) { done = done || e.Kind == agent.Result }})
	for !done && lines.Scan() {
		read += lines.Text() + "\n"
		_, _ = r.Write(append(bytes.Clone(lines.Bytes()), '\n'))
	}
	return r.End(proc.Exit{}), read
}

func prompt(t *testing.T, a agent.Resident, text string) string {
	t.Helper()
	self, _ := os.Executable()
	inv, err := a.Stay(agent.Assignment{Command: []string{self, "actor"}, Contract: contract.Review, Follow: &agent.Follow{Text: text}})
	if err != nil || bytes.Count(inv.Stdin, []byte("\n")) != 1 || !slices.Contains(inv.Argv, "--stay") {
		t.Fatalf("Stay = %q %q, %v, want one line for a client that stays", inv.Argv, inv.Stdin, err)
	}
	return string(inv.Stdin)
}

// TestStay: seed 001, "Lifecycle": one session takes several prompts, each charged alone, and ends
// on request; no model is asked for that.
func TestStay(t *testing.T) {
	a, tell, lines, cmd := stay(t, "actor")
	for i, word := range []string{"one", "two"} {
		tell(prompt(t, a, "!say "+word+"\n!usage"))
		report, read := turn(t, a, lines)
		if report.Failure != nil || report.Reply != word || strings.Contains(read, `"session"`) != (i == 0) {
			t.Fatalf("turn %d: %+v\n%s", i, report, read)
		}
		if want := int64([]int{500_000, 0}[i]); report.Spent == nil || report.Spent.Cost == nil || *report.Spent.Cost != want {
			t.Errorf("turn %d: spent %+v, want %d: the session costs half a dollar in all", i, report.Spent, want)
		}
	}
	tell(`{"type":"shutdown_request","request_id":"r-1"}` + "\n")
	if !lines.Scan() || lines.Text() != `{"type":"shutdown_response","request_id":"r-1","approve":true}` {
		t.Errorf("it answers the request to shut down with %q", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestStayNoticesTheEnd: an agent that dies between two prompts is missed at once.
func TestStayNoticesTheEnd(t *testing.T) {
	a, tell, lines, cmd := stay(t, "actor")
	tell(prompt(t, a, "!say one"))
	if report, _ := turn(t, a, lines); report.Reply != "one" {
		t.Fatalf("%+v", report)
	}
	children, err := exec.Command("pgrep", "-P", fmt.Sprint(cmd.Process.Pid)).Output()
	if err != nil {
		t.Skipf("pgrep: %v", err)
	}
	if err := exec.Command("kill", "-9", strings.TrimSpace(string(children))).Run(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		for lines.Scan() {
			continue
		}
		ended <- cmd.Wait()
	}()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it ended well, want exit status 1")
		}
	case <-time.After(10 * time.Second):
		t.Error("it does not notice")
	}
}

package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/health"
)

// said is a text of the Implementor's model, in step 1.
func said(text string) agent.Sign { return sign(agent.Event{Kind: agent.Text, Text: text}) }

func sign(e agent.Event) agent.Sign {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	return agent.Sign{AttemptRef: event.AttemptRef{Step: 1, Call: event.TaskCall, Task: "tasks/a.md", Role: "Implementor", Attempt: 1}, Event: e}
}

// TestDoing: the live line shows the oldest open call, or what the agent waits for.
func TestDoing(t *testing.T) {
	start := time.Unix(1000, 0)
	bash := agent.Event{Kind: agent.ToolStarted, ID: "1", Tool: "Bash", Text: "go test ./..."}
	read := agent.Event{Kind: agent.ToolStarted, ID: "2", Tool: "Read", Text: "a.go"}
	session := agent.Event{Kind: agent.Session, ID: "s"}
	for _, tt := range []struct {
		name   string
		events []agent.Event // one a second, the first at second 1
		at     int           // seconds after the start
		want   string
	}{
		{"nothing yet", nil, 9, ""},
		{"it began", []agent.Event{session}, 2, ""},
		{"its model is silent", []agent.Event{session}, 8, "model 7s"},
		{"one call", []agent.Event{session, bash}, 72, "Bash 1m10s: go test ./..."},
		{"two calls", []agent.Event{session, bash, read}, 10, "Bash 8s: go test ./... (and 1 more call)"},
		{"one of them ended", []agent.Event{session, bash, read, {Kind: agent.ToolEnded, ID: "1"}}, 10, "Read 7s: a.go"},
		{"all ended", []agent.Event{session, bash, {Kind: agent.ToolEnded, ID: "1"}}, 10, "model 7s"},
		{"it said something", []agent.Event{session, {Kind: agent.Text, Text: "Let me see."}}, 3, "Let me see."},
		{"it said something long ago", []agent.Event{session, {Kind: agent.Text, Text: "Let me see."}}, 12, "model 10s: Let me see."},
		{"its model writes", []agent.Event{session, {Kind: agent.Text, Text: "Let me see."}, {Kind: agent.Writing}}, 4, "Let me see."},
		{"its provider refuses", []agent.Event{session, {Kind: agent.Retry, Text: "529 overloaded"}}, 4, "waits for the provider 2s: 529 overloaded"},
		{"a program without a model", []agent.Event{{Kind: agent.Printed, Text: "compiling"}}, 31, "compiling"},
		{"a result", []agent.Event{session, {Kind: agent.Result, Text: "success"}}, 9, ""},
	} {
		trace := health.NewTrace(start)
		for i, e := range tt.events {
			e.Time = start.Add(time.Duration(i+1) * time.Second)
			trace.Note(e)
		}
		at := start.Add(time.Duration(tt.at) * time.Second)
		if got := doingOf(trace, at).at(at); got != tt.want {
			t.Errorf("%s: the agent is shown as %q, want %q", tt.name, got, tt.want)
		}
	}
}

// signs are one of each kind.
func signs() []agent.Sign {
	return []agent.Sign{
		said("Let me see."),
		sign(agent.Event{Kind: agent.Writing}), sign(agent.Event{Kind: agent.Heartbeat}),
		sign(agent.Event{Kind: agent.Printed, Text: "compiling"}),
		sign(agent.Event{Kind: agent.ToolStarted, Tool: "Bash", Class: agent.ShellTool, ID: "1", Text: "go\ntest"}),
		sign(agent.Event{Kind: agent.ToolEnded, Tool: "Bash", Class: agent.ShellTool, ID: "1"}),
		sign(agent.Event{Kind: agent.ToolStarted, Tool: "mcp:lab", Class: agent.MCPTool, ID: "2"}),
		sign(agent.Event{Kind: agent.ToolEnded, Tool: "mcp:lab", Class: agent.MCPTool, ID: "2", Failed: true, Text: "timed out"}),
		sign(agent.Event{Kind: agent.ToolStarted, Tool: "StructuredOutput", Class: agent.ReplyTool, ID: "3"}),
		sign(agent.Event{Kind: agent.Retry, Text: "529"}),
		sign(agent.Event{Kind: agent.Result, Text: "success"}),
	}
}

func TestPlainShowsTools(t *testing.T) {
	var b bytes.Buffer
	p := NewPlain(console.New(&b, nil), false)
	for _, s := range signs() {
		p.Agent("k", s)
	}
	var got []string
	for line := range strings.Lines(b.String()) {
		_, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		got = append(got, text)
	}
	want := "step 1: Implementor uses Bash: go test|step 1: Implementor uses mcp:lab|step 1: mcp:lab failed: timed out|step 1: Implementor waits for its provider: 529"
	if strings.Join(got, "|") != want {
		t.Errorf("Plain wrote\n%s", b.String())
	}
	b.Reset()
	p.NoAgents = true
	for _, s := range signs() {
		p.Agent("k", s)
	}
	if b.Len() > 0 {
		t.Errorf("without agents, Plain wrote\n%s", b.String())
	}
}

func TestJSONShowsAgents(t *testing.T) {
	var b bytes.Buffer
	j := NewJSON(console.New(&b, nil), true)
	for _, s := range signs() {
		j.Agent("k", s)
	}
	if n := strings.Count(b.String(), `"type":"AGENT_EVENT"`); n != 8 || strings.Contains(b.String(), "compiling") {
		t.Errorf("JSON wrote %d agent events, want 8 without what was printed for people:\n%s", n, b.String())
	}
	for _, want := range []string{`"step":1,"call":"task","task":"tasks/a.md","role":"Implementor","attempt":1,"time":"`, `"kind":"tool_ended","tool":"mcp:lab","class":"mcp","id":"2","text":"timed out","failed":true`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("JSON wrote\n%s\nwant %s in it", b.String(), want)
		}
	}
	b.Reset()
	j = NewJSON(console.New(&b, nil), false)
	j.Agent("k", signs()[4])
	if b.Len() > 0 {
		t.Errorf("without agents, JSON wrote\n%s", b.String())
	}
}

// TestSilentAgent: an agent that has told nothing is silent, in the live line and in status, and not
// healthy. One that is found to be ill is what it is found to be.
func TestSilentAgent(t *testing.T) {
	began := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	at := began.Add(34 * time.Second)
	quiet, ill, told := now{since: began, health: health.Healthy}, now{since: began, health: "warning"}, now{since: began, health: health.Healthy, last: began}
	for n, want := range map[*now]string{&quiet: "silent 34s", &ill: "no sign yet        warning", &told: "last sign 34s      healthy"} {
		if got := n.tail(at, 80); got != want {
			t.Errorf("the tail is %q, want %q", got, want)
		}
		live := health.Live{Started: began, LastActivity: n.last, Health: n.health, IdleStage: "none"}
		words := strings.Join(strings.Fields(strings.ReplaceAll(DescribeLive(live, at), "·", "")), " ")
		if want := "working 34s " + strings.Join(strings.Fields(want), " "); words != want {
			t.Errorf("status says %q, want %q", words, want)
		}
	}
}

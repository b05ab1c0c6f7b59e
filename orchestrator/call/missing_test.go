package call

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kanban-run/orchestrator/agent"
)

// TestMissing: a program that a shell did not find is reported when the next call of a shell fails, or
// runs no brother of it, and at the latest with the agent's end: seed 002, "Tool Unavailability".
func TestMissing(t *testing.T) {
	type call struct{ tool, command, missing string }
	const bash = "Bash"
	for name, tt := range map[string]struct {
		calls []call
		want  string // the missing tools, each after the number of the call with which it is reported
	}{
		"its brother works":         {[]call{{bash, "python x.py", "python"}, {bash, "cd /a && python3 x.py", ""}}, ""},
		"the shorter name works":    {[]call{{bash, "pip3 list", "pip3"}, {bash, "pip list", ""}}, ""},
		"its path works":            {[]call{{bash, "tool", "tool"}, {bash, "./bin/tool", ""}}, ""},
		"another command works":     {[]call{{bash, "python x.py", "python"}, {bash, "ls", ""}}, "2 python"},
		"the brother is missing":    {[]call{{bash, "python x.py", "python"}, {bash, "python3 x.py", "python3"}}, "2 python, end python3"},
		"two letters are no name":   {[]call{{bash, "gofmt x.go", "gofmt"}, {bash, "go test", ""}}, "2 gofmt"},
		"no other call":             {[]call{{bash, "go test", "go"}}, "end go"},
		"an edit between":           {[]call{{bash, "python x.py", "python"}, {"Edit", "x.py", ""}, {bash, "python3 x.py", ""}}, ""},
		"a server waits for no one": {[]call{{"mcp__lab__quick", "", "mcp:lab"}, {bash, "ls", ""}}, "1 mcp:lab"},
	} {
		t.Run(name, func(t *testing.T) {
			var m missing
			var got []string
			at := ""
			note := func(e *agent.Event) { got = append(got, at+" "+e.Missing) }
			for i, c := range tt.calls {
				class := agent.OtherTool
				if c.tool == bash {
					class = agent.ShellTool
				}
				id := string(rune('a' + i))
				at = string(rune('1' + i))
				m.pass(agent.Event{Kind: agent.ToolStarted, ID: id, Tool: c.tool, Class: class, Text: c.command}, note)
				m.pass(agent.Event{Kind: agent.ToolEnded, ID: id, Tool: c.tool, Class: class, Missing: c.missing, Failed: c.missing != ""}, note)
			}
			if at = "end"; m.held != nil {
				note(m.end())
			}
			if s := strings.Join(got, ", "); s != tt.want {
				t.Errorf("reported: %q, want %q", s, tt.want)
			}
		})
	}
}

// TestMissingInTime: a report is held back for 30 s at most, so that the run can still act; after the agent's reply it
// waits for the end, since an attempt that is over is not started again.
func TestMissingInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m missing
		var got []string
		begun := time.Now()
		note := func(e *agent.Event) { got = append(got, e.Missing+" after "+time.Since(begun).String()) }
		misses := func(program string) {
			m.pass(agent.Event{Kind: agent.ToolStarted, ID: program, Class: agent.ShellTool, Text: program}, note)
			m.pass(agent.Event{Kind: agent.ToolEnded, ID: program, Class: agent.ShellTool, Missing: program, Failed: true}, note)
		}
		misses("gh")
		m.pass(agent.Event{Kind: agent.ToolStarted, ID: "long", Class: agent.ShellTool, Text: "make"}, note) // an hour's build
		time.Sleep(time.Hour)
		misses("jq")
		m.pass(agent.Event{Kind: agent.Result}, note)
		time.Sleep(time.Hour)
		if want := []string{"gh after 30s"}; !slices.Equal(got, want) {
			t.Errorf("reported %q, want %q", got, want)
		}
		if e := m.end(); e == nil || e.Missing != "jq" {
			t.Errorf("end = %+v, want jq", e)
		}
		if e := m.end(); e != nil {
			t.Errorf("%+v is reported twice", e)
		}
	})
}

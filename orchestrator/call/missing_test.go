package call

import (
	"strings"
	"testing"

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
			note := func(at string, e *agent.Event) {
				if e != nil {
					got = append(got, at+" "+e.Missing)
				}
			}
			for i, c := range tt.calls {
				class := agent.OtherTool
				if c.tool == bash {
					class = agent.ShellTool
				}
				id, at := string(rune('a'+i)), string(rune('1'+i))
				note(at, m.pass(agent.Event{Kind: agent.ToolStarted, ID: id, Tool: c.tool, Class: class, Text: c.command}))
				note(at, m.pass(agent.Event{Kind: agent.ToolEnded, ID: id, Tool: c.tool, Class: class, Missing: c.missing, Failed: c.missing != ""}))
			}
			note("end", m.end())
			if s := strings.Join(got, ", "); s != tt.want {
				t.Errorf("reported: %q, want %q", s, tt.want)
			}
		})
	}
}

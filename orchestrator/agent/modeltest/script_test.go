package modeltest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestScriptTravels: a script survives any wrapping of the prompt, and the last of several counts.
func TestScriptTravels(t *testing.T) {
	want := Play(Shell(`echo "$HOME" 'it'`), Status(429, "retry-after", "1").Times(2), Structured(map[string]string{"a": "\n<é>"}),
		Say("done").Using(Usage{Input: 5, Cached: 2, Output: 1}))
	for name, wrap := range map[string]string{
		"alone":    "%s",
		"markdown": "# Task\n\n- **%s**\n",
		"quoted":   `{"prompt":"x\n%s\n"}`,
		"second":   Play(Say("no")).String() + "%s",
		"damaged":  "%s @script:AAAA@",
	} {
		got, found := lastScript(fmt.Sprintf(wrap, want))
		want.ID = got.ID
		if !found || got.ID == "" {
			t.Errorf("%s: lastScript found none", name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: lastScript (-want +got):\n%s", name, diff)
		}
		want.ID = ""
	}
	if _, found := lastScript("a prompt about @script: files"); found {
		t.Error("lastScript found a script in plain text")
	}
}

func TestFind(t *testing.T) {
	one, two := Play(Say("one")).String(), Play(Say("two")).String()
	say := func(roles string) []Message {
		var all []Message
		for role := range strings.FieldsSeq(roles) {
			text := "hello"
			switch role[len(role)-1] {
			case '1':
				text = "x " + one
			case '2':
				text = "x " + two
			}
			all = append(all, Message{map[byte]string{'s': "system", 'u': "user", 'a': "assistant", 't': "tool"}[role[0]], text})
		}
		return all
	}
	for _, tt := range []struct {
		roles string
		turn  int
		says  string
	}{
		{"s u1", 0, "one"},
		{"s1 u", 0, "one"},
		{"s1 u2", 0, "two"},
		{"s u1 a t a t", 2, "one"},
		{"s u1 a a t a", 2, "one"},
		{"u1 a u", 1, "one"},
		{"u1 a u2 a t", 1, "two"},
		{"u1 a t2", 1, "one"}, // a tool's result only repeats
		{"u1 a2 u", 1, "one"},
	} {
		s, turn, found := New().findScript(&Request{Messages: say(tt.roles)})
		if !found || turn != tt.turn || s.Steps[0].Text != tt.says {
			t.Errorf("find(%s) = %v, %d, %t, want %s, %d", tt.roles, s.Steps, turn, found, tt.says, tt.turn)
		}
	}
	if _, _, found := New().findScript(&Request{Messages: say("s u a")}); found {
		t.Error("find found a script where there is none")
	}
}

func TestPlan(t *testing.T) {
	s := Play(Hang(), Shell("a"), Cut().Times(1), Stall(), Say("b"))
	tools := Play(Shell("a"))
	broken := Play(Say("a"), Cut().Times(1))
	for _, tt := range []struct {
		name   string
		script Script
		turn   int
		faults int
		text   string
	}{
		{"first", s, 0, 1, "a"},
		{"second", s, 1, 2, "b"},
		{"repeated", s, 5, 0, "b"},
		{"over", tools, 1, 0, "The script is over."},
		{"fault at the end", broken, 1, 1, "The script ends with a fault that has passed."},
	} {
		faults, step := tt.script.planTurn(tt.turn)
		if len(faults) != tt.faults || step.Text != tt.text {
			t.Errorf("%s: plan(%d) = %v, %+v, want %d faults, %q", tt.name, tt.turn, faults, step, tt.faults, tt.text)
		}
	}
}

func TestWalked(t *testing.T) {
	const list = `"tasks":["a.md","b.md [done]","./c.md"]`
	for _, tt := range []struct{ name, prompt, want string }{
		{"next", `{"kanban_file":"k","done_task":"x.md","tasks":[]} {"kanban_file":"k","done_task":"a.md",` + list + `} thanks {}`,
			`{"status":"ok","message":"Next is ./c.md.","next_task":"./c.md",` + list + `}`},
		{"last", "```json\n" + `{ "kanban_file": "k", "done_task": "c.md", ` + list + " }\n```",
			`{"status":"ok","message":"The work is over.","next_task":null,` + list + `}`},
		{"not in the list", `{"kanban_file":"k","done_task":"z.md",` + list + `}`,
			`{"status":"ok","message":"Next is a.md.","next_task":"a.md",` + list + `}`},
		{"no input", `{"task_file":"a.md"}`,
			`{"status":"error","message":"modeltest: the prompt has no input of a Manager","next_task":null,"tasks":null}`},
	} {
		if got := string(walkReply([]Message{{"system", "s"}, {"user", tt.prompt}})); got != tt.want {
			t.Errorf("%s: walked = %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestTranslation(t *testing.T) {
	for _, tt := range []struct {
		tools string
		step  Step
		want  string
	}{
		{"Bash Write", WriteFile("p", "t"), `Write {"content":"t","file_path":"p"}`},
		{"write bash", WriteFile("p", "t"), `write {"content":"t","filePath":"p"}`},
		{"write_file", WriteFile("p", "t"), `write_file {"content":"t","file_path":"p"}`},
		{"exec_command", WriteFile("p q", "it's"), `exec_command {"cmd":"printf %s 'it'\\''s' \u003e 'p q'"}`},
		{"shell", Shell("ls"), `shell {"command":["sh","-c","ls"]}`},
		{"Bash", Shell("ls"), `Bash {"command":"ls","description":"a step of the script"}`},
		{"StructuredOutput Bash", Structured(1), `StructuredOutput 1`},
		{"Bash", Structured(1), ` 1`},
		{"Other", Tool("Other", "x"), `Other "x"`},
		{"", Shell("ls"), ` Work`},
		{"Read", Shell("ls"), ` modeltest: none of the tools ["Read"] can do a step of kind shell`},
	} {
		a := Script{}.answer(tt.step, &Request{Tools: strings.Fields(tt.tools)})
		if got := a.tool + " " + string(a.input) + a.text; got != tt.want {
			t.Errorf("%s with %s = %s, want %s", tt.step.Kind, tt.tools, got, tt.want)
		}
	}
}

// TestOtherwise: without a script the fallback decides; a script wins.
func TestOtherwise(t *testing.T) {
	m := New()
	m.SetFallback(func(q *Request, said string) (Script, bool) { return Play(Say("to " + said)), said == "hello" })
	q := &Request{Messages: []Message{{"user", "hello"}, {"assistant", "a"}, {"tool", "hello"}, {"assistant", "b"}, {"user", "mm"}}}
	if s, turn, found := m.findScript(q); !found || turn != 2 || s.Steps[0].Text != "to hello" || s.ID == "" {
		t.Errorf("find = %+v, %d, %t, want what the test thinks of, since hello", s, turn, found)
	}
	q.Messages[4].Text = Play(Say("scripted")).String()
	if s, turn, found := m.findScript(q); !found || turn != 0 || s.Steps[0].Text != "scripted" {
		t.Errorf("find = %+v, %d, %t, want the script", s, turn, found)
	}
	q.Messages = q.Messages[1:4]
	if _, _, found := m.findScript(q); found {
		t.Error("find took a tool's result for a question")
	}
}

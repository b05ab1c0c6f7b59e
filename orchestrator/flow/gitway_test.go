package flow_test

import (
	"strings"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// TestGitWay: a way of checkpoints that is another one than before waits for the Lead, who accepts it
// or sets it back; in a fresh clone it is the clone's own.
func TestGitWay(t *testing.T) {
	was := &event.GitWay{Address: "ssh://a/x", Settings: []string{"core.sshcommand 11", "user.name 22"}}
	for name, c := range map[string]struct {
		is        *event.GitWay
		elsewhere bool
		want      string // "": the run goes on
	}{
		"the same":          {&event.GitWay{Address: "ssh://a/x", Settings: []string{"core.sshcommand 11", "user.name 22"}}, false, ""},
		"no checkpoints":    {nil, false, ""},
		"another address":   {&event.GitWay{Address: "ext", Settings: was.Settings}, false, "the address of the remote was ssh://a/x and is ext"},
		"none":              {&event.GitWay{Settings: was.Settings}, false, "and is none"},
		"another value":     {&event.GitWay{Address: was.Address, Settings: []string{"core.sshcommand 12", "user.name 22"}}, false, "settings of git are others: core.sshcommand;"},
		"one more and less": {&event.GitWay{Address: was.Address, Settings: []string{"credential.helper 3", "user.name 22"}}, false, "core.sshcommand, credential.helper;"},
		"another clone":     {&event.GitWay{Address: "ssh://b/x"}, true, ""},
		"a guarded way":     {&event.GitWay{Address: "ssh://b/x", Guarded: true}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := flow.State{}
			run := func(w *event.GitWay, elsewhere bool) flow.Effect {
				begun := start
				begun.Git, begun.Elsewhere = w, elsewhere
				if err := s.Apply(begun); err != nil {
					t.Fatal(err)
				}
				return flow.Next(&s, flow.Board{Task: "t1", Role: "Implementor", SHA: "a"})
			}
			run(was, false)
			for range 2 { // it waits as long as nobody decides
				end, ends := run(c.is, c.elsewhere).(flow.Finish)
				if ends != (c.want != "") || ends && (end.Outcome != event.NeedsPerson || !strings.Contains(end.Text, c.want)) {
					t.Fatalf("%+v, want %q", end, c.want)
				}
			}
			if c.want == "" {
				return
			}
			set := s
			if err := s.Apply(event.Acknowledged{About: event.AboutWay, Choice: event.Accept, Text: "accepted"}); err != nil {
				t.Fatal(err)
			}
			if end, ends := run(c.is, false).(flow.Finish); ends {
				t.Errorf("accepted, and still: %+v", end)
			}
			if s = set; s.Frozen == nil {
				t.Fatal("it does not wait")
			}
			if end, ends := run(was, false).(flow.Finish); ends {
				t.Errorf("set back, and still: %+v", end)
			}
		})
	}
}

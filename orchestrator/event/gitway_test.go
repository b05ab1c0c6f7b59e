package event_test

import (
	"testing"

	"kanban-run/orchestrator/event"
)

// TestChangesSince: what is other about the way of checkpoints is said, and nothing else; settings by
// their names only.
func TestChangesSince(t *testing.T) {
	was := event.GitWay{Board: "kanban.yaml", Address: "example.com/a", Settings: []string{"core.x 1", "user.name 2"}}
	for want, now := range map[string]event.GitWay{
		"": was,
		"the address of the remote was example.com/a and is none":                                        {Board: was.Board, Settings: was.Settings},
		"the address of the remote was example.com/a and is example.com/b":                               {Board: was.Board, Address: "example.com/b", Settings: was.Settings},
		"the repository is another one: the board was kanban.yaml in it and is k":                        {Board: "k", Address: was.Address, Settings: was.Settings},
		"settings of git are others: core.x, core.y, user.name":                                          {Board: was.Board, Address: was.Address, Settings: []string{"core.x 3", "core.y 1"}},
		"the address of the remote was example.com/a and is none; settings of git are others: user.name": {Board: was.Board, Settings: []string{"core.x 1"}},
	} {
		if got := now.ChangesSince(&was); got != want {
			t.Errorf("ChangesSince = %q, want %q", got, want)
		}
	}
}

// TestActor: seed 002: a record has an actor: the role that replied, the Lead, or the run.
func TestActor(t *testing.T) {
	work := event.AttemptRef{Role: "Implementor"}
	for _, c := range []struct {
		event event.Event
		want  string
	}{
		{event.ReplyAccepted{AttemptRef: work}, "Implementor"}, {event.CheckpointHeld{AttemptRef: event.AttemptRef{Role: "Supervisor"}}, "Supervisor"}, {event.ManagerWalked{}, "Manager"},
		{event.Acknowledged{}, "Lead"}, {event.HandoffOffered{}, "Lead"}, {event.ConsentGiven{ID: "1"}, "Lead"}, {event.ConsentGiven{}, "kanban-run"}, {event.RunStarted{}, "kanban-run"},
	} {
		if got := event.Actor(c.event); got != c.want {
			t.Errorf("the actor of %s is %s, want %s", c.event.Kind(), got, c.want)
		}
	}
}

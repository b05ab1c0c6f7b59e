package standing

import (
	"strings"
	"testing"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
)

// TestAdvice: whatever a board waits for, the advice names each command that a person may give, with the
// board's name as a shell takes it.
func TestAdvice(t *testing.T) {
	const board, ack = "my board.yaml", "kanban-run ack 'my board.yaml'"
	for name, tt := range map[string]struct {
		outcome event.Outcome
		choices flow.Choices
		want    []string
		none    string
	}{
		"git goes another way": {event.NeedsPerson, flow.Choices{NewWay: true, Undone: "a.md"},
			[]string{ack + " accept"}, "retry"},
		"an end of unknown author": {event.NeedsPerson, flow.Choices{Asks: true, Undone: "a.md"},
			[]string{ack + " accept", ack + " retry"}, "a.md"},
		"a checkpoint blocks": {event.NeedsPerson, flow.Choices{Blocked: true, Undone: "a.md"},
			[]string{"kanban-run log 'my board.yaml'", ack + " retry", ack + " goes on"}, "accept"},
		"a quarantine": {event.NeedsPerson, flow.Choices{Quarantined: "my task.md", Undone: "a.md"},
			[]string{"mend 'my task.md'", ack + " ends the quarantine"}, "a.md"},
		"work that goes on": {event.NeedsPerson, flow.Choices{GoesOn: true, Undone: "a.md"},
			[]string{"kanban-run log 'my board.yaml'", "the same command goes on"}, "ack"},
		"a task to do again": {event.NeedsPerson, flow.Choices{Undone: "a.md"},
			[]string{"set current: a.md", ack + " retry", ack + " accept"}, "what you can decide"},
		"an end without a task": {event.NeedsPerson, flow.Choices{},
			[]string{"kanban-run log 'my board.yaml'", ack + " shows what you can decide"}, "retry"},
		"frozen": {event.Frozen, flow.Choices{Undone: "a.md"},
			[]string{"kanban-run ack -n 'my board.yaml'", "then " + ack}, "a.md"},
		"another run is at work": {event.Owned, flow.Choices{}, []string{"kanban-run status 'my board.yaml'"},
			"ack"},
		"replies without a format": {event.Exhausted, flow.Choices{},
			[]string{"log.md has the replies", "with fresh retries"}, "ack"},
		"tasks are undone": {event.Incomplete, flow.Choices{}, []string{ack + " shows", "retry", "accept"},
			"the same command"},
		"nothing is to be done":    {event.Complete, flow.Choices{}, nil, "kanban-run"},
		"only to be run once more": {event.Interrupted, flow.Choices{}, []string{"the same command goes on"}, "ack"},
		"the limit of a provider": {event.Later, flow.Choices{}, []string{"once the provider's limit is over"},
			"ack"},
		"a limit that a person set": {event.LimitReached, flow.Choices{}, []string{"with fresh limits"}, "ack"},
	} {
		got := Advice(tt.outcome, board, "log.md", tt.choices)
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the advice lacks %q: %s", name, want, got)
			}
		}
		if strings.Contains(got, tt.none) {
			t.Errorf("%s: the advice has %q: %s", name, tt.none, got)
		}
	}
}

// TestNoCurrentTask: of a board that has ended no task is current, and none of a list that lacks the
// current one.
func TestNoCurrentTask(t *testing.T) {
	var tasks Tasks
	list := listOf(t, "tasks: [a.md, b.md]\n")
	for name, s := range map[string]flow.State{"": {}, "gone.md": {}, "a.md": {Step: &flow.Step{Task: "gone.md"}}} {
		for _, task := range tasks.List(list, &s, name) {
			if task.State != Waiting {
				t.Errorf("%s: %s is %s", name, task.Task, task.State)
			}
		}
	}
}

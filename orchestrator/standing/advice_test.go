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
	waits := func(about event.Subject, task string) *Waits {
		return &Waits{About: about, Why: "why", Choices: []Choice{{Word: event.Retry, Task: task}}}
	}
	for name, tt := range map[string]struct {
		outcome event.Outcome
		waits   *Waits
		want    []string
		none    string
	}{
		"consent":                     {Running, waits(event.AboutConsent, "a.md"), []string{ack + " restart", ack + " continue"}, "log"},
		"git goes another way":        {event.NeedsPerson, waits(event.AboutWay, ""), []string{ack + " accept"}, "retry"},
		"a file that was changed":     {event.Frozen, waits(event.AboutFile, ""), []string{ack + " retry", "ack -n 'my board.yaml'"}, "accept"},
		"records that contradict":     {event.Frozen, waits(event.AboutJournal, ""), []string{"kanban-run ack -n 'my board.yaml'", ack + " accept"}, "retry"},
		"a checkpoint blocks":         {event.NeedsPerson, waits(event.AboutCheckpoint, ""), []string{"kanban-run log 'my board.yaml'", ack + " retry", ack + " override"}, "accept"},
		"a quarantine":                {event.NeedsPerson, waits(event.AboutQuarantine, "my task.md"), []string{"mend 'my task.md'", ack + " release ends the quarantine"}, "accept"},
		"work that goes on":           {event.NeedsPerson, waits(event.AboutStep, ""), []string{"kanban-run log 'my board.yaml'", "the same command goes on"}, "ack"},
		"replies without a format":    {event.Exhausted, waits(event.AboutStep, ""), []string{"log.md has the replies", "with fresh retries"}, "ack"},
		"a task to do again":          {event.NeedsPerson, waits(event.AboutEnd, "a.md"), []string{"makes a.md current again", ack + " retry", ack + " accept"}, "log.md"},
		"an end without a task":       {event.NeedsPerson, &Waits{About: event.AboutEnd}, []string{"kanban-run log 'my board.yaml'", ack + " accept"}, "retry"},
		"a team":                      {event.Complete, waits(event.AboutTeam, ""), []string{ack + " forced-finalize"}, "retry"},
		"something to mend":           {event.NeedsPerson, &Waits{About: event.AboutRefusal}, []string{"kanban-run log 'my board.yaml'", "mend it"}, "ack"},
		"another run is at work":      {event.Owned, nil, []string{"kanban-run status 'my board.yaml'"}, "ack"},
		"nothing is to be done":       {event.Complete, nil, nil, "kanban-run"},
		"a person has decided":        {event.NeedsPerson, nil, []string{"the same command goes on"}, "ack"},
		"only to be run once more":    {event.Interrupted, nil, []string{"the same command goes on"}, "ack"},
		"the limit of a provider":     {event.Later, nil, []string{"once the provider's limit is over"}, "ack"},
		"a limit that a person set":   {event.LimitReached, nil, []string{"with fresh limits"}, "ack"},
		"a decision that may be made": {event.LimitReached, &Waits{About: event.AboutQuarantine, May: true}, []string{"with fresh limits"}, "ack"},
	} {
		s := Standing{Board: board, Outcome: tt.outcome, Waits: tt.waits}
		got := s.Advice("log.md")
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

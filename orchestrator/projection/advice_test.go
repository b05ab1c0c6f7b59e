package projection

import (
	"strings"
	"testing"

	"kanban-run/orchestrator/event"
)

// TestAdvice: whatever a board waits for, the advice names each command that a person may give, with the
// board's name as a shell takes it.
func TestAdvice(t *testing.T) {
	const board, ack = "my board.yaml", "kanban-run ack 'my board.yaml'"
	asks := func(about event.Subject, task string, more ...event.Choice) *Question {
		q := &Question{About: about, Why: "why", Choices: []Choice{{Word: event.Retry, Task: task}}}
		for _, word := range more {
			q.Choices = append(q.Choices, Choice{Word: word})
		}
		return q
	}
	for name, tt := range map[string]struct {
		outcome  event.Outcome
		who      Who
		question *Question
		want     []string
		none     string
	}{
		"consent":              {"", Decide, asks(event.AboutConsent, "a.md"), []string{ack + " restart", ack + " continue"}, "log"},
		"git goes another way": {event.NeedsPerson, Decide, asks(event.AboutWay, ""), []string{ack + " accept"}, "retry"},
		"a task for a secret":  {event.NeedsPerson, Decide, asks(event.AboutChanged, ""), []string{"if that was you: " + ack + " accept"}, "retry"},
		"a role was changed": {event.NeedsPerson, Decide, &Question{About: event.AboutChanged, Choices: []Choice{{Word: event.Accept, Command: AckHere}}},
			[]string{"if that was you: " + AckHere, "shows the difference"}, "my board"},
		"a file that was changed":                    {event.Frozen, Decide, asks(event.AboutFile, "", event.Accept), []string{ack + " retry", ack + " accept", "ack -n 'my board.yaml'"}, "log"},
		"a file that is no board":                    {event.Frozen, Decide, asks(event.AboutFile, ""), []string{ack + " retry", "ack -n 'my board.yaml'"}, "accept"},
		"records that contradict":                    {event.Frozen, Decide, asks(event.AboutJournal, ""), []string{"kanban-run ack -n 'my board.yaml'", ack + " accept"}, "retry"},
		"a checkpoint blocks":                        {event.NeedsPerson, Decide, asks(event.AboutCheckpoint, ""), []string{"kanban-run log 'my board.yaml'", ack + " retry", ack + " accept"}, "override"},
		"a quarantine":                               {event.NeedsPerson, Decide, asks(event.AboutQuarantine, "my task.md"), []string{"mend 'my task.md'", ack + " retry ends the quarantine"}, "release"},
		"work that goes on":                          {event.NeedsPerson, Decide, asks(event.AboutStep, ""), []string{"kanban-run log 'my board.yaml'", "the same command goes on"}, "ack"},
		"replies without a format":                   {event.Exhausted, Decide, asks(event.AboutStep, ""), []string{"log.md has the replies", "with fresh retries"}, "ack"},
		"work that a tool was missing for":           {event.NeedsPerson, Decide, &Question{About: event.AboutStep, Holds: true, Choices: []Choice{{Word: event.Retry}, {Word: event.Accept}}}, []string{ack + " retry", ack + " accept"}, "mend the task"},
		"a Manager that a tool was missing for":      {event.NeedsPerson, Decide, &Question{About: event.AboutStep, Holds: true, Choices: []Choice{{Word: event.Retry}}}, []string{ack + " retry"}, "accept"},
		"replies of an agent that could not connect": {event.Exhausted, Decide, &Question{About: event.AboutStep, Lacks: []string{"A_PROXY"}}, []string{"env: {pass: [A_PROXY]}", "the same command asks again"}, "ack"},
		"a task to do again":                         {event.NeedsPerson, Decide, asks(event.AboutEnd, "a.md"), []string{"makes a.md current again", ack + " retry", ack + " accept"}, "log.md"},
		"an end without a task":                      {event.NeedsPerson, Decide, &Question{About: event.AboutEnd}, []string{"kanban-run log 'my board.yaml'", ack + " accept"}, "retry"},
		"a team":                                     {event.Complete, Decide, asks(event.AboutTeam, ""), []string{ack + " accept"}, "forced-finalize"},
		"something to mend":                          {event.NeedsPerson, Decide, &Question{About: event.AboutRefusal}, []string{"kanban-run log 'my board.yaml'", "mend it"}, "ack"},
		"another run is at work":                     {event.Owned, RunAgain, nil, []string{"kanban-run status 'my board.yaml'", "the same command goes on"}, "ack"},
		"nothing is to be done":                      {event.Complete, Nobody, nil, nil, "kanban-run"},
		"a person has decided":                       {event.NeedsPerson, RunAgain, nil, []string{"the same command goes on"}, "ack"},
		"only to be run once more":                   {event.Interrupted, RunAgain, nil, []string{"the same command goes on"}, "ack"},
		"the limit of a provider":                    {event.Later, RunAgain, nil, []string{"once the provider's limit is over"}, "ack"},
		"a limit that a person set":                  {event.LimitReached, RunAgain, nil, []string{"with fresh limits"}, "ack"},
		"a decision that may be made":                {event.LimitReached, RunAgain, asks(event.AboutQuarantine, ""), []string{"with fresh limits"}, "ack"},
	} {
		b := Board{Board: board, Outcome: tt.outcome, Who: tt.who, question: tt.question, Log: "log.md"}
		got := b.Advice()
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

// TestAdviceThatIsKnown: a hint of the run comes first; what mends a board is its advice.
func TestAdviceThatIsKnown(t *testing.T) {
	for name, tt := range map[string]struct {
		board Board
		want  string
	}{
		"a hint":                  {Board{Hint: "log in", Who: Decide, question: &Question{About: event.AboutTeam}}, "log in"},
		"mend":                    {Board{Who: Mend, Outcome: event.Invalid, fix: "write a role"}, "write a role"},
		"mend, not known how":     {Board{Who: Mend, Outcome: event.Failed}, ""},
		"run again":               {Board{Who: RunAgain, Outcome: event.Failed, fix: "look for what kills git"}, "look for what kills git"},
		"run again, and reopened": {Board{Who: RunAgain, Outcome: event.Failed, fix: "look for what kills git", reopened: true}, "the same command goes on"},
	} {
		if got := tt.board.Advice(); got != tt.want {
			t.Errorf("%s: the advice is %q, want %q", name, got, tt.want)
		}
	}
}

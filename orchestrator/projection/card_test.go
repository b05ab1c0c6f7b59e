package projection

import (
	"testing"

	"kanban-run/orchestrator/event"
)

// TestAdvice: whatever a board waits for, the advice names each command that a person may give, with the
// board's name as a shell takes it, and what no command does.
func TestAdvice(t *testing.T) {
	const board, ack = "my board.yaml", "kanban-run ack 'my board.yaml'"
	asks := func(about event.Subject, words ...event.Choice) *Question {
		q := &Question{About: about, Why: "why"}
		for _, word := range words {
			q.Choices = append(q.Choices, Choice{Word: word, Does: "does it; and more. With others"})
		}
		return q
	}
	const shows, run = "kanban-run log 'my board.yaml' shows what happened; ", "; then the same command goes on"
	for name, tt := range map[string]struct {
		outcome  event.Outcome
		who      Who
		question *Question
		want     string
	}{
		"consent":              {"", Decide, asks(event.AboutConsent, "restart"), shows + ack + " restart does it" + run},
		"git goes another way": {event.NeedsPerson, Decide, asks(event.AboutWay, event.Accept), shows + ack + " accept does it" + run},
		"a role was changed": {event.NeedsPerson, Decide, &Question{About: event.AboutChanged, Choices: []Choice{{Word: event.Accept, Command: AckHere, Does: "lets it count"}}},
			"kanban-run ack --here shows the difference; if that was not you, put it back; " + AckHere + " lets it count" + run},
		"a file that was changed":          {event.Frozen, Decide, asks(event.AboutFile, event.Accept, event.Retry), "kanban-run ack -n 'my board.yaml' shows what changed; " + ack + " accept does it; " + ack + " retry does it" + run},
		"records that contradict":          {event.Frozen, Decide, asks(event.AboutJournal, event.Accept), "kanban-run ack -n 'my board.yaml' shows what changed; " + ack + " accept does it" + run},
		"replies without a format":         {event.Exhausted, Decide, asks(event.AboutStep, event.Retry), "log.md has the replies; " + ack + " retry does it" + run},
		"work that a tool was missing for": {event.NeedsPerson, Decide, &Question{About: event.AboutStep, Holds: true, Choices: asks("", event.Retry).Choices}, shows + "see to the tool; " + ack + " retry does it" + run},
		"an agent that could not connect":  {event.Exhausted, Decide, &Question{About: event.AboutStep, Lacks: []string{"A_PROXY"}, Choices: asks("", event.Retry).Choices}, "log.md has the replies; " + event.PassText([]string{"A_PROXY"}) + "; " + ack + " retry does it" + run},
		"a quarantine": {event.NeedsPerson, Decide, &Question{About: event.AboutQuarantine, Choices: []Choice{{Word: event.Retry, Task: "my task.md", Does: "ends it"}}},
			shows + "mend 'my task.md' or the board (current names the task to do); " + ack + " retry ends it" + run},
		"a contradiction without a question": {event.Frozen, Decide, nil, ack + " shows what there is to decide"},
		"a team":                             {event.Complete, Decide, asks(event.AboutTeam, event.Accept), shows + ack + " accept does it"},
		"something to mend":                  {event.NeedsPerson, Decide, &Question{About: event.AboutRefusal}, shows + "mend it" + run},
		"another run is at work":             {event.Owned, RunAgain, nil, "another run owns this board or works on its task; kanban-run status 'my board.yaml' shows where it stands; once that has ended, the same command goes on"},
		"nothing is to be done":              {event.Complete, Nobody, nil, ""},
		"only to be run once more":           {event.Interrupted, RunAgain, nil, "the same command goes on"},
		"the limit of a provider":            {event.Later, RunAgain, nil, "the same command goes on once the provider's limit is over"},
		"a decision that may be made":        {event.LimitReached, RunAgain, asks(event.AboutQuarantine, event.Retry), "the same command goes on, with fresh limits"},
	} {
		b := Board{Board: board, Outcome: tt.outcome, Who: tt.who, question: tt.question, Log: "log.md"}
		b.offer()
		if got := b.Advice(); got != tt.want {
			t.Errorf("%s: the advice is\n%s, want\n%s", name, got, tt.want)
		}
	}
}

// TestCard: a card names what there is to do, and the commands that do it.
func TestCard(t *testing.T) {
	again := []Choice{{Word: event.Retry, Task: "a.md", Does: "makes a.md current again; the next run goes on with it"}}
	for want, b := range map[string]Board{
		"Unblock a.md of k.yaml":                              {Who: Decide, Outcome: event.NeedsPerson, question: &Question{About: event.AboutEnd, Choices: again}},
		"Decide about what k.yaml leaves undone":              {Who: Decide, Outcome: event.Incomplete, question: &Question{About: event.AboutEnd}},
		"Read the replies that were not accepted in k.yaml":   {Who: Decide, Outcome: event.Exhausted, question: &Question{About: event.AboutStep}},
		"Look at k.yaml":                                      {Outcome: event.Complete, Runs: 1},
		"Mend k.yaml":                                         {Who: Mend, Outcome: event.Invalid},
		"Run k.yaml":                                          {State: NeverRun},
		"Run k.yaml again, once the provider's limit is over": {Who: RunAgain, Outcome: event.Later, Runs: 1},
		"Let k.yaml go on":                                    {Who: RunAgain, Outcome: event.Interrupted, Runs: 1},
		"Look at the journal of k.yaml":                       {Who: Mend, Outcome: event.Invalid, Damage: "at byte 7"},
	} {
		b.Board = "k.yaml"
		b.offer()
		c := b.Card()
		if c.Title != want {
			t.Errorf("the title is %q, want %q", c.Title, want)
		}
		if len(c.Shows)+len(c.Acts) == 0 && c.Runs.Line == "" || len(c.Acts) != len(b.Choices) {
			t.Errorf("%s: %+v", want, c)
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

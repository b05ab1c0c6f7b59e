package health

import (
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/event"
)

// TestDiagnose: three errors in a row lead to the five questions (seed 000, "使用时机"), whose answers lead to help
// (seed 000, "决策映射"). An agent that works is not ended for its errors.
func TestDiagnose(t *testing.T) {
	f := Finding{Check: Errors, Severity: Warning, Details: "3 errors in a row; the last: Bash: no"}
	for name, tt := range map[string]struct {
		change             func(*Case)
		decision           event.Decision
		assistance, advice string
		answers            string
		want               string // in the offer
	}{
		"nothing is found":      {func(*Case) {}, event.Continue, "", "assist", "yes yes no no no", ""},
		"the task has no text":  {func(c *Case) { c.HasText = false }, event.Continue, event.Guidance, "assist", "no yes no no no", "reply blocked and say what is missing"},
		"an input is missing":   {func(c *Case) { c.Missing = []string{"spec.md"} }, event.Assist, event.Resource, "assist", "yes no no no no", "inputs that are not there: spec.md"},
		"the same call fails":   {func(c *Case) { c.Obstacle = "Bash fails" }, event.Assist, event.Guidance, "assist", "yes yes yes no no", "Bash fails. Try another way. For task #t.md, what unblocks you fastest"},
		"it is late":            {func(c *Case) { c.Took = 3 * time.Hour }, event.Continue, "", "replan", "yes yes no yes no", ""},
		"it was restarted once": {func(c *Case) { c.Restarts = 1 }, event.Continue, "", "assist", "yes yes no no no", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := Case{Task: "t.md", HasText: true, Expected: time.Hour, MaxRestarts: 2}
			tt.change(&c)
			e, offer := Diagnose(f, c)
			var answers []string
			for i, a := range e.Answers {
				if a.Question != Questions[i] || a.Evidence == "" {
					t.Errorf("answer %d is %+v", i, a)
				}
				answers = append(answers, map[bool]string{true: "yes", false: "no"}[a.Yes])
			}
			if got := strings.Join(answers, " "); got != tt.answers || e.Decision != tt.decision || e.Advice != tt.advice {
				t.Errorf("%s: %s, recommended %s; want %s: %s, %s", got, e.Decision, e.Advice, tt.answers, tt.decision, tt.advice)
			}
			if offer.Assistance != tt.assistance || !strings.Contains(offer.Details, tt.want) || (offer.Details == "") != (tt.want == "") {
				t.Errorf("the offer is %+v, want %s with %q", offer, tt.assistance, tt.want)
			}
		})
	}
}

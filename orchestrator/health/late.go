package health

import (
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
)

// LateWork returns the anomaly of a live agent that has worked for more than twice the expected
// time, as in the fourth question of the reboot test. It returns nil for an agent in time, or if
// the expected time is 0.
func LateWork(worked, expected time.Duration) *event.Anomaly {
	if expected <= 0 || worked <= 2*expected {
		return nil
	}
	return &event.Anomaly{Type: Late.Anomaly(), Check: string(Late), Severity: string(Warning), Advice: "continue",
		Details: fmt.Sprintf("it works for %s, and %s was expected", brief(worked), brief(expected))}
}

// HelpAsked returns the anomaly of an agent that asks for help or reports a problem in its answer:
// seed 000, "ASSIST". It returns nil for any other answer. HelpAsked looks for the words of the
// seed's answer options. These words may stand anywhere in the answer.
func HelpAsked(answer string) *event.Anomaly {
	said := strings.ToLower(answer)
	for _, words := range []string{"need help", "needs help", "have a problem", "has a problem", "需要帮助", "遇到问题"} {
		if strings.Contains(said, words) && !strings.Contains(said, "no "+words) && !strings.Contains(said, "not "+words) {
			return &event.Anomaly{Type: AsksForHelp.Anomaly(), Check: string(AsksForHelp), Severity: string(Warning), Advice: "assist",
				Details: "it says: " + event.Headline(answer)}
		}
	}
	return nil
}

package health

import (
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
)

// LateWork returns the anomaly of an agent that lives and has worked for twice as long as the task may take,
// with the words of the fourth question of the reboot test; nil: it is in time, or no time is expected.
func LateWork(worked, expected time.Duration) *event.Anomaly {
	if expected <= 0 || worked <= 2*expected {
		return nil
	}
	return &event.Anomaly{Type: Late.Anomaly(), Check: string(Late), Severity: string(Warning), Advice: "continue",
		Details: fmt.Sprintf("it works for %s, and %s was expected", brief(worked), brief(expected))}
}

// HelpAsked returns the anomaly of an agent whose answer says that it needs help or has a problem: seed 000,
// "ASSIST". It is nil for any other answer. The options of the question are words of the seed; an agent may
// put them into a sentence.
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

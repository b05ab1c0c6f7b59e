package report

import (
	"fmt"

	"kanban-run/orchestrator/flow"
)

// messageText is a message to an agent in words.
func messageText(e flow.MessageSent) string {
	to, text := Player(e.AttemptRef), brief(e.Content.String())
	switch {
	case e.Type == flow.Tell:
		return fmt.Sprintf("a person tells %s: %s", to, text)
	case e.Type == flow.AssistOffer:
		return fmt.Sprintf("%s is offered help: %s", to, text)
	case e.Urgent:
		return fmt.Sprintf("%s is asked again: %s", to, text)
	default:
		return fmt.Sprintf("%s is asked: %s", to, text)
	}
}

func heardText(e flow.MessageHeard) string {
	if e.Answer == "" {
		return "has the message"
	}
	return "answers: " + brief(e.Answer)
}

func lostText(e flow.MessageLost) string {
	what := "got the message"
	if e.Type == flow.HealthCheck {
		what = "answered"
	}
	text := fmt.Sprintf("%s has not %s: %s", Player(e.AttemptRef), what, e.Reason)
	if e.Text != "" {
		text += ": " + brief(e.Text)
	}
	return text
}

// Consent is the answer to a question about an agent in words.
func Consent(e flow.ConsentGiven) string {
	switch e.Choice {
	case flow.ConsentRestart:
		return "the Lead consents: " + Player(e.AttemptRef) + " may be ended"
	case flow.ConsentContinue:
		return "the Lead leaves " + Player(e.AttemptRef) + " alone"
	default:
		return Player(e.AttemptRef) + " goes on by itself, and needs no consent any more"
	}
}

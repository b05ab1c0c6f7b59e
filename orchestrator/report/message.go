package report

import (
	"fmt"

	"kanban-run/orchestrator/event"
)

// messageText is a message to an agent in words.
func messageText(e event.MessageSent) string {
	to, text := Player(e.AttemptRef), brief(e.Content.String())
	switch {
	case e.Type == event.Tell:
		return fmt.Sprintf("a person tells %s: %s", to, text)
	case e.Type == event.AssistOffer:
		return fmt.Sprintf("%s is offered help: %s", to, text)
	case e.Urgent:
		return fmt.Sprintf("%s is asked again: %s", to, text)
	default:
		return fmt.Sprintf("%s is asked: %s", to, text)
	}
}

func heardText(e event.MessageHeard) string {
	if e.Answer == "" {
		return "has the message"
	}
	return "answers: " + brief(e.Answer)
}

func lostText(e event.MessageLost) string {
	what := "got the message"
	if e.Type == event.HealthCheck {
		what = "answered"
	}
	text := fmt.Sprintf("%s has not %s: %s", Player(e.AttemptRef), what, e.Reason)
	if e.Text != "" {
		text += ": " + brief(e.Text)
	}
	return text
}

// Consent is the answer to a question about an agent in words.
func Consent(e event.ConsentGiven) string {
	switch e.Choice {
	case event.ConsentRestart:
		return "the Lead consents: " + Player(e.AttemptRef) + " may be ended"
	case event.ConsentContinue:
		return "the Lead leaves " + Player(e.AttemptRef) + " alone"
	default:
		return Player(e.AttemptRef) + " goes on by itself, and needs no consent any more"
	}
}

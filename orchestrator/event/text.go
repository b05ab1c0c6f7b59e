package event

import (
	"fmt"
	"strings"
)

// maxMessage bounds the part of a message that is journaled, in bytes. A message is a summary: the
// work log is in the task file.
const maxMessage = 32 << 10

// Clip is the part of an agent's message that is journaled.
func Clip(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return fmt.Sprintf("%s… (%d bytes in all)", strings.ToValidUTF8(message[:maxMessage], ""), len(message))
}

// Headline is a text on one line. A long one, such as what a command printed, is cut in its middle.
func Headline(text string) string {
	const most, tail = 600, 250
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-tail], "") + " … " + strings.ToValidUTF8(text[len(text)-tail:], "")
}

// WithheldText names the variables that agents do not get, and where they can be passed.
func WithheldText(names []string, where string) string {
	return fmt.Sprintf("withheld from the agents: %s (env.pass in %s passes a variable)", strings.Join(names, ", "), where)
}

// Count renders a number of things.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

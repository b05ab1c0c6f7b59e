package event

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxMessage is the greatest number of bytes of a message that the journal keeps. A message is only
// a summary. The work log is in the task file.
const maxMessage = 32 << 10

// Clip returns the part of an agent's message that the journal keeps. If the message is cut, the
// part ends with the length of the whole message.
func Clip(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return fmt.Sprintf("%s… (%d bytes in all)", strings.ToValidUTF8(message[:maxMessage], ""), len(message))
}

// Headline puts a text on one line. A long text, such as the output of a command, is cut in its
// middle.
func Headline(text string) string {
	const most, tail = 600, 250
	text = OneLine(text)
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-tail], "") + " … " + strings.ToValidUTF8(text[len(text)-tail:], "")
}

// WithheldText returns a sentence with the environment variables that agents do not get. The
// parameter "where" names the file or place of the setting env.pass, which can pass variables to
// the agents.
func WithheldText(names []string, partly []PartlyWithheld, where string) string {
	return fmt.Sprintf("withheld %s (env.pass in %s passes a variable)", WithheldFrom(names, partly), where)
}

// PassText returns what has agents get the environment variables with these names.
func PassText(names []string) string {
	all := strings.Join(names, ", ")
	return fmt.Sprintf("env: {pass: [%s]} in .kanban-run.yaml or in the role passes %[1]s, or env.only where that lists what agents get", all)
}

// WithheldFrom names the environment variables that all agents miss, and then those that the agents
// of some roles miss.
func WithheldFrom(names []string, partly []PartlyWithheld) string {
	all := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(partly, func(p PartlyWithheld) bool { return slices.Contains(p.Names, name) })
	})
	var parts []string
	if len(all) > 0 {
		parts = append(parts, "from the agents: "+strings.Join(all, ", "))
	}
	for _, p := range partly {
		parts = append(parts, fmt.Sprintf("from %s: %s", strings.Join(p.Roles, ", "), strings.Join(p.Names, ", ")))
	}
	return strings.Join(parts, "; ")
}

// Count renders a number of things, such as "1 task" or "2 tasks".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Brief cuts a message to a few lines of a terminal. The journal has the whole message.
func Brief(message string) string {
	const most = 400
	if utf8.RuneCountInString(message) <= most {
		return message
	}
	return string([]rune(message)[:most]) + "…"
}

// OneLine replaces each run of white space in a text by a single space.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// LastLine returns the last line with a letter, or "" if there is no such line. Programs tend to
// give the cause of their end in that line. A line without a letter is often just a closing
// bracket.
func LastLine(text string) string {
	for _, line := range slices.Backward(strings.Split(text, "\n")) {
		if strings.ContainsFunc(line, unicode.IsLetter) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func noteSuffix(note string) string {
	if note == "" {
		return ""
	}
	return ": " + note
}

func placeSuffix(index, of int) string {
	if index == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d of %d)", index, of)
}

// Took renders milliseconds as a person would say them: 26ms, 2.5s, 12s, 3m05s, 2h00m.
func Took(millis int64) string {
	d := time.Duration(millis) * time.Millisecond
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", millis)
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	default:
		return Elapsed(d)
	}
}

// Elapsed renders a time that is still running, in whole seconds: 2s, 3m05s, 2h00m.
func Elapsed(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}

// mostNamed bounds a list of names in a sentence.
const mostNamed = 5

// List renders a list of names. If the list is too long, the number of further names stands at the
// end, as in "a, b and 3 more". The parameter "most" is the greatest number of names shown.
func List(names []string, most int) string {
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

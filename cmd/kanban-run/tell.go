package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/inbox"
)

func tellCommand() command {
	return command{
		name: "tell", args: "BOARD TEXT...", summary: "say something to the agent that works on a board now",
		long: `
The agent gets the text with its next step, when the call of a tool that is open has ended, and goes on with its task.
Only claude can be told something while it works; of any other agent tell says so and ends with 1. The text and what
became of it stand in the journal.`,
		examples: `
  kanban-run tell kanban.yaml the tests need Go 1.26
  kanban-run tell --wait 0 kanban.yaml stop at the first failure`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir")
			wait := flags.Duration("wait", 10*time.Second,
				"wait for `DURATION` for the agent to get it; 0: leave it, and do not wait")
			return func(t *terminal, args []string) (int, error) {
				text := strings.TrimSpace(strings.Join(args[min(1, len(args)):], " "))
				if len(args) < 2 || text == "" {
					return 0, &usageError{
						text: "tell: a board and a text are needed",
						hint: `kanban-run tell kanban.yaml "The tests need a database: start it with make db"`,
					}
				}
				if !utf8.ValidString(text) || *wait < 0 {
					return 0, &usageError{text: "tell: the text has to be UTF-8, and --wait 0 or more"}
				}
				if len(text) > inbox.MaxText {
					return 0, &usageError{
						text: fmt.Sprintf("tell: the text has %d bytes, and may have %d", len(text), inbox.MaxText),
						hint: "put it into a file, and tell the agent to read that",
					}
				}
				if _, err := s.load(t); err != nil {
					return 0, err
				}
				return exitComplete, t.post(args[0], inbox.Message{Text: text}, *wait)
			}
		},
	}
}

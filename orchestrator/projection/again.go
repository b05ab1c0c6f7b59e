package projection

import (
	"path/filepath"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
)

// Again is the command that runs boards again.
type Again struct {
	Command string
	Add     []string // flags that were given too, whose values no output may show
	Boards  []*Board

	names []string // quoted
}

// CommandsAgain returns the commands for the boards that only have to be run again.
func CommandsAgain(boards []*Board) []Again {
	return Commands(slices.DeleteFunc(slices.Clone(boards), func(b *Board) bool { return b.Who != RunAgain || b.Damage != "" }))
}

// Commands returns the commands that run boards, one for each set of flags with which they were run last.
func Commands(boards []*Board) (all []Again) {
	for _, b := range boards {
		head, name, add := b.lastCommand()
		i := slices.IndexFunc(all, func(a Again) bool { return a.Command == head && slices.Equal(a.Add, add) })
		if i < 0 {
			i, all = len(all), append(all, Again{Command: head, Add: add})
		}
		all[i].Boards = append(all[i].Boards, b)
		all[i].names = append(all[i].names, failure.Quote(name))
	}
	for i := range all {
		all[i].Command += " " + strings.Join(all[i].names, " ")
	}
	return all
}

// CommandLine returns the command that runs the board as it was run last.
func (b *Board) CommandLine() string {
	head, name, add := b.lastCommand()
	again := Again{Command: head + " " + failure.Quote(name), Add: add}
	return again.Text()
}

// lastCommand returns the command of the board's last run without the boards, the name that the board had in
// it, and the flags that it leaves out.
func (b *Board) lastCommand() (head, name string, add []string) {
	head, name = "kanban-run", b.Board
	if b.About() == event.AboutLand {
		return head + " land", name, nil
	}
	c := b.command
	if c == nil { // an earlier version ran it
		return head, name, nil
	}
	if dir := filepath.Join(filepath.Dir(b.Board), filepath.FromSlash(c.Dir)); dir != "." {
		head = "cd " + failure.Quote(dir) + " && " + head
	}
	for _, flag := range c.Flags {
		if strings.Contains(flag, hidden) {
			flag, _, _ = strings.Cut(flag, "=")
			add = append(add, flag)
			continue
		}
		name, value, has := strings.Cut(flag, "=")
		if head += " " + name; has {
			head += "=" + failure.Quote(value)
		}
	}
	return head, c.Board, add
}

// RunBy makes c the command line that runs the board again. nil changes nothing.
func (b *Board) RunBy(c *event.Command) {
	if c != nil {
		b.command = c
	}
}

// hidden stands in the journal in place of a secret; see package redact.
const hidden = "[REDACTED_SECRET]"

// Text returns the command, and the flags to add.
func (a *Again) Text() string {
	if len(a.Add) == 0 {
		return a.Command
	}
	return a.Command + "  # and " + event.List(a.Add, len(a.Add))
}

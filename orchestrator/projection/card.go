package projection

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
)

// Card is what a person has to know and can do about a board. A view lays it out: in rows, in a
// sentence, or with links.
type Card struct {
	Title string    // what there is to do, with the board's name
	Task  string    // the task that it is about; "": none or several
	Why   string    // why it is to be done
	Said  *Task     // task whose agent has said more than Why tells; nil: none has
	Hint  string    // what no command does; "": nothing
	Shows []Command // what shows more: commands, or a file
	Log   Command   // shows what happened, for a view that does not
	Acts  []Command // commands that decide
	Runs  Command   // what goes on then; without a command nothing does

	again string // the command of the last run
}

// Command is a command with its effect in words.
type Command struct{ Line, Does string }

// Card returns what a person has to know and can do about the board.
func (b *Board) Card() Card {
	board := failure.Quote(b.Board)
	c := Card{Why: b.Why(), Said: b.Unquoted(), Hint: b.hint(), Runs: Command{b.CommandLine(), "goes on"}, again: b.CommandLine()}
	shows := func(args, does string) { c.Shows = append(c.Shows, Command{"kanban-run " + args + " " + board, does}) }
	switch about := b.About(); {
	case b.Damage != "":
		c.Title, c.Why, c.Runs = "Look at the journal of "+b.Board, b.Damage, Command{}
		shows("log --verify", "checks it; what is shown ends where the damage begins")
	case about != "":
		c.Task = b.Reason.Where
		for _, choice := range b.Choices {
			c.Acts = append(c.Acts, Command{choice.Command, choice.brief()})
		}
		if len(b.Choices) > 0 {
			c.Task = cmp.Or(b.Choices[0].Task, c.Task)
		}
		switch {
		case about == event.AboutFile || about == event.AboutJournal:
			shows("ack -n", "shows what changed")
		case len(b.Choices) > 0 && b.Choices[0].Command == AckHere:
			c.Shows = []Command{{"kanban-run ack --here", "shows the difference"}}
		case b.Outcome == event.Exhausted && b.Log != "":
			c.Shows = []Command{{b.Log, "has the replies"}}
		default:
			c.Log = Command{"kanban-run log " + board, "shows what happened"}
		}
		if b.IsAtWork() || about == event.AboutTeam || len(c.Acts) == 1 && c.Acts[0].Line == c.again {
			c.Runs = Command{}
		}
		c.Title = b.title(c.Task)
	case b.Outcome == event.Invalid, b.Who == Mend && b.Runs == 0:
		c.Title = "Mend " + b.Board
		if b.Runs == 0 {
			c.Runs.Does = "runs it"
		}
		shows("check", "shows what is wrong")
	case b.Runs == 0:
		c.Title, c.Runs.Does = "Run "+b.Board, "runs it"
	case b.Outcome == event.Later:
		c.Title = "Run " + b.Board + " again, once the provider's limit is over"
	case b.Outcome == event.Complete && !b.IsSettled():
		c.Title, c.Runs = "Look at "+b.Board, Command{}
		shows("log", "shows what happened")
	default:
		c.Title = "Let " + b.Board + " go on"
	}
	if s := b.Culprit(); s != nil && c.Task == "" {
		c.Task = s.Task
	}
	return c
}

// title returns what there is to decide about the board. The parameter task is the task in question, or "".
func (b *Board) title(task string) string {
	title := titles[b.About()]
	switch {
	case b.Outcome == event.Exhausted:
		title = "Read the replies that were not accepted in BOARD"
	case b.About() == event.AboutEnd && task == "":
		title = "Decide about what BOARD leaves undone"
	}
	return strings.NewReplacer("BOARD", b.Board, "TASK", task).Replace(cmp.Or(title, "Look at BOARD"))
}

// titles has the title of each kind of decision. BOARD and TASK stand for names.
var titles = map[event.Subject]string{
	event.AboutConsent:    "Decide about the agent at TASK of BOARD",
	event.AboutChanged:    "Look at what an agent changed for BOARD",
	event.AboutWay:        "Decide where the checkpoints of BOARD go",
	event.AboutClone:      "Decide about the clone of BOARD",
	event.AboutLand:       "Decide how the work of BOARD lands",
	event.AboutFile:       "Look at what changed in BOARD",
	event.AboutJournal:    "Look at what changed in BOARD",
	event.AboutCheckpoint: "Decide about the checkpoint that stops BOARD",
	event.AboutQuarantine: "Decide about TASK of BOARD",
	event.AboutTeam:       "Decide about the team of BOARD",
	event.AboutEnd:        "Unblock TASK of BOARD",
}

// hint returns what a person can do that no command does, or "".
func (b *Board) hint() string {
	q := b.question
	switch {
	case q == nil && b.Who == Mend:
		return b.fix
	case q == nil:
		return ""
	case q.Holds:
		return "see to the tool"
	case len(q.Lacks) > 0:
		return event.PassText(q.Lacks)
	case q.About == event.AboutQuarantine && !b.IsAtWork() && len(q.Choices) > 0:
		return "mend " + failure.Quote(q.Choices[0].Task) + " or the board (current names the task to do)"
	case q.About == event.AboutChanged:
		return "if that was not you, put it back"
	case q.About == event.AboutClone, q.About == event.AboutLand:
		return b.fix
	case len(q.Choices) == 0:
		return cmp.Or(b.fix, "mend it")
	default:
		return ""
	}
}

// brief returns the beginning of what a choice does. The rest tells of other tasks, or of the next run.
func (c Choice) brief() string {
	does, _, _ := strings.Cut(c.Does, ". ")
	does, _, _ = strings.Cut(does, "; ")
	return does
}

// Advice returns in a line what a person can do next for the board, or "" if there is nothing to do.
func (b *Board) Advice() string {
	until, timed := b.Waits.until()
	switch {
	case b.Hint != "":
		return b.Hint
	case b.Who == Decide && b.question != nil:
		return b.Card().Line()
	case b.Outcome == event.Later && !b.IsSettled() && timed:
		return goesOn + " after " + until.Local().Format("2006-01-02 15:04:05 MST")
	case b.Who == Mend, b.fix != "" && !b.IsSettled() && (b.Who == RunAgain || b.Who == Decide):
		return b.fix
	case b.Outcome == event.Owned:
		return "another run owns this board or works on its task; kanban-run status " + failure.Quote(b.Board) +
			" shows where it stands; once that has ended, " + goesOn
	case b.Outcome == event.Later && !b.IsSettled():
		return goesOn + " once the provider's limit is over"
	case b.Outcome == event.LimitReached && !b.IsSettled():
		return goesOn + ", with fresh limits"
	case b.Outcome == event.Frozen:
		return "kanban-run ack " + failure.Quote(b.Board) + " shows what there is to decide"
	case b.Who == RunAgain, b.Who == Decide:
		return goesOn
	default:
		return ""
	}
}

// until returns the time until which a wait lasts. The second result is false if it is not known.
func (w *Wait) until() (time.Time, bool) {
	if w == nil {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339, w.Until)
	return at, err == nil
}

// goesOn tells of the command of the last run.
const goesOn = "the same command goes on"

// Line returns the card's hint and commands in a sentence.
func (c Card) Line() string {
	var all []string
	for _, command := range slices.Concat([]Command{c.Log}, c.Shows, []Command{{Does: c.Hint}}, c.Acts) {
		if command.Line != "" && command.Line == c.again {
			command.Line = "the same command"
		}
		if text := strings.TrimSpace(command.Line + " " + command.Does); text != "" {
			all = append(all, text)
		}
	}
	if c.Runs.Line != "" {
		all = append(all, "then "+goesOn)
	}
	return strings.Join(all, "; ")
}

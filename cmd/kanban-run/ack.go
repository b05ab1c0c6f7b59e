package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/asked"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/inbox"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/proc"
	"kanban-run/orchestrator/projection"
)

func ackCommand() command {
	return command{
		name:    "ack",
		args:    "BOARD [WORD [TASK...]] | --here [accept]",
		summary: "decide about a board that waits for a person",
		long: `
Without a word, ack shows what the board waits for and the words that are valid now, each with what it does: exit code
3, or 0 when it waits for nothing. A word decides, and the journal keeps it:

  retry [TASK]   try it again: a task that is undone, an agent that is stuck, the look of a checkpoint, a task in quarantine (also while a run works), or the board as the turn began
  accept [TASK]  let it stand: the end of a board, tasks that count as done (of any board, also while a run works), the work on a task, a checkpoint that blocks, the file, or a team without the members that never answered (kanban-run teardown)
  skip [TASK]    go on without tasks, which stay undone: one that is set aside (--keep-going), or any others that you name
  restart        end an agent that hangs, while the run works (watch: {coordinator: person})
  continue       leave that agent alone

The words of earlier versions are still taken: override for accept, release for retry, forced-finalize for accept.

What was changed while agents worked, and gives more than they get (a role, the settings, a program that gets a
secret), waits for you, whoever changed it: --here shows the difference, and --here accept lets it count for all boards
of the work tree.

-n shows what a word would change, and writes nothing.`,
		examples: `
  kanban-run ack kanban.yaml                    what it waits for
  kanban-run ack kanban.yaml retry tasks/2.md   try a task again`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir")
			note := flags.StringP("message", "m", "", "a note for the journal: `TEXT`")
			ask := flags.BoolP("dry-run", "n", false, "only show what waits for your decision and what it would change")
			here := flags.Bool("here", false, "what was changed in the current work tree while agents worked, instead of a board")
			return func(t *terminal, args []string) (int, error) {
				if *here {
					return s.acknowledgeHere(t, flags.Args(), *ask) // args may have the board of this folder
				}
				answer, tasks, board, err := answerOf(args)
				if err != nil {
					return 0, err
				}
				if _, err := s.load(t); err != nil {
					return 0, err
				}
				answer.Note, answer.Ask = *note, *ask
				for _, task := range tasks[:max(0, len(tasks)-1)] {
					answer.Task = task
					if code, err := t.acknowledge(board, answer); err != nil {
						return code, err
					}
				}
				if len(tasks) > 0 {
					answer.Task = tasks[len(tasks)-1]
				}
				return t.acknowledge(board, answer)
			}
		},
	}
}

// answerOf takes the board, the answer and its tasks from the arguments of ack. Errors: *usageError.
func answerOf(args []string) (a ledger.Answer, tasks []string, board string, err error) {
	words := args[min(1, len(args)):]
	if err := boardArgs("ack", args[:len(args)-len(words)], true); err != nil {
		return a, nil, "", err
	}
	if len(words) > 0 {
		a.Choice = event.Choice(words[0])
	}
	tasks = words[min(1, len(words)):]
	switch {
	case a.Choice != "" && !slices.Contains(ackWords, words[0]):
		return a, nil, "", &usageError{
			text: fmt.Sprintf("ack: %s is no choice", a.Choice),
			hint: "kanban-run inbox BOARD shows what waits, and the choices",
		}
	case len(tasks) > 1 && a.Choice != event.Accept && a.Choice != event.Skip:
		return a, nil, "", &usageError{text: fmt.Sprintf("ack %s takes one task, not %d", a.Choice, len(tasks)), hint: "run it once for each"}
	}
	return a, tasks, args[0], nil
}

// ackWords are the decisions that ack takes.
var ackWords = []string{
	string(event.Retry), string(event.Accept), string(event.Override), string(event.Skip), string(event.ReleaseTasks),
	string(event.ConsentRestart), string(event.ConsentContinue), string(event.ForcedFinalize),
}

// acknowledge carries out the Lead's decision. If a run is at work, the run gets as a message a
// release, a consent (restart, continue), or the acceptance or skip of a task. This process carries out any other decision itself.
// Without a choice, acknowledge only shows what the board waits for.
func (t *terminal) acknowledge(board string, answer ledger.Answer) (int, error) {
	looks := answer.Ask || answer.Choice == ""
	if err := refuseAgents(looks); err != nil {
		return 0, err
	}
	owned, err := inspect.IsOwned(board)
	if err != nil {
		return 0, err
	}
	if owned && looks {
		b, err := inspect.Looker{Keep: keepLast}.Look(board)
		if !isShown(err) {
			return 0, err
		}
		return codeOfWaiting(b.Who.AsksPerson() && !answer.Ask), errors.Join(t.printQuestion(&b.Board), err)
	}
	settles := answer.Task != "" && (answer.Choice == event.Accept || answer.Choice == event.Skip)
	releases := answer.Choice == event.ReleaseTasks || answer.Choice == event.Retry
	now, _ := inspect.Looker{Keep: keepLast}.Look(board) // an error shows below, too
	queued := now.State == projection.Queued
	if owned && (isConsent(answer.Choice) || releases || settles) && (!queued || settles || releases && len(now.Quarantine) > 0) {
		word := answer.Choice
		if releases {
			word = event.ReleaseTasks
		}
		err := t.post(board, inbox.Message{Choice: string(word), Task: answer.Task, Text: answer.Note}, postWait)
		if !t.missed(board, err) {
			return exitComplete, err
		}
	}
	if queued {
		return 0, &queuedError{board + " is queued: " + now.Reason.Said,
			"accept TASK and skip TASK count when it begins; decide about the rest once that run has ended"}
	}
	dir, err := inspect.Locate(board)
	if err != nil {
		return 0, err
	}
	q, err := ledger.Acknowledge(board, dir, answer, t.redactor(), time.Now)
	if err != nil {
		return 0, err
	}
	if answer.Choice != "" {
		return exitComplete, t.printDecision(board, q, answer.Ask)
	}
	if err := t.stdout.Printf("%s", console.Lines(q.Diff)); err != nil {
		return 0, err
	}
	return codeOfWaiting(q.Board.Who.AsksPerson() && !answer.Ask), t.printQuestion(&q.Board)
}

// acknowledgeHere shows, or accepts, what waits for a person in the current work tree.
func (s *settingFlags) acknowledgeHere(t *terminal, args []string, ask bool) (int, error) {
	accepts := slices.Equal(args, []string{string(event.Accept)})
	if len(args) > 0 && !accepts {
		return 0, &usageError{text: "ack --here takes accept, and no board", hint: "kanban-run ack --here accept"}
	}
	if err := refuseAgents(!accepts || ask); err != nil {
		return 0, err
	}
	u, err := s.load(t)
	if err != nil {
		return 0, err
	}
	items := asked.Waiting(u.dir)
	for _, i := range items {
		diff := t.redactor().String(ledger.Unified("before", []byte(i.Earlier), i.File, []byte(i.Later(u.dir))))
		if i.Earlier == "" && i.Was != "" { // a kill has cut the turn short, or the list was lost
			diff = "its lines before are not known; these it has now:\n" + diff
		}
		if err := t.stdout.Printf("%s\n%s", i.Words, console.Lines(diff)); err != nil {
			return 0, err
		}
	}
	switch {
	case len(items) == 0:
		return exitComplete, t.stdout.Printf("nothing that was changed waits for you here\n")
	case !accepts || ask:
		return codeOfWaiting(!ask), t.stdout.Printf("%s  lets it count, for all boards of this work tree; or put it back\n", asked.Command)
	}
	return exitComplete, errors.Join(asked.Accept(u.dir, items), t.stdout.Printf("what was changed counts, as you decided\n"))
}

func codeOfWaiting(waits bool) int {
	if waits {
		return exitNeedsPerson
	}
	return exitComplete
}

// refuseAgents returns an error if an agent has started this process, because only the Lead may
// decide. The parameter "looks" is true for a command that only shows something. Agents may run
// such a command, so that the result is nil.
func refuseAgents(looks bool) error {
	if !looks && proc.IsMarked() {
		return &undeliveredError{"an agent does not speak for a person", ""}
	}
	return nil
}

// missed reports whether err is an *undeliveredError and no run is at work now.
func (t *terminal) missed(board string, err error) bool {
	owned, _ := inspect.IsOwned(board) // the ledger reports this error
	return errors.As(err, new(*undeliveredError)) && !owned
}

func isConsent(c event.Choice) bool {
	return event.ConsentChoice(c) == event.ConsentRestart || event.ConsentChoice(c) == event.ConsentContinue
}

// postWait bounds the wait until the run at work answers a decision.
const postWait = 10 * time.Second

// printDecision prints the diff of a decision (seed 002, "concise diff summary") and what the
// decision did or would do.
func (t *terminal) printDecision(board string, q ledger.Question, ask bool) error {
	text := q.Done
	if ask {
		text = "would be journaled: " + text
	}
	if err := t.stdout.Printf("%s%s\n", console.Lines(q.Diff), text); err != nil || ask {
		return err
	}
	switch about := q.Board.About(); {
	case about == "", about == event.AboutTeam, q.Accepted:
		return nil
	case q.Left != "":
		return t.stdout.Printf("%s waits on: %s\n", board, q.Left)
	default:
		return t.stdout.Printf("it goes on with: %s\n", q.Board.CommandLine())
	}
}

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/inbox"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/ledger"
	"kanban-run/orchestrator/proc"
)

func ackCommand() command {
	return command{
		name:    "ack",
		args:    "BOARD [retry|accept|release|restart|continue|forced-finalize]",
		summary: "decide about a board that waits for a person",
		long: `
The decisions are those of the Lead, the person whose board it is.

A frozen board (exit code 5) stays frozen until you have looked at it, mended it if need be, and acknowledged it. That is so
when the board and the Manager, or the board and the journal, disagree, when the records of the journal contradict each other,
and when two runs took one board. -n shows what changed and what your decision would change, and writes nothing. Of a board
whose file was changed, ack BOARD accept lets the file stand, as ack BOARD does, and ack BOARD retry puts it back as the turn
began. Where a run was killed and it cannot be told whether the agent or a person ended the board since (exit code 3), you have
to choose one of the two.

A board that the Manager ended with blocked, error or escalate (exit code 3), or that is complete with tasks that are not ok,
needs a choice: ack BOARD retry makes the task current again, so that the next run goes on with it; ack BOARD accept ends the
board as it stands. Without a choice, ack shows it. Both take the field ended off the board.

A task whose work goes round in circles is in quarantine: ack BOARD release ends that, also while the run works. With watch:
{coordinator: person} a hung agent is ended only with your consent: ack BOARD restart gives it, while the run works; ack BOARD
continue leaves the agent alone. ack BOARD forced-finalize lets a team be deleted without the members that never answered the request to
shut down (kanban-run teardown). kanban-run inbox shows what waits.

What changed, or what your decision changes, is shown as a diff; the decision is journaled.`,
		setup: func(flags *pflag.FlagSet) func(*terminal, []string) (int, error) {
			s := addSettings(flags, "workdir")
			note := flags.StringP("message", "m", "", "a note for the journal: `TEXT`")
			ask := flags.BoolP("dry-run", "n", false, "only show what waits for your decision and what it would change")
			return func(t *terminal, args []string) (int, error) {
				choice, args, err := choiceOf(args)
				if err != nil {
					return 0, err
				}
				if _, err := s.load(t); err != nil {
					return 0, err
				}
				return t.acknowledge(args[0], ledger.Answer{Choice: choice, Note: *note, Ask: *ask})
			}
		},
	}
}

// choiceOf splits the arguments of ack into the choice, "" if there is none, and the board. Errors:
// *usageError.
func choiceOf(args []string) (choice event.Choice, board []string, err error) {
	if len(args) == 2 {
		choice, args = event.Choice(args[1]), args[:1]
	}
	if err := boardArgs("ack", args, true); err != nil {
		return "", nil, err
	}
	if choice == "" || isChoice(string(choice)) {
		return choice, args, nil
	}
	return "", nil, &usageError{
		text: fmt.Sprintf("ack: %s is no choice", choice),
		hint: "kanban-run inbox BOARD shows what waits, and the choices",
	}
}

// isChoice reports whether a word of the command line is a decision, and not the name of a board.
func isChoice(word string) bool {
	switch word {
	case string(event.Retry), string(event.Accept), string(event.ReleaseTasks), string(event.ForcedFinalize),
		string(event.ConsentRestart), string(event.ConsentContinue):
		return true
	default:
		return false
	}
}

// acknowledge carries out the Lead's decision. The run at work does this, or this process if no run
// accepts the decision. A consent needs a run. With answer.Ask, acknowledge only shows which
// decisions wait.
func (t *terminal) acknowledge(board string, answer ledger.Answer) (int, error) {
	if err := refuseAgents(answer.Ask); err != nil {
		return 0, err
	}
	told, code, err := t.tellDecision(board, answer)
	if told && (!t.missed(board, err) || isConsent(answer.Choice)) {
		return code, err
	}
	dir, err := inspect.Locate(board)
	if err != nil {
		return 0, err
	}
	q, err := ledger.Acknowledge(board, dir, answer, t.redactor(), time.Now)
	if err != nil {
		return 0, err
	}
	if q.Team && !answer.Ask {
		return exitNeedsPerson, printDecision(t, board, q, answer)
	}
	if !q.Open {
		return exitComplete, printDecision(t, board, q, answer)
	}
	code = exitNeedsPerson
	if answer.Ask {
		code = exitComplete
	}
	return code, printChoice(t, board, q)
}

// refuseAgents returns an error to an agent and to its descendants, because only the Lead may
// decide. If looks is true, they do not decide, and it returns nil.
func refuseAgents(looks bool) error {
	if !looks && proc.IsMarked() {
		return &undeliveredError{"an agent does not speak for a person", ""}
	}
	return nil
}

// missed returns true if err is an *undeliveredError and no run is at work now.
func (t *terminal) missed(board string, err error) bool {
	owned, _ := inspect.IsOwned(board) // the ledger reports a fault of the board
	return errors.As(err, new(*undeliveredError)) && !owned
}

func isConsent(c event.Choice) bool {
	return event.ConsentChoice(c) == event.ConsentRestart || event.ConsentChoice(c) == event.ConsentContinue
}

// tellDecision sends a decision to the run at work. told is false if no run is at work, if the
// decision is not for a run, or if there is no choice and the run waits for none. Without a choice
// it releases the tasks in quarantine, but if a consent waits, it only shows what waits.
func (t *terminal) tellDecision(board string, answer ledger.Answer) (told bool, code int, err error) {
	if isConsent(answer.Choice) {
		return true, exitComplete, t.post(board, inbox.Message{Choice: string(answer.Choice)}, postWait)
	}
	owned, err := inspect.IsOwned(board)
	if err != nil || !owned || answer.Choice == event.Retry || answer.Choice == event.Accept ||
		answer.Choice == event.ForcedFinalize {
		return false, 0, nil // the ledger reports a fault of the board
	}
	h, _, err := inspect.History(board, func(event.Entry) error { return nil })
	if err != nil {
		return true, 0, err
	}
	consent, quarantine := h.State.Step != nil && h.State.Step.Consent != nil, len(h.State.Quarantine) > 0
	switch {
	case !consent && !quarantine && answer.Choice == "":
		return false, 0, nil
	case answer.Ask || consent && answer.Choice == "":
		_, err := t.showWaiting(board)
		if answer.Ask {
			return true, exitComplete, err
		}
		return true, exitNeedsPerson, err
	default:
		return true, exitComplete, t.post(board, inbox.Message{
			Choice: string(event.ReleaseTasks),
			Text:   answer.Note,
		}, postWait)
	}
}

// postWait bounds the wait for the answer of the run at work to a decision.
const postWait = 10 * time.Second

// printChoice prints the commands with which the Lead can decide about a board.
func printChoice(t *terminal, board string, q ledger.Question) error {
	name := failure.Quote(board)
	if q.Way {
		return t.stdout.Printf("%s waits for your decision: %s\n"+
			"  kanban-run ack %s accept  has checkpoints go there from now on; or set it back, and the next "+
			"run goes on\n", board, q.Text, name)
	}
	if q.File {
		return t.stdout.Printf("%[1]s%[2]s waits for your decision: %[3]s\n"+
			"  kanban-run ack %[4]s accept  lets the board stand as it is; the next run goes on from that\n"+
			"  kanban-run ack %[4]s retry   puts it back as the turn began, keeps this file beside it, and "+
			"the next run goes on\n",
			console.Lines(q.Diff), board, q.Text, name)
	}
	errs := []error{t.stdout.Printf("%s waits for your decision: %s\n", board, q.Text)}
	if q.Undone != "" {
		errs = append(errs, t.stdout.Printf("%s\n", q.Undone))
	}
	if q.Task != "" {
		errs = append(errs, t.stdout.Printf(
			"  kanban-run ack %s retry   makes %s current again; the next run goes on with it\n", name, q.Task))
	}
	errs = append(errs, t.stdout.Printf("  kanban-run ack %s accept  ends the board as it stands\n", name))
	return errors.Join(errs...)
}

// printDecision prints the diff of a decision and what the decision does, or that it waits: seed
// 002, "concise diff summary".
func printDecision(t *terminal, board string, q ledger.Question, answer ledger.Answer) error {
	text, ask := "acknowledged: ", answer.Ask
	switch {
	case q.Text == "":
		return t.stdout.Printf("%s waits for no decision\n", board)
	case q.Team:
		text = fmt.Sprintf("waits for your decision "+
			"(kanban-run ack %s forced-finalize lets its team be deleted without): ", failure.Quote(board))
	case q.Way && !ask:
		text = "accepted: "
	case q.File && !ask:
		text = fmt.Sprintf("the board %s; kanban-run %s goes on with it: ", map[event.Choice]string{
			event.Accept: "stands as it is",
			event.Retry:  "is put back as the turn began",
		}[answer.Choice], failure.Quote(board))
	case q.File, q.Way:
		text = "waits for your decision: "
	case answer.Choice == event.Retry && q.Task == "": // of a checkpoint
		text = fmt.Sprintf("to be looked at anew; kanban-run %s does: ", failure.Quote(board))
	case answer.Choice == event.Retry:
		text = fmt.Sprintf("%s is current again; kanban-run %s goes on with it: ", q.Task, failure.Quote(board))
	case answer.Choice == event.Accept && q.Undone != "":
		text = "accepted with " + q.Undone + ": "
	case ask && q.Look:
		text = fmt.Sprintf("%[1]s waits for your decision (kanban-run ack %[1]s retry has it looked at anew, "+
			"kanban-run ack %[1]s goes on in spite of it): ", failure.Quote(board))
	case ask && q.GoesOn:
		text = "may go on without your decision: "
	case ask:
		text = "waits for your decision: "
	}
	return t.stdout.Printf("%s%s\n", console.Lines(q.Diff), text+q.Text)
}

package supervise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/review"
)

// Screen shows the conversation. In the agents' texts it leaves out the characters that control a
// terminal. It is safe for concurrent use.
type Screen interface {
	Notice(text string)     // shows a text of kanban-run itself
	Agent(agent.Event)      // shows an event of the agent
	Supervisor(agent.Event) // shows an event of the supervisor
}

// Keyboard is the person's input. Lines is closed at the end of the input.
type Keyboard struct {
	Lines      <-chan string
	Interrupts <-chan struct{}
	Unattended bool         // no person types; lines are not read while the agent works
	Err        func() error // returns the error that ended the input, or nil; the field itself can be nil
}

// Supervision is a conversation of a person, an agent and a supervisor.
type Supervision struct {
	Agent      agent.Talker
	Supervisor agent.Assignment // its Prompt is the text of SUPERVISOR.md
	Worker     agent.Assignment
	Rounds     int // number of times that the supervisor may send work back to the agent
	Sinks      attempt.Sinks
	Screen     Screen
	Keyboard   Keyboard
	Resize     <-chan struct{}
	Size       func() (rows, columns uint16)

	session    string
	asked      []string // the person's messages about the current work
	next       []string // the messages for the agent at its next start
	inputEnded bool     // the person's input has ended
	unfinished string   // reason why the current work is not complete, or "" if it is complete
}

// UnfinishedError reports that the input ended before the work was completed.
type UnfinishedError struct {
	Text    string
	Session string // the session of the agent, or "" if there is none
}

func (e *UnfinishedError) Error() string { return "the work is not completed: " + e.Text }

// Hint returns the command to continue, or "" if there is no safe session name. The command names
// the session, because the newest session may be a different one.
func (e *UnfinishedError) Hint() string {
	if e.Session == "" || strings.ContainsFunc(e.Session, isUnsafe) {
		return ""
	}
	return "go on in the same session: kanban-run supervise -- --resume " + e.Session
}

// isUnsafe reports whether a character is unsafe in a shell, into which people paste the hint.
// Letters, digits, - and _ are safe. Tools use only these characters in session names.
func isUnsafe(c rune) bool {
	return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '_'
}

// errLeft ends the conversation because the person left.
var errLeft = errors.New("the person left")

// Run runs the conversation until the person leaves, and then returns nil. Errors: the cause of the
// context stop; *agent.ConfigError or another error that keeps the agent from working;
// *UnfinishedError, only if the keyboard is unattended. Source: seed 003, "Supervisor 主循环".
func (s *Supervision) Run(stop, kill context.Context) error {
	s.Screen.Notice("Supervisor mode enabled")
	err := s.converse(stop, kill)
	switch {
	case !errors.Is(err, errLeft):
		return err
	case s.Keyboard.Unattended && s.unfinished != "":
		return &UnfinishedError{Text: s.unfinished, Session: s.session}
	default:
		return nil
	}
}

// passTurn passes the turn to the person. It shows the reason, and keeps it in s.unfinished.
func (s *Supervision) passTurn(why string) {
	s.unfinished = why
	s.Screen.Notice(why + " It is your turn.")
}

// endInput records the end of the input. Errors: the error that ended the input, if any.
func (s *Supervision) endInput() error {
	s.Keyboard.Lines, s.inputEnded = nil, true
	if s.Keyboard.Err == nil {
		return nil
	}
	return s.Keyboard.Err()
}

// converse alternates between agent phases and supervisor phases. It waits for the person after an
// agent phase that ended as broken. It returns errLeft when the person leaves.
func (s *Supervision) converse(stop, kill context.Context) error {
	for round := 0; ; {
		if len(s.next) == 0 && s.inputEnded {
			return errLeft
		}
		ended, err := s.runAgentPhase(stop, kill)
		if err == nil && ended == broken && len(s.next) == 0 {
			err = s.waitForPerson(stop)
		}
		if err != nil {
			return err
		}
		if ended != finished {
			round = 0
			continue
		}
		verdict, err := s.runSupervisorPhase(stop, kill)
		if err != nil {
			return err
		}
		round = s.applyVerdict(verdict, round)
	}
}

// applyVerdict passes the turn to the person if the verdict accepts the work, or if the work was
// sent back too often. Otherwise it queues the feedback for the agent. The parameter "round" is the
// number of times that the current work was sent back before this verdict. applyVerdict returns the
// new value of this number.
func (s *Supervision) applyVerdict(verdict *contract.Reply, round int) (rounds int) {
	switch {
	case verdict == nil:
		return 0
	case review.IsCompleted(verdict.Message):
		s.Screen.Notice("The supervisor says that the task is completed. It is your turn.")
		s.asked, s.unfinished = nil, ""
		return 0
	case round >= s.Rounds:
		s.passTurn(fmt.Sprintf("The supervisor has sent the work back %s.", formatTimes(s.Rounds)))
		return 0
	default:
		s.Screen.Notice(fmt.Sprintf("The supervisor sends the work back (%d of at most %d).", round+1, s.Rounds))
		s.next = append(s.next, review.FormatFeedback(verdict.Message))
		return round + 1
	}
}

func formatTimes(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// waitForPerson waits for the person's next message while no agent runs. Errors: errLeft, the cause
// of the context stop, and those of endInput.
func (s *Supervision) waitForPerson(stop context.Context) error {
	for leaving := false; !s.inputEnded; {
		select {
		case text, open := <-s.Keyboard.Lines:
			if !open {
				return cmp.Or(s.endInput(), errLeft)
			}
			if text = strings.TrimSpace(text); text != "" {
				s.asked, s.next = append(s.asked, text), append(s.next, text)
				return nil
			}
		case <-s.Keyboard.Interrupts:
			if leaving {
				return errLeft
			}
			leaving = true
			s.Screen.Notice(leaveHint)
		case <-stop.Done():
			return context.Cause(stop)
		}
	}
	return errLeft
}

const leaveHint = "Nothing is going on. Ctrl-C once more, or Ctrl-D, leaves."

// ending is the way in which an agent phase ended.
type ending int

const (
	finished    ending = iota // the agent has worked through its messages
	interrupted               // the person stopped the agent, or the agent could not continue
	broken                    // the agent's program ended, and the person was told why
)

// runSupervisorPhase lets the supervisor check the work in a fork of the session. If there is no
// verdict, the reply is nil, and it is the person's turn. Source: seed 003, "Fork session 调用
// Supervisor".
func (s *Supervision) runSupervisorPhase(stop, kill context.Context) (*contract.Reply, error) {
	if s.session == "" {
		s.passTurn("The agent named no session, so no supervisor can look at its work.")
		return nil, nil
	}
	s.Screen.Notice("Supervisor phase")
	a := s.Supervisor
	a.Contract = contract.Review
	a.Follow = &agent.Follow{Session: s.session, Fork: true, Text: review.FormatRequest(s.asked)}
	inv, err := s.Agent.Invoke(a)
	if err != nil {
		return nil, err
	}
	out, err := s.runSupervisor(stop, kill, &inv)
	later, refused := errors.AsType[*agent.LaterError](err)
	switch {
	case refused:
		s.passTurn("The supervisor gave no verdict: " + strings.TrimSuffix(later.Text, ".") + ".")
		return nil, nil
	case err != nil:
		return nil, err
	case out.IsStopped() && stop.Err() != nil:
		return nil, context.Cause(stop)
	case out.IsStopped():
		s.passTurn("The supervisor was stopped.")
		return nil, nil
	case out.Failure != nil:
		s.passTurn("The supervisor gave no verdict: " + out.Failure.Reason + ".")
		return nil, nil
	case out.Warning != "":
		s.Screen.Notice(out.Warning)
	}
	return out.Reply, nil
}

// runSupervisor runs the supervisor. Ctrl-C asks it to end, and a second Ctrl-C kills it.
func (s *Supervision) runSupervisor(stop, kill context.Context, inv *agent.Invocation) (*attempt.Ended, error) {
	here, ask := context.WithCancelCause(stop)
	defer ask(nil)
	hard, end := context.WithCancelCause(kill)
	defer end(nil)
	over, heard := make(chan struct{}), make(chan struct{})
	defer func() { close(over); <-heard }()
	go func() {
		defer close(heard)
		if !s.waitForInterrupt(over) {
			return
		}
		ask(errInterrupted)
		s.Screen.Notice("Stopping the supervisor; Ctrl-C once more ends it at once.")
		if s.waitForInterrupt(over) {
			end(errInterrupted)
		}
	}()
	return attempt.Run(here, hard, attempt.Spec{
		Adapter:    s.Agent,
		Invocation: *inv,
		Contract:   contract.Review,
		Sinks:      s.Sinks,
		Emit:       s.Screen.Supervisor,
	})
}

// waitForInterrupt waits for Ctrl-C. It returns false if the channel over is closed first.
func (s *Supervision) waitForInterrupt(over <-chan struct{}) bool {
	select {
	case <-s.Keyboard.Interrupts:
		return true
	case <-over:
		return false
	}
}

var errInterrupted = errors.New("interrupted")

// settleTime bounds the wait for an agent that has stopped, but got another message while it
// worked. If the agent does not begin with that message in this time, the phase ends.
const settleTime = 500 * time.Millisecond

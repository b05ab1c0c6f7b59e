package supervise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/review"
)

// Screen shows what happens. It makes foreign texts harmless and is safe for concurrent use.
type Screen interface {
	Notice(text string)     // of the program itself
	Agent(agent.Event)      // of the agent
	Supervisor(agent.Event) // of the supervisor
}

// Keyboard is what the person does. Lines is closed when there will be no more.
type Keyboard struct {
	Lines      <-chan string
	Interrupts <-chan struct{}
	Patient    bool         // nobody is there to see and to answer: a line is taken only when it is the person's turn
	Err        func() error // why Lines was closed, nil where that was its end; nil: that is always so
}

// Supervision is one conversation of a person, an agent and a supervisor.
type Supervision struct {
	Agent      agent.Talker
	Supervisor agent.Assignment // its Prompt is SUPERVISOR.md
	Worker     agent.Assignment
	Rounds     int // how often the supervisor may send the work back before the person is asked
	Sinks      agent.Sinks
	Screen     Screen
	Keyboard   Keyboard
	Resize     <-chan struct{}
	Size       func() (rows, columns uint16)

	session string
	asked   []string // what the person said about the work at hand
	next    []string // what the agent is told when it is started next
	alone   bool     // the person will say nothing more
	open    string   // why the work at hand is not completed; "" when it is
}

// UnfinishedError says that the input has ended, and the work that it asked for was not brought to completion.
type UnfinishedError struct {
	Text    string
	Session string // of the agent; "" when none was begun
}

func (e *UnfinishedError) Error() string { return "the work is not completed: " + e.Text }

// Hint says how to go on. It names the session: the newest one need not be the agent's.
func (e *UnfinishedError) Hint() string {
	if e.Session == "" || strings.ContainsFunc(e.Session, notOfName) {
		return ""
	}
	return "go on in the same session: kanban-run supervise -- --resume " + e.Session
}

// notOfName says of what letters no tool makes the name of a session: a hint is something to paste into a shell.
func notOfName(c rune) bool {
	return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '_'
}

// errLeft ends the conversation because the person left.
var errLeft = errors.New("the person left")

// Run goes on until the person leaves; nil is the error then. Source: seed 003, "Supervisor 主循环". Errors: the cause of stop, or what keeps
// the agent from working: *agent.ConfigError, *agent.LaterError; without a person at the keyboard *UnfinishedError.
func (s *Supervision) Run(stop, kill context.Context) error {
	s.Screen.Notice("Supervisor mode enabled")
	err := s.converse(stop, kill)
	switch {
	case !errors.Is(err, errLeft):
		return err
	case s.Keyboard.Patient && s.open != "":
		return &UnfinishedError{Text: s.open, Session: s.session}
	default:
		return nil
	}
}

// pass gives the turn to the person, and says why.
func (s *Supervision) pass(why string) {
	s.open = why
	s.Screen.Notice(why + " It is your turn.")
}

// left notes that the person will say nothing more. Errors: why that is so, where it is not the end.
func (s *Supervision) left() error {
	s.Keyboard.Lines, s.alone = nil, true
	if s.Keyboard.Err == nil {
		return nil
	}
	return s.Keyboard.Err()
}

// converse is the loop: agent phase, supervisor phase, agent phase, and the person.
func (s *Supervision) converse(stop, kill context.Context) error {
	for round := 0; ; {
		if len(s.next) == 0 && s.alone {
			return errLeft
		}
		ended, err := s.agentPhase(stop, kill)
		if err == nil && ended == broken && len(s.next) == 0 {
			err = s.person(stop)
		}
		if err != nil {
			return err
		}
		if ended != finished {
			round = 0
			continue
		}
		verdict, err := s.supervisorPhase(stop, kill)
		if err != nil {
			return err
		}
		round = s.judge(verdict, round)
	}
}

// judge says how often the work at hand was sent back; the agent is told next what is missing, or it is the person's turn.
func (s *Supervision) judge(verdict *agent.Reply, round int) (rounds int) {
	switch {
	case verdict == nil:
		return 0
	case review.IsCompleted(verdict.Message):
		s.Screen.Notice("The supervisor says that the task is completed. It is your turn.")
		s.asked, s.open = nil, ""
		return 0
	case round >= s.Rounds:
		s.pass(fmt.Sprintf("The supervisor has sent the work back %s.", times(s.Rounds)))
		return 0
	default:
		s.Screen.Notice(fmt.Sprintf("The supervisor sends the work back (%d of at most %d).", round+1, s.Rounds))
		s.next = append(s.next, review.Feedback(verdict.Message))
		return round + 1
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// person waits for what the person says next, while no agent runs.
func (s *Supervision) person(stop context.Context) error {
	for leaving := false; !s.alone; {
		select {
		case text, open := <-s.Keyboard.Lines:
			if !open {
				return cmp.Or(s.left(), errLeft)
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

// ending is how an agent phase ended.
type ending int

const (
	finished    ending = iota // the agent is done with what it was told
	interrupted               // the person stopped it, or it could not go on
	broken                    // the agent's program ended, and the person was told why
)

// supervisorPhase has the supervisor look at the work in a fork of the session: seed 003, "Fork session 调用 Supervisor". Its reply is nil when the
// person stopped it or it had none.
func (s *Supervision) supervisorPhase(stop, kill context.Context) (*agent.Reply, error) {
	if s.session == "" {
		s.pass("The agent named no session, so no supervisor can look at its work.")
		return nil, nil
	}
	s.Screen.Notice("Supervisor phase")
	a := s.Supervisor
	a.Contract = agent.ReviewContract
	a.Follow = &agent.Follow{Session: s.session, Fork: true, Text: review.Ask(s.asked)}
	inv, err := s.Agent.Invoke(a)
	if err != nil {
		return nil, err
	}
	out, err := s.look(stop, kill, &inv)
	switch {
	case err != nil:
		return nil, err
	case out.Stopped && stop.Err() != nil:
		return nil, context.Cause(stop)
	case out.Stopped:
		s.pass("The supervisor was stopped.")
		return nil, nil
	case out.Failure != nil:
		s.pass("The supervisor gave no verdict: " + out.Failure.Reason + ".")
		return nil, nil
	}
	return out.Reply, nil
}

// look runs the supervisor. Ctrl-C asks it to end, and once more kills it.
func (s *Supervision) look(stop, kill context.Context, inv *agent.Invocation) (*agent.Outcome, error) {
	here, ask := context.WithCancelCause(stop)
	defer ask(nil)
	hard, end := context.WithCancelCause(kill)
	defer end(nil)
	over, heard := make(chan struct{}), make(chan struct{})
	defer func() { close(over); <-heard }()
	go func() {
		defer close(heard)
		if !s.interrupts(over) {
			return
		}
		ask(errInterrupted)
		s.Screen.Notice("Stopping the supervisor; Ctrl-C once more ends it at once.")
		if s.interrupts(over) {
			end(errInterrupted)
		}
	}()
	return agent.Converse(here, hard, s.Agent, inv, agent.ReviewContract, s.Sinks, s.Screen.Supervisor)
}

// interrupts waits for Ctrl-C, and is false when it is over first.
func (s *Supervision) interrupts(over <-chan struct{}) bool {
	select {
	case <-s.Keyboard.Interrupts:
		return true
	case <-over:
		return false
	}
}

var errInterrupted = errors.New("interrupted")

// settle is how long an agent that was told more while it worked may take to begin with that.
const settle = 500 * time.Millisecond

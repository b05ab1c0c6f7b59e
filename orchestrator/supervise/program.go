package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// program is the agent's program. Its terminal is a pty, but its input is a pipe, because claude
// reads no messages from a terminal. Source: seed 003, "启动 Agent pty".
type program struct {
	near   *os.File                // our side of the pty
	input  *os.File                // our end of the pipe
	stop   context.CancelCauseFunc // asks the program to end
	kill   context.CancelCauseFunc // kills the program
	outbox queue                   // messages for the input
	events chan agent.Event
	ended  chan end // gets the program's end, once; buffered
	read   chan struct{}
}

type end struct {
	report agent.Report
	exit   proc.Exit
	err    error
}

// drainTime bounds the reading of the pty after the program has ended. Reading normally takes far
// less time.
const drainTime = 5 * time.Second

// errPhaseOver ends the agent's program at the end of the agent phase.
var errPhaseOver = errors.New("the phase is over")

// startProgram starts the agent's program, which goes on in s.session if there is one.
func (s *Supervision) startProgram(stop, kill context.Context) (*program, error) {
	a := s.Worker
	a.Contract = contract.Review
	if s.session != "" {
		a.Follow = &agent.Follow{Session: s.session}
	}
	inv, err := s.Agent.Talk(a)
	if err != nil {
		return nil, err
	}
	t, far, theirs, err := openProgram()
	if err != nil {
		return nil, err
	}
	s.resize(t)
	here, hard := t.bind(stop, kill)
	told := func(string) bool { return false }
	reader := s.Agent.Reader(a.Contract, s.Sinks.Host(t.emit, told, func(err error) { t.stop(err) }))
	stderr, lastWord := s.Sinks.Tail()
	go t.readOutput(reader)
	go t.writeInput()
	go func() {
		exit, err := proc.Run(here, hard, &proc.Spec{Argv: inv.Argv, Dir: inv.Dir, Env: inv.Env, Grace: inv.Grace,
			Mark: inv.Mark, Terminal: far, Input: theirs, Stderr: stderr})
		err = errors.Join(err, far.Close(), theirs.Close(), stderr.Close())
		t.drain()
		e := end{report: reader.End(exit), exit: exit, err: err}
		if hopeless := context.Cause(here); agent.IsHopeless(hopeless) {
			e.report.Err = hopeless
		}
		if f := e.report.Failure; f != nil {
			f.Reason = s.describeFailure(f.Reason, lastWord())
		}
		t.ended <- e
		close(t.events)
	}()
	return t, nil
}

// openProgram opens the pty and the pipe. The result "far" is the program's end of the pty, and the
// result "theirs" is the program's end of the pipe. The caller closes both ends. The pty is raw,
// because the program writes JSON lines of any length.
func openProgram() (t *program, far, theirs *os.File, err error) {
	near, far, err := pty.Open()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("open a pty: %w", err)
	}
	theirs, input, err := os.Pipe()
	if err == nil {
		_, err = term.MakeRaw(int(far.Fd()))
	}
	if err != nil {
		err = fmt.Errorf("set up a pty: %w", err)
		return nil, nil, nil, errors.Join(err, near.Close(), far.Close(), theirs.Close(), input.Close())
	}
	t = &program{near: near, input: input, outbox: queue{more: make(chan struct{}, 1)},
		events: make(chan agent.Event, 64), ended: make(chan end, 1), read: make(chan struct{})}
	return t, far, theirs, nil
}

// drain waits until the output is read, but not longer than drainTime, because an escaped process
// may hold the far side open.
func (t *program) drain() {
	late := time.AfterFunc(drainTime, func() { _ = t.near.Close() })
	<-t.read
	late.Stop()
}

func (s *Supervision) describeFailure(reason, lastWord string) string {
	reason = s.Sinks.Redact(reason)
	if lastWord != "" {
		reason += " (" + lastWord + ")"
	}
	return reason
}

// bind returns the contexts of the program, and sets the fields "stop" and "kill". The program has
// its own contexts, because it may have to end before the conversation does.
func (t *program) bind(stop, kill context.Context) (here, hard context.Context) {
	here, t.stop = context.WithCancelCause(stop)
	hard, t.kill = context.WithCancelCause(kill)
	return here, hard
}

func (t *program) emit(e agent.Event) { t.events <- e }

// readOutput passes the output to the reader until the far side of the pty is closed.
func (t *program) readOutput(reader agent.Reader) {
	defer close(t.read)
	buf := make([]byte, 64<<10)
	for {
		n, err := t.near.Read(buf)
		_, _ = reader.Write(buf[:n])
		if err != nil {
			return
		}
	}
}

// send queues a message. It reports no error for a program that has ended, because t.ended reports
// the end.
func (t *program) send(message []byte) { t.outbox.add(message) }

// writeInput writes the queued messages in their order, and waits while the agent does not read.
func (t *program) writeInput() {
	for range t.outbox.more {
		for _, message := range t.outbox.drain() {
			_, _ = t.input.Write(message)
		}
	}
	_ = t.input.Close()
}

// queue holds messages for a slow reader and never blocks the sender.
type queue struct {
	mu       sync.Mutex
	messages [][]byte
	more     chan struct{} // has a value if there may be messages; closed at the end
}

func (q *queue) add(message []byte) {
	q.mu.Lock()
	q.messages = append(q.messages, message)
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *queue) drain() [][]byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.messages
	q.messages = nil
	return all
}

// close closes the program's input, waits for the program's end, and returns the result. If the
// program does not end within the time grace, close asks it to end. If the channel hurry gets a
// value, close kills the program.
func (t *program) close(grace time.Duration, hurry <-chan struct{}) end {
	close(t.outbox.more)
	late := time.AfterFunc(grace, func() { t.stop(errPhaseOver) })
	defer late.Stop()
	for open := true; open; {
		select {
		case _, open = <-t.events: // drop the event, so that its sender does not block
		case <-hurry:
			t.kill(errInterrupted)
		}
	}
	e := <-t.ended
	_ = t.near.Close()
	return e
}

func (s *Supervision) resize(t *program) {
	if s.Size == nil {
		return
	}
	rows, columns := s.Size()
	// An error does not matter, because a program that writes JSON ignores the terminal's size.
	_ = pty.Setsize(t.near, &pty.Winsize{Rows: rows, Cols: columns})
}

// runAgentPhase runs the agent until it stops. The agent gets the queued messages, and then those
// that the person types. Source: seed 003, "检测 Agent 停止".
func (s *Supervision) runAgentPhase(stop, kill context.Context) (ending, error) {
	t, err := s.startProgram(stop, kill)
	if err != nil {
		return broken, err
	}
	p := &phase{Supervision: s, program: t}
	for _, text := range s.next {
		p.tell(text)
	}
	s.next = nil
	how, err := p.waitForAgent(stop)
	var hurry <-chan struct{} // nil: a Ctrl-C is kept for the supervisor phase
	if how == interrupted || err != nil {
		hurry = s.Keyboard.Interrupts
	}
	e := t.close(s.Worker.Grace, hurry)
	switch {
	case err != nil:
		return how, err
	case stop.Err() != nil:
		return how, context.Cause(stop)
	case e.report.Err != nil:
		return how, p.passRefusal(e.report.Err)
	case e.err != nil:
		return how, e.err
	}
	return how, nil
}

// phase is one turn of the agent, from the start of its program until the agent stops.
type phase struct {
	*Supervision
	*program
	working  bool // the agent has a message and has not stopped since
	more     bool // the agent got a message while it worked
	worked   bool // the agent's model has ended a turn
	stopping bool // the person has interrupted the agent
	failed   bool // the agent could not carry out a message
	leaving  bool // the person has pressed Ctrl-C while the agent was idle
	settled  <-chan time.Time
}

// tell sends the agent a message.
func (p *phase) tell(text string) {
	p.more = p.working
	p.working, p.settled = true, nil
	p.send(p.Supervision.Agent.Message(text))
}

// waitForAgent handles events and input until the agent stops, the person stops it or leaves, or
// the program ends.
func (p *phase) waitForAgent(stop context.Context) (ending, error) {
	for {
		lines := p.Keyboard.Lines
		if p.Keyboard.Unattended && p.working {
			lines = nil
		}
		select {
		case e, open := <-p.events:
			if !open {
				return broken, p.explainExit()
			}
			if p.handleEvent(e) {
				return p.judgeEnding(), nil
			}
		case <-p.settled:
			return p.judgeEnding(), nil
		case text, open := <-lines:
			if !open {
				if err := p.leave(); err != nil {
					return broken, err
				}
				continue
			}
			p.handleLine(text)
		case <-p.Keyboard.Interrupts:
			if err := p.interrupt(); err != nil {
				return interrupted, err
			}
		case <-p.Resize:
			p.resize(p.program)
		case <-stop.Done():
			return interrupted, context.Cause(stop)
		}
	}
}

func (p *phase) judgeEnding() ending {
	if p.stopping || p.failed {
		return interrupted
	}
	return finished
}

// passRefusal passes the turn to the person if the provider refuses to serve for now, because such
// a refusal does not end a conversation. It returns every other error.
func (p *phase) passRefusal(err error) error {
	later, ok := errors.AsType[*agent.LaterError](err)
	if !ok {
		return err
	}
	if !p.failed {
		p.fail(later.Text)
	}
	return nil
}

// fail passes the turn to the person, because the agent could not carry out a message.
func (p *phase) fail(why string) {
	p.passTurn("The agent could not do it: " + strings.TrimSuffix(why, ".") + ".")
	p.failed = true
}

// handleEvent shows an event and reports whether the agent has stopped.
func (p *phase) handleEvent(e agent.Event) (stopped bool) {
	p.settled = nil
	if e.Kind == agent.Result && !e.Local {
		p.worked = true
	}
	switch {
	case e.Kind == agent.Session:
		p.session = e.ID
	case e.Kind != agent.Result || !p.working:
		p.Screen.Agent(e)
	case e.Local && !p.worked && !p.stopping:
		p.skipCommand()
		return false
	case e.Failed && !p.stopping:
		p.fail(e.Text)
		return true
	case p.more && !p.stopping:
		p.more = false
		p.settled = time.After(settleTime)
	case p.stopping:
		p.passTurn("The agent has stopped.")
		return true
	default:
		return true
	}
	return false
}

// skipCommand removes a command such as /cost from the messages for the supervisor. The program
// answers such a command itself, so there is no work to check.
func (p *phase) skipCommand() {
	if at := slices.IndexFunc(p.asked, func(text string) bool { return strings.HasPrefix(text, "/") }); at >= 0 {
		p.asked = slices.Delete(p.asked, at, at+1)
	}
	if p.working, p.more = p.more, false; !p.working {
		p.Screen.Notice("No model was asked, so there is nothing to supervise. It is your turn.")
	}
}

// handleLine sends the person's line to the agent. While the agent is being stopped, handleLine
// keeps the line for the next turn. The supervisor gets the line, too. Source: seed 003, "捕获用户输入".
func (p *phase) handleLine(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	p.leaving = false
	p.asked = append(p.asked, text)
	if p.stopping { // an interrupted agent reads no messages
		p.next = append(p.next, text)
		return
	}
	p.tell(text)
}

// interrupt handles Ctrl-C. The first Ctrl-C stops a working agent, and the second kills it. If the
// agent is idle, interrupt returns errLeft at the second Ctrl-C.
func (p *phase) interrupt() error {
	switch {
	case !p.working && p.leaving:
		return errLeft
	case !p.working:
		p.leaving = true
		p.Screen.Notice(leaveHint)
	case p.stopping:
		p.kill(errInterrupted)
	default:
		p.stopping = true
		p.Screen.Notice("Stopping the agent; Ctrl-C once more ends it at once.")
		p.send(p.Supervision.Agent.Interrupt())
	}
	return nil
}

// leave handles Ctrl-D and the end of the input. A working agent is allowed to finish, and its work
// is checked. If the agent is idle, leave returns errLeft.
func (p *phase) leave() error {
	err := p.endInput()
	if err == nil && !p.working {
		err = errLeft
	}
	if err == nil && !p.Keyboard.Unattended {
		p.Screen.Notice("Leaving once the work is done. Ctrl-C stops the agent.")
	}
	return err
}

// explainExit passes the turn to the person, with the reason for the program's end. If the report
// of the program has an error other than a refusal of the provider, explainExit only returns that
// error.
func (p *phase) explainExit() error {
	e := <-p.ended
	p.ended <- e
	switch {
	case e.report.Err != nil:
		return p.passRefusal(e.report.Err)
	case p.stopping:
		p.passTurn("The agent was ended.")
	case e.report.Failure != nil:
		p.passTurn("The agent's program ended: " + e.report.Failure.Reason + ".")
	default:
		p.passTurn("The agent's program ended: " + e.exit.String() + ".")
	}
	return nil
}

package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/proc"
)

// talk is the agent's program on a pty, from its start to its end: seed 003, "启动 Agent pty". Its input is a pipe: claude takes no messages
// from a terminal.
type talk struct {
	near   *os.File                // our side of the pty
	input  *os.File                // our end of the pipe
	stop   context.CancelCauseFunc // asks the program to end
	kill   context.CancelCauseFunc // ends it at once
	words  queue                   // for the input
	events chan agent.Event
	ended  chan end // has one
	read   chan struct{}
}

type end struct {
	report agent.Report
	exit   proc.Exit
	err    error
}

// drainTime is how long a pty may take to become silent once nobody is left to speak: what is in it is read in far less.
const drainTime = 5 * time.Second

// errOver ends the agent's program because its phase is over.
var errOver = errors.New("the phase is over")

// begin starts the program. Its side of the pty is raw: what it writes are lines of JSON, of any length, and no text.
func (s *Supervision) begin(stop, kill context.Context) (*talk, error) {
	a := s.Worker
	a.Contract = agent.ReviewContract
	if s.session != "" {
		a.Follow = &agent.Follow{Session: s.session}
	}
	inv, err := s.Agent.Talk(a)
	if err != nil {
		return nil, err
	}
	near, far, err := pty.Open()
	if err != nil {
		return nil, fmt.Errorf("open a pty: %w", err)
	}
	theirs, input, err := os.Pipe()
	if err == nil {
		_, err = term.MakeRaw(int(far.Fd()))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("set up a pty: %w", err), near.Close(), far.Close(), theirs.Close(), input.Close())
	}
	t := &talk{near: near, input: input, words: queue{more: make(chan struct{}, 1)}, events: make(chan agent.Event, 64), ended: make(chan end, 1), read: make(chan struct{})}
	s.resize(t)
	here, hard := t.bind(stop, kill)
	reader := s.Agent.Reader(a.Contract, s.Sinks.Host(t.tell, func(err error) { t.stop(err) }))
	stderr, lastWord := s.Sinks.Tail()
	go t.listen(reader)
	go t.speak()
	go func() {
		exit, err := proc.Run(here, hard, &proc.Spec{Argv: inv.Argv, Dir: inv.Dir, Env: inv.Env, Grace: inv.Grace, Mark: inv.Mark, Terminal: far, Input: theirs, Stderr: stderr})
		err = errors.Join(err, far.Close(), theirs.Close(), stderr.Close())
		late := time.AfterFunc(drainTime, func() { _ = near.Close() }) // somebody has escaped and holds the far side open
		<-t.read
		late.Stop()
		e := end{report: reader.End(exit), exit: exit, err: err}
		if hopeless := context.Cause(here); agent.IsHopeless(hopeless) {
			e.report.Err = hopeless
		}
		if f := e.report.Failure; f != nil {
			f.Reason = s.Sinks.Hide(f.Reason)
			if said := lastWord(); said != "" {
				f.Reason += " (" + said + ")"
			}
		}
		t.ended <- e
		close(t.events)
	}()
	return t, nil
}

// bind makes the two contexts of the program itself: it may have to end before the conversation does.
func (t *talk) bind(stop, kill context.Context) (here, hard context.Context) {
	here, t.stop = context.WithCancelCause(stop)
	hard, t.kill = context.WithCancelCause(kill)
	return here, hard
}

func (t *talk) tell(e agent.Event) { t.events <- e }

// listen reads until nobody has the far side open any more.
func (t *talk) listen(reader agent.Reader) {
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

// say writes a message. An agent that is gone does not hear it, and its end is told elsewhere.
func (t *talk) say(message []byte) { t.words.add(message) }

// speak writes messages in their order, however long the agent takes to read them.
func (t *talk) speak() {
	for range t.words.more {
		for _, message := range t.words.take() {
			_, _ = t.input.Write(message)
		}
	}
	_ = t.input.Close()
}

// queue holds messages for somebody who is slow, and never lets the other wait.
type queue struct {
	mu       sync.Mutex
	messages [][]byte
	more     chan struct{} // has one when there may be messages; closed when there will be no more
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

func (q *queue) take() [][]byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.messages
	q.messages = nil
	return all
}

// close ends the program and waits for its end. The end of its input is the end of the conversation; who does not leave then is asked to, and
// killed when hurry says so.
func (t *talk) close(grace time.Duration, hurry <-chan struct{}) end {
	close(t.words.more)
	late := time.AfterFunc(grace, func() { t.stop(errOver) })
	defer late.Stop()
	for open := true; open; {
		select {
		case _, open = <-t.events: // whoever tells must not wait for ever
		case <-hurry:
			t.kill(errInterrupted)
		}
	}
	e := <-t.ended
	_ = t.near.Close()
	return e
}

func (s *Supervision) resize(t *talk) {
	if s.Size == nil {
		return
	}
	rows, columns := s.Size()
	_ = pty.Setsize(t.near, &pty.Winsize{Rows: rows, Cols: columns}) // a program that speaks JSON does not care
}

// agentPhase has the agent work until it stops: seed 003, "检测 Agent 停止". What it is told is what comes next, else what the person says.
func (s *Supervision) agentPhase(stop, kill context.Context) (ending, error) {
	t, err := s.begin(stop, kill)
	if err != nil {
		return broken, err
	}
	p := &phase{Supervision: s, talk: t}
	for _, text := range s.next {
		p.send(text)
	}
	s.next = nil
	how, err := p.listen(stop)
	var hurry <-chan struct{} // else Ctrl-C is for the supervisor, who is next
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
		return how, e.report.Err
	case e.err != nil:
		return how, e.err
	}
	return how, nil
}

// phase is an agent phase under way.
type phase struct {
	*Supervision
	*talk
	working  bool // it was told something and has not stopped since
	more     bool // it was told something while it worked
	stopping bool // the person has interrupted it
	failed   bool // it could not do what it was told
	leaving  bool // the person has asked to leave while nothing was going on
	settled  <-chan time.Time
}

// send tells the agent something.
func (p *phase) send(text string) {
	p.more = p.working
	p.working, p.settled = true, nil
	p.say(p.Supervision.Agent.Message(text))
}

// listen goes on until the agent stops, the person stops it or leaves, or the program ends of itself.
func (p *phase) listen(stop context.Context) (ending, error) {
	for {
		lines := p.Keyboard.Lines
		if p.Keyboard.Patient && p.working {
			lines = nil
		}
		select {
		case e, open := <-p.events:
			if !open {
				return broken, p.lost()
			}
			if p.hear(e) {
				return p.how(), nil
			}
		case <-p.settled:
			return p.how(), nil
		case text, open := <-lines:
			if !open {
				if err := p.leave(); err != nil {
					return broken, err
				}
				continue
			}
			p.said(text)
		case <-p.Keyboard.Interrupts:
			if err := p.interrupt(); err != nil {
				return interrupted, err
			}
		case <-p.Resize:
			p.resize(p.talk)
		case <-stop.Done():
			return interrupted, context.Cause(stop)
		}
	}
}

func (p *phase) how() ending {
	if p.stopping || p.failed {
		return interrupted
	}
	return finished
}

// hear takes an event, and says whether the agent has stopped.
func (p *phase) hear(e agent.Event) (stopped bool) {
	p.settled = nil
	switch {
	case e.Kind == agent.Session:
		p.session = e.ID
	case e.Kind != agent.Result || !p.working:
		p.Screen.Agent(e)
	case e.Failed && !p.stopping:
		p.pass("The agent could not do it: " + e.Text + ".")
		p.failed = true
		return true
	case p.more && !p.stopping:
		p.more = false
		p.settled = time.After(settle)
	case p.stopping:
		p.pass("The agent has stopped.")
		return true
	default:
		return true
	}
	return false
}

// said passes on what the person says, and keeps it for the supervisor: seed 003, "捕获用户输入".
func (p *phase) said(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	p.leaving = false
	p.asked = append(p.asked, text)
	if p.stopping { // whoever is told to stop does not listen
		p.next = append(p.next, text)
		return
	}
	p.send(text)
}

// interrupt is Ctrl-C: it stops the agent, kills one that does not stop, and leaves when there is nothing to stop.
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
		p.say(p.Supervision.Agent.Interrupt())
	}
	return nil
}

// leave is Ctrl-D, or the end of the input: the agent may finish what it was told, and its work is looked at.
func (p *phase) leave() error {
	err := p.left()
	if err == nil && !p.working {
		err = errLeft
	}
	if err == nil && !p.Keyboard.Patient {
		p.Screen.Notice("Leaving once the work is done. Ctrl-C stops the agent.")
	}
	return err
}

// lost is what there is to say about a program that ended of itself.
func (p *phase) lost() error {
	e := <-p.ended
	p.ended <- e
	switch {
	case e.report.Err != nil:
		return e.report.Err
	case p.stopping:
		p.pass("The agent was ended.")
	case e.report.Failure != nil:
		p.pass("The agent's program ended: " + e.report.Failure.Reason + ".")
	default:
		p.pass("The agent's program ended: " + e.exit.String() + ".")
	}
	return nil
}

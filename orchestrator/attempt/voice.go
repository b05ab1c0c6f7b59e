package attempt

import (
	"slices"
	"sync"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/proc"
)

// voice is the channel for messages to an agent at work. It is safe for concurrent use.
type voice struct {
	listener agent.Listener // nil if the agent's program reads only its first input

	mu          sync.Mutex
	process     *proc.Process // nil: not started yet
	sent        []string      // IDs of all messages and questions
	undelivered []string      // IDs of messages that have not reached the agent
	replying    bool          // the agent writes its reply
	mute        bool          // the agent's program answers no questions
	ended       bool          // the result has arrived, and the input is closed
}

// maxUndelivered bounds the number of messages that have not reached the agent.
const maxUndelivered = 16

func newVoice(c Spec) *voice {
	v := &voice{}
	if c.Invocation.Listens {
		v.listener, _ = c.Adapter.(agent.Listener)
	}
	return v
}

// adopt makes p the process of the agent. If the agent's result was read
// already, adopt closes the input of p.
func (v *voice) adopt(p *proc.Process) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.process = p
	if v.ended {
		p.CloseInput()
	}
}

// say sends the agent the bytes that the function named line returns. It returns false if the agent
// cannot read them now, or if that function returns nil.
func (v *voice) say(line func(agent.Listener) []byte) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.listener == nil || v.process == nil || v.ended {
		return false
	}
	text := line(v.listener)
	if text == nil {
		return false
	}
	return v.process.Send(text)
}

// wasSent reports whether a message or a question with this ID was sent.
func (v *voice) wasSent(id string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Contains(v.sent, id)
}

// interrupt asks the program to end its turn. It returns false if the program has no such request,
// or if the agent has sent its final event.
func (v *voice) interrupt() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	talker, ok := v.listener.(agent.Talker)
	return ok && v.process != nil && !v.ended && v.process.Send(talker.Interrupt())
}

// canAsk reports whether the agent can be asked now.
func (v *voice) canAsk() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.listener != nil && v.process != nil && !v.ended && !v.mute
}

// follow tracks the delivery of messages. Once the agent writes its reply, a further message would
// only prolong its work. So the method withdraws the messages that the agent has not heard by then,
// and returns their IDs. When the result arrives, the method closes the agent's input, so that the
// program ends.
func (v *voice) follow(e agent.Event) (lost []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.listener == nil || v.ended:
	case e.Kind == agent.Heard:
		v.undelivered = slices.DeleteFunc(v.undelivered, func(id string) bool { return id == e.ID })
	case e.Kind == agent.Dropped:
		v.mute = true
	case e.Kind == agent.Writing && e.Class == agent.ReplyTool:
		v.replying = true
		return v.withdraw()
	case e.Kind == agent.ToolEnded && e.Class == agent.ReplyTool && e.Failed:
		v.replying = false
	case e.Kind == agent.Result:
		lost = v.withdraw()
		v.ended = true
		if v.process != nil {
			v.process.CloseInput()
		}
	}
	return lost
}

func (v *voice) withdraw() []string {
	for _, id := range v.undelivered {
		v.process.Send(v.listener.Withdraw(id))
	}
	lost := v.undelivered
	v.undelivered = nil
	return lost
}

// Ask sends the agent a question, which does not interrupt its work. It returns false if the agent
// cannot be asked. If the agent answers, an [agent.Answered] event follows.
func (a *Attempt) Ask(id, question string) bool {
	return a.voice.say(func(l agent.Listener) []byte {
		a.voice.sent = append(a.voice.sent, id)
		return l.Ask(id, question)
	})
}

// Tell sends the agent a message. It returns false if the agent cannot read it now. An
// [agent.Heard] event follows once the message has reached the agent.
func (a *Attempt) Tell(id, text string) bool {
	return a.voice.say(func(l agent.Listener) []byte {
		if a.voice.replying || len(a.voice.undelivered) >= maxUndelivered {
			return nil
		}
		a.voice.sent, a.voice.undelivered = append(a.voice.sent, id), append(a.voice.undelivered, id)
		return l.Tell(id, text)
	})
}

// EndCall ends a call of a tool, but not the agent's turn. It returns false if the call cannot be
// ended without the turn.
func (a *Attempt) EndCall(tool string) bool {
	return a.voice.say(func(l agent.Listener) []byte { return l.EndCall(tool) })
}

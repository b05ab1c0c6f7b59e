package attempt

import (
	"slices"
	"sync"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/proc"
)

// voice is what an attempt tells its agent while the agent works. It is safe for concurrent use.
type voice struct {
	listener agent.Listener // nil: the agent's program reads nothing but its input

	mu      sync.Mutex
	process *proc.Process // nil: not started yet
	unheard []string      // messages that the agent has not got yet
	ended   bool          // the result is there, and the input closed
}

func newVoice(c Call) *voice {
	v := &voice{}
	if c.Invocation.Listens {
		v.listener, _ = c.Adapter.(agent.Listener)
	}
	return v
}

// adopt takes over the process that has just started. Its result may have been read already.
func (v *voice) adopt(p *proc.Process) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.process = p
	if v.ended {
		p.CloseInput()
	}
}

// say sends a line, if the agent can still read it.
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
	v.process.Send(text)
	return true
}

// follow notes what became of messages. Once the agent writes its reply, a message would only make it work on behind that: what it
// has not heard by then is taken back. The result closes the input, which has the program end.
func (v *voice) follow(e agent.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.listener == nil || v.ended:
	case e.Kind == agent.Heard:
		v.unheard = slices.DeleteFunc(v.unheard, func(id string) bool { return id == e.ID })
	case e.Kind == agent.Writing && e.Class == agent.ReplyTool:
		v.withdraw()
	case e.Kind == agent.Result:
		v.withdraw()
		v.ended = true
		if v.process != nil {
			v.process.CloseInput()
		}
	}
}

func (v *voice) withdraw() {
	for _, id := range v.unheard {
		v.process.Send(v.listener.Withdraw(id))
	}
	v.unheard = nil
}

// Listens says whether the agent could be told something now.
func (a *Attempt) Listens() bool {
	a.voice.mu.Lock()
	defer a.voice.mu.Unlock()
	return a.voice.listener != nil && a.voice.process != nil && !a.voice.ended
}

// Ask asks the agent something beside its work; false: it cannot be asked. An [agent.Answered] event follows, if it answers.
func (a *Attempt) Ask(id, question string) bool {
	return a.voice.say(func(l agent.Listener) []byte { return l.Ask(id, question) })
}

// Tell tells the agent something; false: it cannot be told. An [agent.Heard] event follows once it has it.
func (a *Attempt) Tell(id, text string) bool {
	return a.voice.say(func(l agent.Listener) []byte {
		a.voice.unheard = append(a.voice.unheard, id)
		return l.Tell(id, text)
	})
}

// EndCall ends a call of a tool, and not the turn; false: it cannot be ended alone.
func (a *Attempt) EndCall(tool string) bool {
	return a.voice.say(func(l agent.Listener) []byte { return l.EndCall(tool) })
}

package call

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/attempt"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/rundir"
)

// emitterOf returns the receiver of an agent's events. Some events also go to a.Signs, to be
// journaled. All events except warnings go to the observer, and some of them to the file of the
// step (see keepSign). A warning becomes a notice, which is shown even if the events of agents are
// not (seed 003, "解析错误处理").
func (c *Caller) emitterOf(a *Attempt) func(agent.Event) {
	return func(ev agent.Event) {
		if ev.Kind == agent.Session && attempt.IsSession(ev.ID) || isAboutMessage(ev) {
			sign := ev // a copy, so that ev itself stays off the heap
			a.sign(&sign)
		}
		a.missing.pass(ev, a.sign)
		a.noteWrite(ev)
		if ev.Kind == agent.Warning {
			c.Observer.Notice(c.Board, strings.TrimPrefix(ev.String(), ev.Kind.String()+": "))
			return
		}
		sign := agent.Sign{AttemptRef: a.Ref(), Event: ev}
		c.Observer.Agent(c.Board, sign)
		a.keepSign(sign)
	}
}

// sign queues a sign for the journal. It drops the sign if the queue is full.
func (a *Attempt) sign(e *agent.Event) {
	select {
	case a.Signs <- e:
	default:
	}
}

// EndSigns queues the last sign of an agent that has ended.
func (a *Attempt) EndSigns() {
	if e := a.missing.end(); e != nil {
		a.sign(e)
	}
}

func isAboutMessage(e agent.Event) bool {
	return e.Kind == agent.Heard || e.Kind == agent.Answered || e.Kind == agent.Dropped
}

// shower returns the function that writes the agent's activity to live.json, which other programs
// read. A failure to write does not end the run.
func (c *Caller) shower(a *Attempt) func(health.Live) {
	var mu sync.Mutex
	return func(l health.Live) {
		mu.Lock()
		defer mu.Unlock()
		if a.Intent.Call.IsReview() {
			l.WaitReason = "waiting_review"
		}
		if data, err := json.Marshal(health.LiveAttempt{AttemptRef: a.Ref(), Live: l}); err == nil {
			_ = rundir.ReplaceFile(c.Folder.Live(), append(data, '\n'))
		}
	}
}

// keepSign appends an event of the agent to the file of the step, for `kanban-run log --events`.
func (a *Attempt) keepSign(s agent.Sign) {
	switch s.Kind {
	case agent.ToolStarted, agent.ToolEnded, agent.Retry, agent.Text, agent.Result:
		s.Text = agent.OneLine(s.Text)
		if data, err := json.Marshal(s); err == nil {
			a.signs.Append(data)
		}
	}
}

// Rescue waits for the end of an attempt that cannot be journaled, and returns what its program has
// printed, by the names of files.
func (c *Caller) Rescue(a *Attempt, p *attempt.Attempt) map[string][]byte {
	e, _ := p.Wait() // the run ends for another reason
	all := printed(a)
	c.measure(a, e)
	return all
}

// Unrecorded returns the output that is not journaled, by the names of files: that in the files of the
// run, and what the program of the last attempt has printed if its files could not be written.
func (c *Caller) Unrecorded() map[string][]byte {
	output := c.Folder.Outputs()
	if c.unwritten != nil {
		maps.Copy(output, printed(c.unwritten))
	}
	return output
}

func printed(a *Attempt) map[string][]byte {
	all := map[string][]byte{}
	for i, kind := range []string{rundir.Stdout, rundir.Stderr} {
		if text := a.streams[i].Text(); len(text) > 0 {
			all[fmt.Sprintf("%s-%d.%s", a.Intent.Call, a.Intent.Attempt, kind)] = text
		}
	}
	return all
}

// close closes the streams of an attempt that has ended. That the events of the agent are not kept is
// a warning.
func (c *Caller) close(a *Attempt) error {
	var errs []error
	for _, s := range a.streams {
		errs = append(errs, s.Close())
	}
	if err := a.signs.Close(); err != nil {
		c.Observer.Notice(c.Board, err.Error())
	}
	return errors.Join(errs...)
}

// keepStreams keeps the output of an attempt, and removes what earlier runs have kept of the call,
// unless KeepOutput is set. Errors: those of keeping the output, and earlier errors of the streams.
func (c *Caller) keepStreams(a *Attempt) error {
	r := a.Ref()
	if c.keptStep != r.Step {
		c.keptStep, c.keptFirst = r.Step, map[event.Call]int{}
	}
	if _, known := c.keptFirst[r.Call]; !known {
		c.keptFirst[r.Call] = r.Attempt
	}
	kept := rundir.Kept{Step: r.Step, Call: string(r.Call), Attempt: r.Attempt, First: c.keptFirst[r.Call], All: c.Run.KeepOutput}
	return errors.Join(a.streamErr, c.Folder.KeepStreams(kept))
}

// sweep empties the streams of attempts whose replies are on disk by now. Before the first attempt
// of a Manager's call it also removes the stored inputs of earlier steps.
func (c *Caller) sweep(a *Attempt) {
	c.EmptyStreams()
	if a.Intent.Call == event.ManagerCall && a.Intent.Input != nil {
		c.Folder.SweepStored(a.Intent.Stored)
	}
}

// EmptyStreams empties the streams of calls with accepted replies. The replies have to be on disk.
func (c *Caller) EmptyStreams() {
	for _, call := range c.emptied {
		c.Folder.EmptyStreams(string(call))
	}
	c.emptied = nil
}

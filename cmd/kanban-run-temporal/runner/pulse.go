package runner

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"kanban-run/cmd/kanban-run-temporal/fleet"
)

// pulse sends the server heartbeats with the state of a run, three per lease. If kanban-run does
// not answer, pulse sends no heartbeat and ends the run, so that the server starts another run on
// this worker or another one.
type pulse struct {
	runner *Runner
	ctx    context.Context
	board  string
	giveUp func() // ends the run
	quit   context.CancelFunc
	done   chan struct{}

	mu   sync.Mutex
	text string
	dir  string // folder of the clone while kanban-run runs in it, otherwise ""

	givenUp bool
}

func (r *Runner) startPulse(ctx context.Context, board string, giveUp func()) *pulse {
	live, quit := context.WithCancel(ctx)
	p := &pulse{runner: r, ctx: live, board: board, giveUp: giveUp, quit: quit, done: make(chan struct{})}
	go p.run()
	return p
}

func (p *pulse) end() {
	p.quit()
	<-p.done
}

// say sets the text of the heartbeats. If dir is not "", the heartbeats hold the state that
// kanban-run reports in the clone dir instead.
func (p *pulse) say(text, dir string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text, p.dir = text, dir
}

func (p *pulse) run() {
	defer close(p.done)
	interval := activity.GetInfo(p.ctx).HeartbeatTimeout / 3
	tick := time.NewTicker(interval)
	defer tick.Stop()
	heard := time.Now()
	for {
		if beat, ok := p.look(interval); ok {
			heard = time.Now()
			activity.RecordHeartbeat(p.ctx, beat)
		} else if p.ctx.Err() == nil && !p.givenUp && time.Since(heard) > interval {
			p.givenUp = true
			p.runner.Log.Error("kanban-run does not answer; the run is ended", "board", p.board)
			p.giveUp()
		}
		select {
		case <-tick.C:
		case <-p.ctx.Done():
			return
		}
	}
}

// look returns the next heartbeat: the text that p.say has set, or the state that kanban-run
// reports. ok is false if kanban-run does not answer in time.
func (p *pulse) look(within time.Duration) (beat fleet.Beat, ok bool) {
	p.mu.Lock()
	text, dir := p.text, p.dir
	p.mu.Unlock()
	beat = fleet.Beat{Now: text, Worker: p.runner.Name}
	if dir == "" {
		return beat, true
	}
	ctx, cancel := context.WithTimeout(p.ctx, within)
	defer cancel()
	s, err := p.runner.askWithin(ctx, dir, p.board)
	if err != nil {
		return beat, false
	}
	beat.Now, beat.Steps, beat.Cost = s.line(), s.Steps, s.cost()
	return beat, true
}

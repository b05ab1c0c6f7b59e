// Package attempt runs an agent once, from its start to its end: its process, its streams, its
// deadline and its reply.
package attempt

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/pause"
	"kanban-run/orchestrator/proc"
)

// Spec describes an attempt.
type Spec struct {
	Adapter    agent.Adapter
	Invocation agent.Invocation
	Contract   contract.Kind
	Sinks      Sinks
	// Emit is called with each event, redacted, in the goroutines of both streams. It may be nil.
	Emit func(agent.Event)
	// Show gets the agent's activity. A timer's goroutine calls Show after events, at most once a
	// second. [Attempt.Check] calls Show, too, in the goroutine of its caller. Show may be nil.
	Show   func(health.Live)
	Limits TimeLimits
	// Resident is the program that gets Invocation.Stdin as its next message; nil: the attempt
	// starts a program of its own.
	Resident *Resident
}

// TimeLimits are the times after which the agent is ended. Each of them may be zero: no limit. The
// agent's own timeout is in Invocation.
type TimeLimits struct {
	Run   time.Duration // rest of the run's time
	Task  time.Duration // rest of the task's time, which does not pass while nothing can run
	Until time.Time     // time of the wall clock
}

// Attempt is a running agent. Two goroutines read its output, see [proc.Process]. A third goroutine
// waits for the agent's end and judges its reply. All methods are safe for concurrent use.
type Attempt struct {
	call     Spec
	reader   agent.Reader
	out      *tail // standard output of a review command; nil in other attempts
	tail     *tail
	stdout   io.WriteCloser // redacts the output and forwards it
	stderr   io.WriteCloser
	meter    *meter
	watch    watch
	voice    *voice
	heard    atomic.Bool     // the reader has reported an event
	paused   time.Duration   // proc.Paused at the start
	frozen   time.Duration   // proc.Frozen at the start
	ctx      context.Context // done as soon as the process has to end, even if it is still starting
	cancel   context.CancelFunc
	answered chan struct{} // closed when the result has arrived
	answer   func()        // closes the channel answered, once
	spawned  []string      // see Ended.Spawned
	done     chan struct{}

	mu        sync.Mutex
	process   *proc.Process // nil: not started yet, or a resident that has answered
	stopped   bool          // Stop or Kill was called
	ended     bool          // End was called
	refused   string        // the provider's words, set by EndRefused
	graceful  time.Duration // graceful and kill are the arguments of End
	kill      time.Duration
	killed    bool
	outOfTime bool

	interrupted bool // End has interrupted the turn, so a final event without a reply does not count

	reason error // the first reason for which the reader or the meter gave up

	result *Ended // set before the channel done is closed
	err    error
}

// Start starts an agent and returns at once. If the agent cannot be started, the attempt ends with
// a failure or an error.
func Start(c Spec) *Attempt {
	a := &Attempt{
		call:     c,
		paused:   proc.Paused(),
		frozen:   proc.Frozen(),
		tail:     &tail{max: maxStderr},
		voice:    newVoice(c),
		answered: make(chan struct{}),
		done:     make(chan struct{}),
	}
	a.answer = sync.OnceFunc(func() { close(a.answered) })
	a.watch.begin(time.Now(), c)
	a.ctx, a.cancel = context.WithCancel(context.Background())
	a.reader = c.reader(c.Sinks.Host(a.note, a.voice.wasSent, a.giveUp))
	a.stdout = c.Sinks.redacting(c.Sinks.Stdout)
	if c.Contract == contract.Command {
		a.out, a.tail = &tail{max: maxCommand}, &tail{max: maxCommand}
		a.stdout = c.Sinks.redacting(a.out, &lines{emit: a.watch.note}, c.Sinks.Stdout)
	}
	a.stderr = c.Sinks.redacting(a.tail, &lines{emit: a.noteStderr}, c.Sinks.Stderr)
	a.meter = &meter{max: c.Invocation.MaxOutput, exceed: a.giveUp}
	go a.run()
	return a
}

func (c *Spec) reader(h agent.Host) agent.Reader {
	if adapter, ok := c.Adapter.(agent.Resident); ok && c.Resident != nil {
		return adapter.Turn(c.Contract, h)
	}
	return c.Adapter.Reader(c.Contract, h)
}

// note forwards an event of the agent. If the event shows that the agent no longer hears some
// messages, the method reports each of them as dropped.
func (a *Attempt) note(e agent.Event) {
	a.heard.Store(true)
	lost := a.voice.follow(e)
	a.watch.note(e)
	for _, id := range lost {
		a.watch.note(agent.Event{Kind: agent.Dropped, ID: id, Text: "it writes its reply already"})
	}
	if e.Kind == agent.Result {
		a.answer()
	}
}

// noteStderr forwards a line of standard error.
func (a *Attempt) noteStderr(e agent.Event) {
	if w, ok := a.reader.(agent.StderrWatcher); ok {
		w.WatchStderr(e.Text)
	}
	a.watch.note(e)
}

// Run starts an agent and returns its end, which is never nil. When the context stop is done, Run
// asks the agent to end. When the context kill is done, Run kills the agent. Errors: those of
// [Attempt.Wait].
func Run(stop, kill context.Context, c Spec) (*Ended, error) {
	if stop.Err() != nil || kill.Err() != nil {
		return &Ended{Exit: proc.Exit{Code: -1, Stopped: true}, Cut: ByRun}, nil
	}
	a := Start(c)
	defer context.AfterFunc(stop, a.Stop)()
	defer context.AfterFunc(kill, a.Kill)()
	return a.Wait()
}

// Done returns a channel that is closed when the reply is judged. By then all processes of the
// agent have ended, or a resident has answered.
func (a *Attempt) Done() <-chan struct{} { return a.done }

// Wait returns the end of the attempt, once Done is closed. Errors: an error of this system, or
// *agent.ConfigError, *agent.LaterError or *agent.LimitError. An immediate retry does not mend the
// last three.
func (a *Attempt) Wait() (*Ended, error) {
	<-a.done
	return a.result, a.err
}

// Tools returns the agent's work with tools, once Done is closed. It returns nil if the agent's
// program reported no call of a tool.
func (a *Attempt) Tools() *event.ToolWork {
	a.watch.mu.Lock()
	defer a.watch.mu.Unlock()
	return a.watch.trace.Tools(time.Now())
}

// Stop asks the agent to end, and kills it after the grace period of its Invocation. It returns at
// once.
func (a *Attempt) Stop() { a.end(func() { a.stopped = true }) }

// Kill kills the agent. It returns at once.
func (a *Attempt) Kill() { a.end(func() { a.stopped, a.killed = true, true }) }

// End asks the agent to end because of a finding of the watch, and returns at once. If the agent's
// turn can be interrupted, End interrupts the turn and closes the agent's input. Such an agent gets
// SIGTERM after the time in "graceful", and SIGKILL after the time in "kill". Any other agent gets
// SIGTERM at once, and SIGKILL after the shorter of the two times. If the agent has sent its final
// event, its reply counts.
func (a *Attempt) End(graceful, kill time.Duration) {
	a.end(func() { a.ended, a.graceful, a.kill = true, graceful, kill })
}

// EndRefused is like End, for an agent whose provider refuses its calls. The class of the end is
// [event.ClassBusy]. The parameter why has the provider's words.
func (a *Attempt) EndRefused(why string, graceful, kill time.Duration) {
	a.end(func() { a.ended, a.graceful, a.kill, a.refused = true, graceful, kill, why })
}

// Refusal returns the provider's words if the agent waits to try a refused call again. It returns
// "" if the agent waits for something else.
func (a *Attempt) Refusal() string {
	a.watch.mu.Lock()
	defer a.watch.mu.Unlock()
	if a.watch.trace.Waiting() != health.ForProvider {
		return ""
	}
	return agent.OneLine(a.watch.trace.Failed.Text)
}

// Check examines the agent with a monitor and returns the result. It also shows the agent's
// activity.
func (a *Attempt) Check(now time.Time, m *health.Monitor) health.Report {
	report, live := a.check(now, m)
	if a.call.Show != nil {
		a.call.Show(live)
	}
	return report
}

func (a *Attempt) check(now time.Time, m *health.Monitor) (health.Report, health.Live) {
	a.watch.mu.Lock()
	defer a.watch.mu.Unlock()
	var used *health.Usage
	if m.NeedsUsage(now, a.watch.trace) {
		used = a.usage()
	}
	report := m.Check(now, a.watch.trace, used, a.voice.canAsk())
	a.watch.found = health.Looked{IdleStage: m.IdleStage(), Health: report.Health()}
	live := a.watch.trace.Live(now, a.watch.found)
	if report.Status != "" {
		report.Signs = live.Signs()
	}
	return report, live
}

// usage returns the resources that the agent's processes have used, or nil if they are unknown.
func (a *Attempt) usage() *health.Usage {
	p := a.running()
	if p == nil {
		return nil
	}
	u, ok := p.Usage()
	if !ok {
		return nil
	}
	return &health.Usage{Own: health.Work(u.Own), Calls: health.Work(u.Others), Stopped: u.Halted}
}

func (a *Attempt) running() *proc.Process {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.process
}

// Continue resumes an agent that a signal has stopped.
func (a *Attempt) Continue() {
	if p := a.running(); p != nil {
		p.Continue()
	}
}

// EndCalls sends SIGTERM, or SIGKILL if kill is set, to the agent's commands that run in process
// sessions of their own.
func (a *Attempt) EndCalls(kill bool) {
	if p := a.running(); p != nil {
		p.EndOthers(kill)
	}
}

// Obstacle returns the error with which calls of the agent end again and again, or "" if there is
// none.
func (a *Attempt) Obstacle() string {
	a.watch.mu.Lock()
	defer a.watch.mu.Unlock()
	return a.watch.trace.Obstacle()
}

// Took returns the time from the agent's start to its last progress.
func (a *Attempt) Took() time.Duration {
	a.watch.mu.Lock()
	defer a.watch.mu.Unlock()
	return max(0, a.watch.trace.Progress.Sub(a.watch.trace.Started))
}

// Frozen returns the time in which the agent could not work because nothing could run.
func (a *Attempt) Frozen() time.Duration { return proc.Frozen() - a.frozen }

// TimedOut returns the timeout that has ended the agent, or 0. Call it after Done.
func (a *Attempt) TimedOut() time.Duration {
	if a.result == nil || !a.result.Exit.TimedOut {
		return 0
	}
	return a.result.Exit.Timeout
}

// giveUp ends the attempt for a reason of its reader or its meter.
func (a *Attempt) giveUp(reason error) {
	a.end(func() {
		if a.reason == nil {
			a.reason = reason
		}
	})
}

// end calls its parameter note, and then ends the process. If the process has not started yet, the
// method adopt ends it right after its start.
func (a *Attempt) end(note func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	note()
	a.cancel()
	a.endProcess()
}

func (a *Attempt) endProcess() {
	switch {
	case a.process == nil:
	case a.killed:
		a.process.Kill()
	case a.ended && !a.stopped && !a.outOfTime && a.graceful < a.kill && a.voice.interrupt():
		a.interrupted = true
		a.process.StopGently(a.graceful, a.kill)
	case a.ended && !a.stopped && !a.outOfTime:
		a.process.StopWithin(min(a.graceful, a.kill))
	default:
		a.process.Stop()
	}
}

// adopt makes p the process of the attempt. If the attempt was told to end
// before that, adopt ends p.
func (a *Attempt) adopt(p *proc.Process) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.process = p
	a.voice.adopt(p)
	if a.ctx.Err() != nil {
		a.endProcess()
	}
}

func (a *Attempt) run() {
	defer close(a.done)
	defer a.cancel()
	defer a.startLimits()()
	exit, err := a.runProcess()
	a.watch.end()
	a.result, a.err = a.conclude(exit, err)
}

// startLimits ends the agent at the first limit of time. The function stop has to be called after
// the end of the agent.
func (a *Attempt) startLimits() (stop func()) {
	limits, end := a.call.Limits, func() { a.end(func() { a.outOfTime = true }) }
	var timers []*proc.Timer
	if limits.Run > 0 {
		timers = append(timers, proc.AfterTime(limits.Run, end))
	}
	if limits.Task > 0 {
		timers = append(timers, proc.AfterFunc(limits.Task, end))
	}
	until, cancel := pause.WithDeadline(context.Background(), time.Now, limits.Until)
	ended := context.AfterFunc(until, func() {
		if context.Cause(until) == context.DeadlineExceeded {
			end()
		}
	})
	return func() {
		ended()
		cancel()
		for _, t := range timers {
			t.Stop()
		}
	}
}

// release lets a resident that has answered run on, without the timeout of the attempt. It returns
// false if the resident's process is ending or has ended.
func (a *Attempt) release() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.process.Limit(0) {
		return false
	}
	a.process = nil
	return true
}

func (a *Attempt) isAnswered() bool {
	select {
	case <-a.answered:
		return true
	default:
		return false
	}
}

// outputs returns the writers for the streams of the process.
func (a *Attempt) outputs() (stdout, stderr io.Writer) {
	return a.meter.writer(io.MultiWriter(&a.watch, a.reader, a.stdout)),
		a.meter.writer(io.MultiWriter(&a.watch, a.stderr))
}

// spec returns the description of the attempt's process.
func (a *Attempt) spec() *proc.Spec {
	inv := &a.call.Invocation
	stdout, stderr := a.outputs()
	return &proc.Spec{Argv: inv.Argv, Dir: inv.Dir, Env: inv.Env, Stdin: inv.Stdin, KeepInput: a.voice.listener != nil,
		Stdout: stdout, Stderr: stderr, Timeout: inv.Timeout, Grace: inv.Grace, Mark: inv.Mark, Held: inv.Held,
		Waits: a.warnOfWait}
}

// warnOfWait says that the program waits for its start.
func (a *Attempt) warnOfWait(err error) {
	if a.call.Emit != nil {
		a.call.Emit(agent.Event{Kind: agent.Warning, Text: fmt.Sprintf("%s cannot start yet, and is tried again for a minute: %v", a.call.Invocation.Argv[0], err)})
	}
}

// runProcess starts the process. It returns when the process and its descendants have ended, or
// when a resident has answered.
func (a *Attempt) runProcess() (proc.Exit, error) {
	if err := writeFiles(a.call.Invocation.Files); err != nil {
		return proc.Exit{Code: -1}, err
	}
	if a.call.Resident != nil {
		return a.call.Resident.run(a)
	}
	if play := a.call.Invocation.Func; play != nil {
		return a.play(play), nil
	}
	p, err := proc.Start(a.ctx, a.spec())
	if err != nil {
		return a.startFailure(err)
	}
	a.call.Invocation = agent.Invocation{} // a long input is not kept while the agent works
	a.adopt(p)
	return p.Wait()
}

// play runs a function in place of a process.
func (a *Attempt) play(program func(ctx context.Context, stdout, stderr io.Writer) proc.Exit) proc.Exit {
	ctx, limit := a.ctx, a.call.Invocation.Timeout
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(a.ctx, limit)
		defer cancel()
	}
	stdout, stderr := a.outputs()
	exit := program(ctx, stdout, stderr)
	switch {
	case a.ctx.Err() != nil:
		exit.Stopped = true
	case ctx.Err() != nil:
		exit.TimedOut, exit.Timeout = true, limit
	}
	return exit
}

// startFailure returns the exit of a program that could not be started. It returns no error if the
// attempt was stopped meanwhile.
func (a *Attempt) startFailure(err error) (proc.Exit, error) {
	if a.ctx.Err() != nil {
		return proc.Exit{Code: -1, Stopped: true}, nil
	}
	return proc.Exit{Code: -1}, err
}

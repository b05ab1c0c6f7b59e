package attempt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/proc"
)

// maxHearing is the most that a resident may print outside of an attempt, in bytes of both streams
// together.
const maxHearing = 2 * contract.MaxReply

// Resident is a program that stays between attempts. The first attempt starts it. Each attempt
// sends it one message and ends with the answer, and the program waits for the next message. If an
// attempt ends early, for example by its timeout, the program ends too, and the next attempt starts
// a new one. Attempts on one resident follow one another. The methods of a Resident are safe for
// concurrent use.
//
// Each attempt needs an adapter that is an [agent.Resident], and an Invocation from the adapter's
// method Stay. The Mark of the first attempt becomes the mark of the program, and no other program
// may have this mark.
type Resident struct {
	grace time.Duration
	turn  chan struct{} // full while an attempt, or Ask, talks to the program

	mu      sync.Mutex
	program *program // nil if it does not run
	err     error    // error of a program that has ended; takeError returns it
}

// program is a resident that runs. Two goroutines read its streams and write to the gates. A third
// goroutine, awaitEnd, waits for its end.
type program struct {
	process *proc.Process
	gates   gates
	gone    chan struct{} // closed when the program has ended without being asked to
	ended   chan struct{} // closed when all its processes have ended
	closing bool          // Close has begun to end the program; guarded by Resident.mu
}

// NewResident returns a resident that starts with its first attempt. Close kills the program if it
// still runs after the time grace.
func NewResident(grace time.Duration) *Resident {
	return &Resident{grace: grace, turn: make(chan struct{}, 1)}
}

// Runs reports whether the program runs.
func (r *Resident) Runs() bool { return r.running() != nil }

// Exited returns a channel that is closed when the running program has ended without being asked
// to, in an attempt or between two attempts. By then Runs returns false. A program that is started
// later has another channel. Exited returns nil if no program runs.
func (r *Resident) Exited() <-chan struct{} {
	if g := r.running(); g != nil {
		return g.gone
	}
	return nil
}

func (r *Resident) running() *program {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.program
}

// run sends the message of an attempt to the program. It returns when the program has answered, or
// when all processes of the program have ended.
func (r *Resident) run(a *Attempt) (proc.Exit, error) {
	if _, ok := a.call.Adapter.(agent.Resident); !ok {
		text := "the program of " + a.call.Adapter.Name() + " cannot stay between calls"
		return proc.Exit{Code: -1}, &agent.ConfigError{Text: text, Fix: "use an exec agent"}
	}
	if !r.enter(a.ctx) {
		return proc.Exit{Code: -1, Stopped: true}, nil
	}
	defer r.leave()
	began, before := time.Now(), r.family()
	g, err := r.begin(a)
	if err != nil {
		return a.startFailure(err)
	}
	a.call.Invocation = agent.Invocation{} // a long input is not kept while the agent works
	exit, err := r.await(a, g)
	if before != nil && r.Runs() {
		a.spawned = g.spawned(before)
	}
	exit.Duration = time.Since(began)
	return exit, errors.Join(err, g.gates.shut())
}

// family returns the processes that the program has started so far, by PID. It returns nil if the
// program does not run yet. In that case the attempt reports no spawned processes, because the
// processes that a program starts in its first attempt count as the program's own.
func (r *Resident) family() map[int]proc.Relative {
	if g := r.running(); g != nil {
		return g.process.Family()
	}
	return nil
}

// leaveTime is the time within which the processes of a turn have to end after the answer.
const leaveTime = 200 * time.Millisecond

// spawned returns the names of the new processes of the program that still run after leaveTime. The
// parameter before is an earlier result of Family. A process is new unless this result has the
// process or one of its ancestors.
func (g *program) spawned(before map[int]proc.Relative) (names []string) {
	for last := false; ; last = true {
		names = nil
		family := g.process.Family()
		for pid, p := range family {
			if !descendsFrom(before, family, pid) {
				names = append(names, fmt.Sprintf("%s (%d)", p.Name, pid))
			}
		}
		if len(names) == 0 || last {
			slices.Sort(names)
			return names
		}
		time.Sleep(leaveTime)
	}
}

// descendsFrom reports whether a process, or one of its ancestors, is in the map named before.
func descendsFrom(before, family map[int]proc.Relative, pid int) bool {
	for p, ok := family[pid]; ok; p, ok = family[pid] {
		if _, known := before[pid]; known {
			return true
		}
		pid = p.Parent
	}
	return false
}

// enter waits until no other attempt, and no Ask, talks to the program. It returns false if ctx
// ends first.
func (r *Resident) enter(ctx context.Context) bool {
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	if ctx.Err() != nil {
		r.leave()
		return false
	}
	return true
}

func (r *Resident) leave() { <-r.turn }

// begin sends the message of an attempt to the running program, or starts a program with this
// message.
func (r *Resident) begin(a *Attempt) (*program, error) {
	g := r.running()
	for g != nil && !g.process.Limit(a.call.Invocation.Timeout) { // if Limit fails, the program is ending, see awaitEnd
		select {
		case <-g.ended:
			g = r.running()
		case <-a.ctx.Done():
			return nil, a.ctx.Err()
		}
	}
	if g == nil {
		return r.start(a)
	}
	stdout, stderr := a.outputs()
	g.process.Flush() // earlier output is not part of the answer
	g.gates.open(stdout, stderr, a.giveUp)
	a.adopt(g.process)
	if !g.process.Send(a.call.Invocation.Stdin) {
		a.giveUp(contract.Failed("it reads no messages any more"))
	}
	return g, nil
}

func (r *Resident) start(a *Attempt) (*program, error) {
	g := &program{gone: make(chan struct{}), ended: make(chan struct{})}
	spec := a.spec()
	g.gates.open(spec.Stdout, spec.Stderr, a.giveUp)
	spec.Stdout, spec.Stderr, spec.KeepInput, spec.Stays = &g.gates.stdout, &g.gates.stderr, true, true
	p, err := proc.Start(a.ctx, spec)
	if err != nil {
		return nil, err
	}
	g.process = p
	r.mu.Lock()
	r.program = g
	r.mu.Unlock()
	go r.awaitEnd(g)
	a.adopt(p)
	return g, nil
}

// awaitEnd waits for the end of a program, and keeps its error for takeError.
func (r *Resident) awaitEnd(g *program) {
	defer close(g.ended)
	exit, err := g.process.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.program, r.err = nil, errors.Join(r.err, err)
	if !g.closing && !exit.Stopped && !exit.TimedOut {
		close(g.gone)
	}
}

// await returns when the program has answered, or has ended. An answer counts even if the program
// ends right after the answer.
func (r *Resident) await(a *Attempt, g *program) (proc.Exit, error) {
	select {
	case <-a.answered:
	case <-g.ended:
	}
	if a.isAnswered() {
		g.process.Flush() // standard error up to now belongs to the attempt
		if err := g.gates.shut(); err == nil && a.release() {
			return proc.Exit{}, nil
		}
	}
	<-g.ended
	exit, _ := g.process.Wait() // takeError returns the error instead
	if a.isAnswered() && !exit.Stopped && !exit.TimedOut {
		exit = proc.Exit{}
	}
	return exit, r.takeError()
}

// takeError returns the error of a program that has ended, and forgets it.
func (r *Resident) takeError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.err
	r.err = nil
	return err
}

// Ask sends the program a line, and returns its answer, which is one redacted line. It returns ""
// if the program does not run or does not answer in time.
func (r *Resident) Ask(stop context.Context, message []byte, wait time.Duration, s Sinks) (answer string, err error) {
	patience, cancel := within(stop, wait)
	defer cancel()
	if !r.enter(patience) {
		return "", nil
	}
	defer r.leave()
	g := r.running()
	if g == nil {
		return "", nil
	}
	h := g.hear(message, s)
	answer = h.wait(patience)
	return answer, h.close()
}

// Close closes the input of the program, if it runs, and returns when all its processes have ended.
// After the grace period, or at once when the context kill is done, it kills the processes that
// still run. An attempt that talks to the program ends, too. Errors: *proc.LeftoverError, also of a
// program that ended before, or an error of the system.
func (r *Resident) Close(kill context.Context) error {
	if g := r.dismiss(); g != nil {
		g.end(kill, r.grace)
	}
	return r.takeError()
}

// dismiss notes that the running program is to end, and returns the program. It returns nil if no
// program runs.
func (r *Resident) dismiss() *program {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.program != nil {
		r.program.closing = true
	}
	return r.program
}

// hearing is a message to the program outside of an attempt, with the output up to its answer.
type hearing struct {
	program        *program
	answer         chan string
	bound          *meter
	stdout, stderr io.WriteCloser
}

// hear sends a message. The streams of s get the output until the hearing is closed. Output longer
// than [maxHearing] ends the program.
func (g *program) hear(message []byte, s Sinks) *hearing {
	h := &hearing{
		program: g,
		answer:  make(chan string, 1),
		stdout:  s.redacting(s.Stdout),
		stderr:  s.redacting(s.Stderr),
	}
	lines := &agent.Lines{Max: contract.MaxReply, Each: func(line []byte) {
		if line = bytes.TrimSpace(line); len(line) > 0 && len(h.answer) == 0 {
			h.answer <- s.Redact(string(line))
		}
	}}
	h.bound = &meter{max: maxHearing, exceed: func(error) { g.process.Kill() }}
	g.process.Flush()
	g.gates.open(h.bound.writer(io.MultiWriter(lines, h.stdout)), h.bound.writer(h.stderr), func(error) {})
	g.process.Send(slices.Concat(bytes.TrimRight(message, "\n"), []byte("\n")))
	return h
}

// wait returns the answer. It returns "" if the program ends, or the context patience is done,
// before there is an answer.
func (h *hearing) wait(patience context.Context) (text string) {
	select {
	case text = <-h.answer:
	case <-patience.Done():
	case <-h.program.ended:
		if len(h.answer) > 0 {
			text = <-h.answer
		}
	}
	return text
}

func (h *hearing) close() error {
	err := h.program.gates.shut()
	if h.bound.exceeded() == nil { // not after an excess: Close could print the beginning of a secret
		err = errors.Join(err, h.stdout.Close(), h.stderr.Close())
	}
	return err
}

// end closes the input of the program. It kills the program after the grace period, or when its
// context is done.
func (g *program) end(kill context.Context, grace time.Duration) {
	g.process.CloseInput()
	patience, cancel := within(kill, grace)
	defer cancel()
	select {
	case <-g.ended:
	case <-patience.Done():
		g.process.Kill()
		<-g.ended
	}
}

// within returns a context that ends after the time d, or earlier if the context parent ends
// earlier. Pauses of this program do not count in d.
func within(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	timer := proc.AfterFunc(d, cancel)
	return ctx, func() { timer.Stop(); cancel() }
}

// Package claim keeps two runs from working on the same task, or on the same files, at the same
// time: seed 002, "Duplicate / Overlap Work". A step first gives back the claims of its board's
// former step. Then it asks for its task and all its files together, and waits only for steps that
// asked earlier. Therefore no two boards wait for each other.
package claim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"kanban-run/orchestrator/durable"
)

// Claim is the task and the files that a step works on.
type Claim struct {
	Board string   // path of the board's file, with links resolved
	Task  string   // path of the task's file, with links resolved
	Dir   string   // work directory, with links resolved
	Files []string // patterns of the files that the task declares, relative to Dir
	Warn  bool     // report an overlap of files, but do not wait
	Mark  string   // mark of the step's agents, by which package proc finds them
}

// Conflict is an earlier claim that a new claim overlaps.
type Conflict struct {
	Board string   // board of the earlier claim (seed 002: "canonical owner"); "": unknown
	Task  string   // task of the earlier claim
	Files []string // two overlapping patterns, one from each claim; nil: both claim the same task
	Left  bool     // a kill ended the run of the earlier claim, and one of its agents still works
	// Unseen reports that this agent is not among the processes that can be seen from here, as that
	// of another container. Its lock tells of it.
	Unseen bool

	mark       string        // mark of the agent's processes; "": unknown
	born, here durable.Place // place of the lock file when it got the claim, and now
}

// TakenError reports that a run of another process has claimed the task.
type TakenError struct {
	Task string
	Conflict
}

func (e *TakenError) Error() string {
	switch {
	case e.Unseen:
		return fmt.Sprintf("the run of %s was killed, and its agent, which cannot be seen from here, still works on %s", e.Board, e.Task)
	case e.Left:
		return fmt.Sprintf("the run of %s was killed, and an agent of it still works on "+
			"%s; the next run of that board ends it", e.Board, e.Task)
	case e.Board == "":
		return fmt.Sprintf("another run works on %s", e.Task)
	default:
		return fmt.Sprintf("the run of %s works on %s", e.Board, e.Task)
	}
}

// Hint returns what a person can do about an agent that this machine does not show.
func (e *TakenError) Hint() string {
	if !e.Unseen {
		return ""
	}
	return "end it where it runs, such as in another container, or wait until it has ended; then the same command goes on"
}

// Registry orders the claims of the runs of this process. Use NewRegistry.
type Registry struct {
	system System

	mu    sync.Mutex
	queue []*request // waiting and granted requests, in the order in which the steps asked
	files map[string]*lockFile
}

// request is a claim in the queue.
type request struct {
	Claim
	granted chan struct{} // closed when the claim is granted
}

// System has the functions through which a registry deals with the guardian and with agents. Each
// function may be nil, and then the registry does without it.
type System struct {
	// Hold makes the guardian process hold a lock file, too. The claim of a dead run then lasts
	// until the guardian has ended the run's agents.
	Hold func(*os.File) (release func() error, err error)
	// IsAtWork reports whether an agent with a mark lives. The claim of a living agent's step
	// counts, even if the run and its guardian have died.
	IsAtWork func(mark string) bool
	// IsWithin reports whether an agent with a mark started this process. The agent's step might
	// wait for the end of this process, so the claim of that step must not block this process.
	IsWithin func(mark string) bool
	// End ends the agents with a mark. A board's next run ends the agents of a killed one, but one that
	// forks all the time may have passed it. See [proc.EndMarked] for the places.
	End func(born, here durable.Place, marks ...string) error
}

func (s System) isAtWork(mark string) bool { return s.IsAtWork != nil && s.IsAtWork(mark) }

func (s System) isWithin(mark string) bool { return s.IsWithin != nil && s.IsWithin(mark) }

// NewRegistry returns a registry without claims.
func NewRegistry(s System) *Registry { return &Registry{system: s, files: map[string]*lockFile{}} }

// Close closes the lock files.
func (r *Registry) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, f := range r.files {
		errs = append(errs, f.close())
	}
	r.files = map[string]*lockFile{}
	return errors.Join(errs...)
}

// Grant is a claim that a step holds.
type Grant struct {
	Waited bool // the claim had to wait, and other steps have worked meanwhile

	registry *Registry
	request  *request
	locks    []lock
	file     *os.File // has the lock of the task, for agents to inherit; nil: there is no lock file
}

// Take waits until no earlier claim blocks the claim c. Before the wait, Take calls the function
// report for each earlier claim of this process that overlaps. Take also calls the function for an
// overlapping claim of another process, as soon as Take finds the claim. Errors without a grant:
// *TakenError if another process has the task, or the cause of a canceled context. If Take returns
// both a grant and an error, the lock files cannot be used, and other processes do not see the
// claim.
func (r *Registry) Take(stop context.Context, c Claim, report func(Conflict)) (*Grant, error) {
	g := &Grant{registry: r, request: &request{Claim: c, granted: make(chan struct{})}}
	r.mu.Lock()
	r.queue = append(r.queue, g.request)
	blocking, harmless := r.conflicts(g.request)
	if len(blocking) == 0 {
		close(g.request.granted)
	}
	r.mu.Unlock()
	for _, x := range append(blocking, harmless...) {
		report(x)
	}
	g.Waited = len(blocking) > 0
	select {
	case <-g.request.granted:
	case <-stop.Done():
		return nil, errors.Join(context.Cause(stop), g.Release())
	}
	err := g.claimInFiles(stop, report)
	switch {
	case errors.As(err, new(*TakenError)):
		return nil, errors.Join(err, g.Release())
	case stop.Err() != nil: // stop may have been canceled after the last check in claimInFiles
		return nil, errors.Join(context.Cause(stop), err, g.Release())
	}
	return g, err
}

// Others returns the files of the tasks that other boards than the given one have in this process, with
// links resolved.
func (r *Registry) Others(board string) (tasks []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range r.queue {
		if q.Board != board {
			tasks = append(tasks, q.Task)
		}
	}
	return tasks
}

// File returns the file with the lock of the task, or nil if there is none.
func (g *Grant) File() *os.File {
	if g == nil {
		return nil
	}
	return g.file
}

// conflicts returns the earlier claims that overlap a request. The request waits for the end of the
// blocking ones, and only reports the harmless ones.
func (r *Registry) conflicts(q *request) (blocking, harmless []Conflict) {
	for _, other := range r.queue {
		if other == q {
			return blocking, harmless
		}
		switch x := q.conflict(other.Claim); {
		case x == nil:
		case q.Warn && x.Files != nil:
			harmless = append(harmless, *x)
		default:
			blocking = append(blocking, *x)
		}
	}
	return blocking, harmless
}

// conflict returns the overlap of an earlier claim with this one, or nil if there is none.
func (c Claim) conflict(earlier Claim) *Conflict {
	if c.isSameTask(earlier) {
		return &Conflict{Board: earlier.Board, Task: earlier.Task}
	}
	for _, a := range c.Files {
		for _, b := range earlier.Files {
			if overlaps(filepath.ToSlash(c.Dir)+"/"+a, filepath.ToSlash(earlier.Dir)+"/"+b) {
				return &Conflict{Board: earlier.Board, Task: earlier.Task, Files: []string{a, b}}
			}
		}
	}
	return nil
}

// isSameTask reports whether two claims are for the same file, by whatever paths: a folder may be
// mounted in two places.
func (c Claim) isSameTask(other Claim) bool {
	if c.Task == other.Task || filepath.Base(c.Task) != filepath.Base(other.Task) {
		return c.Task == other.Task
	}
	a, err := os.Stat(filepath.Dir(c.Task))
	b, otherErr := os.Stat(filepath.Dir(other.Task))
	return err == nil && otherErr == nil && os.SameFile(a, b)
}

// Release gives back the claim. It does nothing if the grant is nil.
func (g *Grant) Release() error {
	if g == nil {
		return nil
	}
	r := g.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, l := range g.locks {
		errs = append(errs, l.unlock())
	}
	if g.file != nil {
		errs = append(errs, unlockTask(g.file, g.request.Task), g.file.Close())
	}
	g.locks, g.file = nil, nil
	r.queue = slices.DeleteFunc(r.queue, func(q *request) bool { return q == g.request })
	for _, q := range r.queue {
		select {
		case <-q.granted:
		default:
			if blocking, _ := r.conflicts(q); len(blocking) == 0 {
				close(q.granted)
			}
		}
	}
	return errors.Join(errs...)
}

// pollTime is the time after which a waiting claim checks the claims of other processes again.
const pollTime = 250 * time.Millisecond

// busyTime bounds the wait for other processes that write their claims.
const busyTime = 5 * time.Second

// claimInFiles shows the claim to other processes, and waits for their earlier claims. It writes
// the claimed files into the lock file of the work directory, and the claimed task into the lock
// file of the task's folder.
func (g *Grant) claimInFiles(stop context.Context, report func(Conflict)) error {
	c := g.request.Claim
	if len(c.Files) == 0 {
		return g.lockTask(stop, c)
	}
	number, err := g.enqueue(stop, c)
	if err != nil {
		return err
	}
	for reported := (Conflict{}); ; {
		x, err := g.firstConflict(c, number)
		if err != nil {
			return err
		}
		if x != nil && x.Files == nil {
			return &TakenError{c.Task, *x}
		}
		if x != nil && reported.Task != x.Task {
			report(*x)
			reported = *x
		}
		if x == nil || c.Warn {
			return g.lockTask(stop, c)
		}
		g.Waited = true
		select {
		case <-stop.Done():
			return context.Cause(stop)
		case <-time.After(pollTime):
		}
	}
}

// dyingTime bounds the wait for an agent of the own board that holds the task. One that was just killed is
// not seen any more before the system has closed its files.
const dyingTime = 2 * time.Second

// lockTask locks the task, or returns a *TakenError.
func (g *Grant) lockTask(stop context.Context, c Claim) error {
	for end := time.Now().Add(dyingTime); ; {
		err := g.tryLockTask(c)
		var taken *TakenError
		if !errors.As(err, &taken) || !taken.Left || !taken.Unseen && taken.Board != c.Board || time.Now().After(end) {
			return err
		}
		// Also one that was not seen a moment ago: in a chain of forks each process lives for milliseconds. The
		// next try tells whether it lives.
		if kill := g.registry.system.End; kill != nil && taken.Board == c.Board {
			_ = kill(taken.born, taken.here, taken.mark)
		}
		select {
		case <-stop.Done():
			return context.Cause(stop)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (g *Grant) tryLockTask(c Claim) error {
	g.registry.mu.Lock()
	defer g.registry.mu.Unlock()
	f, err := g.registry.lockFile(filepath.Dir(c.Task))
	if err != nil {
		return err
	}
	file, l, taken, err := f.lockTask(c)
	if taken != nil {
		return &TakenError{c.Task, *taken}
	}
	g.locks, g.file = append(g.locks, l...), file
	return err
}

// errBusy reports that another process is writing its claim.
var errBusy = errors.New("another run writes its claim all the time")

// enqueue writes the files of a claim into the lock file, and returns the claim's number. Earlier
// claims of other processes have lower numbers. While another process writes its claim,
// enqueue tries again, for busyTime at most.
func (g *Grant) enqueue(stop context.Context, c Claim) (number int64, err error) {
	for end := time.Now().Add(busyTime); ; {
		number, err = g.tryEnqueue(c)
		if !errors.Is(err, errBusy) || time.Now().After(end) {
			return number, err
		}
		g.Waited = true
		select {
		case <-stop.Done():
			return 0, context.Cause(stop)
		case <-time.After(time.Millisecond):
		}
	}
}

func (g *Grant) tryEnqueue(c Claim) (number int64, err error) {
	g.registry.mu.Lock()
	defer g.registry.mu.Unlock()
	f, err := g.registry.lockFile(c.Dir)
	if err != nil {
		return 0, err
	}
	l, number, err := f.enqueue(c)
	g.locks = append(g.locks, l...)
	return number, err
}

// firstConflict returns an earlier, overlapping claim of another process, or nil if there is none.
func (g *Grant) firstConflict(c Claim, number int64) (*Conflict, error) {
	g.registry.mu.Lock()
	defer g.registry.mu.Unlock()
	f, err := g.registry.lockFile(c.Dir)
	if err != nil {
		return nil, err
	}
	return f.firstConflict(c, number)
}

// lockFile returns the lock file of a folder. If the file was removed, it opens a new one.
func (r *Registry) lockFile(dir string) (*lockFile, error) {
	was := r.files[dir]
	if was != nil && was.isInPlace() {
		return was, nil
	}
	f, err := openLockFile(dir, r.system)
	if err != nil {
		return nil, err
	}
	f.replaced = was // an agent has removed the old file, whose locks stay until their steps end
	r.files[dir] = f
	return f, nil
}

// Package claim keeps two runs from working on the same task, or on the same files, at the same
// time: seed 002, "Duplicate / Overlap Work". A step gets all its claims together, in the order in
// which steps ask, and holds no claim while it waits. Therefore no two boards wait for each other.
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
)

// Claim is the task and the files that a step works on.
type Claim struct {
	Board string   // path of the board's file, without links
	Task  string   // path of the task's file, without links
	Dir   string   // work directory, without links
	Files []string // patterns of the files that the task declares, from Dir
	Warn  bool     // an overlap of files is reported, without a wait
	Mark  string   // of the step's agents
}

// Conflict is an earlier claim that a new claim overlaps.
type Conflict struct {
	Board string   // board of the earlier claim: the canonical owner of seed 002
	Task  string   // task of the earlier claim
	Files []string // two overlapping patterns, one from each claim; nil: both claim the same task
	Left  bool     // a kill ended the run of the earlier claim, and one of its agents still works
}

// TakenError reports that a run of another process has claimed the task.
type TakenError struct {
	Task string
	Conflict
}

func (e *TakenError) Error() string {
	switch {
	case e.Left:
		return fmt.Sprintf("DUPLICATE_TASK_KEY: the run of %s was killed, and an agent of it still works on "+
			"%s; the next run of that board ends it", e.Board, e.Task)
	case e.Board == "":
		return fmt.Sprintf("DUPLICATE_TASK_KEY: another run works on %s", e.Task)
	default:
		return fmt.Sprintf("DUPLICATE_TASK_KEY: the run of %s works on %s", e.Board, e.Task)
	}
}

// Registry orders the claims of the runs of this process. Use NewRegistry.
type Registry struct {
	system System

	mu    sync.Mutex
	queue []*request // waiting and granted, in the order in which the steps asked
	files map[string]*lockFile
}

// request is a claim in the queue.
type request struct {
	Claim
	granted chan struct{} // closed by the grant
}

// System has the functions by which a registry asks about processes. On a system without such
// processes a function is nil.
type System struct {
	// Hold gives the guardian a lock file to hold, too, so that a dead run's claim ends only with
	// the run's agents.
	Hold func(*os.File) (release func() error, err error)
	// IsAtWork reports whether an agent with a mark lives. As long as it lives its claim counts,
	// even after the end of its run and its guardian.
	IsAtWork func(mark string) bool
	// IsWithin reports whether an agent with a mark has started this process. The step of that
	// agent may wait for the end of this process, so its claim must not block this process.
	IsWithin func(mark string) bool
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
	Waited bool // other steps have worked since the claim was requested

	registry *Registry
	request  *request
	locks    []lock
}

// Take waits until no earlier claim blocks this one. Before the wait it calls report once for each
// earlier claim that overlaps. If it returns no grant, the error is *TakenError, because another
// process has the task, or the cause of stop. If it returns both a grant and an error, the lock
// files cannot be used, and other processes do not see the claim.
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
	case stop.Err() != nil: // stop may have ended after the last check in claimInFiles
		return nil, errors.Join(context.Cause(stop), err, g.Release())
	}
	return g, err
}

// conflicts returns the earlier claims for which a request waits, and those that it only reports.
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
	if c.Task == earlier.Task {
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
	g.locks = nil
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

// claimInFiles shows the claim to other processes. It writes the claim's files into the lock file
// of the work directory, and its task into the lock file of the task's folder.
func (g *Grant) claimInFiles(stop context.Context, report func(Conflict)) error {
	c := g.request.Claim
	if len(c.Files) == 0 {
		return g.lockTask(c)
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
			return g.lockTask(c)
		}
		g.Waited = true
		select {
		case <-stop.Done():
			return context.Cause(stop)
		case <-time.After(pollTime):
		}
	}
}

// lockTask locks the task, or returns a *TakenError.
func (g *Grant) lockTask(c Claim) error {
	g.registry.mu.Lock()
	defer g.registry.mu.Unlock()
	f, err := g.registry.lockFile(filepath.Dir(c.Task))
	if err != nil {
		return err
	}
	l, taken, err := f.lockTask(c)
	if taken != nil {
		return &TakenError{c.Task, *taken}
	}
	g.locks = append(g.locks, l...)
	return err
}

// errBusy reports that another process appends a claim.
var errBusy = errors.New("another run writes its claim all the time")

// enqueue puts the files of a claim behind those of all processes that asked before, and returns
// the number of the claim in that order.
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

// firstConflict returns an earlier claim of another process that overlaps, or nil if there is none.
func (g *Grant) firstConflict(c Claim, number int64) (*Conflict, error) {
	g.registry.mu.Lock()
	defer g.registry.mu.Unlock()
	f, err := g.registry.lockFile(c.Dir)
	if err != nil {
		return nil, err
	}
	return f.firstConflict(c, number)
}

// lockFile returns the lock file of a folder. It opens the file again if it was removed.
func (r *Registry) lockFile(dir string) (*lockFile, error) {
	was := r.files[dir]
	if was != nil && was.isInPlace() {
		return was, nil
	}
	f, err := openLockFile(dir, r.system)
	if err != nil {
		return nil, err
	}
	f.replaced = was // an agent has removed that file; its locks end with their steps
	r.files[dir] = f
	return f, nil
}

// Package claim keeps two runs from working on the same task, or on the same files, at the same time: seed 002, "Duplicate /
// Overlap Work". A step takes all its claims together, in the order in which steps ask, and waits holding none: no two boards wait
// for each other.
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

// Claim is what a step works on.
type Claim struct {
	Board string   // path of the board's file, without links
	Task  string   // path of the task's file, without links
	Dir   string   // work directory, without links
	Files []string // patterns of the files that the task declares, from Dir
	Warn  bool     // files that another step works on are told, and not waited for
	Mark  string   // of the step's agents
}

// Conflict is a claim that stands in the way of another.
type Conflict struct {
	Board string   // that works, the canonical owner
	Task  string   // on which it works
	Files []string // a pattern of each, that overlap; nil: it is the same task
	Left  bool     // the run of the board was killed, and an agent of it still works
}

// TakenError says that a run of another process works on the task.
type TakenError struct {
	Task string
	Conflict
}

func (e *TakenError) Error() string {
	switch {
	case e.Left:
		return fmt.Sprintf("DUPLICATE_TASK_KEY: the run of %s was killed, and an agent of it still works on %s; the next run of that board ends it", e.Board, e.Task)
	case e.Board == "":
		return fmt.Sprintf("DUPLICATE_TASK_KEY: another run works on %s", e.Task)
	default:
		return fmt.Sprintf("DUPLICATE_TASK_KEY: the run of %s works on %s", e.Board, e.Task)
	}
}

// Desk gives out claims to the runs of this process. Use NewDesk.
type Desk struct {
	system System

	mu    sync.Mutex
	queue []*ticket // in the order of their asking; those that are granted, too
	books map[string]*book
}

// ticket is a claim that waits, or was granted.
type ticket struct {
	Claim
	granted chan struct{} // closed when it is
}

// System is what a desk asks about processes. A nil function is that of a system without them.
type System struct {
	// Hold has the guardian hold a file of locks, too: a claim of a run that dies is free when its agents are gone.
	Hold func(*os.File) (release func() error, err error)
	// IsAtWork says whether an agent with a mark lives: a claim whose run and guardian were both killed holds as long.
	IsAtWork func(mark string) bool
	// IsWithin says whether an agent with a mark has started this process: what it works on is part of that agent's step, whose end may wait
	// for this process.
	IsWithin func(mark string) bool
}

func (s System) isAtWork(mark string) bool { return s.IsAtWork != nil && s.IsAtWork(mark) }

func (s System) isWithin(mark string) bool { return s.IsWithin != nil && s.IsWithin(mark) }

// NewDesk returns a desk without claims.
func NewDesk(s System) *Desk { return &Desk{system: s, books: map[string]*book{}} }

// Close releases the files of locks.
func (d *Desk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, b := range d.books {
		errs = append(errs, b.close())
	}
	d.books = map[string]*book{}
	return errors.Join(errs...)
}

// Held is a claim that was granted.
type Held struct {
	desk   *Desk
	ticket *ticket
	places []place
}

// Take waits until nothing stands in the way of a claim. told is called once for each claim that does, before the wait. Errors without
// a claim: *TakenError when another process has the task, the end of stop. With a claim: what the system says of the files of locks, so
// that other processes cannot be told of it.
func (d *Desk) Take(stop context.Context, c Claim, told func(Conflict)) (*Held, error) {
	t := &ticket{Claim: c, granted: make(chan struct{})}
	d.mu.Lock()
	d.queue = append(d.queue, t)
	inTheWay, only := d.conflicts(t)
	if len(inTheWay) == 0 {
		close(t.granted)
	}
	d.mu.Unlock()
	h := &Held{desk: d, ticket: t}
	for _, x := range append(inTheWay, only...) {
		told(x)
	}
	select {
	case <-t.granted:
	case <-stop.Done():
		return nil, errors.Join(context.Cause(stop), h.Release())
	}
	err := h.claimPlaces(stop, told)
	if errors.As(err, new(*TakenError)) || stop.Err() != nil {
		return nil, errors.Join(err, h.Release())
	}
	return h, err
}

// conflicts are the earlier claims that stand in the way of a ticket, and those that are only told.
func (d *Desk) conflicts(t *ticket) (inTheWay, only []Conflict) {
	for _, other := range d.queue {
		if other == t {
			return inTheWay, only
		}
		switch x := t.conflict(other.Claim); {
		case x == nil:
		case t.Warn && x.Files != nil:
			only = append(only, *x)
		default:
			inTheWay = append(inTheWay, *x)
		}
	}
	return inTheWay, only
}

// conflict is what another claim has in common with this one; nil: nothing.
func (c Claim) conflict(other Claim) *Conflict {
	if c.Task == other.Task {
		return &Conflict{Board: other.Board, Task: other.Task}
	}
	for _, a := range c.Files {
		for _, b := range other.Files {
			if Overlaps(filepath.ToSlash(c.Dir)+"/"+a, filepath.ToSlash(other.Dir)+"/"+b) {
				return &Conflict{Board: other.Board, Task: other.Task, Files: []string{a, b}}
			}
		}
	}
	return nil
}

// Release gives the claim back. A nil one is none.
func (h *Held) Release() error {
	if h == nil {
		return nil
	}
	d := h.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, p := range h.places {
		errs = append(errs, p.free())
	}
	h.places = nil
	d.queue = slices.DeleteFunc(d.queue, func(t *ticket) bool { return t == h.ticket })
	for _, t := range d.queue {
		select {
		case <-t.granted:
		default:
			if inTheWay, _ := d.conflicts(t); len(inTheWay) == 0 {
				close(t.granted)
			}
		}
	}
	return errors.Join(errs...)
}

// pollTime is how often claims of other processes are looked at by a claim that waits for them.
const pollTime = 250 * time.Millisecond

// busyTime is how long other processes may take to write their claims down.
const busyTime = 5 * time.Second

// claimPlaces has other processes know the claim: the files in the file of locks of the work directory, the task in that beside it.
func (h *Held) claimPlaces(stop context.Context, told func(Conflict)) error {
	c := h.ticket.Claim
	if len(c.Files) == 0 {
		return h.claimTask(c)
	}
	number, err := h.queue(stop, c)
	if err != nil {
		return err
	}
	for before := (Conflict{}); ; {
		x, err := h.inTheWay(c, number)
		if err != nil {
			return err
		}
		if x != nil && x.Files == nil {
			return &TakenError{c.Task, *x}
		}
		if x != nil && before.Task != x.Task {
			told(*x)
			before = *x
		}
		if x == nil || c.Warn {
			return h.claimTask(c)
		}
		select {
		case <-stop.Done():
			return context.Cause(stop)
		case <-time.After(pollTime):
		}
	}
}

func (h *Held) claimTask(c Claim) error {
	h.desk.mu.Lock()
	defer h.desk.mu.Unlock()
	b, err := h.desk.book(filepath.Dir(c.Task))
	if err != nil {
		return err
	}
	p, taken, err := b.claimTask(c)
	if taken != nil {
		return &TakenError{c.Task, *taken}
	}
	h.places = append(h.places, p...)
	return err
}

// errBusy says that another process puts a claim into the queue.
var errBusy = errors.New("another run writes its claim all the time")

// queue puts the files of a claim behind those of all processes that asked before.
func (h *Held) queue(stop context.Context, c Claim) (number int64, err error) {
	for end := time.Now().Add(busyTime); ; {
		number, err = h.tryQueue(c)
		if !errors.Is(err, errBusy) || time.Now().After(end) {
			return number, err
		}
		select {
		case <-stop.Done():
			return 0, context.Cause(stop)
		case <-time.After(time.Millisecond):
		}
	}
}

func (h *Held) tryQueue(c Claim) (number int64, err error) {
	h.desk.mu.Lock()
	defer h.desk.mu.Unlock()
	b, err := h.desk.book(c.Dir)
	if err != nil {
		return 0, err
	}
	p, number, err := b.queue(c)
	h.places = append(h.places, p...)
	return number, err
}

// inTheWay is a claim of another process that asked before and overlaps; nil: there is none.
func (h *Held) inTheWay(c Claim, number int64) (*Conflict, error) {
	h.desk.mu.Lock()
	defer h.desk.mu.Unlock()
	b, err := h.desk.book(c.Dir)
	if err != nil {
		return nil, err
	}
	return b.inTheWay(c, number)
}

// book is the file of locks of a folder.
func (d *Desk) book(dir string) (*book, error) {
	was := d.books[dir]
	if was != nil && was.isInPlace() {
		return was, nil
	}
	b, err := openBook(dir, d.system)
	if err != nil {
		return nil, err
	}
	b.before = was // an agent has taken the file away; its claims end with their steps
	d.books[dir] = b
	return b, nil
}

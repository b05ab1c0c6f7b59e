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
}

// Conflict is a claim that stands in the way of another.
type Conflict struct {
	Board string   // that works, the canonical owner
	Task  string   // on which it works
	Files []string // a pattern of each, that overlap; nil: it is the same task
}

// TakenError says that a run of another process works on the task.
type TakenError struct {
	Task string
	Conflict
}

func (e *TakenError) Error() string {
	if e.Board == "" {
		return fmt.Sprintf("DUPLICATE_TASK_KEY: another run works on %s", e.Task)
	}
	return fmt.Sprintf("DUPLICATE_TASK_KEY: the run of %s works on %s", e.Board, e.Task)
}

// Hint says what to do.
func (e *TakenError) Hint() string {
	return "the same command goes on once that run has finished the task; give each board tasks of its own"
}

// Desk gives out claims to the runs of this process. Use NewDesk.
type Desk struct {
	hold func(*os.File) (release func() error, err error)

	mu    sync.Mutex
	queue []*ticket // in the order of their asking; those that are granted, too
	books map[string]*book
}

// ticket is a claim that waits, or was granted.
type ticket struct {
	Claim
	granted chan struct{} // closed when it is
}

// NewDesk returns a desk without claims. hold has the guardian hold a file of locks, too: a claim of a run that dies is free when its
// agents are gone. nil: none does.
func NewDesk(hold func(*os.File) (release func() error, err error)) *Desk {
	return &Desk{hold: hold, books: map[string]*book{}}
}

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

// claimPlaces has other processes know the claim: the files in the file of locks of the work directory, the task in that beside it.
func (h *Held) claimPlaces(stop context.Context, told func(Conflict)) error {
	c := h.ticket.Claim
	var before Conflict
	for len(c.Files) > 0 {
		x, err := h.claimFiles(c)
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
			break
		}
		select {
		case <-stop.Done():
			return context.Cause(stop)
		case <-time.After(pollTime):
		}
	}
	return h.claimTask(c)
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

func (h *Held) claimFiles(c Claim) (*Conflict, error) {
	h.desk.mu.Lock()
	defer h.desk.mu.Unlock()
	b, err := h.desk.book(c.Dir)
	if err != nil {
		return nil, err
	}
	p, taken, err := b.claimFiles(c)
	h.places = append(h.places, p...)
	return taken, err
}

// book is the file of locks of a folder.
func (d *Desk) book(dir string) (*book, error) {
	if b := d.books[dir]; b != nil {
		return b, nil
	}
	b, err := openBook(dir, d.hold)
	if err == nil {
		d.books[dir] = b
	}
	return b, err
}

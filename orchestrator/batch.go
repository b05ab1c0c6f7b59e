package orchestrator

import (
	"context"
	"fmt"
	"sync"

	"kanban-run/orchestrator/flow"
)

// PrepareAll prepares every job; one invalid board, or a board named twice, means that none is run.
func PrepareAll(jobs []Job) ([]*Prepared, []error) {
	var prepared []*Prepared
	var errs []error
	for _, job := range jobs {
		p, err := Prepare(job)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, other := range prepared {
			if p.Same(other) {
				errs = append(errs, &InvalidError{Err: fmt.Errorf("%s: the board is named twice (also as %s)", job.Board, other.job.Board), Fix: "name each board once"})
				break
			}
		}
		prepared = append(prepared, p)
	}
	if len(errs) == 0 {
		return prepared, nil
	}
	for _, p := range prepared {
		if err := p.Close(); err != nil {
			errs = append(errs, err)
		}
	}
	return nil, errs
}

// RunAll runs the boards, n at a time, each a sequential loop of its own, and returns their results in the boards' order. A
// board whose turn had not come when stop ended is reported as interrupted.
func RunAll(stop, kill context.Context, boards []*Prepared, n int) []Result {
	b := &batch{stop: stop, kill: kill, boards: boards, results: make([]Result, len(boards)), next: make(chan int), desk: newDesk(min(n, len(boards)))}
	var wg sync.WaitGroup
	for range min(max(n, 1), len(boards)) {
		wg.Go(b.work)
	}
	for i := range boards {
		b.next <- i
	}
	close(b.next)
	wg.Wait()
	return b.results
}

// batch is what the runs of RunAll share.
type batch struct {
	stop, kill context.Context
	boards     []*Prepared
	results    []Result
	next       chan int // the numbers of the boards
	desk       desk
}

// work runs one board after the other.
func (b *batch) work() {
	for i := range b.next {
		b.desk.take()
		b.boards[i].desk = b.desk
		if b.stop.Err() == nil {
			b.boards[i].run(b.stop, b.kill, &b.results[i])
		} else {
			b.boards[i].notRun(b.stop, &b.results[i])
		}
		b.desk.leave()
	}
}

// Few runs work at the same time, while the agents of all others do: whoever waits for the disk takes a thread of the system, and a
// thousand runs would take a thousand. A second desk makes short agents a tenth faster.
const (
	desks    = 2
	manyRuns = 100 // which have one desk
)

// desk is a place to work at. nil is one that is always free.
type desk chan struct{}

func newDesk(runs int) desk {
	switch {
	case runs <= desks:
		return nil
	case runs <= manyRuns:
		return make(desk, desks)
	default:
		return make(desk, 1)
	}
}

// isOnly says whether there is no second desk, because so many runs are side by side.
func (d desk) isOnly() bool { return cap(d) == 1 }

func (d desk) take() {
	if d != nil {
		d <- struct{}{}
	}
}

func (d desk) leave() {
	if d != nil {
		<-d
	}
}

// apart does what needs much of the stack. So many that there is only one desk do it on another stack, which is gone afterwards: their
// own ones, on which they wait for their agents, stay as small as they are made.
func (d desk) apart(do func()) {
	if !d.isOnly() {
		do()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	<-done
}

func (p *Prepared) notRun(stop context.Context, res *Result) {
	*res = Result{Board: p.job.Board, Outcome: flow.Interrupted, Text: "not started", Signal: context.Cause(stop)}
	if err := p.Close(); err != nil {
		res.Outcome, res.Err = flow.Failed, err
	}
}

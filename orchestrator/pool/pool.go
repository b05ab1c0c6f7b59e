// Package pool has what the boards of one command share, and the waits of a board for it: the seats,
// the bill, the providers that refuse calls, the inboxes and the claims.
package pool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/claim"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/inbox"
	"kanban-run/orchestrator/rundir"
	"kanban-run/orchestrator/turns"
)

// Pool is what the boards of one command share. It is safe for concurrent use.
type Pool struct {
	Seats  *Seats
	Landed chan struct{} // has one entry while a board lands; others wait in their order
	Mail   *inbox.Watcher
	Crowd  *health.Crowd
	Claims *claim.Registry
	Turns  *turns.Registry
	Boards []string // paths of the boards' files, without links
	// IsDone tells from the journal of a board whether its work on the task of a file replied ok.
	IsDone func(board, file string) bool

	bill    *bill
	refused *providers
}

// New returns the pool of a command that works on at most this number of boards at the same time.
// maxCost is the limit of the total cost, in millionths of a US dollar; 0: none. holdLock makes the
// guardian hold a lock file together with this process; nil: there is no guardian.
func New(jobs int, maxCost int64, holdLock func(*os.File) (release func() error, err error)) *Pool {
	return &Pool{
		Seats: newSeats(max(jobs, 1)), Landed: make(chan struct{}, 1), Mail: &inbox.Watcher{}, Crowd: &health.Crowd{},
		Claims: claim.NewRegistry(claim.System{Hold: holdLock, IsAtWork: agent.IsAtWork, IsWithin: agent.IsWithin, End: agent.EndLeftovers}),
		Turns:  &turns.Registry{},
		bill:   &bill{most: maxCost}, refused: newProviders(),
	}
}

// Close closes the inboxes and the files of the claims. All runs have ended.
func (p *Pool) Close() error { return errors.Join(p.Mail.Close(), p.Claims.Close()) }

// HasMaxCost reports whether the total cost of the boards has a limit.
func (p *Pool) HasMaxCost() bool { return p.bill.most > 0 }

// Turn has the parts of a run that a [Member] uses.
type Turn struct {
	Path      string // path of the board's file, without links
	Journal   flow.Journal
	Workspace Workspace
	Folder    rundir.Dir
	Notice    func(text string) // gets texts that are not events of the run
	Now       func() time.Time  // reads the wall clock
	Stop      context.Context   // when it is done, a wait ends
	Until     time.Time         // time at which the run has to end; zero: no limit
	Used      *event.Used       // time, tokens and cost of this run's attempts so far
	// TakeEdit adapts the run to a board that a person edited during a wait.
	TakeEdit func() error
}

// Workspace is the board of the run.
type Workspace interface {
	Forget() // after this, the next look at the board reads the board's file
}

// Member is the run of one board in a pool. One goroutine uses it.
type Member struct {
	Turn
	pool    *Pool
	charged int64 // the part of Used.Cost that is on the bill
	away    away  // the program of an agent that cannot be started now
	cut     int64 // see CutWait
	mail    <-chan struct{}
}

// Join returns the run of a board as a member of the pool.
func (p *Pool) Join(t Turn) *Member { return &Member{Turn: t, pool: p} }

// Claimed returns the files of the tasks that other boards of the command have now.
func (m *Member) Claimed() []string { return m.pool.Claims.Others(m.Path) }

// IsDone reports whether the work of another board of the command on the task of a file replied ok.
func (m *Member) IsDone(file string) bool {
	return slices.ContainsFunc(m.pool.Boards, func(path string) bool { return path != m.Path && m.pool.IsDone(path, file) })
}

// Charge puts the costs that are not on the bill yet onto the bill: those of the last attempt, and of
// its judges.
func (m *Member) Charge() {
	m.pool.bill.add(m.Used.Cost - m.charged)
	m.charged = m.Used.Cost
}

// Bound returns a sentence about a limit of the whole command if that limit is reached. Otherwise it
// returns "".
func (m *Member) Bound() string {
	if !m.Until.IsZero() && !m.Now().Before(m.Until) {
		return fmt.Sprintf("the time %s (until) is reached", m.Until.Local().Format("15:04 MST"))
	}
	return m.pool.bill.reached()
}

// OpenInbox begins to watch the inbox of the board. If the folder cannot be watched, the regular
// checks of the agent find the messages.
func (m *Member) OpenInbox() {
	if m.mail != nil {
		return
	}
	if m.Folder.MakeInbox() == nil {
		m.mail = m.pool.Mail.Watch(m.Folder.Inbox())
	}
}

// Mail gets a value when a message arrives. It is nil before OpenInbox.
func (m *Member) Mail() <-chan struct{} { return m.mail }

// Leave ends the watch over the inbox of the board.
func (m *Member) Leave() { m.pool.Mail.Forget(m.Folder.Inbox()) }

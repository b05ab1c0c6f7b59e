// Package notify tells a person what needs them, once: by a command or a webhook. It never
// changes what becomes of a run.
package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/redact"
)

// Topic is what a person may want to be told of.
type Topic string

// The topics.
const (
	NeedsPerson Topic = "needs_person" // the board waits for a decision, or ended without an end
	Stuck       Topic = "stuck"        // an agent makes no progress, and nothing helps
	Loop        Topic = "loop"         // work goes round in circles
	Tool        Topic = "tool"         // a tool is not there
	Limit       Topic = "limit"        // a limit of the run is reached
	Later       Topic = "later"        // the provider's own limit is reached
	Complete    Topic = "complete"     // the board is complete
)

// Topics are all of them.
var Topics = []Topic{NeedsPerson, Stuck, Loop, Tool, Limit, Later, Complete}

// Message is what is sent, as JSON.
type Message struct {
	Board    string    `json:"board"`
	Topic    Topic     `json:"topic"`
	Severity string    `json:"severity"` // INFO, WARN or CRITICAL
	Event    string    `json:"event"`    // the record's type in the journal
	Task     string    `json:"task,omitempty"`
	Text     string    `json:"text"`
	Time     time.Time `json:"time"`
	Report   string    `json:"report,omitempty"` // a SUPERVISOR_REPORT, where a person is needed
}

// Sender delivers a message. Its error is told once, and shows no secret.
type Sender func(ctx context.Context, message []byte) error

// Options say what is sent and how.
type Options struct {
	On       []Topic
	Senders  []Sender
	Redactor *redact.Redactor
	Report   func(board string) string // for the Lead; nil: none is sent
	Now      func() time.Time
	Warn     func(board, text string) // a message could not be sent
}

// Notifier sends messages, one after the other, while the runs go on. Use New.
type Notifier struct {
	Options
	mu     sync.Mutex
	spam   spam
	queue  chan Message
	alive  context.Context // of what is sent
	cancel context.CancelFunc
	done   chan struct{}
	failed map[string]bool // warnings that were told
}

const (
	sendTime  = 10 * time.Second // for each message, and for each way
	maxQueued = 100              // messages that wait; those beyond are dropped
	closeTime = 30 * time.Second // for what is left at the end
)

// New starts a notifier. Close ends it.
func New(o Options) *Notifier {
	alive, cancel := context.WithCancel(context.Background())
	n := &Notifier{Options: o, alive: alive, cancel: cancel, spam: spam{}, queue: make(chan Message, maxQueued), done: make(chan struct{}), failed: map[string]bool{}}
	go n.sendAll()
	return n
}

// Entry tells of a journaled event, if it needs a person.
func (n *Notifier) Entry(board string, e event.Entry) {
	m, critical := messageOf(e.Event)
	if m.Topic == "" || !slices.Contains(n.On, m.Topic) {
		return
	}
	m.Board, m.Event, m.Time = board, e.Event.Kind(), e.Time.UTC()
	n.mu.Lock()
	send := n.spam.allows(board+" "+m.Task, m, critical, n.Now())
	n.mu.Unlock()
	if !send {
		return
	}
	select {
	case n.queue <- m:
	default:
		n.warn(board, "a message was dropped: too many wait")
	}
}

// Close sends what is left, for a short time or until stop ends, and says what was not sent. A nil
// notifier has nothing to send.
func (n *Notifier) Close(stop context.Context) {
	if n == nil {
		return
	}
	close(n.queue)
	select {
	case <-n.done:
		return
	case <-time.After(closeTime):
	case <-stop.Done():
	}
	left := len(n.queue) + 1 // and the one that is being sent
	n.cancel()
	n.warn("", event.Count(left, "message")+" not sent before the end")
	<-n.done
}

func (n *Notifier) sendAll() {
	defer close(n.done)
	for m := range n.queue {
		if n.alive.Err() != nil {
			continue
		}
		if m.Topic == NeedsPerson && n.Report != nil {
			m.Report = n.Report(m.Board)
		}
		data, err := json.Marshal(m) // which has a form
		if err == nil {
			data, err = n.Redactor.JSON(data)
		}
		for _, send := range n.Senders {
			if err == nil {
				ctx, cancel := context.WithTimeout(n.alive, sendTime)
				err = send(ctx, data)
				cancel()
			}
			if err != nil && n.alive.Err() == nil {
				n.warn(m.Board, err.Error())
			}
			err = nil
		}
	}
}

// warn tells once that a message could not be sent.
func (n *Notifier) warn(board, text string) {
	n.mu.Lock()
	known := n.failed[text]
	n.failed[text] = true
	n.mu.Unlock()
	if !known {
		n.Warn(board, "notify: "+n.Redactor.String(text))
	}
}

// messageOf is what is to be told of an event; without a topic it is nothing. One that is critical
// is always told: seed 002, "Anti-Spam Policy".
func messageOf(happened event.Event) (m Message, critical bool) {
	m.Task = happened.Subject()
	switch e := happened.(type) {
	case event.RunFinished:
		return ofOutcome(e.Outcome, e.Text), true // once for each run
	case event.RunInterrupted:
		if e.Outcome != event.Interrupted {
			return ofOutcome(e.Outcome, e.Reason), true
		}
	case event.ConsentAsked:
		m.Topic, m.Severity, m.Text = NeedsPerson, "CRITICAL", fmt.Sprintf("%s waits for consent to %s it: %s", e.Role, e.Decision, e.Details)
		return m, true
	case event.LoopSuspected:
		m.Topic, m.Severity, m.Text = Loop, "CRITICAL", e.Suspicion.String()
	case event.RebootTested:
		if e.Decision == event.Stuck {
			m.Topic, m.Severity, m.Text = Stuck, "CRITICAL", e.Text
		}
	case event.IdleBreach:
		m.Topic, m.Severity, m.Text = Stuck, e.Severity, e.Text
	case event.ReviewBreach:
		m.Topic, m.Severity, m.Text = Stuck, e.Severity, e.Text
	case event.Recovered:
		m.Topic, m.Severity, m.Text = Stuck, "INFO", e.Text
	case event.ToolUnavailable:
		m.Topic, m.Severity, m.Text = Tool, "WARN", fmt.Sprintf("%s is not available to %s: %s", e.Tool, e.Role, e.Reason)
		if e.Agents >= event.SystemicAgents {
			m.Severity = "CRITICAL"
		}
	case event.TeardownBlocked:
		m.Topic, m.Severity, m.Text = NeedsPerson, "CRITICAL", "TEARDOWN_BLOCKED: "+e.Reason
		return m, true
	case event.ForcedFinalizeCandidate:
		m.Topic, m.Severity, m.Text = NeedsPerson, "CRITICAL", "FORCED_FINALIZE_CANDIDATE: no answer of "+strings.Join(e.Missing, ", ")
		return m, true
	case event.SplitBrain:
		m.Topic, m.Severity, m.Text = NeedsPerson, "CRITICAL", "SPLIT_BRAIN_DETECTED"
		return m, true
	}
	return m, false
}

// ofOutcome is what is to be told of the end of a run.
func ofOutcome(o event.Outcome, text string) Message {
	m := Message{Severity: "WARN", Text: strings.TrimSpace(string(o) + ": " + text)}
	switch o {
	case event.Complete:
		m.Topic, m.Severity = Complete, "INFO"
	case event.LimitReached:
		m.Topic = Limit
	case event.Later:
		m.Topic = Later
	case event.NeedsPerson, event.Frozen, event.Exhausted, event.Failed, event.Invalid, event.Owned:
		m.Topic, m.Severity = NeedsPerson, "CRITICAL"
	}
	return m
}

// Package notify sends a person what needs them, once, by a command or a webhook. It does not
// change the result of a run.
package notify

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/redact"
)

// Message is sent as JSON.
type Message struct {
	Board    string      `json:"board"`
	Topic    event.Topic `json:"topic"`
	Severity string      `json:"severity"` // INFO, WARN or CRITICAL
	Event    string      `json:"event"`    // the record's type in the journal
	Task     string      `json:"task,omitempty"`
	Text     string      `json:"text"`
	Time     time.Time   `json:"time"`
	Report   string      `json:"report,omitempty"` // a SUPERVISOR_REPORT, if a person is needed
}

// Sender delivers a message. Its error is printed once, and shows no secret.
type Sender func(ctx context.Context, message []byte) error

// Options select the messages and the ways to send them.
type Options struct {
	On       []event.Topic
	Senders  []Sender
	Redactor *redact.Redactor
	Report   func(board string) string // for the Lead; nil: messages have no report
	Now      func() time.Time
	Warn     func(board, text string) // gets the failure to send a message
}

// Notifier sends messages, one after the other, while the runs go on. Use New.
type Notifier struct {
	Options
	mu     sync.Mutex
	spam   spam
	queue  chan Message
	alive  context.Context // ends when sending ends
	cancel context.CancelFunc
	done   chan struct{}
	failed map[string]bool // warnings that were printed
}

const (
	sendTime  = 10 * time.Second // for each message, and for each way
	maxQueued = 100              // messages that wait; those beyond are dropped
	closeTime = 30 * time.Second // for the rest at the end
)

// New starts a notifier. Close ends it.
func New(o Options) *Notifier {
	alive, cancel := context.WithCancel(context.Background())
	n := &Notifier{
		Options: o,
		alive:   alive,
		cancel:  cancel,
		spam:    spam{},
		queue:   make(chan Message, maxQueued),
		done:    make(chan struct{}),
		failed:  map[string]bool{},
	}
	go n.sendAll()
	return n
}

// Entry queues the message about a journaled event, if its topic is one of On and the bounds against
// spam allow it.
func (n *Notifier) Entry(board string, e event.Entry) {
	m := messageOf(e.Event)
	if m.Topic == "" || !slices.Contains(n.On, m.Topic) {
		return
	}
	m.Board, m.Event, m.Time = board, e.Event.Kind(), e.Time.UTC()
	n.mu.Lock()
	send := n.spam.allows(board+" "+m.Task, m, n.Now())
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

// Close sends the queued messages, for a short time or until stop ends, and warns of unsent ones. A
// nil notifier does nothing.
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
	left := len(n.queue) + 1 // plus the one in transit
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
		if m.Topic == event.AboutPerson && n.Report != nil {
			m.Report = n.Report(m.Board)
		}
		data, err := json.Marshal(m) // whose fields always marshal
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

// warn prints once that a message could not be sent.
func (n *Notifier) warn(board, text string) {
	n.mu.Lock()
	known := n.failed[text]
	n.failed[text] = true
	n.mu.Unlock()
	if !known {
		n.Warn(board, "notify: "+n.Redactor.String(text))
	}
}

// messageOf returns the message about an event, without a topic if it needs no message.
func messageOf(e event.Event) Message {
	said := e.Sentence()
	return Message{Topic: said.Topic, Severity: severityOf(said), Task: e.Subject(), Text: said.Whole()}
}

// severityOf returns the weight of a sentence as seed 002 has it. The end of a run has its topic's
// weight: its sentence in the log has other words.
func severityOf(s event.Sentence) string {
	switch {
	case s.Topic == event.AboutPerson, s.Heaviest() == event.Critical:
		return "CRITICAL"
	case s.Topic == event.AboutLimit, s.Topic == event.AboutLater, s.Heaviest() == event.Warning:
		return "WARN"
	default:
		return "INFO"
	}
}

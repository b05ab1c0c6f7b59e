// Package notify sends messages about journaled events to a person, by commands or webhooks. A
// failure to send changes no result of a run.
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

// Message is a message to a person. It is sent as JSON.
type Message struct {
	Board    string      `json:"board"`
	Topic    event.Topic `json:"topic"`
	Severity string      `json:"severity"` // INFO, WARN or CRITICAL
	Event    string      `json:"event"`    // type of the journaled event
	Task     string      `json:"task,omitempty"`
	Text     string      `json:"text"`
	Time     time.Time   `json:"time"`
	Report   string      `json:"report,omitempty"` // a SUPERVISOR_REPORT, if a person is needed
}

// Sender delivers a message. The error must hold no secret, because the notifier prints the error.
type Sender func(ctx context.Context, message []byte) error

// Options select the messages and the senders.
type Options struct {
	On       []event.Topic
	Senders  []Sender
	Redactor *redact.Redactor
	Report   func(board string) string // returns the report for the Lead; nil for messages without a report
	Now      func() time.Time
	Warn     func(board, text string) // prints that a message could not be sent
}

// Notifier sends messages one after the other, in a goroutine beside the runs. New makes a
// Notifier.
type Notifier struct {
	Options
	mu     sync.Mutex
	spam   spam
	queue  chan queued
	alive  context.Context // ends when unsent messages are given up
	cancel context.CancelFunc
	done   chan struct{}
	failed map[string]bool // texts of the warnings that were printed
}

const (
	sendTime  = 10 * time.Second // limit for each message and each sender
	maxQueued = 100              // greatest number of messages in the queue; further messages are dropped
	closeTime = 30 * time.Second // limit for the messages that are left at the end
)

// New returns a notifier and starts its goroutine, which Close ends.
func New(o Options) *Notifier {
	alive, cancel := context.WithCancel(context.Background())
	n := &Notifier{
		Options: o,
		alive:   alive,
		cancel:  cancel,
		spam:    spam{},
		queue:   make(chan queued, maxQueued),
		done:    make(chan struct{}),
		failed:  map[string]bool{},
	}
	go n.sendAll()
	return n
}

// Entry queues the message about a journaled event, if the message's topic is one of n.On and the
// bounds against spam allow the message. If the queue is full, Entry drops the message with a
// warning.
func (n *Notifier) Entry(board string, e event.Entry) {
	m := messageOf(e.Event)
	if m.Topic == "" || !slices.Contains(n.On, m.Topic) {
		return
	}
	m.Board, m.Event, m.Time = board, e.Event.Kind(), e.Time.UTC()
	n.mu.Lock()
	send := n.spam.allows(board+" "+subjectOf(e.Event), m, n.Now())
	n.mu.Unlock()
	if !send {
		return
	}
	select {
	case n.queue <- queued{Message: m}:
	default:
		n.warn(board, "a message was dropped: too many wait")
	}
}

// queued is a message, or the end of what was queued before it.
type queued struct {
	Message
	reached chan struct{} // closed when the queue has got here; nil for a message
}

// Drain waits until the messages are sent that are queued now, but not longer than Close would. When
// the context stop ends, it gives up all messages that are not sent yet. For a nil notifier it does
// nothing.
func (n *Notifier) Drain(stop context.Context) {
	if n == nil {
		return
	}
	end := queued{reached: make(chan struct{})}
	limit := time.NewTimer(closeTime)
	defer limit.Stop()
	defer context.AfterFunc(stop, n.cancel)()
	select {
	case n.queue <- end:
	case <-limit.C:
		return
	case <-n.done:
		return
	}
	select {
	case <-end.reached:
	case <-limit.C:
	}
}

// Close waits until the queued messages are sent. It stops waiting after closeTime, or when the
// context stop ends, and then warns of unsent messages. For a nil notifier it does nothing.
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
	left := len(n.queue) + 1 // plus the message that is being sent
	n.cancel()
	n.warn("", event.Count(left, "message")+" not sent before the end")
	<-n.done
}

func (n *Notifier) sendAll() {
	defer close(n.done)
	for q := range n.queue {
		if q.reached != nil {
			close(q.reached)
			continue
		}
		m := q.Message
		if n.alive.Err() != nil {
			continue
		}
		if m.Topic == event.AboutPerson && n.Report != nil {
			m.Report = n.Report(m.Board)
		}
		data, err := json.Marshal(m) // cannot fail for these fields
		if err == nil {
			data, err = n.Redactor.JSON(data)
		}
		for _, send := range n.Senders {
			sent := err
			if sent == nil {
				ctx, cancel := context.WithTimeout(n.alive, sendTime)
				sent = send(ctx, data)
				cancel()
			}
			if sent != nil && n.alive.Err() == nil {
				n.warn(m.Board, sent.Error())
			}
		}
	}
}

// warn prints a warning. It prints each text only once.
func (n *Notifier) warn(board, text string) {
	n.mu.Lock()
	known := n.failed[text]
	n.failed[text] = true
	n.mu.Unlock()
	if !known {
		n.Warn(board, "notify: "+n.Redactor.String(text))
	}
}

// messageOf returns the message about an event. If the event needs no message, the topic is "".
func messageOf(e event.Event) Message {
	said := e.Sentence()
	return Message{Topic: said.Topic, Severity: severityOf(said), Task: e.Subject(), Text: said.Whole()}
}

// subjectOf returns the subject that an event has for the bounds against spam. It is the missing
// tool if the event is about one, and otherwise the task.
func subjectOf(e event.Event) string {
	if about, ok := e.(interface{ Cause() string }); ok {
		return "tool " + about.Cause()
	}
	return e.Subject()
}

// severityOf returns the severity of a message about a sentence (seed 002). The end of a run gets
// its severity from the topic, because the sentence of every end has the lowest weight.
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

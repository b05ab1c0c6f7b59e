// Package notify tells a person what needs them, once: by a command or a webhook. It never
// changes what becomes of a run.
package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
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
func messageOf(e event.Event) (m Message, critical bool) {
	said := e.Sentence()
	m = Message{Task: e.Subject(), Text: said.Whole()}
	m.Topic, m.Severity, critical = topicOf(e)
	if m.Severity == "" {
		m.Severity = map[event.Weight]string{event.Warning: "WARN", event.Critical: "CRITICAL"}[said.Weight]
	}
	m.Severity = cmp.Or(m.Severity, "INFO")
	return m, critical
}

// topicOf is the topic of an event, "" for none, and its severity where that is not the weight of
// its sentence. A critical one is always told.
func topicOf(e event.Event) (topic Topic, severity string, critical bool) {
	switch e := e.(type) {
	case event.RunFinished:
		topic, severity = ofOutcome(e.Outcome)
		return topic, severity, true
	case event.RunInterrupted:
		if e.Outcome == event.Interrupted {
			return "", "", false
		}
		topic, severity = ofOutcome(e.Outcome)
		return topic, severity, true
	case event.ConsentAsked, event.TeardownBlocked, event.ForcedFinalizeCandidate, event.SplitBrain:
		return NeedsPerson, "", true
	case event.LoopSuspected:
		return Loop, "", false
	case event.RebootTested:
		if e.Decision == event.Stuck {
			return Stuck, "", false
		}
	case event.IdleBreach, event.ReviewBreach, event.Recovered:
		return Stuck, "", false
	case event.ToolUnavailable:
		if e.Agents >= event.SystemicAgents {
			return Tool, "CRITICAL", false
		}
		return Tool, "", false
	}
	return "", "", false
}

// ofOutcome is the topic and the severity of the end of a run.
func ofOutcome(o event.Outcome) (topic Topic, severity string) {
	switch o {
	case event.Complete:
		return Complete, "INFO"
	case event.LimitReached:
		return Limit, "WARN"
	case event.Later:
		return Later, "WARN"
	case event.NeedsPerson, event.Frozen, event.Exhausted, event.Failed, event.Invalid, event.Owned:
		return NeedsPerson, "CRITICAL"
	default:
		return "", ""
	}
}

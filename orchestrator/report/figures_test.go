package report

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/projection"
)

// tale is a random history of a board, with what a person would count of it.
type tale struct {
	r        *rand.Rand
	state    flow.State
	all, few projection.Fold // with all steps, and with the last three
	now      time.Time
	epoch    uint64

	finished, lastRun, attempts, rejected, begun int
	worked                                       time.Duration
}

// add applies an event of a run that goes on, a second after the one before.
func (s *tale) add(t *testing.T, e event.Event) {
	t.Helper()
	s.now = s.now.Add(time.Second)
	if err := s.state.Apply(e); err != nil {
		t.Fatalf("%T: %v", e, err)
	}
	for _, f := range []*projection.Fold{&s.all, &s.few} {
		f.Add(event.Entry{Epoch: s.epoch, Time: s.now, Event: e})
	}
}

// attempt plays attempts of a call until one is accepted; false: the run ended before.
func (s *tale) attempt(t *testing.T, step int, call event.Call) bool {
	started := 0
	if s.state.Step.Call == call {
		started = s.state.Step.Started
	}
	for n := started + 1; ; n++ {
		ref := event.AttemptRef{Step: step, Call: call, Task: "t", Role: "R", Attempt: n}
		s.add(t, event.AttemptStarted{AttemptRef: ref, Input: []byte("{}")})
		s.attempts++
		switch s.r.IntN(6) {
		case 0:
			s.rejected++
			s.add(t, event.ReplyRejected{AttemptRef: ref, Reason: "no JSON", End: event.End{Millis: 10}})
		case 1:
			s.add(t, event.AttemptStopped{AttemptRef: ref, Reason: "stopped", End: event.End{Millis: 5}})
			return false
		default:
			s.add(t, event.ReplyAccepted{AttemptRef: ref, Status: "ok", End: event.End{Millis: 20}})
			return true
		}
	}
}

// run plays one run of up to six steps: to its end, to a signal, or to a kill.
func (s *tale) run(t *testing.T) {
	s.now = s.now.Add(time.Duration(s.r.IntN(72)) * time.Hour) // between two runs
	s.epoch++
	began := s.now.Add(time.Second)
	s.lastRun = 0
	s.add(t, event.RunStarted{Limits: event.Limits{MaxRetries: 100}})
	for range s.r.IntN(7) {
		if s.state.Step == nil {
			s.begun++
			s.add(t, event.StepStarted{Step: s.begun, Task: "t", Role: "R", BoardSHA: fmt.Sprint(s.begun)})
		}
		if s.state.Step.Call == event.TaskCall && !s.attempt(t, s.begun, event.TaskCall) || !s.attempt(t, s.begun, event.ManagerCall) {
			break
		}
		s.add(t, event.StepFinished{Step: s.begun, Task: "t", Role: "R", Status: "ok", Manager: "ok", BoardSHA: "x"})
		s.finished++
		s.lastRun++
	}
	switch s.r.IntN(3) {
	case 0:
		s.add(t, event.RunInterrupted{Outcome: event.Interrupted, Reason: "signal"})
	case 1:
		s.add(t, event.RunFinished{Outcome: event.LimitReached, Text: "a limit", Steps: s.lastRun})
	}
	s.worked += s.now.Sub(began)
}

// TestFiguresAgree: every view of a history has the same figures: steps that were finished,
// attempts, rejections, and the time of the runs alone.
func TestFiguresAgree(t *testing.T) {
	for seed := range uint64(500) {
		s := &tale{r: rand.New(rand.NewPCG(seed, 1)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), few: projection.Fold{Keep: projection.Keep{Steps: 3}}}
		for range 1 + s.r.IntN(4) {
			s.run(t)
		}
		if s.state.Finished != s.finished {
			t.Errorf("seed %d: the state says %d steps, want %d", seed, s.state.Finished, s.finished)
		}
		for name, f := range map[string]*projection.Fold{"all": &s.all, "the last three": &s.few} {
			b := f.Board("b", &flow.History{State: s.state}, projection.Facts{})
			if got, want := figuresOf(b.Totals), s.figures(); got != want || b.LastRun.Steps != s.lastRun || b.Totals.Used.Attempts != s.attempts {
				t.Errorf("seed %d, %s: %+v, last run %d steps, %d used, want %+v, %d, %d", seed, name, got, b.LastRun.Steps, b.Totals.Used.Attempts, want, s.lastRun, s.attempts)
			}
			status := strings.Join(Screen{Out: console.New(io.Discard, nil)}.Status(&b, false), "\n")
			if row := fmt.Sprintf("  steps    %d; agents worked", s.finished); !strings.Contains(status, row) {
				t.Errorf("seed %d, %s: status lacks %q:\n%s", seed, name, row, status)
			}
			b.EndAs(event.RunInterrupted{Outcome: event.LimitReached, Reason: "a limit"})
			tries := fmt.Sprint(s.attempts)
			if s.rejected > 0 {
				tries += fmt.Sprintf(" (%d rejected)", s.rejected)
			}
			if row := fmt.Sprintf("| b | limit reached | %d | %s | %s |", s.finished, tries, event.Took(s.worked.Milliseconds())); !strings.Contains(Markdown([]*projection.Board{&b}, same, 0), row) {
				t.Errorf("seed %d, %s: the table lacks %s", seed, name, row)
			}
			s.checkPrograms(t, seed, &b)
		}
	}
}

// figures are what programs read of the totals of a board.
type figures struct {
	Steps    int   `json:"steps"`
	Attempts int   `json:"attempts"`
	Rejected int   `json:"rejected"`
	Millis   int64 `json:"millis"`
}

func figuresOf(t projection.Totals) figures {
	return figures{t.Steps, t.Attempts, t.Rejected, t.Millis}
}

// figures is what a person would count.
func (s *tale) figures() figures {
	return figures{s.finished, s.attempts, s.rejected, s.worked.Milliseconds()}
}

// checkPrograms looks at what programs read.
func (s *tale) checkPrograms(t *testing.T, seed uint64, b *projection.Board) {
	t.Helper()
	var read struct {
		Totals figures `json:"totals"`
	}
	if text, err := json.Marshal(b); err != nil || json.Unmarshal(text, &read) != nil || read.Totals != s.figures() {
		t.Errorf("seed %d: JSON says %+v, %v, want %+v", seed, read, err, s.figures())
	}
	var suites struct {
		Suites []struct {
			Time string `xml:"time,attr"`
		} `xml:"testsuite"`
	}
	text, err := JUnit([]*projection.Board{b}, same)
	if err != nil || xml.Unmarshal(text, &suites) != nil || len(suites.Suites) != 1 || suites.Suites[0].Time != fmt.Sprintf("%.3f", s.worked.Seconds()) {
		t.Errorf("seed %d: JUnit says %+v, %v, want %v", seed, suites, err, s.worked)
	}
}

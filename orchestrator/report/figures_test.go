package report

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/standing"
)

// tale is a random history of a board, with what a person would count of it.
type tale struct {
	r        *rand.Rand
	state    flow.State
	all, few digest.Digest // with all steps, and with the last three
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
	for _, d := range []*digest.Digest{&s.all, &s.few} {
		d.Add(event.Entry{Epoch: s.epoch, Time: s.now, Event: e})
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
		s := &tale{r: rand.New(rand.NewPCG(seed, 1)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), few: digest.Digest{Keep: 3}}
		for range 1 + s.r.IntN(4) {
			s.run(t)
		}
		want := digest.Counts{Finished: s.finished, Attempts: s.attempts, Rejected: s.rejected}
		status := NewStatus(standing.Of("b", &flow.History{State: s.state}, &standing.Tasks{}, standing.Facts{}), flow.History{State: s.state}, false, flow.Finish{}, nil)
		if status.Steps != s.finished || status.Total.Attempts != s.attempts || s.state.Finished != s.finished {
			t.Errorf("seed %d: status says %d steps, %d attempts, want %+v", seed, status.Steps, status.Total.Attempts, want)
		}
		for name, d := range map[string]*digest.Digest{"all": &s.all, "the last three": &s.few} {
			if d.Counts != want || d.LastRun.Finished != s.lastRun || d.Used.Attempts != s.attempts || d.Millis != s.worked.Milliseconds() {
				t.Errorf("seed %d, %s: %+v, last run %+v, %d used, %d ms, want %+v, %d, %d ms", seed, name, d.Counts, d.LastRun, d.Used.Attempts, d.Millis, want,
					s.lastRun, s.worked.Milliseconds())
			}
			d.Board, d.Outcome = "b", event.LimitReached
			tries := fmt.Sprint(s.attempts)
			if s.rejected > 0 {
				tries += fmt.Sprintf(" (%d rejected)", s.rejected)
			}
			if row := fmt.Sprintf("| b | limit reached | %d | %s | %s |", s.finished, tries, event.Took(s.worked.Milliseconds())); !strings.Contains(Markdown([]digest.Digest{*d}, same, 0), row) {
				t.Errorf("seed %d, %s: the table lacks %s", seed, name, row)
			}
			checkPrograms(t, seed, d, want, s.worked)
		}
	}
}

// checkPrograms looks at what programs read.
func checkPrograms(t *testing.T, seed uint64, d *digest.Digest, want digest.Counts, worked time.Duration) {
	t.Helper()
	var read struct {
		digest.Counts
		Millis int64 `json:"millis"`
	}
	if text, err := json.Marshal(d); err != nil || json.Unmarshal(text, &read) != nil || read.Counts != want || read.Millis != worked.Milliseconds() {
		t.Errorf("seed %d: JSON says %+v, %v, want %+v", seed, read, err, want)
	}
	var suites struct {
		Suites []struct {
			Time string `xml:"time,attr"`
		} `xml:"testsuite"`
	}
	text, err := JUnit([]digest.Digest{*d}, same)
	if err != nil || xml.Unmarshal(text, &suites) != nil || len(suites.Suites) != 1 || suites.Suites[0].Time != fmt.Sprintf("%.3f", worked.Seconds()) {
		t.Errorf("seed %d: JUnit says %+v, %v, want %v", seed, suites, err, worked)
	}
}

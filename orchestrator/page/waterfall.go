package page

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/projection"
)

// rowView is the row of a step on the axis. Its bars are in the order of the attempts.
type rowView struct {
	HTML       template.HTML // the row
	Keys       string
	Number     string // of the step, or of the first and the last one
	Times      string // "×20" for as many steps, or ""
	Task, Role string
	Link       string // ID of the task, or "" for a step of the supervisor
	Says       string // the row in words
	Bars       []barView
	Marks      []markView
	Word, Tone string // a remark on the step, beside its bars
	WordX      string
	WordEnd    bool // true if Word ends at WordX, false if Word begins at WordX
	Time, Cost string
}

type barView struct{ X, Width, Class string }

type markView struct{ X, ID string }

// partView is an entry of the legend: a part of the time, with its sum over all steps.
type partView struct{ Class, Name, Time, Y, Height string }

// The parts of a step's time.
const (
	partWork    = "agent"
	partTools   = "its tools"
	partManager = "Manager"
	partReview  = "review"
	partLook    = "checkpoint"
	partWait    = "waiting"
	partIdle    = "no sign"
	partAsked   = "asked"
)

var partClass = map[string]string{
	partWork:    "m",
	partTools:   "t",
	partManager: "m h",
	partReview:  "r",
	partLook:    "c",
	partWait:    "w",
	partIdle:    "q",
	partAsked:   "a",
}

// waterfall draws every step of every board on one axis of time.
func (p *page) waterfall() {
	atWork := false
	for _, v := range p.Boards {
		atWork = atWork || v.board.IsAtWork()
		steps := make([]*projection.Step, len(v.board.Steps))
		for i := range steps {
			steps[i] = &v.board.Steps[i]
		}
		for from := 0; from < len(steps); {
			n := runOf(steps[from:], lookSame)
			v.Rows = append(v.Rows, p.row(v, steps[from:from+n]))
			from += n
		}
		p.HasSteps = p.HasSteps || len(steps) > 0
	}
	p.Axis = p.scale.axis(p.asOf, atWork)
	for _, name := range []string{
		partWork, partTools, partManager, partReview, partLook, partWait, partIdle, partAsked,
	} {
		if d := p.parts[name]; d > 0 {
			l := partView{partClass[name], name, event.Took(d.Milliseconds()), "0", "10"}
			switch name {
			case partManager:
				l.Y, l.Height = "3", "4"
			case partWait:
				l.Y, l.Height = "4", "2"
			}
			p.Legend = append(p.Legend, l)
		}
	}
}

// row draws steps that look the same as one row.
func (p *page) row(v *boardView, steps []*projection.Step) rowView {
	s, last := steps[0], steps[len(steps)-1]
	r := rowView{Number: fmt.Sprint(s.Step), Task: p.text(s.Task), Role: p.text(s.Role), Keys: v.ID}
	if t := v.byStep[s.Step]; t != nil {
		r.Link, r.Task, r.Keys = t.ID, t.Name, t.Keys
	}
	if n := len(steps); n > 1 {
		r.Number, r.Times = fmt.Sprintf("%d–%d", s.Step, last.Step), fmt.Sprintf("×%d", n)
	}
	said, millis, used := map[string]time.Duration{}, int64(0), event.Used{}
	for _, s := range steps {
		millis, used = millis+s.Millis, used.Plus(s.Used.Used)
		p.bars(&r, v, s, said)
	}
	r.Time, r.Cost = took(millis), money(used)
	var sums []string
	for _, name := range []string{
		partWork, partTools, partReview, partLook, partManager, partWait, partIdle, partAsked,
	} {
		if d := said[name]; d > 0 {
			sums = append(sums, name+" "+event.Took(d.Milliseconds()))
		}
	}
	r.Says = fmt.Sprintf("%s to %s: %s", clock(s.Began), clock(last.Ended), strings.Join(sums, ", "))
	p.placeWord(&r, s, last, v.board.IsAtWork())
	return r
}

// bars draws the attempts of a step. It marks the rejected attempts and those that the watch ended.
// It adds the time of each part in the step to said.
func (p *page) bars(r *rowView, v *boardView, s *projection.Step, said map[string]time.Duration) {
	add := func(name string, from, to time.Time) {
		x, end := p.scale.at(from), p.scale.at(to)
		said[name] += max(0, to.Sub(from))
		p.parts[name] += max(0, to.Sub(from))
		r.Bars = append(r.Bars, barView{percent(x), percent(max(end-x, 0.15)), partClass[name]})
	}
	var last time.Time
	for i := range s.Attempts {
		a := &s.Attempts[i]
		if a.Call.Part() == event.Judgement { // the row of the judged agent shows this time as partAsked
			continue
		}
		from, to := a.Began, a.Began.Add(time.Duration(a.Millis)*time.Millisecond)
		if a.Result == projection.Started && v.board.IsAtWork() {
			to = p.asOf
		}
		if !last.IsZero() && from.Sub(last) > time.Second {
			add(partWait, last, from)
		}
		add(partOf[a.Call.Part()], from, to)
		if a.Tools != nil && a.Call.Part() == event.Work {
			for _, s := range toolSpans(a.Tools.Spans, p.Long) {
				began := from.Add(time.Duration(s.From) * time.Millisecond)
				end := earlier(to, began.Add(time.Duration(s.Millis)*time.Millisecond))
				add(partTools, began, end)
				said[partWork] -= max(0, end.Sub(began)) // the agent's time excludes its tools
				p.parts[partWork] -= max(0, end.Sub(began))
			}
		}
		watchedParts(a, to, add)
		if a.Result == projection.Rejected {
			p.mark(r, to, "k-no")
		}
		for _, w := range a.Watched {
			if w.Kind == event.Ended {
				p.mark(r, to, "k-re")
			}
		}
		last = to
	}
}

func (p *page) mark(r *rowView, at time.Time, id string) {
	r.Marks = append(r.Marks, markView{percent(p.scale.at(at)), id})
	p.Marked[id] = true
}

// toolSpans returns the spans of tool calls that the page shows. On a long page it leaves out the
// spans that are shorter than a minute.
func toolSpans(all []event.ToolSpan, isLong bool) []event.ToolSpan {
	least := int64(0)
	if isLong {
		least = time.Minute.Milliseconds()
	}
	return slices.DeleteFunc(slices.Clone(all), func(s event.ToolSpan) bool { return s.Millis < least })
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// placeWord puts the word about the steps of a row after their bars. If the bars end too far right,
// it puts the word before the bars. If there is no room before them either, it leaves the word out.
func (p *page) placeWord(r *rowView, first, last *projection.Step, atWork bool) {
	if r.Word, r.Tone = p.rowWord(first, atWork); r.Word != "" {
		r.Says += "; " + r.Word
	}
	switch start, end := p.scale.at(first.Began), p.scale.at(last.Ended); {
	case end <= 62:
		r.WordX = percent(end + 0.8)
	case start > 20:
		r.WordX, r.WordEnd = percent(start-0.6), true
	default:
		r.Word = ""
	}
}

// partOf maps an event.Part, the kind of a call, to the part of a step's time that the attempts of
// such a call take.
var partOf = map[event.Part]string{
	event.Work:       partWork,
	event.Review:     partReview,
	event.Management: partManager,
	event.Oversight:  partLook,
}

// watchedParts adds the times in which an attempt gave no sign, and the times in which it did not
// answer a question about its health. Both end with a recovery or with the attempt. A time without
// a sign also ends with a question.
func watchedParts(a *projection.Attempt, end time.Time, add func(name string, from, to time.Time)) {
	var idle, asked time.Time
	stop := func(at time.Time) {
		if !asked.IsZero() {
			add(partAsked, asked, at)
		}
		if !idle.IsZero() {
			to := at
			if !asked.IsZero() {
				to = asked
			}
			add(partIdle, idle, to)
		}
		idle, asked = time.Time{}, time.Time{}
	}
	for _, w := range a.Watched {
		switch w.Kind {
		case event.Noticed:
			if idle.IsZero() {
				idle = w.Time
			}
		case event.Asked:
			if asked.IsZero() {
				asked = w.Time
			}
		case event.Moving, event.Ended:
			stop(w.Time)
		}
	}
	stop(end)
}

// rowWord returns the worst problem of a step and its tone. Both are "" if there is no problem.
func (p *page) rowWord(s *projection.Step, atWork bool) (word, tone string) {
	isRunning := s.State == projection.StepOpen && s.Last() != nil && s.Last().Result == projection.Started
	switch {
	case isRunning && atWork:
		return "open", "work"
	case isRunning:
		return "cut short", "warn"
	case s.State == projection.StepAbandoned:
		return "given up", "warn"
	case s.Manager != "" && s.Manager != "ok":
		return p.text("Manager: " + s.Manager), "bad"
	case s.Status == "warn":
		return "warn", "warn"
	case s.Status != "" && s.Status != "ok" && s.Status != "pass" && s.Status != "ready":
		return p.text(s.Status), "bad"
	case s.SentBack() > 0:
		return "sent back " + event.Count(s.SentBack(), "time"), "warn"
	case s.Rejections() > 0:
		return fmt.Sprintf("%d rejected", s.Rejections()), "warn"
	default:
		return "", ""
	}
}

package page

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/inert"
	"kanban-run/orchestrator/standing"
)

// page is the input of the template. Its strings are plain text, which the template escapes.
type page struct {
	Policy string
	Style  template.CSS
	Script template.JS

	Title, Headline, Sentence string
	AsOf, Day                 string
	Command                   string
	Long                      bool // true if short tool calls and details of routine attempts are left out
	Live                      bool

	Boards      []*boardView
	Steps       int
	Attempts    int
	Time, Cost  string
	Tokens      string
	Next        []nextView
	Decisions   int // number of actions in Next that decide about a run at work
	Now         []nowView
	Filter      filterView
	Axis        axisView
	Legend      []partView
	Marked      map[string]bool // IDs of the marks on the waterfall
	Roles       []costView
	Costliest   []costView
	Tools       []toolView
	CostNote    string
	Checkpoints []checkpointsView

	hide  func(string) string
	scale scale
	asOf  time.Time
	parts map[string]time.Duration
}

// look is a sign, a tone and a word. The tone is a colour, which must not carry a meaning alone.
type look struct{ Sign, Tone, Word string }

type boardView struct {
	Look              look
	ID, Name          string
	Squares           []squareView
	Width             int // width of all squares together
	Done, All         int
	Steps, Attempts   int
	Time, Cost, Limit string
	Span              string // text with the first time, the last time and the cost
	Columns           []columnView
	Folded            bool // true for a complete board on a page of several boards
	Rows              []rowView
	Tasks             []*taskView
	Settings          []pairView
	Damage            string
	board             *Board
	counts            map[string]int
	byStep            map[int]*taskView // task of each step, without the steps of the supervisor
}

type squareView struct{ X, Width, Class, Word string }

type columnView struct {
	Name, Class string
	Cards       []*taskView
}

type taskView struct {
	Look                 look
	ID, Name, Path, Role string
	Note, NoteTone       string
	Attempts             int
	Tries, Time, Cost    string
	Trouble              string // result of the function trouble
	Keys                 string
	Open                 bool
	State                string
	Steps                []stepView
	used                 event.Used
}

type stepView struct {
	Number   int
	Given    string // "given up", or ""
	Attempts []attemptView
	Notes    []string
}

type attemptView struct {
	ID                string
	Clock, Kind, Text string
	Word, Tone        string
	Time, Cost        string
	Details           []pairView
	Watched           []signView
}

type pairView struct {
	Name, Text string
	Code       bool
	Since      int64 // Unix time in ms, from which a live page counts up; 0 if Text is fixed
}

type signView struct{ Clock, Kind, Text string }

type filterView struct{ All, Trouble, Doing, Todo int }

const (
	mostText    = 400 // greatest number of characters of a text
	mostLong    = 150 // greatest number of characters of a text in a long page
	wholeUpTo   = 200 // a page with more steps than this is Long
	mostSquares = 40  // a board with more tasks than this has a single bar instead of the squares
)

// text redacts and shortens a text of an agent, a board or a file name for the page.
func (p *page) text(s string) string {
	s = inert.Line(p.hide(s))
	most := mostText
	if p.Long {
		most = mostLong
	}
	if utf8.RuneCountInString(s) > most {
		return string([]rune(s)[:most]) + "…"
	}
	return s
}

func newPage(boards []Board, o Options) *page {
	p := &page{hide: o.Hide, Marked: map[string]bool{}, parts: map[string]time.Duration{}}
	p.Command = p.text(o.Command)
	var all event.Used
	var millis int64
	for i := range boards {
		b := &boards[i]
		if p.asOf.Before(b.Digest.Ended) {
			p.asOf = b.Digest.Ended
		}
		p.Steps += b.Digest.Finished
		p.Attempts += b.Digest.Attempts
		millis += b.Digest.Millis
		all = all.Plus(b.Digest.Used.Used)
	}
	p.Long = p.Steps > wholeUpTo
	p.Time, p.Cost, p.Tokens = event.Took(millis), all.Money(), all.Tokens()
	if !p.asOf.IsZero() {
		p.AsOf, p.Day = clock(p.asOf), p.asOf.UTC().Format("2 January 2006")
	}
	p.scale = newScale(boards, p.asOf)
	for i := range boards {
		p.Boards = append(p.Boards, p.board(&boards[i], i+1))
	}
	slices.SortStableFunc(p.Boards, func(a, b *boardView) int { return a.urgency() - b.urgency() })
	p.alignColumns()
	p.waterfall()
	p.whatNext()
	p.headline()
	p.costs(all)
	p.tools()
	p.checkpoints()
	return p
}

// urgency returns the rank of a board on the page. The boards that need a person come first. The
// boards that were never run follow, then those at work, then those that are complete.
func (v *boardView) urgency() int {
	if w := v.board.Waits; w != nil && !w.May && !v.board.Owned {
		return 0
	}
	return slices.Index([]string{"bad", "warn", "soft", "work", "good"}, v.Look.Tone)
}

// lookOf returns the look for a board's state.
func lookOf(b *Board) look {
	words := b.Digest.Outcome.Words()
	if b.Digest.Text == standing.Killed {
		words = "killed"
	}
	if b.Digest.Outcome == event.Interrupted {
		words += " " + clock(b.Digest.Ended)
	}
	if b.Code > 0 && !b.Owned {
		words += fmt.Sprintf(", exit code %d", b.Code)
	}
	switch {
	case b.Damage != "":
		return look{"stop", "bad", "its journal is damaged"}
	case b.Owned:
		if step := b.State.Step; step != nil {
			return look{"half", "work", fmt.Sprintf("at work, step %d", step.Number)}
		}
		return look{"half", "work", "at work"}
	case b.Digest.Runs == 0 && b.Digest.Outcome != event.Invalid:
		return look{"ring", "soft", "never run"}
	case b.Digest.Weight == event.Success:
		return look{"ok", "good", words}
	case b.Digest.Outcome == event.Complete:
		return look{"tri", "warn", "complete, with a remark"}
	case b.Digest.Weight < event.Critical:
		return look{"tri", "warn", words}
	default:
		return look{"stop", "bad", words}
	}
}

func (p *page) board(b *Board, number int) *boardView {
	v := &boardView{
		Look:     lookOf(b),
		ID:       fmt.Sprint("b", number),
		Name:     p.text(b.Digest.Board),
		Steps:    b.Digest.Finished,
		Attempts: b.Digest.Attempts,
		Time:     event.Took(b.Digest.Millis),
		Cost:     strings.Replace(b.Digest.Used.Money(), "unknown", "—", 1),
		board:    b,
		counts:   map[string]int{},
		byStep:   map[int]*taskView{},
	}
	v.Look.Word = p.text(v.Look.Word)
	v.Damage = p.text(b.Damage)
	if b.Run.Limits.MaxCost > 0 {
		v.Limit = event.Dollars(b.Run.Limits.MaxCost)
	}
	if b.Digest.Runs > 0 {
		v.Span = fmt.Sprintf("%s to %s, %s", clock(b.Digest.Began), clock(b.Digest.Ended), v.Cost)
	}
	v.Tasks = p.tasks(v)
	v.All = len(v.Tasks)
	v.Done = v.counts[standing.Done]
	v.drawSquares()
	v.Columns = columns(v.Tasks)
	v.Settings = p.settings(b)
	return v
}

// columns returns the columns of a board with their tasks.
func columns(tasks []*taskView) []columnView {
	all := []columnView{
		{Name: "To do"}, {Name: "Doing"}, {Name: "Review"}, {Name: "Done"}, {Name: "Stopped"}, {Name: "Quarantined"},
	}
	at := map[string]int{
		standing.Waiting:     0,
		standing.Current:     1,
		stateReview:          2,
		standing.Done:        3,
		standing.NotOK:       4,
		stateStopped:         4,
		standing.Quarantined: 5,
	}
	for _, t := range tasks {
		c := &all[at[t.State]]
		c.Cards = append(c.Cards, t)
	}
	return all
}

// alignColumns gives all boards the same columns, so that each column has one place on the page. It
// leaves out a column for trouble or review that no board needs. If the page has several boards, it
// also folds the complete ones.
func (p *page) alignColumns() {
	used := map[string]bool{"To do": true, "Doing": true, "Done": true}
	for _, v := range p.Boards {
		for _, c := range v.Columns {
			used[c.Name] = used[c.Name] || len(c.Cards) > 0
		}
	}
	for _, v := range p.Boards {
		v.Columns = slices.DeleteFunc(v.Columns, func(c columnView) bool { return !used[c.Name] })
		for i := range v.Columns {
			if len(v.Columns[i].Cards) == 0 {
				v.Columns[i].Class = "none"
			}
		}
		v.Folded = len(p.Boards) > 1 && v.Look.Tone == "good"
	}
}

// drawSquares draws one square for each task, or a bar with a part for each state if there are too
// many tasks for that (see mostSquares).
func (v *boardView) drawSquares() {
	const step = 14
	if len(v.Tasks) <= mostSquares {
		v.Width = step * len(v.Tasks)
		for i, t := range v.Tasks {
			x := fmt.Sprintf("%d.6", i*step)
			v.Squares = append(v.Squares, squareView{x, "9.8", squareClass[t.State], stateWords[t.State]})
		}
		return
	}
	x := 0.6
	v.Width = step * mostSquares
	for _, state := range []string{
		standing.Done, standing.Current, stateReview, standing.NotOK, stateStopped, standing.Quarantined, standing.Waiting,
	} {
		if n := v.counts[state]; n > 0 {
			width := float64(v.Width-1) * float64(n) / float64(len(v.Tasks))
			v.Squares = append(v.Squares, squareView{
				X:     fmt.Sprintf("%.1f", x),
				Width: fmt.Sprintf("%.1f", width),
				Class: squareClass[state],
				Word:  fmt.Sprintf("%d %s", n, stateWords[state]),
			})
			x += width
		}
	}
}

// States of a task that package standing does not have.
const (
	stateReview  = "review"  // an agent reviews the work on the task
	stateStopped = "stopped" // a stopped or killed run worked on the task; the next run goes on
)

var squareClass = map[string]string{
	standing.Done:        "done",
	standing.NotOK:       "blocked",
	stateStopped:         "cut",
	standing.Current:     "doing",
	stateReview:          "doing",
	standing.Waiting:     "todo",
	standing.Quarantined: "quarantined",
}

var stateWords = map[string]string{
	standing.Done:        "done",
	standing.NotOK:       "not ok",
	stateStopped:         "stopped",
	standing.Current:     "current",
	stateReview:          "in review",
	standing.Waiting:     "to do",
	standing.Quarantined: "quarantined",
}

var stateLooks = map[string]look{
	standing.Done:        {Sign: "ok", Tone: "good"},
	standing.NotOK:       {Sign: "stop", Tone: "bad"},
	stateStopped:         {Sign: "tri", Tone: "warn"},
	standing.Current:     {Sign: "half", Tone: "work"},
	stateReview:          {Sign: "half", Tone: "work"},
	standing.Waiting:     {Sign: "ring", Tone: "soft"},
	standing.Quarantined: {Sign: "hold", Tone: "hold"},
}

// money formats a cost. It returns "" if the cost is not known.
func money(u event.Used) string {
	if u.Priced < u.Attempts && u.Cost == 0 || u.Told == 0 {
		return ""
	}
	return strings.Replace(u.Money(), "at least ", "≥ ", 1)
}

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
	"kanban-run/orchestrator/projection"
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
	HasColumns                bool // true if a wide screen has the groups of a board side by side
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
	HasSteps    bool
	Axis        axisView
	Legend      []partView
	Marked      map[string]bool // IDs of the marks on the waterfall
	Roles       []costView
	Costliest   []costView
	Tools       []toolView
	CostNote    string
	Checkpoints []checkpointsView

	hide   func(string) string
	texts  *memo // of the method text
	lines  *memo // of the method line
	tells  func(adapter string) bool
	isMany bool // true if the page has several boards
	scale  scale
	asOf   time.Time
	parts  map[string]time.Duration
}

// look is a sign, a tone and a word. The tone is a colour, which must not carry a meaning alone.
type look struct{ Sign, Tone, Word string }

type boardView struct {
	Look              look
	ID, Name          string
	Squares           []squareView
	Width             int // width of all squares together
	Done, All         int
	Steps, Attempts   string // "" for none
	Time, Cost, Limit string
	Why, Ended, Exit  string
	Span              string // text with the exit code, the first time, the last time and the cost
	Groups            []groupView
	Folded            bool // true for a complete or untouched board on a page of several boards
	Rows              []rowView
	Tasks             []*taskView
	Settings          []pairView
	Damage            string
	runsAfter         bool // true if the board is to be run after a decision
	board             *projection.Board
	counts            map[projection.TaskState]int
	byStep            map[int]*taskView // task of each step, without the steps of the supervisor
}

type squareView struct{ X, Width, Class, Word string }

type groupView struct {
	Name, Class string // the class tells a group that is empty or whose tasks need nobody
	Tasks       []*taskView
}

type taskView struct {
	HTML                 template.HTML // its row
	Look                 look
	ID, Name, Path, Role string
	Note, NoteTone       string
	Attempts             int
	Tries, Time, Cost    string
	Trouble              string // result of the function trouble
	Keys                 string
	State                projection.TaskState
	Steps                []stepView
	used                 event.Used
}

type stepView struct {
	Number   string // "step 3", or "steps 3 to 22, ×20" and so on for steps that are shown once
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
	mostText     = 400 // greatest number of characters of a text
	mostLong     = 150 // greatest number of characters of a text in a long page
	wholeUpTo    = 200 // a page with more steps than this is Long
	mostColumned = 3   // a page with more boards than this has all groups as rows
	mostSquares  = 40  // a board with more tasks than this has a single bar instead of the squares
)

// line is text for words in a sentence: line breaks are blanks.
func (p *page) line(s string) string {
	return p.lines.get(s, func() string { return p.text(event.OneLine(p.hide(s))) })
}

// text redacts and shortens a text of an agent, a board or a file name for the page.
func (p *page) text(s string) string {
	return p.texts.get(s, func() string { return p.shorten(s) })
}

func (p *page) shorten(s string) string {
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

func newPage(boards []*projection.Board, o Options, texts, lines *memo) *page {
	p := &page{texts: texts, lines: lines, hide: o.Hide, tells: o.Tells, isMany: len(boards) > 1, Live: o.Live, Marked: map[string]bool{}, parts: map[string]time.Duration{}}
	var all event.Used
	var millis int64
	for i := range boards {
		b := boards[i]
		if p.asOf.Before(b.To) {
			p.asOf = b.To
		}
		p.Steps += b.Totals.Steps
		p.Attempts += b.Totals.Attempts
		millis += b.Totals.Millis
		all = all.Plus(b.Totals.Used.Used)
	}
	if p.Long = p.Steps > wholeUpTo; texts.long != p.Long {
		texts.reset(p.Long)
		lines.reset(p.Long)
	}
	p.Command = p.text(o.Command)
	p.Time, p.Cost, p.Tokens = took(millis), all.Money(), all.Tokens()
	if !p.asOf.IsZero() {
		p.AsOf, p.Day = clock(p.asOf), p.asOf.UTC().Format("2 January 2006")
	}
	p.HasColumns = len(boards) <= mostColumned
	p.scale = newScale(boards, p.asOf, p.Live)
	for i := range boards {
		p.Boards = append(p.Boards, p.board(boards[i], i+1))
	}
	slices.SortStableFunc(p.Boards, func(a, b *boardView) int { return projection.Compare(a.board, b.board) })
	p.waterfall()
	p.whatNext()
	p.headline()
	p.costs(all)
	p.tools()
	p.checkpoints()
	return p
}

// lookOf returns the look for a board's state.
func lookOf(b *projection.Board) look {
	words := b.EndWords()
	switch {
	case b.Damage != "":
		return look{"stop", "bad", words}
	case b.IsAtWork():
		return look{"half", "work", words}
	case b.State == projection.Queued:
		return look{"ring", "soft", words}
	case b.State == projection.NeverRun && b.Who == projection.Mend:
		return look{"stop", "bad", words}
	case b.Runs == 0 && b.Outcome != event.Invalid:
		return look{"ring", "soft", words}
	case b.IsSettled():
		return look{"tri", "warn", words}
	case b.Weight == event.Success:
		return look{"ok", "good", words}
	case b.Weight < event.Critical:
		return look{"tri", "warn", words}
	default:
		return look{"stop", "bad", words}
	}
}

func (p *page) board(b *projection.Board, number int) *boardView {
	v := &boardView{
		Look:   lookOf(b),
		ID:     fmt.Sprint("b", number),
		Name:   p.text(b.Board),
		Ended:  clock(b.Ended),
		board:  b,
		counts: map[projection.TaskState]int{},
		byStep: map[int]*taskView{},
	}
	v.Look.Word = p.text(v.Look.Word)
	v.Damage = p.text(b.Damage)
	v.Folded = p.isMany && (v.Look.Tone == "good" || v.Look.Tone == "soft")
	if b.Limits.MaxCost > 0 {
		v.Limit = event.Dollars(b.Limits.MaxCost)
	}
	if b.IsAtWork() {
		v.Why = p.doing(b)
	} else if v.Look.Tone != "good" {
		v.Why = p.because(b.Card())
	} else if b.Weight == event.Success {
		v.Why = strings.TrimPrefix(b.Unreviewed(), ", ")
	}
	p.total(v)
	v.Tasks = p.tasks(v)
	v.All, v.Done = b.Of(), b.Count(projection.Done, projection.DoneBefore)
	v.drawSquares()
	v.Groups = groups(v.Tasks)
	v.Settings = p.settings(b)
	return v
}

// total sets what a board's runs amount to. A board that was never run has no zeros.
func (p *page) total(v *boardView) {
	b := v.board
	if b.Totals.Steps > 0 {
		v.Steps = fmt.Sprint(b.Totals.Steps)
	}
	if b.Totals.Attempts > 0 {
		v.Attempts = fmt.Sprint(b.Totals.Attempts)
		v.Time = took(b.Totals.Millis)
		v.Cost = strings.Replace(b.Totals.Used.Money(), "unknown", "—", 1)
	}
	if b.Exit != nil && *b.Exit > 0 {
		v.Exit = fmt.Sprint(*b.Exit)
		v.Span = "exit code " + v.Exit + ", "
	}
	if b.Runs > 0 {
		v.Span += fmt.Sprintf("%s to %s", clock(b.Began), clock(b.To))
		if v.Cost != "" {
			v.Span += ", " + v.Cost
		}
	}
}

// groups returns the groups of a board's tasks, also those without a task.
func groups(tasks []*taskView) []groupView {
	all := []groupView{
		{Name: "Doing"}, {Name: "Stopped"}, {Name: "Review"}, {Name: "Quarantined"},
		{Name: "Done", Class: "quiet"}, {Name: "To do", Class: "quiet"},
	}
	for _, t := range tasks {
		g := &all[stateViews[t.State].group]
		g.Tasks = append(g.Tasks, t)
	}
	for i := range all {
		if len(all[i].Tasks) == 0 {
			all[i].Class = "none"
		}
	}
	return all
}

// drawSquares draws one square for each task, or a bar with a part for each state if there are too
// many tasks for that (see mostSquares).
func (v *boardView) drawSquares() {
	const step = 14
	if len(v.Tasks) <= mostSquares {
		v.Width = step * len(v.Tasks)
		for i, t := range v.Tasks {
			x := fmt.Sprintf("%d.6", i*step)
			v.Squares = append(v.Squares, squareView{x, "9.8", stateViews[t.State].class, t.State.Words()})
		}
		return
	}
	x := 0.6
	v.Width = step * mostSquares
	for _, state := range shownStates {
		if n := v.counts[state]; n > 0 {
			width := float64(v.Width-1) * float64(n) / float64(len(v.Tasks))
			v.Squares = append(v.Squares, squareView{
				X:     fmt.Sprintf("%.1f", x),
				Width: fmt.Sprintf("%.1f", width),
				Class: stateViews[state].class,
				Word:  fmt.Sprintf("%d %s", n, state.Words()),
			})
			x += width
		}
	}
}

// stateViews has the look and the class of a state of a task, and the group of the task.
var stateViews = map[projection.TaskState]struct {
	class string
	look  look
	group int
}{
	projection.Done:        {"done", look{Sign: "ok", Tone: "good"}, 4},
	projection.DoneBefore:  {"done", look{Sign: "ok", Tone: "good"}, 4},
	projection.Settled:     {"done", look{Sign: "ok", Tone: "good"}, 4},
	projection.NotOK:       {"blocked", look{Sign: "stop", Tone: "bad"}, 1},
	projection.SetAside:    {"blocked", look{Sign: "stop", Tone: "bad"}, 1},
	projection.Dropped:     {"blocked", look{Sign: "stop", Tone: "bad"}, 1},
	projection.StoppedAt:   {"cut", look{Sign: "tri", Tone: "warn"}, 1},
	projection.Working:     {"doing", look{Sign: "half", Tone: "work"}, 0},
	projection.InReview:    {"doing", look{Sign: "half", Tone: "work"}, 2},
	projection.NextUp:      {"todo", look{Sign: "ring", Tone: "soft"}, 5},
	projection.Waiting:     {"todo", look{Sign: "ring", Tone: "soft"}, 5},
	projection.Replaced:    {"todo", look{Sign: "ring", Tone: "soft"}, 5},
	projection.Quarantined: {"quarantined", look{Sign: "hold", Tone: "hold"}, 3},
}

// shownStates are the states of which each has a word of its own, in the order of a bar.
var shownStates = []projection.TaskState{
	projection.Done, projection.Settled, projection.Working, projection.InReview, projection.NotOK, projection.SetAside, projection.Dropped,
	projection.StoppedAt, projection.Quarantined, projection.Waiting,
}

// money formats a cost. It returns "" if the cost is not known.
func money(u event.Used) string {
	if u.Priced < u.Attempts && u.Cost == 0 || u.Told == 0 {
		return ""
	}
	return strings.Replace(u.Money(), "at least ", "≥ ", 1)
}

// took formats a time of work. It returns "" for a time that is not known, as that of an attempt without an end.
func took(millis int64) string {
	if millis == 0 {
		return ""
	}
	return event.Took(millis)
}

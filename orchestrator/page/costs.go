package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/projection"
)

// costView is a row of a table of costs.
type costView struct {
	Name, Of, Link  string // the field Of holds the program of a role, or the board of a task
	Starts          int
	Time, Cost      string
	In, Cached, Out string
	Share           string
	used            event.Used
}

const mostRows = 8

// toolView is a row of the table of tools.
type toolView struct {
	Name, Time, Longest string
	Calls, Failed       int
	millis, longest     int64
}

// tools sums up the calls by tool. It sorts the tools by time, the longest first, and keeps only
// the first ones, up to the number mostRows.
func (p *page) tools() {
	byName := map[string]*toolView{}
	for _, v := range p.Boards {
		for i := range v.board.Steps {
			for k := range v.board.Steps[i].Attempts {
				if work := v.board.Steps[i].Attempts[k].Tools; work != nil {
					addUses(byName, work.Uses)
				}
			}
		}
	}
	for name, t := range byName {
		t.Name, t.Time, t.Longest = p.text(cmp.Or(name, "others")), event.Took(t.millis), event.Took(t.longest)
		p.Tools = append(p.Tools, *t)
	}
	slices.SortFunc(p.Tools, func(a, b toolView) int {
		return cmp.Or(cmp.Compare(b.millis, a.millis), cmp.Compare(a.Name, b.Name))
	})
	p.Tools = p.Tools[:min(len(p.Tools), mostRows)]
}

func addUses(byName map[string]*toolView, uses []event.ToolUse) {
	for _, u := range uses {
		if byName[u.Tool] == nil {
			byName[u.Tool] = &toolView{}
		}
		t := byName[u.Tool]
		t.Calls += u.Calls
		t.Failed += u.Failed
		t.millis += u.Millis
		t.longest = max(t.longest, u.Longest)
	}
}

// costs sums up the costs by role and program, and also by task.
func (p *page) costs(all event.Used) {
	if all.Priced < all.Attempts && all.Attempts > 0 {
		p.CostNote = fmt.Sprintf("%d of %s told no cost", all.Attempts-all.Priced, event.Count(all.Attempts, "attempt"))
	}
	roles := map[[2]string]*costView{}
	var tasks []costView
	for _, v := range p.Boards {
		for i := range v.board.Steps {
			for k := range v.board.Steps[i].Attempts {
				a := &v.board.Steps[i].Attempts[k]
				key := [2]string{a.Call.Player(a.Role), a.Adapter}
				if roles[key] == nil {
					roles[key] = &costView{Name: p.text(key[0]), Of: p.text(key[1])}
				}
				roles[key].used.Add(a.Millis, a.Spent)
			}
		}
		for _, t := range v.Tasks {
			if t.used.Attempts > 0 {
				tasks = append(tasks, costView{Name: t.Name, Of: v.Name, Link: t.ID, used: t.used})
			}
		}
	}
	for _, r := range roles {
		p.Roles = append(p.Roles, *r)
	}
	p.Roles, p.Costliest = ranked(p.Roles), ranked(tasks)
	if more := len(p.Costliest) - mostRows; more > 1 {
		rest := costView{Name: "and " + event.Count(more, "task") + " more"}
		for _, c := range p.Costliest[mostRows:] {
			rest.used = rest.used.Plus(c.used)
		}
		rest.fill(0)
		p.Costliest = append(p.Costliest[:mostRows], rest)
	}
}

// ranked sorts rows by cost and then by time, the greatest first. It also fills in the texts of the
// rows.
func ranked(all []costView) []costView {
	slices.SortFunc(all, func(a, b costView) int {
		return cmp.Or(
			cmp.Compare(b.used.Cost, a.used.Cost),
			cmp.Compare(b.used.Millis, a.used.Millis),
			cmp.Compare(a.Of, b.Of),
			cmp.Compare(a.Name, b.Name))
	})
	most := int64(0)
	for _, c := range all {
		most = max(most, c.weight())
	}
	for i := range all {
		all[i].fill(most)
	}
	return all
}

func (c *costView) weight() int64 {
	if c.used.Cost > 0 {
		return c.used.Cost
	}
	return 0
}

func (c *costView) fill(most int64) {
	u := c.used
	c.Starts, c.Time, c.Cost = u.Attempts, took(u.Millis), money(u)
	if u.Told > 0 {
		c.In, c.Out = count(u.Input), count(u.Output)
		if u.Input > 0 {
			c.Cached = fmt.Sprintf("%d %%", u.Cached*100/u.Input)
		}
	}
	if most > 0 {
		c.Share = fmt.Sprintf("%.1f%%", float64(c.weight())*100/float64(most))
	}
}

// count formats a number of tokens: 512, 26 k, 4.6 M.
func count(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%d k", n/1000)
	default:
		return fmt.Sprintf("%.1f M", float64(n)/1e6)
	}
}

// checkpointsView is the display of the checkpoints that the resident supervisor held on a board.
type checkpointsView struct {
	Board, Cost string
	Points      []pointView
	Lines       []lineView
	Says        string
	List        []verdictView
}

type pointView struct{ X, Y, TextY, Score, ID, Class string }

type lineView struct{ X1, Y1, X2, Y2 string }

type verdictView struct {
	ID, Tone, Word, Trend, Report string
	Findings                      []string
}

// mostPoints is the greatest number of checkpoints in the line chart of scores.
const mostPoints = 12

func (p *page) checkpoints() {
	for _, v := range p.Boards {
		if len(v.board.Checkpoints) == 0 {
			continue
		}
		c := checkpointsView{Board: v.Name, Cost: v.board.Totals.Supervision.Money()}
		var scored []event.Looked
		for _, x := range v.board.Checkpoints {
			view := verdictView{
				ID:     p.text(x.ID),
				Word:   p.text(x.Verdict),
				Tone:   "bad",
				Trend:  p.text(x.Trend),
				Report: p.text(x.Report),
			}
			switch x.Verdict {
			case "pass":
				view.Tone = "good"
			case "warn":
				view.Tone = "warn"
			}
			if x.Verdict != event.NoVerdict {
				view.Word += fmt.Sprintf(" %.2f", x.Score)
				scored = append(scored, x)
			}
			for _, f := range x.Findings {
				view.Findings = append(view.Findings, p.text(f))
			}
			if x.Reason != "" {
				view.Findings = append(view.Findings, p.text(x.Reason))
			}
			c.List = append(c.List, view)
		}
		p.draw(&c, scored[max(0, len(scored)-mostPoints):])
		p.Checkpoints = append(p.Checkpoints, c)
	}
}

// draw draws the scores of checkpoints as a line chart.
func (p *page) draw(c *checkpointsView, scored []event.Looked) {
	var said []string
	for i, x := range scored {
		at := pointView{
			X:     fmt.Sprintf("%.1f%%", 8+84*float64(i)/float64(max(1, len(scored)-1))),
			ID:    strings.TrimPrefix(p.text(x.ID), "CHECKPOINT-"),
			Score: fmt.Sprintf("%.2f", x.Score),
			Class: "c",
		}
		y := 100 - 80*min(max(x.Score, 0), 1)
		at.Y, at.TextY = fmt.Sprintf("%.1f", y), fmt.Sprintf("%.1f", y-9)
		if x.Verdict != "pass" {
			at.Class = map[bool]string{true: "a", false: "x"}[x.Verdict == "warn"]
		}
		if n := len(c.Points); n > 0 {
			c.Lines = append(c.Lines, lineView{c.Points[n-1].X, c.Points[n-1].Y, at.X, at.Y})
		}
		c.Points = append(c.Points, at)
		said = append(said, at.Score)
	}
	c.Says = strings.Join(said, ", ")
}

// settings returns the settings of a board's last run.
func (p *page) settings(b *projection.Board) (all []pairView) {
	add := func(name, text string) {
		if text != "" {
			all = append(all, pairView{Name: name, Text: p.text(text)})
		}
	}
	r := b.Settings
	if r == nil {
		return nil
	}
	add("kanban-run", r.Version)
	add("work directory", b.Workdir)
	add("limits", cmp.Or(b.Limits.String(), "none"))
	add("retries", fmt.Sprint(b.Limits.MaxRetries))
	add("on divergence", r.OnDivergence)
	if b.Lenient {
		add("lenient", "an incomplete board is no failure of a run")
	}
	if r.Supervision != nil {
		add("supervisor", fmt.Sprintf("%s (%s), on block: %s", r.Supervision.Role, r.Adapter, r.Supervision.OnBlock))
	}
	add("withheld", event.WithheldFrom(r.Withheld, r.PartlyWithheld))
	add("changed", strings.Join(b.Changed, "; "))
	if b.Clone != nil {
		add("clone", b.Clone.Dir)
	}
	add("work", b.Work())
	if state, words := b.Lands(); words != "" {
		add("landing", state+": "+words)
	}
	add("runs", fmt.Sprint(b.Runs))
	add("journal", event.Count(int(b.Records), "record"))
	return all
}

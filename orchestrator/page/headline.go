package page

import (
	"cmp"
	"fmt"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/projection"
)

// headline sets the headline, which answers whether all boards are done.
func (p *page) headline() {
	complete, needs, runs, atWork := 0, 0, 0, 0
	var first, firstRun string
	for _, v := range p.Boards {
		switch b := v.board; {
		case b.IsAtWork(), b.State == projection.Queued:
			atWork++
		case b.Who.AsksPerson():
			needs++
			first = cmp.Or(first, v.Name)
		case b.IsOK() && b.Who == projection.Nobody:
			complete++
		default:
			runs++
			firstRun = cmp.Or(firstRun, v.Name)
		}
	}
	n := len(p.Boards)
	switch {
	case needs == 1:
		p.Headline = "Not done: " + first + " needs you"
	case needs > 1:
		p.Headline = fmt.Sprintf("Not done: %d of %s need you", needs, event.Count(n, "board"))
	case runs == 1:
		p.Headline = "Not done: " + firstRun + " has to be run"
	case runs > 1:
		p.Headline = fmt.Sprintf("Not done: %d of %s have to be run", runs, event.Count(n, "board"))
	case atWork > 0 && p.Decisions > 0:
		p.Headline = fmt.Sprintf("At work: %s for you", waits(p.Decisions))
	case atWork > 0:
		p.Headline = "At work: nothing needs you"
	case n == 1:
		p.Headline = "Done: " + p.Boards[0].Name + " is " + p.Boards[0].Look.Word
	default:
		p.Headline = fmt.Sprintf("Done: %d of %s are complete", complete, event.Count(n, "board"))
	}
	p.Title = p.Headline + " · kanban-run"
	p.Sentence = p.sentence()
}

// sentence returns a sentence with the cost and the numbers of tasks that are done, not ok, stopped
// and quarantined. It also sets the counts of the filter.
func (p *page) sentence() string {
	counts, tasks, reviewed := map[projection.TaskState]int{}, 0, 0
	for _, v := range p.Boards {
		reviewed += v.board.Reviewed
		for state, n := range v.counts {
			counts[state] += n
			tasks += n
		}
		for _, t := range v.Tasks {
			if t.Trouble != "" {
				p.Filter.Trouble++
			}
		}
	}
	p.Filter.All, p.Filter.Todo = tasks, counts[projection.Waiting]
	p.Filter.Doing = counts[projection.Working] + counts[projection.InReview] + counts[projection.StoppedAt]
	done := counts[projection.Done]
	text := fmt.Sprintf("%d of %s %s done", done, event.Count(tasks, "task"), isAre(done))
	for _, state := range []projection.TaskState{projection.NotOK, projection.SetAside, projection.Dropped, projection.StoppedAt,
		projection.Settled, projection.Quarantined} {
		if c := counts[state]; c > 0 {
			text += fmt.Sprintf(", %d %s %s", c, isAre(c), state.Words())
		}
	}
	switch {
	case reviewed > 0:
		text += fmt.Sprintf(", %d %s reviewed", reviewed, isAre(reviewed))
	case done > 0:
		text += ", none is reviewed"
	}
	if p.Attempts > 0 && p.Cost != "unknown" {
		text += "; cost " + p.Cost
	}
	return text + "."
}

func waits(decisions int) string {
	if decisions == 1 {
		return "a decision waits"
	}
	return fmt.Sprintf("%d decisions wait", decisions)
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

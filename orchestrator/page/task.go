package page

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"kanban-run/orchestrator/digest"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/report"
	"kanban-run/orchestrator/standing"
)

// tasks returns the tasks of a board's list, and after them the tasks that occur only in the
// board's steps.
func (p *page) tasks(v *boardView) []*taskView {
	b := v.board
	listed := slices.Clone(b.Tasks)
	index := map[string]int{}
	find := func(task string) int {
		if i, ok := index[task]; ok {
			return i
		}
		i := -1
		if b.Find != nil {
			i = b.Find(task)
		}
		if i < 0 {
			i = slices.IndexFunc(listed, func(t standing.Task) bool { return path.Clean(t.Task) == path.Clean(task) })
		}
		index[task] = i
		return i
	}
	steps := map[int][]*digest.Step{}
	for i := range b.Digest.Steps {
		s := &b.Digest.Steps[i]
		if s.Attempts != nil && isSupervision(s) {
			continue
		}
		at := find(s.Task)
		if at < 0 {
			at = len(listed)
			listed = append(listed, standing.Task{Task: s.Task, State: stateOf(s), Role: s.Role})
			index[s.Task] = at
		}
		steps[at] = append(steps[at], s)
	}
	paths := make([]string, len(listed))
	for i, t := range listed {
		paths[i] = t.Task
	}
	names := report.ShortNames(paths)
	all := make([]*taskView, len(listed))
	for i, t := range listed {
		all[i] = p.task(v, t, steps[i])
		all[i].ID, all[i].Name = fmt.Sprintf("%st%d", v.ID, i+1), p.text(names[i])
		v.counts[all[i].State]++
		for _, s := range steps[i] {
			v.byStep[s.Step] = all[i]
		}
	}
	return all
}

// stateOf returns the state that a step gives to a task that is not on the board's list.
func stateOf(s *digest.Step) string {
	switch {
	case s.State == digest.Open:
		return standing.Current
	case s.State == digest.Done && (s.Status == "ok" || s.Status == ""):
		return standing.Done
	default:
		return standing.NotOK
	}
}

// isSupervision reports whether a step belongs to the resident supervisor.
func isSupervision(s *digest.Step) bool {
	return len(s.Attempts) > 0 && s.Attempts[0].Call.IsSupervision()
}

// shownState returns the state in which the page shows a task.
func (v *boardView) shownState(t standing.Task) string {
	b := v.board
	switch {
	case t.State == standing.Before:
		return standing.Done
	case t.State == standing.Dropped:
		return standing.NotOK
	case t.State == standing.Current && b.Owned && b.State.Step != nil && b.State.Step.Call.IsReview():
		return stateReview
	case t.State != standing.Current || b.Owned:
		return t.State
	case b.State.Step == nil && (t.Status == "" || t.Status == "ok"):
		return standing.Waiting // the task is next
	case b.Waits != nil || t.Status != "" && t.Status != "ok":
		return standing.NotOK // the run ended at this task
	default:
		return stateStopped
	}
}

func (p *page) task(v *boardView, t standing.Task, steps []*digest.Step) *taskView {
	state := v.shownState(t)
	w := &taskView{Look: stateLooks[state], Path: p.text(t.Task), Role: p.text(t.Role), State: state}
	rejected, back, restarts := 0, 0, 0
	var millis int64
	for _, s := range steps {
		w.used = w.used.Plus(s.Used.Used)
		millis += s.Millis
		rejected += s.Rejections()
		back += s.SentBack()
		for i := range s.Attempts {
			if a := &s.Attempts[i]; a.Call.Part() == event.Work {
				w.Attempts++
			}
			isEnd := func(x digest.Sign) bool { return x.Kind == digest.Ended }
			if slices.ContainsFunc(s.Attempts[i].Watched, isEnd) {
				restarts++
			}
		}
		w.Steps = append(w.Steps, p.step(v, s))
		w.Role = cmp.Or(w.Role, p.text(s.Role))
	}
	if w.Attempts > 0 {
		w.Tries, w.Time, w.Cost = event.Count(w.Attempts, "attempt"), event.Took(millis), money(w.used)
	}
	w.Trouble = p.text(trouble(t, state, rejected, back, restarts))
	w.Open = state == standing.NotOK || state == standing.Quarantined ||
		state == standing.Current && len(steps) > 0 || state == stateReview || state == stateStopped
	w.Note, w.NoteTone = stateWords[state], w.Look.Tone
	if n := len(steps); n > 0 {
		w.Note = p.text(report.LastWord(steps[n-1]))
		if state == standing.Done {
			w.NoteTone = ""
		}
	}
	switch {
	case t.State == standing.Before:
		w.Note = "done before"
	case t.State == standing.Dropped:
		w.Note = "taken off the list undone"
	case t.State == standing.Current && state == standing.Waiting:
		w.Note = "next"
	}
	if q := v.board.State.Quarantined(t.Task); q != nil {
		w.Note = p.text(q.Text)
	}
	w.Keys = v.ID + " " + squareClass[state]
	if w.Trouble != "" {
		w.Keys += " trouble"
	}
	return w
}

// trouble returns the worst problem of a task, or "" if there is no problem.
func trouble(t standing.Task, state string, rejected, back, restarts int) string {
	switch {
	case state == standing.Quarantined:
		return "quarantined"
	case t.Status != "" && t.Status != "ok":
		return t.Status
	case restarts > 0:
		return "restarted " + event.Count(restarts, "time")
	case back > 0:
		return "sent back " + event.Count(back, "time")
	case rejected > 0:
		return event.Count(rejected, "attempt") + " rejected"
	default:
		return ""
	}
}

func (p *page) step(b *boardView, s *digest.Step) stepView {
	v := stepView{Number: s.Step}
	if s.State == digest.Abandoned {
		v.Given = "given up"
	}
	for i := range s.Attempts {
		a := p.attempt(s, &s.Attempts[i])
		if s.Attempts[i].Result == digest.Pending && !b.board.Owned {
			a.Word, a.Tone = "cut short", "warn"
		}
		a.ID = fmt.Sprintf("%ss%da%d", b.ID, s.Step, i+1)
		v.Attempts = append(v.Attempts, a)
	}
	if word := s.Walked(); word != "" {
		v.Notes = append(v.Notes, p.text(word))
	}
	watched := map[string]bool{}
	for i := range s.Attempts {
		for _, sign := range s.Attempts[i].Watched {
			watched[sign.Text] = true
		}
	}
	for _, note := range s.Notes {
		if watched[note] {
			continue // the note is shown with its attempt
		}
		v.Notes = append(v.Notes, p.text(note))
	}
	return v
}

// attempt returns the view of an attempt. A long page has no details of a routine attempt.
func (p *page) attempt(s *digest.Step, a *digest.Attempt) attemptView {
	v := attemptView{Clock: clock(a.Began), Kind: kindOf(a), Time: event.Took(a.Millis), Text: p.text(a.Message)}
	var used event.Used
	used.Add(a.Millis, a.Spent)
	v.Cost = money(used)
	switch {
	case a.Result == digest.Pending:
		v.Word, v.Tone, v.Time, v.Cost = "at work", "work", "", ""
	case a.Result != digest.Accepted:
		v.Word, v.Tone, v.Text = string(a.Result), "bad", p.text(a.Reason)
	case a.SentBack:
		v.Word, v.Tone = "sent back", "warn"
	case a.Call.IsReview():
		v.Word, v.Tone = "accepted", "good"
	case a.Status != "ok":
		v.Word, v.Tone = p.text(a.Status), "bad"
	default:
		v.Word = "ok"
	}
	if p.Long && a.Result == digest.Accepted && a.Status == "ok" && len(a.Watched) == 0 {
		return v
	}
	add := func(name, text string, code bool) {
		if text != "" {
			v.Details = append(v.Details, pairView{Name: name, Text: p.text(text), Code: code})
		}
	}
	add("told", a.Told, true)
	if a.Call.Part() == event.Management && a.Result == digest.Accepted && s.State == digest.Done {
		next := "none: the board is at its end"
		if s.NextTask != nil {
			next = *s.NextTask
		}
		add("next task", next, false)
	}
	add("exit", a.Exit, false)
	add("received", a.Received, true)
	add("stderr", a.Stderr, true)
	add("session", a.Session, true)
	add("program", a.Adapter+": "+a.Command, true)
	add("tokens", used.Tokens(), false)
	add("streams", a.Output, true)
	for _, w := range a.Watched {
		v.Watched = append(v.Watched, signView{clock(w.Time), string(w.Kind), p.text(w.Text)})
	}
	return v
}

// kindOf returns the kind of an attempt in words.
func kindOf(a *digest.Attempt) string {
	part := a.Call.Part()
	kind := strings.ToUpper(string(part[:1])) + string(part[1:])
	if a.Round > 0 && (part == event.Work || part == event.Review) {
		kind += fmt.Sprintf(", round %d", a.Round)
	}
	if a.Attempt > 1 {
		kind += fmt.Sprintf(", attempt %d", a.Attempt)
	}
	if a.GoesOn {
		kind += ", goes on"
	}
	return kind
}

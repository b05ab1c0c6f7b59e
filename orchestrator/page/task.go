package page

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/report"
)

// tasks returns the tasks of a board with their steps.
func (p *page) tasks(v *boardView) []*taskView {
	b := v.board
	listed := slices.Clone(b.Tasks)
	steps, places := map[int][]*projection.Step{}, placesOf(listed)
	for i := range b.Steps {
		s := &b.Steps[i]
		if isSupervision(s) {
			continue
		}
		at, known := places[path.Clean(s.Task)]
		if !known { // the list of the board cannot be read
			at = len(listed)
			places[path.Clean(s.Task)] = at
			listed = append(listed, projection.Task{Task: s.Task, State: s.TaskState(b.IsAtWork()), Role: s.Role})
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
		if t.Counts() {
			v.counts[shownState(t.State)]++
		}
		for _, s := range steps[i] {
			v.byStep[s.Step] = all[i]
		}
	}
	return all
}

// placesOf returns the place of each task by its path in the journal.
func placesOf(tasks []projection.Task) map[string]int {
	places := map[string]int{}
	for i, t := range tasks {
		key := path.Clean(cmp.Or(t.Seen, t.Task))
		if _, taken := places[key]; !taken {
			places[key] = i
		}
	}
	return places
}

// shownState returns the state under which the page counts a task.
func shownState(s projection.TaskState) projection.TaskState {
	switch s {
	case projection.DoneBefore:
		return projection.Done
	case projection.NextUp:
		return projection.Waiting
	default:
		return s
	}
}

// isSupervision reports whether a step belongs to the resident supervisor.
func isSupervision(s *projection.Step) bool {
	return len(s.Attempts) > 0 && s.Attempts[0].Call.IsSupervision()
}

func (p *page) task(v *boardView, t projection.Task, steps []*projection.Step) *taskView {
	look := stateViews[t.State].look
	w := &taskView{Look: look, Path: p.text(t.Task), Role: p.text(t.Role), State: t.State, used: t.Used.Used}
	for from := 0; from < len(steps); {
		n := runOf(steps[from:], saySame)
		w.Steps = append(w.Steps, p.step(v, steps[from:from+n]))
		w.Role = cmp.Or(w.Role, p.text(steps[from].Role))
		from += n
	}
	if w.Attempts = t.Tries + t.Reviews; w.Attempts > 0 {
		w.Tries, w.Time, w.Cost = report.TriesOf(t), took(t.Used.Millis), money(w.used)
	}
	w.Trouble = p.text(trouble(t))
	w.Note, w.NoteTone = t.State.Words(), look.Tone
	if n := len(steps); n > 0 {
		w.Note = cmp.Or(p.line(report.LastWord(steps[n-1])), w.Note)
		if t.State.IsDone() || t.State == projection.Settled {
			w.NoteTone = ""
		}
	}
	switch {
	case t.State == projection.DoneBefore, t.State == projection.NextUp:
		w.Note = t.State.Words()
	case t.State == projection.Dropped, t.State == projection.Quarantined:
		w.Note = p.line(t.Why)
	case t.State == projection.Waiting:
		w.Note = ""
	case t.Left != "":
		w.Note = projection.Replaced.Words()
	case t.State.IsOpen() && t.State != projection.Settled && cmp.Or(t.Said, t.Why) != "":
		w.Note = p.line(cmp.Or(t.Said, t.Why))
	}
	w.Keys = v.ID + " " + stateViews[t.State].class
	if w.Trouble != "" {
		w.Keys += " trouble"
	}
	return w
}

// trouble returns the worst problem of a task, or "" if there is no problem.
func trouble(t projection.Task) string {
	switch {
	case t.State == projection.Quarantined:
		return "quarantined"
	case t.Status != "" && t.Status != "ok":
		return t.Status
	case t.Restarts > 0:
		return "restarted " + event.Count(t.Restarts, "time")
	case t.SentBack > 0:
		return "sent back " + event.Count(t.SentBack, "time")
	case t.Rejected > 0:
		return event.Count(t.Rejected, "attempt") + " rejected"
	case t.State == projection.NotOK:
		return "not ok"
	default:
		return ""
	}
}

// step returns the view of steps that say the same, with the attempts of the last one.
func (p *page) step(b *boardView, steps []*projection.Step) stepView {
	s := steps[len(steps)-1]
	v := stepView{Number: fmt.Sprintf("step %d", s.Step)}
	if n := len(steps); n > 1 {
		v.Number = fmt.Sprintf("steps %d to %d, ×%d, of which this is the last", steps[0].Step, s.Step, n)
	}
	if s.State == projection.StepAbandoned {
		v.Given = "given up"
	}
	for i := range s.Attempts {
		a := p.attempt(s, &s.Attempts[i])
		if s.Attempts[i].Result == projection.Started && !b.board.IsAtWork() {
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
func (p *page) attempt(s *projection.Step, a *projection.Attempt) attemptView {
	v := attemptView{Clock: clock(a.Began), Kind: kindOf(a), Time: took(a.Millis), Text: p.line(a.Message)}
	var used event.Used
	used.Add(a.Millis, a.Spent)
	v.Cost = money(used)
	switch {
	case a.Result == projection.Started:
		v.Word, v.Tone, v.Time, v.Cost = "at work", "work", "", ""
	case a.Result != projection.Accepted:
		v.Word, v.Tone, v.Text = string(a.Result), "bad", p.line(a.Reason)
	case a.SentBack:
		v.Word, v.Tone = "sent back", "warn"
	case a.Call.IsReview():
		v.Word, v.Tone = "accepted", "good"
	case a.Status != "ok":
		v.Word, v.Tone = p.text(a.Status), "bad"
	default:
		v.Word = "ok"
	}
	if p.Long && a.Result == projection.Accepted && a.Status == "ok" && len(a.Watched) == 0 {
		return v
	}
	add := func(name, text string, code bool) {
		if text != "" {
			v.Details = append(v.Details, pairView{Name: name, Text: p.text(text), Code: code})
		}
	}
	add("told", a.Told, true)
	if a.Call.Part() == event.Management && a.Result == projection.Accepted && s.State == projection.StepDone {
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
func kindOf(a *projection.Attempt) string {
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

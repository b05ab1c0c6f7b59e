package standing

import (
	"fmt"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
)

// Waits is a decision that a board waits for.
type Waits struct {
	About   event.Subject `json:"about"`
	Why     string        `json:"why"`
	Choices []Choice      `json:"choices"`       // empty if a person has to mend something
	May     bool          `json:"may,omitempty"` // the next run goes on without the decision

	// IsUnknown is true if it is not known whether a person ended the board. To accept that end is
	// to say that a person did.
	IsUnknown bool `json:"-"`
}

// Choice is a decision that a person can make now.
type Choice struct {
	Word  event.Choice `json:"word"`
	Task  string       `json:"task,omitempty"`  // default task of the choice; "" for none
	Tasks []string     `json:"tasks,omitempty"` // tasks that the person may name
	Does  string       `json:"does"`
}

// Offers returns the choice with this word, or nil if the word is not valid now.
func (w *Waits) Offers(word event.Choice) *Choice {
	if w == nil {
		return nil
	}
	for i, c := range w.Choices {
		if c.Word == word {
			return &w.Choices[i]
		}
	}
	return nil
}

// AboutOf returns the subject of a choice. If tasks are set aside and others are in quarantine, the
// choices have different subjects.
func (w *Waits) AboutOf(word event.Choice) event.Subject {
	if word == event.ReleaseTasks {
		return event.AboutQuarantine
	}
	return w.About
}

// Words returns the valid words, such as "retry or accept".
func (w *Waits) Words() string {
	var all []string
	for _, c := range w.Choices {
		all = append(all, string(c.Word))
	}
	return strings.Join(all, " or ")
}

// NeedsDecision reports whether the board waits until a person decides.
func (s *Standing) NeedsDecision() bool { return s.Waits != nil && !s.Waits.May }

// Request returns a line with the command for the decision that the board waits for, and the
// reason. If a person has to mend something, the line tells what that is. Request returns "" if the
// board needs no person.
func (s *Standing) Request() string {
	board := failure.Quote(s.Board)
	switch {
	case s.Outcome == event.Invalid && s.Waits == nil:
		return s.Headline()
	case !s.NeedsDecision():
		return ""
	case len(s.Waits.Choices) == 0:
		return "kanban-run inbox " + board + ": " + s.Waits.Why
	default:
		return fmt.Sprintf("kanban-run ack %s %s: %s", board, s.Waits.Words(), s.Waits.Why)
	}
}

// Commands returns the commands with which a person can decide, and the effect of each.
func (s *Standing) Commands() (commands, does []string) {
	if s.Waits == nil {
		return nil, nil
	}
	for _, c := range s.Waits.Choices {
		commands = append(commands, fmt.Sprintf("kanban-run ack %s %s", failure.Quote(s.Board), c.Word))
		does = append(does, c.Does)
	}
	return commands, does
}

// Offer returns in one line the commands with which a person can decide, and their effects.
func (s *Standing) Offer() string {
	commands, does := s.Commands()
	for i := range commands {
		commands[i] += " " + does[i]
	}
	return strings.Join(commands, "; ")
}

// Waits returns the decision that a board waits for, or nil for none. The first case that fits
// counts.
func (f *Facts) Waits(h *flow.History) *Waits {
	s := &h.State
	freeze := h.Freeze()
	w := func(about event.Subject, why string, choices ...Choice) *Waits {
		return &Waits{About: about, Why: why, Choices: choices}
	}
	switch {
	case f.isAtWork(s):
		return f.waitsAtWork(s)
	case f.Unknown != "":
		unknown := w(event.AboutFile, f.Unknown, f.fileChoices(s, true)...)
		unknown.IsUnknown = true
		return unknown
	case freeze != nil && freeze.Git != nil:
		return w(event.AboutWay, freeze.Text, Choice{Word: event.Accept, Does: "has checkpoints go there from now on; or set it back"})
	case freeze != nil:
		frozen := w(event.AboutFile, freeze.Text, f.fileChoices(s, freeze.Asks)...)
		frozen.IsUnknown = freeze.Asks
		return frozen
	case h.Standstill() != "":
		return w(event.AboutJournal, h.Standstill(), Choice{Word: event.Accept, Does: "goes on with the state that the sound records give"})
	case s.Supervisor.Waits() != "":
		return w(event.AboutCheckpoint, s.Supervisor.Waits(),
			Choice{Word: event.Override, Does: "goes on in spite of it"},
			Choice{Word: event.Retry, Does: "has it looked at anew; no finished work is done again"})
	case s.AsksOf || f.asksOfAside(s):
		return w(event.AboutChanged, s.Text, Choice{Word: event.Accept, Does: "lets what was changed count, for all boards of this work tree"})
	case len(s.Quarantine) > 0 && !f.hasAsides(s):
		quarantine := w(event.AboutQuarantine, f.whyQuarantined(s), f.quarantineChoices(s)...)
		quarantine.May = s.Outcome != event.NeedsPerson && !f.isOver(s)
		return quarantine
	case len(s.Quarantine) > 0: // there are asides, too; each choice names its own tasks
		both := w(event.AboutAside, s.Text, append(f.asideChoices(s), f.quarantineChoices(s)...)...)
		both.May = f.mayGoOn(s)
		return both
	case s.Outcome == event.NeedsPerson && !s.Spent:
		return w(event.AboutRefusal, s.Text)
	case s.Step != nil && (s.Outcome == event.NeedsPerson || s.Outcome == event.Exhausted):
		return w(event.AboutStep, s.Text, stepChoices(s.Step)...)
	case f.hasAsides(s):
		aside := w(event.AboutAside, s.Text, f.asideChoices(s)...)
		aside.May = f.mayGoOn(s)
		return aside
	}
	if end, left := f.end(s); left {
		return w(event.AboutEnd, end.Text, f.endChoices(s)...)
	}
	if missing := s.Teardown.Unanswered(); len(missing) > 0 && !s.Running {
		return w(event.AboutTeam, strings.Join(missing, ", ")+" never answered the request to shut down",
			Choice{Word: event.ForcedFinalize, Does: "lets the team be deleted without"})
	}
	return nil
}

// isAtWork reports whether a run is at work. The lock of the board alone does not prove this,
// because a run journals its end before it releases the lock.
func (f *Facts) isAtWork(s *flow.State) bool { return f.Owned && s.Running }

// waitsAtWork returns the decision that a run at work waits for, or nil for none.
func (f *Facts) waitsAtWork(s *flow.State) *Waits {
	if step := s.Step; step != nil && step.Consent != nil {
		does := "ends the agent, and starts it again"
		if step.Consent.Decision == event.Replan {
			does = "ends the agent, and has the Manager plan anew"
		}
		why := fmt.Sprintf("%s (%s, step %d): %s", step.CallRole(), step.Task, step.Number, step.Consent.Text)
		return &Waits{About: event.AboutConsent, Why: why, Choices: []Choice{
			{Word: event.Choice(event.ConsentRestart), Task: step.Task, Does: does},
			{Word: event.Choice(event.ConsentContinue), Task: step.Task, Does: "leaves the agent alone"}}}
	}
	if len(s.Quarantine) > 0 {
		q := s.Quarantine[0]
		why := "it goes on without " + q.Task + ", which is in quarantine: " + q.Text
		return &Waits{About: event.AboutQuarantine, Why: why, Choices: []Choice{release(s, "lets the Manager name it again")}}
	}
	return nil
}

// fileChoices returns the choices about the file of a frozen board. The parameter unknown is true if
// a person may have ended the board.
func (f *Facts) fileChoices(s *flow.State, unknown bool) (all []Choice) {
	accept := Choice{Word: event.Accept, Does: "lets the board stand as it is; the next run goes on from there"}
	if !unknown && f.Fault == "" && f.Board.Terminal {
		for _, t := range s.RestAfterStep(f.List).Open {
			accept.Tasks = append(accept.Tasks, t.Task)
		}
		if n := len(accept.Tasks); n > 0 {
			accept.Does = "lets the board stand as it is, with " + event.Count(n, "task") + " undone. With the path of a task it counts that task as done"
		}
	}
	if f.Fault == "" {
		all = append(all, accept)
	}
	return append(all, Choice{Word: event.Retry,
		Does: "puts the board back as the turn began, and keeps this one beside it; the next run goes on"})
}

func release(s *flow.State, does string) Choice {
	c := Choice{Word: event.ReleaseTasks, Task: s.Quarantine[0].Task, Does: does}
	for _, q := range s.Quarantine {
		c.Tasks = append(c.Tasks, q.Task)
	}
	return c
}

func (f *Facts) whyQuarantined(s *flow.State) string {
	if s.Outcome == event.NeedsPerson {
		return s.Text
	}
	return s.Quarantine[0].Text
}

// quarantineChoices returns the choices about tasks in quarantine. On a board that is over, a
// release makes the task current.
func (f *Facts) quarantineChoices(s *flow.State) []Choice {
	if !f.isOver(s) {
		return []Choice{release(s, "ends the quarantine; the next run may work on it")}
	}
	c := release(s, "ends the quarantine and makes "+f.spelled(s.Quarantine[0].Task)+" current; the next run goes on with it")
	return []Choice{c, {Word: event.Accept, Does: "ends the board as it stands"}}
}

// asides returns the tasks that are set aside and still undone on the board.
func (f *Facts) asides(s *flow.State) []flow.Aside {
	if f.List.Find == nil { // the board cannot be read
		return s.Asides()
	}
	all, _, _ := s.AsidesOn(f.List)
	return all
}

// hasAsides reports whether there are tasks set aside that the next run tries again.
func (f *Facts) hasAsides(s *flow.State) bool { return len(f.asides(s)) > 0 && !f.isOver(s) }

// mayGoOn reports whether the tasks that are set aside need no person before the board is run again: the
// run ended for another reason, or they have only reached limits of their own.
func (f *Facts) mayGoOn(s *flow.State) bool {
	return !AsksPerson(s.Outcome) || flow.MayGoOn(f.asides(s))
}

// asksOfAside reports whether a task is set aside because its agent may not begin before a person
// has accepted what another agent changed.
func (f *Facts) asksOfAside(s *flow.State) bool {
	return len(s.Changed) > 0 && f.hasAsides(s) &&
		slices.ContainsFunc(f.asides(s), func(a flow.Aside) bool { return a.Status == flow.StatusChanged })
}

// asideChoices returns the choices about tasks that are set aside. Without a decision the next run
// tries the tasks again.
func (f *Facts) asideChoices(s *flow.State) []Choice {
	var tasks []string
	for _, a := range f.asides(s) {
		tasks = append(tasks, a.Task)
	}
	return []Choice{
		{Word: event.Skip, Task: tasks[0], Tasks: tasks, Does: "goes on without " + tasks[0] + ", which stays undone; or without the task that you name"},
		{Word: event.Accept, Task: tasks[0], Tasks: tasks, Does: "counts " + tasks[0] + " as done, or the task that you name"},
	}
}

// stepChoices returns the choices about the open step. A person can accept the work on a task, but
// not a decision of the Manager.
func stepChoices(step *flow.Step) []Choice {
	all := []Choice{{Word: event.Retry, Does: "has " + step.Task + " tried again, with fresh retries; the next run does it"}}
	if step.IsWork() {
		all = append(all, Choice{Word: event.Accept,
			Does: "counts the work on " + step.Task + " as done; the next run asks the Manager"})
	}
	return all
}

// isOver reports whether the board is over and no step is open.
func (f *Facts) isOver(s *flow.State) bool { return s.Step == nil && f.Board.Terminal }

// end returns the end of a board that is over, as the next run would report it. The result left is
// true if a person has to decide about that end.
func (f *Facts) end(s *flow.State) (end flow.Finish, left bool) {
	if !f.isOver(s) {
		return end, false
	}
	b := f.Board
	b.Rest = s.Rest(f.List)
	end = flow.End(s, b)
	return end, end.Outcome != event.Complete
}

func (f *Facts) endChoices(s *flow.State) []Choice {
	var open []string
	for _, t := range s.Rest(f.List).Open {
		open = append(open, t.Task)
	}
	var all []Choice
	if again := f.again(s); again != "" && !f.Board.Over {
		does := "makes " + again + " current again; the next run goes on with it"
		if len(f.List.Paths) > 1 {
			does += ". With the path of another task it makes that one current"
		}
		tasks := slices.Concat(f.List.Paths, s.StillDropped(f.List))
		all = append(all, Choice{Word: event.Retry, Task: again, Tasks: tasks, Does: does})
	}
	accept := Choice{Word: event.Accept, Tasks: open, Does: "ends the board as it stands"}
	if len(open) > 0 {
		accept.Does += ". With the path of a task it counts that task as done"
	}
	return append(all, accept)
}

// again returns the task that a person most likely wants done again, as the board spells it, or ""
// for none. If a Manager ended the board badly after a task that is still open, the result is that
// task. Otherwise open tasks that were not ok come before other open tasks. A task that is done is
// named only if none is open.
func (f *Facts) again(s *flow.State) string {
	open := s.Rest(f.List).Open
	endedWell := s.Last.Status == "" || s.Last.Status == flow.StatusOK || s.Last.Acknowledged
	last := f.spelled(s.Last.Task)
	if !endedWell && slices.ContainsFunc(open, func(t flow.TaskStatus) bool { return t.Task == last }) {
		return last
	}
	for _, t := range open {
		if t.Status != "" && t.Status != flow.StatusDropped {
			return t.Task
		}
	}
	switch {
	case len(open) > 0 && (endedWell || last == "" || f.List.Find(last) >= 0):
		return open[0].Task
	case endedWell:
		return ""
	default:
		return last
	}
}

// spelled returns a task as the board spells it.
func (f *Facts) spelled(task string) string {
	if task == "" || f.List.Find == nil {
		return task
	}
	if i := f.List.Find(task); i >= 0 {
		return f.List.Paths[i]
	}
	return task
}

package projection

import (
	"fmt"
	"slices"
	"strings"

	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/failure"
	"kanban-run/orchestrator/flow"
)

// Who is who has to act next.
type Who = event.Who

// The values of Who.
const (
	Nobody   = event.Nobody
	Decide   = event.Decide
	Mend     = event.Mend
	RunAgain = event.RunAgain
)

// Question is what a person may decide about a board.
type Question struct {
	About   event.Subject
	Why     string
	Choices []Choice // empty if a person has to mend something

	// IsUnknown is true if it is not known whether a person ended the board. To accept that end is
	// to say that a person did.
	IsUnknown bool
	// Holds is true if no run goes on with the open step before a person has decided.
	Holds bool
	// Lacks has the environment variables that the agent of the open step may have lacked; see
	// event.End.
	Lacks []string

	ended bool // the run ended by what the question asks about
}

// isEnd reports whether the run ended by what the question asks about.
func (q *Question) isEnd() bool { return q != nil && q.ended }

// Choice is a decision that a person can make now.
type Choice struct {
	Word    event.Choice `json:"word"`
	Task    string       `json:"task,omitempty"`  // task of the choice if the command names none; "": the choice is about the board
	Tasks   []string     `json:"tasks,omitempty"` // tasks that the command may name
	Does    string       `json:"does"`            // the effect, in words
	Command string       `json:"command"`         // the command that decides

	isRun bool // a run does it without a decision, so that Command is the run

	was event.Choice // word of earlier versions for it, which is still taken; "": there is none
}

// Offers returns the choice with this word, or with the word of an earlier version for it. It returns nil
// if the word is not valid now.
func (q *Question) Offers(word event.Choice) *Choice {
	if q == nil {
		return nil
	}
	for i, c := range q.Choices {
		if c.Word == word || c.was != "" && c.was == word {
			return &q.Choices[i]
		}
	}
	return nil
}

// Words returns the valid words, such as "retry or accept".
func (b *Board) Words() string {
	var all []string
	for _, c := range b.Choices {
		all = append(all, string(c.Word))
	}
	if n := len(all); n > 2 {
		all = []string{strings.Join(all[:n-1], ", "), all[n-1]}
	}
	return strings.Join(all, " or ")
}

// About returns what the board's question is about, or "" if there is none.
func (b *Board) About() event.Subject {
	if b.question == nil {
		return ""
	}
	return b.question.About
}

// Request returns a line with the command for the decision that the board waits for, and the
// reason. If a person has to mend something, the line tells what that is. Request returns "" if the
// board needs no person.
func (b *Board) Request() string {
	board := failure.Quote(b.Board)
	switch {
	case !b.Who.AsksPerson():
		return ""
	case b.Who == Mend && b.question == nil:
		return b.Headline()
	case len(b.Choices) == 0:
		return "kanban-run inbox " + board + ": " + b.Why()
	case b.WaitsHere():
		return AckHere + ": " + b.Why()
	default:
		return fmt.Sprintf("kanban-run ack %s %s: %s", board, b.Words(), b.Why())
	}
}

// Why returns what a person may decide about, or the reason for the end of the board.
func (b *Board) Why() string {
	if b.question == nil {
		return b.Reason.Said
	}
	return b.question.Why
}

// Besides returns what a person may decide about, if the reason for the end of the board does not say it.
// Otherwise it returns "".
func (b *Board) Besides() string {
	if b.question == nil || b.asks || b.About() == event.AboutQuarantine {
		return ""
	}
	return b.question.Why
}

// Question returns what a person may decide about the board, or nil for nothing. The first case that
// fits counts.
func (f *Facts) Question(h *flow.History) *Question {
	s := &h.State
	freeze := h.Freeze()
	ask := func(about event.Subject, why string, choices ...Choice) *Question {
		return &Question{About: about, Why: event.Plain(why), Choices: choices}
	}
	askOfEnd := func(about event.Subject, choices ...Choice) *Question {
		return &Question{About: about, Why: event.Plain(s.Text), Choices: choices, ended: true}
	}
	switch {
	case f.Queued:
		return nil
	case f.isAtWork(s):
		return f.askAtWork(s)
	case f.Unknown != "":
		unknown := ask(event.AboutFile, f.Unknown, f.fileChoices(s, true)...)
		unknown.IsUnknown = true
		return unknown
	case freeze != nil && freeze.Git != nil:
		return ask(event.AboutWay, freeze.Text, Choice{Word: event.Accept, Does: "has checkpoints go there from now on; or set it back"})
	case freeze != nil:
		frozen := ask(event.AboutFile, freeze.Text, f.fileChoices(s, freeze.Asks)...)
		frozen.IsUnknown = freeze.Asks
		return frozen
	case h.Standstill() != "":
		return ask(event.AboutJournal, h.Standstill(), Choice{Word: event.Accept, Does: "goes on with the state that the sound records give"})
	case s.Supervisor.Waits() != "":
		return ask(event.AboutCheckpoint, s.Supervisor.Waits(),
			Choice{Word: event.Accept, was: event.Override, Does: "goes on in spite of it"},
			Choice{Word: event.Retry, Does: "has it looked at anew; no finished work is done again"})
	case f.waitingTask(s) != nil:
		return askOfEnd(event.AboutChanged, f.waitingChoices(s)...)
	case s.AsksOf && len(f.Asked) > 0:
		return askOfEnd(event.AboutChanged, Choice{Word: event.Accept, Command: AckHere, Does: "lets what was changed count, for all boards of this work tree"})
	case s.AsksOf: // a person has accepted it, or it is back
		return nil
	case len(s.Quarantine) > 0 && !f.hasAsides(s):
		return ask(event.AboutQuarantine, f.whyQuarantined(s), f.quarantineChoices(s)...)
	case len(s.Quarantine) > 0: // there are asides, too; each choice names its own tasks
		return askOfEnd(event.AboutAside, f.asideChoices(s)...)
	case s.Outcome == event.NeedsPerson && s.Clone.IsOver(f.Board.SHA):
		return nil
	case s.Outcome == event.NeedsPerson && s.Clone != nil && s.Clone.Asks != nil:
		return askOfEnd(event.AboutClone, cloneChoices(s)...)
	case s.Outcome == event.NeedsPerson && !s.Spent:
		return askOfEnd(event.AboutRefusal)
	case s.Step.AsksOfTool():
		q := ask(event.AboutStep, event.Headline(s.Step.Unsettled), stepChoices(s.Step)...)
		q.Holds, q.ended = true, s.Outcome == event.NeedsPerson
		return q
	case s.Outcome == event.NeedsPerson && s.Step.AsksOfReview():
		return ask(event.AboutStep, s.Text, reviewChoices(s.Step)...)
	case s.Step != nil && (s.Outcome == event.NeedsPerson || s.Outcome == event.Exhausted):
		q := askOfEnd(event.AboutStep, stepChoices(s.Step)...)
		q.Lacks = s.Step.Lacks
		return q
	case f.hasAsides(s):
		return askOfEnd(event.AboutAside, f.asideChoices(s)...)
	}
	if end, left := f.end(s); left {
		return ask(event.AboutEnd, end.Text, f.endChoices(s)...)
	}
	if s.Landing.Asks() && (s.Outcome == event.Complete || s.LandTried) {
		return ask(event.AboutLand, s.Landing.Said(), landChoices(s.Landing)...)
	}
	if missing := s.Teardown.Unanswered(); len(missing) > 0 && !s.Running {
		return ask(event.AboutTeam, strings.Join(missing, ", ")+" never answered the request to shut down",
			Choice{Word: event.Accept, was: event.ForcedFinalize, Does: "lets the team be deleted without"})
	}
	return nil
}

// IsComplete reports whether the board is over, and nothing of it is undone or to decide, however its last run ended.
func (f *Facts) IsComplete(s *flow.State) bool {
	end, left := f.end(s)
	return f.isOver(s) && !left && end.Outcome == event.Complete
}

// isAtWork reports whether a run is at work. The lock of the board alone does not prove this,
// because a run journals its end before it releases the lock.
func (f *Facts) isAtWork(s *flow.State) bool { return f.Owned && s.Running }

// isRunning is like isAtWork, but true also for a run that has not journaled its begin yet.
func (f *Facts) isRunning(s *flow.State) bool { return f.Owned && (s.Running || s.Outcome == "") }

// askAtWork returns what a person may decide while a run is at work, or nil for nothing.
func (f *Facts) askAtWork(s *flow.State) *Question {
	if step := s.Step; step != nil && step.Consent != nil {
		does := "ends the agent, and starts it again"
		if step.Consent.Decision == event.Replan {
			does = "ends the agent, and has the Manager plan anew"
		}
		why := fmt.Sprintf("%s (%s, step %d): %s", step.CallRole(), step.Task, step.Number, step.Consent.Text)
		return &Question{About: event.AboutConsent, Why: event.Plain(why), Choices: []Choice{
			{Word: event.Choice(event.ConsentRestart), Task: step.Task, Does: does},
			{Word: event.Choice(event.ConsentContinue), Task: step.Task, Does: "leaves the agent alone"}}}
	}
	if len(s.Quarantine) > 0 {
		q := s.Quarantine[0]
		why := "it goes on without " + q.Task + ", which is in quarantine: " + q.Text
		return &Question{About: event.AboutQuarantine, Why: event.Plain(why), Choices: []Choice{release(s, "lets the Manager name it again")}}
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
		Does: "puts the board back " + s.Frozen.Earlier() + ", and keeps this one beside it; the next run goes on"})
}

// release returns the choice that ends the quarantine of a task.
func release(s *flow.State, does string) Choice {
	c := Choice{Word: event.Retry, was: event.ReleaseTasks, Task: s.Quarantine[0].Task, Does: does}
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
		c := release(s, "ends the quarantine; the next run may work on it")
		return []Choice{c, {Word: event.Accept, Task: c.Task, Tasks: c.Tasks, Does: "counts " + c.Task + " as done"}, skipOf(c.Task, c.Tasks)}
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

// AckHere is the command that settles what waits in a work tree.
const AckHere = "kanban-run ack --here accept"

// WaitsHere reports whether the board waits for nothing but what waits in its work tree.
func (b *Board) WaitsHere() bool { return len(b.Choices) > 0 && b.Choices[0].Command == AckHere }

// waitingTask returns the task that waits for a person because it was given to a role with a secret while
// an agent worked, or nil. It is set aside, or has ended the run.
func (f *Facts) waitingTask(s *flow.State) *flow.Changed {
	for i, c := range s.Changed {
		isAside := slices.ContainsFunc(f.asides(s), func(a flow.Aside) bool { return a.Status == flow.StatusChanged && a.Task == c.File })
		if c.By == event.TaskRole && c.Asks && (isAside || s.AsksOf && len(f.Asked) == 0) {
			return &s.Changed[i]
		}
	}
	return nil
}

// waitingChoices returns the choices about tasks that wait for a person.
func (f *Facts) waitingChoices(s *flow.State) []Choice {
	c := f.waitingTask(s)
	all := []Choice{{Word: event.Accept, Does: "has " + c.File + " worked on by " + c.Roles[0] + ", which is handed a secret"}}
	var tasks []string
	for _, a := range f.asides(s) {
		tasks = append(tasks, a.Task)
	}
	if len(tasks) > 0 {
		all = append(all, skipOf(tasks[0], tasks))
	}
	return all
}

// asideChoices returns the choices about tasks that are set aside. The next run tries them again
// anyhow. If other tasks are in quarantine, retry with the path of such a task ends its quarantine.
func (f *Facts) asideChoices(s *flow.State) []Choice {
	var tasks []string
	for _, a := range f.asides(s) {
		tasks = append(tasks, a.Task)
	}
	retry := Choice{Word: event.Retry, was: event.ReleaseTasks, Tasks: slices.Clone(tasks), isRun: len(s.Quarantine) == 0, Does: "has " + them(tasks) + " tried again"}
	for _, q := range s.Quarantine {
		if !slices.Contains(tasks, q.Task) {
			retry.Tasks = append(retry.Tasks, q.Task)
		}
	}
	if len(s.Quarantine) > 0 {
		retry.Does += ". With the path of a task in quarantine it ends that quarantine"
	}
	return []Choice{
		retry,
		skipOf(tasks[0], tasks),
		{Word: event.Accept, Task: tasks[0], Tasks: tasks, Does: "counts " + tasks[0] + " as done, or the task that you name"},
	}
}

func them(tasks []string) string {
	if len(tasks) == 1 {
		return tasks[0]
	}
	return "what is set aside"
}

// stepChoices returns the choices about the open step. A person can accept the work on a task, but
// not a decision of the Manager.
func stepChoices(step *flow.Step) []Choice {
	all := []Choice{{Word: event.Retry, isRun: !step.AsksOfTool(), Does: "has " + step.Task + " tried again, with fresh retries"}}
	if step.IsWork() {
		all = append(all, Choice{Word: event.Accept,
			Does: "counts the work on " + step.Task + " as done; the next run asks the Manager"},
			skipOf(step.Task, []string{step.Task}))
	}
	return all
}

// reviewChoices returns the choices about a review that was not started, because it was changed.
func reviewChoices(step *flow.Step) []Choice {
	return []Choice{
		{Word: event.Retry, Does: "has the command judge the work, as it is now; the next run does it"},
		{Word: event.Accept, Does: "counts the work on " + step.Task + " as done; the next run asks the Manager"},
		skipOf(step.Task, []string{step.Task}),
	}
}

// skipOf returns the choice to go on without a task, or without another one of tasks.
func skipOf(task string, tasks []string) Choice {
	does := "goes on without " + task + ", which stays undone"
	if len(tasks) > 1 {
		does += "; or without the task that you name"
	}
	return Choice{Word: event.Skip, Task: task, Tasks: tasks, Does: does}
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
	var open, listed []string
	for _, t := range s.Rest(f.List).Open {
		if open = append(open, t.Task); t.Status != flow.StatusDropped {
			listed = append(listed, t.Task)
		}
	}
	var all []Choice
	again := f.again(s)
	if again != "" && !f.Board.Over {
		does := "makes " + again + " current; the next run goes on with it"
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
	if len(listed) > 1 {
		accept.Does += ", and the next run goes on"
	}
	if slices.Contains(listed, again) {
		return append(all, accept, skipOf(again, listed))
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

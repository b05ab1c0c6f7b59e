package report

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/health"
	"kanban-run/orchestrator/standing"
)

// Status is the state of a board, for `kanban-run status`.
type Status struct {
	Version    int                 `json:"version"`
	Board      string              `json:"board"`
	Running    bool                `json:"running"` // a run owns the board now
	Outcome    event.Outcome       `json:"outcome,omitempty"`
	Text       string              `json:"text,omitempty"`
	Frozen     bool                `json:"frozen"`
	Steps      int                 `json:"steps"`             // number of finished steps in all runs
	LastStep   int                 `json:"last_step"`         // number of started steps in all runs
	Until      string              `json:"until,omitempty"`   // time to try again, in RFC 3339, if the outcome is "later"
	Used       flow.Tally          `json:"used"`              // use that counts for the limits, without the open attempt's cost
	Total      flow.Tally          `json:"total"`             // use of all runs
	Limits     event.Limits        `json:"limits"`            // limits of the last run
	Session    string              `json:"session,omitempty"` // last session of an agent that worked on a task
	Open       *OpenStep           `json:"open_step,omitempty"`
	Agent      *health.Live        `json:"agent,omitempty"`   // state of the agent at work; at most 1 s old while active
	Consent    string              `json:"consent,omitempty"` // proposal about the agent, if a person has to consent
	Supervisor *Supervisor         `json:"supervisor,omitempty"`
	Quarantine []Quarantine        `json:"quarantine,omitempty"` // tasks that no agent works on
	Unanswered []string            `json:"unanswered,omitempty"` // members of the team that never answered the request to shut down
	Next       string              `json:"next"`                 // first action of a run that would start now
	Journal    string              `json:"journal"`
	Records    uint64              `json:"records"`
	Epoch      uint64              `json:"epoch"` // epoch of the last owner
	Owner      string              `json:"owner,omitempty"`
	Locked     string              `json:"reconcile_lock,omitempty"` // reason for RECONCILE_LOCK, or "" if it is off
	Rollback   *flow.Identity      `json:"rollback_point,omitempty"`
	Tasks      []standing.Task     `json:"tasks"`                // tasks in the order of the board's list
	Waiting    *event.ProviderWait `json:"waiting,omitempty"`    // present wait for a provider
	BlockedBy  string              `json:"blocked_by,omitempty"` // wait for another board's run, in words
	Waits      *standing.Waits     `json:"waits,omitempty"`      // decision that a person has to make
	Decisions  []standing.Decision `json:"decisions,omitempty"`  // last decisions that a person has made
	Unpushed   string              `json:"unpushed,omitempty"`   // why checkpoints have not reached the remote

	standing standing.Standing
}

// OpenStep is a step that was started and is not finished.
type OpenStep struct {
	Step     int        `json:"step"`
	Task     string     `json:"task"`
	Role     string     `json:"role"`
	Call     event.Call `json:"call"`
	Round    int        `json:"round,omitempty"` // round of work and review
	Attempts int        `json:"attempts"`
	Rejected int        `json:"rejected"` // number of rejected replies in this step, in all runs
	Reason   string     `json:"last_reason,omitempty"`
	Since    time.Time  `json:"attempt_started_at,omitzero"` // start of the running attempt, or zero
}

// String describes the step: its number, task and attempts.
func (o OpenStep) String() string {
	player := event.AttemptRef{Call: o.Call, Role: o.Role, Round: o.Round}.Short()
	text := fmt.Sprintf("step %d: %s, %s", o.Step, o.Task, player)
	if o.Attempts != 1 {
		text += ", " + event.Count(o.Attempts, "attempt")
	}
	if o.Rejected > 0 {
		text += fmt.Sprintf(", %d rejected", o.Rejected)
	}
	return text
}

// Quarantine is a task in quarantine.
type Quarantine struct {
	Task string `json:"task"`
	Text string `json:"text"` // reason of the quarantine
}

// NewStatus returns the status of a board with history h. The parameter running is true if a run
// owns the board now. The parameter foreseen is the first action of the next run. The parameter
// refused is the reason why the next run would refuse to start, or nil.
func NewStatus(how standing.Standing, h flow.History, running bool, foreseen flow.Effect, refused error) Status {
	s := h.State
	used, total := s.Known()
	st := Status{
		Version:   FormVersion,
		Board:     how.Board,
		Running:   running,
		Outcome:   how.Outcome,
		Text:      how.Text,
		Frozen:    h.Standstill() != "" && h.StandstillOutcome() == event.Frozen,
		Tasks:     append([]standing.Task{}, how.Tasks...),
		Waits:     how.Waits,
		Decisions: how.Decisions,
		standing:  how,
		Steps:     s.Finished,
		LastStep:  s.LastStep,
		Until:     s.Until,
		Limits:    s.Limits,
		Used:      flow.Tally{Used: used},
		Total:     flow.Tally{Used: total},
		Unpushed:  s.Unpushed,
		Session:   s.Session,
		Next:      describeNext(running, foreseen, refused),
		Epoch:     h.Custody.Epoch,
		Owner:     h.Custody.Owner,
		Locked:    h.Custody.Locked,
	}
	if running {
		st.Waiting, st.BlockedBy = s.Waiting, s.BlockedBy
	}
	st.Supervisor = newSupervisor(s.Supervisor)
	st.Unanswered = s.Teardown.Unanswered()
	for _, q := range s.Quarantine {
		st.Quarantine = append(st.Quarantine, Quarantine{q.Task, q.Text})
	}
	if h.Standstill() != "" && !st.Frozen {
		st.Next = nothingNext + " until you decide (kanban-run ack)"
	}
	if len(h.Points) == 1 {
		st.Rollback = &h.Points[0].Identity
	}
	if step := s.Step; step != nil {
		if step.Consent != nil && running {
			st.Consent = string(step.Consent.Decision) + ": " + step.Consent.Text
		}
		st.Open = &OpenStep{
			Step:     step.Number,
			Task:     step.Task,
			Role:     step.Role,
			Call:     step.Call,
			Round:    step.Round,
			Attempts: step.Started,
			Reason:   step.LastReason,
		}
	}
	return st
}

// Standing returns the standing of the board.
func (s *Status) Standing() *standing.Standing { return &s.standing }

// describeNext describes the first action of the next run.
func describeNext(running bool, e flow.Effect, refused error) string {
	if running {
		return "a run is at work"
	}
	if refused != nil {
		return "a run would refuse: " + refused.Error()
	}
	switch e := e.(type) {
	case flow.Spawn:
		return fmt.Sprintf("step %d: %s%s", e.Step, e.Aim(), e.Again())
	case flow.Walk:
		return fmt.Sprintf("step %d: %s%s", e.Spawn.Step, e.Spawn.Aim(), e.Spawn.Again())
	case flow.Reassign:
		return fmt.Sprintf("step %d: have %s take the work over", e.Step, e.To)
	case flow.SuspectLoop:
		return fmt.Sprintf("put %s into quarantine: %s", e.Task, e.Suspicion)
	case flow.WriteBoard:
		return fmt.Sprintf("step %d: record the Manager's reply on the board", e.Step)
	case flow.Finish:
		return describeFinish(e)
	case flow.GiveUpCheckpoint:
		return "give the supervisor up: " + e.Reason
	case flow.EndBoard:
		return "write onto the board that a checkpoint has ended it"
	default:
		return "unknown"
	}
}

// nothingNext begins the text about a run that would start no agent.
const nothingNext = "nothing"

func describeFinish(e flow.Finish) string {
	if e.Outcome == event.Frozen || e.Outcome == event.NeedsPerson || e.Outcome == event.Incomplete {
		return nothingNext + " until you decide (kanban-run ack), or edit the board"
	}
	return nothingNext + ": " + e.Text
}

// cost returns the cost that counts against the present limits. If the cost of all runs differs, it
// returns that cost too.
func (s Status) cost() string {
	if s.Used.Attempts == 0 && s.Total.Attempts > 0 {
		return "of all runs " + priced(s.Total)
	}
	text := priced(s.Used)
	if s.Total.Used != s.Used.Used {
		text += ", of all runs " + priced(s.Total)
	}
	return text
}

// headline returns the state of the board in one line, and its weight.
func (s Status) headline() (weight event.Weight, words string) {
	switch {
	case s.Running && s.Consent != "":
		return event.Warning,
			fmt.Sprintf("%s waits for your consent: step %d, %s", s.Board, s.LastStep, s.standing.Progress())
	case s.Running && s.Open != nil && s.standing.WaitsFor == "":
		return event.Routine, fmt.Sprintf("%s is at work: step %d, %s", s.Board, s.Open.Step, s.standing.Progress())
	default:
		return s.standing.Weight, s.standing.Headline()
	}
}

// forYou lists what waits for a person: the tasks in quarantine, the reason for a decision, and the
// commands that decide.
func (s Status) forYou() (all []string) {
	w := s.standing.Waits
	for _, q := range s.Quarantine {
		all = append(all, fmt.Sprintf("%s is in quarantine: %s", q.Task, q.Text))
	}
	if w != nil && w.About != event.AboutQuarantine && !strings.Contains(s.standing.Text, w.Why) {
		all = append(all, w.Why)
	}
	if s.Outcome == event.Invalid && s.standing.Advice("") != "" {
		all = append(all, s.standing.Advice(""))
	}
	commands, does := Commands(&s.standing)
	for i, c := range commands {
		all = append(all, c+does[i])
	}
	return all
}

// Commands returns the commands with which a person can decide, padded to the same width, and a
// text for each about its effect.
func Commands(s *standing.Standing) (commands, does []string) {
	commands, does = s.Commands()
	width := 0
	for _, c := range commands {
		width = max(width, runewidth.StringWidth(c))
	}
	for i, c := range commands {
		commands[i] = runewidth.FillRight(c, width+2)
	}
	return commands, does
}

// WriteText writes the status for a person: the state of the board, the open step and its agent,
// the waiting decisions, the next action, the cost, and the tasks. With verbose it adds the
// session, the owner, the journal and the rollback point.
func (s Status) WriteText(out *console.Printer, verbose bool) error {
	weight, words := s.headline()
	errs := []error{out.Printf("%s %s\n\n", coloredSign(weight, false), words)}
	row := func(name, format string, args ...any) {
		errs = append(errs, out.Printf("  %-8s %s\n", name, fmt.Sprintf(format, args...)))
	}
	if s.Open != nil {
		row(map[bool]string{true: "now", false: "open"}[s.Running], "%s", s.Open)
	}
	switch {
	case s.Open == nil:
	case s.Agent == nil && s.Running && !s.Open.Since.IsZero():
		row("", "working %s", event.Elapsed(time.Since(s.Open.Since)))
	case s.Agent != nil:
		for _, text := range describeAgent(*s.Agent, time.Now()) {
			row("", "%s", text)
		}
	}
	for i, text := range s.forYou() {
		row(map[bool]string{true: "for you"}[i == 0], "%s", text)
	}
	if t := s.standing.Said(); t != nil {
		row("said", "%s: %s", t.Task, event.Brief(t.Said))
	}
	for _, d := range s.standing.Decisions {
		row("decided", "%s: %s", d.Time.Local().Format("2006-01-02 15:04:05"), d.Text)
	}
	if !s.Running && !strings.HasPrefix(s.Next, nothingNext) {
		row("next", "%s", s.Next)
	}
	if s.Unpushed != "" {
		row("unpushed", "checkpoints have not reached the remote: %s", s.Unpushed)
	}
	row("cost", "%s", s.cost())
	if limits := s.Limits.String(); limits != "" {
		row("limits", "%s", limits)
	}
	row("steps", "%d; agents worked %s", s.Steps, event.Took(s.Total.Millis))
	if s.Supervisor != nil {
		row("checked", "%s", *s.Supervisor)
	}
	if verbose {
		if s.Session != "" {
			row("session", "%s", s.Session)
		}
		row("owner", "%s, epoch %d", s.Owner, s.Epoch)
		row("journal", "%s (%d records)", s.Journal, s.Records)
		if p := s.Rollback; p != nil {
			row("rollback", "to record %d of epoch %d, snapshot %.12s", p.ReplayIndex, p.Epoch, p.Hash)
		}
	}
	if len(s.Tasks) > 0 {
		errs = append(errs, out.Printf("\n"))
	}
	return errors.Join(errors.Join(errs...), writeTasks(out, s.Tasks))
}

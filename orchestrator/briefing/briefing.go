// Package briefing makes the inputs of a resident supervisor: at its start the history of the board
// so far, and at each checkpoint the news. It keeps the supervisor's own files in the folder of the
// board's runs.
package briefing

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/rundir"
	"kanban-run/roles"
)

// The greatest numbers of states and of messages in a briefing.
const (
	mostStates   = 200
	mostMessages = 30 // seed 001, "Step 3: Incremental Context Load"
)

// Briefing collects the inputs of a supervisor from the records of a board. Only one goroutine may
// use it.
type Briefing struct {
	Dir      rundir.Dir
	Place    *board.Place
	Redactor *redact.Redactor

	states   []state   // states of the last mostStates finished steps
	messages []message // the last mostMessages messages
	heard    uint64    // number of the last record that the supervisor was told of
	finished map[string]bool
	handed   map[string]bool // files that the supervisor was told to read, unchanged since then

	reply     contract.RoleState // the reply to the open step's task, as a state; zero: none yet
	open      *event.Checkpoint  // the open checkpoint
	told, due int                // last state that the supervisor knows; last state in its input
	wise      map[string]int     // length in bytes of each file of wisdom/ in the present input
	notes     []string           // see Notes
	leftOut   []string           // files that the present input leaves out
}

type state struct {
	number int // number among all finished steps, from 1
	contract.RoleState
}

type message struct {
	seq  uint64
	text string
}

// New returns an empty briefing.
func New(dir rundir.Dir, place *board.Place, r *redact.Redactor) *Briefing {
	return &Briefing{
		Dir:      dir,
		Place:    place,
		Redactor: r,
		finished: map[string]bool{},
		handed:   map[string]bool{},
		wise:     map[string]int{},
	}
}

// Add takes a record of the board into account.
func (b *Briefing) Add(e event.Entry) {
	switch ev := e.Event.(type) {
	case event.StepStarted:
		b.reply, b.open = contract.RoleState{}, ev.Checkpoint
		if ev.Call.IsSupervision() {
			b.due = b.count()
		}
	case event.ReplyAccepted:
		b.accept(ev)
	case event.StepFinished:
		if b.finish(ev); ev.Ended() != "" && b.reply.Task == "" {
			b.tell(e.Seq, fmt.Sprintf("step %d (%s): %s", ev.Step, ev.Task, ev.Ended()))
		}
	case event.CheckpointHeld, event.SupervisorFailed:
		b.hold(e.Seq)
	}
	if text := describe(e.Event); text != "" {
		b.tell(e.Seq, text)
	}
}

// tell adds a message for the supervisor.
func (b *Briefing) tell(seq uint64, text string) {
	b.messages = append(b.messages, message{seq, clip(text)})
	b.messages = b.messages[max(0, len(b.messages)-mostMessages):]
}

func (b *Briefing) accept(e event.ReplyAccepted) {
	switch e.Call {
	case event.TaskCall:
		b.reply = contract.RoleState{Task: e.Task, Role: e.Role, Status: e.Status, Message: clip(e.Message)}
	case event.ReadyCall:
		// The input of this call has all finished steps, but no messages and no names of task
		// files.
		b.told, b.handed = b.due, map[string]bool{}
	}
}

func (b *Briefing) finish(e event.StepFinished) {
	if b.reply.Task == "" {
		return
	}
	s := b.reply
	s.Status, s.Decision = cmp.Or(e.Status, s.Status), clip(e.Message)
	if e.Manager != "ok" {
		s.Decision = e.Manager + ": " + s.Decision
	}
	if s.Status == "ok" {
		b.finished[path.Clean(s.Task)] = true
	}
	delete(b.handed, path.Clean(s.Task))
	b.states = append(b.states, state{b.count() + 1, s})
	b.states = b.states[max(0, len(b.states)-mostStates):]
}

// count returns the number of finished steps.
func (b *Briefing) count() int {
	if len(b.states) == 0 {
		return 0
	}
	return b.states[len(b.states)-1].number
}

// hold treats the whole input for the open checkpoint as known to the supervisor.
func (b *Briefing) hold(seq uint64) {
	b.told, b.heard = b.due, seq
	if b.open == nil {
		return
	}
	for _, task := range b.open.Scope {
		b.handed[path.Clean(task)] = true
	}
}

// maxText bounds an agent's message in an input, in bytes.
const maxText = 2 << 10

func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}

// describe returns the message for the supervisor about an event, or "" if the supervisor gets no
// message about the event.
func describe(e event.Event) string {
	if _, own := event.CheckpointOf(e); own {
		return "" // the supervisor itself caused this event
	}
	s := e.Sentence()
	switch e := e.(type) {
	case event.ReplyAccepted, event.ManagerWalked:
		return "" // Briefing.states has this event
	case event.SupervisorLost, event.SupervisorDismissed, event.BoardEnded:
		return "" // the supervisor itself caused this event, too
	case event.Acknowledged:
		return "the Lead: " + s.Text
	case event.ReviewHeld:
		s = e.Whole()
	}
	switch {
	case s.Step != 0 && s.Weight >= event.Note:
		return fmt.Sprintf("step %d (%s): %s", s.Step, e.Subject(), s.Text)
	case s.Weight >= event.Warning:
		return s.Text
	default:
		return ""
	}
}

// About holds the present facts about a board and its supervisor.
type About struct {
	Board       string
	RoleSpec    string
	Requirement string
	Tasks       []string // tasks of the board as it is now
	Done        []bool   // for each of Tasks, whether the board marks it as done
	Supervisor  *flow.Supervisor
}

// Ready returns the input of a supervisor at its start. If the supervisor has been ready before, or
// its memory is InReports, the input has the reports of its earlier checkpoints.
func (b *Briefing) Ready(a About) contract.ReadyInput {
	in := contract.ReadyInput{
		RoleSpec:    a.RoleSpec,
		Session:     b.Dir.Path,
		SessionID:   b.Dir.BoardFile(),
		TeamName:    a.Board,
		Requirement: a.Requirement,
		Recovery:    a.Supervisor.Recovers(),
		Baseline:    contract.Baseline{Wisdom: b.wisdom(a.Supervisor, nil), TeamSession: b.Dir.TeamSession()},
	}
	for _, s := range b.states {
		in.Baseline.States = append(in.Baseline.States, s.RoleState)
	}
	if a.Supervisor.Started || a.Supervisor.Memory == event.InReports {
		in.Reports = b.reports(a.Supervisor)
	}
	return in
}

// Checkpoint returns the input for a supervisor that is woken for the checkpoint c.
func (b *Briefing) Checkpoint(a About, c event.Checkpoint) contract.CheckpointInput {
	in := contract.CheckpointInput{ID: c.ID, Scope: c.Scope, Progress: b.progress(a)}
	all := a.Supervisor.Memory == event.InReports
	for _, s := range b.states {
		if all || s.number > b.told {
			in.States = append(in.States, s.RoleState)
		}
	}
	if c.Again != "" {
		in.Messages = append(in.Messages, c.Again+" did not let the work go on like this, "+
			"and a person has mended something since: look at all of its scope again")
	}
	for _, m := range b.messages {
		if all || m.seq > b.heard {
			in.Messages = append(in.Messages, b.Redactor.String(m.text))
		}
	}
	for _, task := range c.Scope {
		switch _, err := b.Place.ReadText(task); {
		case err != nil:
			in.Missing = append(in.Missing, task)
		case all || c.Again != "" || !b.handed[path.Clean(task)]:
			in.Artifacts = append(in.Artifacts, task)
		}
	}
	if all {
		init := b.Ready(a)
		in.Messages = append(in.Messages, b.leftOut...)
		init.Baseline.States = nil
		in.Init = &init
		return in
	}
	in.Wisdom = b.wisdom(a.Supervisor, b.loadSession().Told)
	in.Messages = append(in.Messages, b.leftOut...)
	return in
}

// progress returns seed 001's "M/N tasks completed".
func (b *Briefing) progress(a About) string {
	done := 0
	for i, task := range a.Tasks {
		if b.finished[path.Clean(task)] || i < len(a.Done) && a.Done[i] {
			done++
		}
	}
	return fmt.Sprintf("%d/%s completed", done, event.Count(len(a.Tasks), "task"))
}

// session is the content of team-session.json: seed 001, "Step 2: Load Baseline Context".
type session struct {
	SessionID   string            `json:"session_id"`
	TeamName    string            `json:"team_name"`
	Mode        string            `json:"mode"`
	Stages      []string          `json:"stages"` // at most mostStages tasks, in the board's order
	Checkpoints event.Supervision `json:"checkpoints"`
	Held        []flow.Held       `json:"held"`

	// Told is the number of bytes that the supervisor knows of each file in wisdom/.
	Told map[string]int `json:"wisdom_told"`
}

const mostStages = 1000

// SaveSession writes team-session.json. If told is true, the supervisor now knows the texts of
// wisdom/ that its last input had.
func (b *Briefing) SaveSession(a About, told bool) error {
	s := session{
		SessionID:   b.Dir.BoardFile(),
		TeamName:    a.Board,
		Mode:        "sequential",
		Stages:      a.Tasks[:min(len(a.Tasks), mostStages)],
		Checkpoints: a.Supervisor.Plan,
		Held:        a.Supervisor.Held,
		Told:        b.loadSession().Told,
	}
	if told {
		s.Told = b.wise
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return rundir.ReplaceFile(b.Dir.TeamSession(), append(data, '\n'))
}

// SaveRoleSpec writes the text of the supervisor's role, as the run began with it, to a file that the
// supervisor can read, and returns the path of the file. Source: seed 001, "Load Role Spec".
func (b *Briefing) SaveRoleSpec(role roles.Role) (string, error) {
	text, err := role.Source()
	if err != nil {
		return "", err
	}
	return b.Dir.RoleSpec(), rundir.ReplaceFile(b.Dir.RoleSpec(), text)
}

// loadSession reads team-session.json. If the file is lost, it returns the zero value, so that the
// supervisor gets all of wisdom/ again.
func (b *Briefing) loadSession() (s session) {
	if data, err := rundir.ReadFile(b.Dir.TeamSession()); err == nil {
		_ = json.Unmarshal(data, &s)
	}
	return s
}

// wisdom returns the texts of wisdom/*.md without the parts that the supervisor knows. The
// supervisor knows the beginning of some files. The map in the parameter "told" has the length of
// each such beginning in bytes. The whole text is redacted before it is cut, because the redactor
// would not recognise a part of a secret. What agents have appended is told as theirs. A file whose
// beginning was changed since the last checkpoint is left out, and so is what was added to the
// supervisor's own notes.
func (b *Briefing) wisdom(v *flow.Supervisor, told map[string]int) (files []contract.TextFile) {
	b.wise, b.notes, b.leftOut = map[string]int{}, nil, nil
	b.noteRemoved(v)
	for _, name := range rundir.MarkdownFiles(b.Dir.Wisdom()) {
		data, err := rundir.ReadFile(filepath.Join(b.Dir.Wisdom(), name))
		p := path.Join("wisdom", name)
		if err != nil {
			continue
		}
		own, ok := b.own(v, p, data)
		if isNotes := name == ownNotes; !ok || isNotes && own < len(data) {
			b.leaveOut(p + " was changed outside of a checkpoint, and that is left out")
			data = data[:own]
		}
		b.wise[p] = len(data)
		text, known := b.Redactor.String(string(data)), ""
		n := told[p]
		if n > len(data) {
			n = 0
		}
		if own > 0 { // an agent may have written how much was told
			n = min(n, own)
		}
		if n > 0 {
			known = b.Redactor.String(string(data[:n]))
		}
		first := strings.TrimPrefix(b.Redactor.String(string(data[:own])), known)
		if text = strings.TrimPrefix(text, known); text != first && strings.HasPrefix(text, first) {
			b.note(p + " was changed by " + b.authors() + ", and the supervisor is told so")
			text = first + "[written by " + b.authors() + ", not by the supervisor or a person:]\n" + text[len(first):]
		}
		if text != "" {
			files = append(files, contract.TextFile{Path: p, Text: text})
		}
	}
	return files
}

// reports returns the reports of the held checkpoints. In place of a report that cannot be read, it
// returns a text with the checkpoint's verdict.
func (b *Briefing) reports(v *flow.Supervisor) (files []contract.TextFile) {
	for _, h := range v.Held {
		if h.Report == "" {
			continue
		}
		text := fmt.Sprintf("The report is missing. Its verdict was %s (score: %.2f).", h.Verdict, h.Score)
		name := ReportName(h.ID)
		data, err := b.readReport(h)
		switch {
		case err != nil:
		case h.SHA != "" && h.SHA != board.SHA(data):
			b.leaveOut(name + " was changed outside of a checkpoint, and that is left out")
			text = fmt.Sprintf("The report was changed by somebody else. Its verdict was %s (score: %.2f).", h.Verdict, h.Score)
		default:
			text = b.Redactor.String(string(data))
		}
		files = append(files, contract.TextFile{Path: h.Report, Text: text})
	}
	return files
}

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
	"slices"
	"strings"

	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/flow"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/rundir"
	"kanban-run/roles"
)

// The greatest numbers of steps and of messages that a supervisor is told of.
const (
	mostSteps    = 200
	mostMessages = 30 // seed 001, "Step 3: Incremental Context Load"
)

// Briefing collects the inputs of a supervisor from the records of a board. Only one goroutine may
// use it.
type Briefing struct {
	Dir      rundir.Dir
	Place    *board.Place
	Redactor *redact.Redactor

	fold     projection.Fold
	messages []message       // the last mostMessages messages
	told     int             // number of the last step that the supervisor knows, see number
	heard    uint64          // number of the last record that the supervisor was told of
	handed   map[string]bool // files that the supervisor was told to read, unchanged since then

	wise    map[string]int // length in bytes of each file of wisdom/ in the present input
	notes   []string       // see Notes
	leftOut []string       // files that the present input leaves out
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
		fold:     projection.Fold{Keep: projection.Keep{Steps: mostSteps}},
		handed:   map[string]bool{},
		wise:     map[string]int{},
	}
}

// Add takes a record of the board into account.
func (b *Briefing) Add(e event.Entry) {
	b.fold.Add(e)
	s := b.fold.LastStep()
	_, looked := event.CheckpointOf(e.Event)
	switch a := b.fold.LastAttempt(); {
	case looked && a != nil && s.Checkpoint != nil && a.Result == projection.Accepted:
		b.told, b.heard = b.number(), e.Seq
		for _, task := range s.Checkpoint.Scope {
			b.handed[path.Clean(task)] = true
		}
	case a != nil && a.Call == event.ReadyCall && a.Result == projection.Accepted:
		// The input of this call has all finished steps, but no messages and no names of task files.
		b.told, b.handed = b.number(), map[string]bool{}
	}
	closes := e.Event.Sentence().Edge == event.ClosesStep
	_, hasState := stateOf(s)
	if closes && hasState {
		delete(b.handed, path.Clean(s.Task))
	}
	if text := event.ToSupervisor(e.Event); text != "" && !(closes && hasState) {
		b.messages = append(b.messages, message{e.Seq, clip(text)})
		b.messages = b.messages[max(0, len(b.messages)-mostMessages):]
	}
}

// number returns the number of the last step among all steps, counted from 1.
func (b *Briefing) number() int { return b.fold.Earlier + len(b.fold.Steps) }

// states returns the states of the finished steps whose numbers are greater than the one given.
func (b *Briefing) states(after int) (all []contract.RoleState) {
	for i := range b.fold.Steps {
		s := &b.fold.Steps[i]
		if state, ok := stateOf(s); ok && s.State == projection.StepDone && b.fold.Earlier+i+1 > after {
			all = append(all, state)
		}
	}
	return all
}

// stateOf returns what the task's agent of a step replied, and what was decided about it. It returns
// false if no such agent has replied.
func stateOf(s *projection.Step) (contract.RoleState, bool) {
	if s == nil {
		return contract.RoleState{}, false
	}
	for _, a := range slices.Backward(s.Attempts) {
		if a.Call != event.TaskCall || a.Result != projection.Accepted {
			continue
		}
		state := contract.RoleState{Task: s.Task, Role: a.Role, Status: cmp.Or(s.Status, a.Status),
			Message: clip(a.Message), Decision: clip(s.Message)}
		if s.Manager != "ok" {
			state.Decision = s.Manager + ": " + state.Decision
		}
		return state, true
	}
	return contract.RoleState{}, false
}

// maxText bounds an agent's message in an input, in bytes.
const maxText = 2 << 10

func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}

// About holds the present facts about a board and its supervisor.
type About struct {
	Board       string
	RoleSpec    string
	Requirement string
	Tasks       []string // tasks of the board as it is now
	Done        []bool   // for each of Tasks, whether it is done
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
		Baseline:    contract.Baseline{States: b.states(0), Wisdom: b.wisdom(a.Supervisor, nil), TeamSession: b.Dir.TeamSession()},
	}
	if a.Supervisor.Started || a.Supervisor.Memory == event.InReports {
		in.Reports = b.reports(a.Supervisor)
	}
	return in
}

// Checkpoint returns the input for a supervisor that is woken for the checkpoint c.
func (b *Briefing) Checkpoint(a About, c event.Checkpoint) contract.CheckpointInput {
	all, told := a.Supervisor.Memory == event.InReports, b.told
	if all {
		told = 0
	}
	in := contract.CheckpointInput{ID: c.ID, Scope: c.Scope, Progress: a.progress(), States: b.states(told)}
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
func (a About) progress() string {
	done := 0
	for _, isDone := range a.Done {
		if isDone {
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

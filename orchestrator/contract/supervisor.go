package contract

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"kanban-run/orchestrator/event"
)

// ReadyInput is the input of a resident supervisor at its start: seed 001, "Prompt Input Parsing"
// and "Init Phase".
type ReadyInput struct {
	Type        string     `json:"type"`        // init
	Role        string     `json:"role"`        // supervisor
	RoleSpec    string     `json:"role_spec"`   // path of the file with the supervisor's prompt
	Session     string     `json:"session"`     // path of the folder of the board's runs
	SessionID   string     `json:"session_id"`  // the name of that folder
	TeamName    string     `json:"team_name"`   // the board
	Requirement string     `json:"requirement"` // purpose of the work
	Recovery    bool       `json:"recovery"`    // the supervisor's program or session was lost
	Baseline    Baseline   `json:"baseline"`    // the history of the board so far
	Reports     []TextFile `json:"reports"`     // reports of earlier checkpoints if there were any
}

// Baseline is the history of the board before a supervisor starts.
type Baseline struct {
	States      []RoleState `json:"states"`
	Wisdom      []TextFile  `json:"wisdom"`
	TeamSession string      `json:"team_session"` // path of team-session.json
}

// RoleState is the result of a finished step.
type RoleState struct {
	Task     string `json:"task"`
	Role     string `json:"role"`
	Status   string `json:"status"`
	Message  string `json:"message"`
	Decision string `json:"decision,omitempty"` // Manager's message; "STATUS: MESSAGE" if STATUS is not ok
}

// TextFile is a file in the folder of the board's runs, with its whole text or only the added part.
type TextFile struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// CheckpointInput is the input that wakes a supervisor: seed 001, "Step 3: Incremental Context
// Load". If Init is nil, the input has only the news since the supervisor's last checkpoint.
type CheckpointInput struct {
	Type      string      `json:"type"` // checkpoint_request
	ID        string      `json:"task_id"`
	Scope     []string    `json:"scope"`
	Progress  string      `json:"pipeline_progress"` // "3/10 tasks completed"
	States    []RoleState `json:"states"`
	Messages  []string    `json:"messages"`
	Artifacts []string    `json:"artifacts"` // task files in Scope that are still to be read
	Missing   []string    `json:"missing"`   // task files in Scope that cannot be read
	Wisdom    []TextFile  `json:"wisdom"`
	Text      string      `json:"text,omitempty"` // the other fields as Markdown; "" if Init is set
	Init      *ReadyInput `json:"init,omitempty"` // input of the start, only for a supervisor without memory
}

// ForReady returns the input of a supervisor that starts.
func ForReady(in ReadyInput) (Input, error) {
	in.complete()
	text, err := json.Marshal(in)
	return Input{JSON: text}, err
}

// complete sets the constant fields, and empty lists in place of nil.
func (in *ReadyInput) complete() {
	in.Type, in.Role = "init", "supervisor"
	in.Baseline.States, in.Baseline.Wisdom = notNil(in.Baseline.States), notNil(in.Baseline.Wisdom)
	in.Reports = notNil(in.Reports)
}

// ForCheckpoint returns the input of a supervisor that is woken. A supervisor that goes on in its
// tool's session gets only text.
func ForCheckpoint(in CheckpointInput, inSession bool) (Input, error) {
	in.Type = "checkpoint_request"
	in.Scope, in.States, in.Messages = notNil(in.Scope), notNil(in.States), notNil(in.Messages)
	in.Artifacts, in.Missing, in.Wisdom = notNil(in.Artifacts), notNil(in.Missing), notNil(in.Wisdom)
	switch {
	case inSession:
		return Input{Text: in.markdown()}, nil
	case in.Init == nil:
		in.Text = in.markdown()
	default:
		in.Init.complete()
	}
	text, err := json.Marshal(in)
	return Input{JSON: text}, err
}

// notNil returns the list, or an empty list if it is nil, because JSON would write nil as null.
func notNil[E any](list []E) []E {
	if list == nil {
		return []E{}
	}
	return list
}

// markdown returns seed 001's "Checkpoint Request", and then the news.
func (in CheckpointInput) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Checkpoint Request\ntask_id: %s\nscope: [%s]\npipeline_progress: %s\n",
		in.ID, strings.Join(in.Scope, ", "), in.Progress)
	fmt.Fprintf(&b, "\n### Finished since the last checkpoint\n\n")
	for _, s := range in.States {
		fmt.Fprintf(&b, "- %s by %s: %s: %s\n", s.Task, s.Role, s.Status, event.OneLine(s.Message))
		if s.Decision != "" {
			fmt.Fprintf(&b, "  Manager: %s\n", event.OneLine(s.Decision))
		}
	}
	none(&b, len(in.States))
	fmt.Fprintf(&b, "\n### Messages of the run since then\n\n")
	for _, m := range in.Messages {
		fmt.Fprintf(&b, "- %s\n", event.OneLine(m))
	}
	if len(in.Messages) == 0 {
		b.WriteString("no messages to analyze\n")
	}
	fmt.Fprintf(&b, "\n### Read these, you have not read them yet\n\n")
	for _, p := range in.Artifacts {
		fmt.Fprintf(&b, "- %s\n", p)
	}
	none(&b, len(in.Artifacts))
	if len(in.Missing) > 0 {
		fmt.Fprintf(&b, "\n### Missing: score these as warn, and name them\n\n- %s\n", strings.Join(in.Missing, "\n- "))
	}
	for _, w := range in.Wisdom {
		fmt.Fprintf(&b, "\n### New in %s\n\n%s\n", w.Path, strings.TrimSpace(w.Text))
	}
	b.WriteString("\nCheck this as your role says, and reply with your verdict. Change no file.")
	return b.String()
}

func none(b *strings.Builder, n int) {
	if n == 0 {
		b.WriteString("none\n")
	}
}

// SupervisorReply is the part of a supervisor's reply that no other agent's reply has.
type SupervisorReply struct {
	Type      string   `json:"type"` // ready, checkpoint_reply or error
	Message   string   `json:"message"`
	ID        string   `json:"task_id"`
	Verdict   string   `json:"verdict"`
	Score     float64  `json:"score"`
	Findings  []string `json:"key_findings"`
	Decisions []string `json:"decisions"`
	Risks     []string `json:"risks"`
	Trend     string   `json:"quality_trend"`
	Read      []string `json:"artifacts_read"`
	Report    string   `json:"report"`
	Wisdom    string   `json:"wisdom"`
}

// Failed reports whether the supervisor reports an error of its own.
func (r *SupervisorReply) Failed() bool { return r.Type == "error" }

// maxWhole is the greatest length of the reply of a supervisor or a judge, in bytes. People read
// these replies.
const maxWhole = 1 << 20

// parseWhole checks the format of a supervisor's or a judge's reply, and never its content. It
// decodes the whole reply, with all lists and objects.
func parseWhole(k Kind, text string) (*Reply, *Failure) {
	if len(text) > maxWhole {
		return nil, Failed("the reply is larger than 1 MiB")
	}
	o, failure := readObject(text, replyKeys(k))
	if failure == nil {
		failure = checkKeys(k, o.members)
	}
	if failure != nil {
		return nil, failure
	}
	var value map[string]any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return nil, Failed("the reply cannot be decoded: %v", err)
	}
	if failure := checkSchema(k, value); failure != nil {
		return nil, failure
	}
	reply, failure := decodeWhole(k, text)
	if failure == nil {
		reply.Warning = o.warning
	}
	return reply, failure
}

func decodeWhole(k Kind, text string) (*Reply, *Failure) {
	if k == Judge {
		return decodeJudge(text)
	}
	var r SupervisorReply
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return nil, Failed("the reply cannot be decoded: %v", err)
	}
	if r.Failed() && strings.TrimSpace(r.Message) == "" {
		return nil, Failed("an error needs a message")
	}
	r.Score = math.Abs(r.Score) // turns -0 into 0
	return &Reply{Status: OK, Message: r.Message, Checkpoint: &r}, nil
}

// FormatReport returns the report of a checkpoint: the verdict, and below it the supervisor's own
// text.
func (r *SupervisorReply) FormatReport(id string, scope, missing []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s (score: %.2f)\n\n", id, r.Verdict, r.Score)
	fmt.Fprintf(&b, "- Scope: %s\n- Quality trend: %s\n", strings.Join(scope, ", "), event.OneLine(r.Trend))
	if len(missing) > 0 {
		fmt.Fprintf(&b, "- Missing: %s\n", strings.Join(missing, ", "))
	}
	for _, part := range []struct {
		title string
		lines []string
	}{{"Key findings", r.Findings}, {"Decisions", r.Decisions}, {"Risks", r.Risks}, {"Artifacts read", r.Read}} {
		if len(part.lines) > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n- %s\n", part.title, strings.Join(allOneLine(part.lines), "\n- "))
		}
	}
	if text := strings.TrimSpace(r.Report); text != "" {
		fmt.Fprintf(&b, "\n## Report\n\n%s\n", text)
	}
	return b.String()
}

func allOneLine(texts []string) []string {
	lines := make([]string, len(texts))
	for i, t := range texts {
		lines[i] = event.OneLine(t)
	}
	return lines
}

// supervisorKeys returns the keys that the schema of a supervisor's reply names.
func supervisorKeys(k Kind) []string {
	if k == Ready {
		return []string{"type", "message"}
	}
	return []string{
		"type", "message", "task_id", "verdict", "score", "key_findings", "decisions", "risks",
		"quality_trend", "artifacts_read", "report", "wisdom",
	}
}

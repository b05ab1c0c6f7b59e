package stub

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"kanban-run/orchestrator/review"
)

// call is one call of a stub agent.
type call struct {
	dir            string     // work directory
	tasks          *taskCache // nil for a stub in a process of its own
	role           string
	kind           string // one of the constants callTask to callCheckpoint
	input          input
	rule           rule
	reviewed       bool // the work is reviewed in its session
	stdout, stderr io.Writer
}

// input holds the fields of every input that an agent may get. Source: seed 004, "Input
// Specification (Supervisor → Agent)".
type input struct {
	Instruction *string  `json:"instruction"`
	TaskFile    *string  `json:"task_file"`
	KanbanFile  string   `json:"kanban_file"`
	DoneTask    *string  `json:"done_task"`
	Tasks       []string `json:"tasks"`
	Type        string   `json:"type"`    // type of a message to a supervisor
	Checkpoint  string   `json:"task_id"` // the task of a checkpoint_request
}

func (in input) task() string {
	for _, p := range []*string{in.DoneTask, in.TaskFile} {
		if p != nil {
			return *p
		}
	}
	return in.Checkpoint
}

// Main plays a stub agent: it reads the input from stdin, and prints a reply to stdout or
// misbehaves by a rule. It returns the exit status. Status 2 means a wrong command line, input or
// file of rules.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &call{dir: ".", stdout: stdout, stderr: stderr}
	return c.play(args, stdin)
}

// play is like Main. If c.dir is not the current directory, the path of the board in the input has to
// be absolute.
func (c *call) play(args []string, stdin io.Reader) int {
	flags := flag.NewFlagSet(Command, flag.ContinueOnError)
	flags.SetOutput(c.stderr)
	role := flags.String("role", "", "the `role` to play")
	file := flags.String("file", "", "`file` with rules")
	state := flags.String("state", "", "`folder` in which calls are counted")
	kind := flags.String("call", callTask, "the `call` of a session that goes on")
	reviewed := flags.Bool("reviewed", false, "name a session, and accept the work in a review")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	c.role, c.kind, c.reviewed = *role, *kind, *reviewed
	if err := c.prepare(stdin, *file, *state); err != nil {
		fmt.Fprintf(c.stderr, "%s: %v\n", Command, err)
		return 2
	}
	if err := c.act(); err != nil {
		fmt.Fprintf(c.stderr, "%s: %v\n", Command, err)
		return 1
	}
	return 0
}

func (c *call) prepare(stdin io.Reader, file, state string) error {
	raw, err := io.ReadAll(stdin)
	if err != nil {
		return fmt.Errorf("read the input: %w", err)
	}
	if err := json.Unmarshal(raw, &c.input); err != nil {
		return fmt.Errorf("decode the input: %w", err)
	}
	if c.input.Instruction == nil && c.input.TaskFile == nil && c.input.DoneTask == nil && c.input.Type == "" {
		return errors.New("the input names no task and no instruction")
	}
	switch c.input.Type {
	case "init":
		c.kind = callReady
	case "checkpoint_request":
		c.kind = callCheckpoint
	}
	rules, err := loadRules(file)
	if err != nil {
		return fmt.Errorf("read rules: %w", err)
	}
	attempt := 1
	if slices.ContainsFunc(rules, func(r rule) bool { return r.Attempt != nil }) {
		if attempt, err = countCall(state, c.role, raw); err != nil {
			return fmt.Errorf("count calls: %w", err)
		}
	}
	if i := slices.IndexFunc(rules, func(r rule) bool { return r.matches(c, attempt) }); i >= 0 {
		c.rule = rules[i]
	}
	return nil
}

// told returns what the stub reports beside its reply. Work that is reviewed has a session, unless
// the rule demands that the session is lost.
func (c *call) told() *extras {
	told := c.rule.Tell
	if !c.reviewed || told != nil && (told.Session != "" || told.Lost) {
		return told
	}
	named := extras{Untold: true}
	if told != nil {
		named = *told
	}
	named.Session = "stub"
	return &named
}

// reply returns the reply of a well-behaved agent, with the fields that the rule sets.
func (c *call) reply() ([]byte, error) {
	status, message := cmp.Or(c.rule.Status, "ok"), fmt.Sprintf("stub %s: %s", c.role, c.subject())
	if c.reviewed && c.kind == callReview && c.rule.Status == "" && c.rule.Tell == nil {
		message = review.Completed
	}
	if c.rule.Message != nil {
		message = *c.rule.Message
	}
	if c.kind == callReady || c.kind == callCheckpoint {
		return c.supervise(message)
	}
	if c.input.DoneTask == nil {
		return encode(struct {
			Status  string  `json:"status"`
			Message string  `json:"message"`
			Told    *extras `json:"told,omitempty"`
		}{status, message, c.told()})
	}
	next, tasks := c.nextTask(), c.input.Tasks
	if c.rule.Tasks != nil {
		tasks = *c.rule.Tasks
	}
	if tasks == nil {
		tasks = []string{}
	}
	return encode(struct {
		Status   string   `json:"status"`
		Message  string   `json:"message"`
		NextTask *string  `json:"next_task"`
		Tasks    []string `json:"tasks"`
		Told     *extras  `json:"told,omitempty"`
	}{status, message, next, tasks, c.rule.Tell})
}

// supervise returns the reply of a resident supervisor. The supervisor accepts the work unless the
// rule demands another verdict.
func (c *call) supervise(message string) ([]byte, error) {
	if c.rule.Status == "error" {
		return encode(map[string]any{"type": "error", "message": message, "told": c.rule.Tell})
	}
	if c.kind == callReady {
		told := c.rule.Tell
		if told == nil {
			told = &extras{Session: "stub", Untold: true}
		}
		return encode(map[string]any{"type": "ready", "message": message, "told": told})
	}
	return encode(map[string]any{
		"type":           "checkpoint_reply",
		"verdict":        cmp.Or(c.rule.Verdict, "pass"),
		"score":          1,
		"key_findings":   []string{message},
		"decisions":      []string{},
		"risks":          []string{},
		"quality_trend":  "stable",
		"artifacts_read": []string{},
		"told":           c.rule.Tell,
	})
}

func (c *call) subject() string {
	switch {
	case c.kind == callReady:
		return "ready"
	case c.input.Checkpoint != "":
		return c.input.Checkpoint
	case c.input.DoneTask != nil:
		return *c.input.DoneTask + " is done"
	case c.input.TaskFile != nil:
		return *c.input.TaskFile
	case c.kind == callCheckpoint:
		return "a checkpoint"
	default:
		return *c.input.Instruction
	}
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

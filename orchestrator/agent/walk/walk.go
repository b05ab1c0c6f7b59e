// Package walk is the Manager without a model: it marks the finished task as done and names
// the next one of the list.
package walk

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/board"
	"kanban-run/orchestrator/contract"
)

// Command is the hidden subcommand of kanban-run that plays this Manager; see [Main].
const Command = "walk-manager"

// New is the adapter. executable is kanban-run's own path.
func New(executable string) agent.Adapter { return adapter{executable} }

type adapter struct{ executable string }

func (adapter) Name() string { return "walk" }

func (a adapter) Check(call agent.Assignment) error {
	if call.Role != "Manager" {
		return &agent.ConfigError{Text: "walk is a Manager, and cannot play " + call.Role, Fix: "write --agent Manager=walk, and another agent for the other roles"}
	}
	if err := call.Refuse("walk", "review", "max_turns", "max_cost", "mcp_config", "permission"); err != nil {
		return err
	}
	_, err := agent.LookPath(a.executable, call.Dir)
	return err
}

// Invoke tells the status of the task's reply, which is no part of a Manager's input.
func (a adapter) Invoke(call agent.Assignment) (agent.Invocation, error) {
	return call.Invocation([]string{a.executable, Command, "--status", call.Status}), nil
}

func (adapter) Reader(contract.Kind, agent.Host) agent.Reader { return agent.NewObjectReader() }

func (adapter) Tool() agent.Tool { return agent.Tool{Ignores: []string{"tools", "model"}, Free: true} }

// input is a Manager's: seed 004, "Input Specification (Supervisor → Agent)".
type input struct {
	KanbanFile string   `json:"kanban_file"`
	DoneTask   string   `json:"done_task"`
	Tasks      []string `json:"tasks"`
	Anomalies  []struct {
		Content struct {
			Anomaly string `json:"anomaly_type"`
			Details string `json:"details"`
		} `json:"content"`
	} `json:"anomalies"` // for which the task is not done
}

// reply is a Manager's: seed 004, "Output Specification (Agent → Supervisor)".
type reply struct {
	Status   string   `json:"status"`
	Message  string   `json:"message"`
	NextTask *string  `json:"next_task"`
	Tasks    []string `json:"tasks"`
}

// Main reads the input from stdin, marks the task on the board and prints the reply to stdout. It
// leaves current to the runner. It returns the exit status.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet(Command, flag.ContinueOnError)
	flags.SetOutput(stderr)
	status := flags.String("status", "", "the `status` of the task's reply")
	if flags.Parse(args) != nil {
		return 2
	}
	var in input
	err := json.NewDecoder(stdin).Decode(&in)
	if err == nil && in.KanbanFile == "" {
		err = errors.New("the input names no kanban_file")
	}
	var out reply
	if err == nil {
		out, err = decide(in, *status)
	}
	if err == nil {
		err = json.NewEncoder(stdout).Encode(out)
	}
	if err != nil {
		fmt.Fprintln(stderr, "walk:", err)
		return 1
	}
	return 0
}

// decide ends the board with the status of a task that is not ok, and walks on behind one that is.
func decide(in input, status string) (reply, error) {
	out := reply{Status: "ok", Tasks: in.Tasks}
	if out.Tasks == nil {
		out.Tasks = []string{}
	}
	if len(in.Anomalies) > 0 {
		found := in.Anomalies[0].Content
		switch found.Anomaly {
		case "loop_suspected":
			return goOn(in, out, in.DoneTask+" is in quarantine", false)
		case "checkpoint_block":
			out.Message = "walk cannot plan anew, and " + found.Details
		default:
			out.Message = fmt.Sprintf("%s is not done, and its plan does not hold: %s", in.DoneTask, found.Details)
		}
		out.Status = "blocked"
		return out, nil
	}
	if status == "" {
		out.Status = "blocked"
		out.Message = in.DoneTask + " is a task for the Manager itself, and walk only goes down the list: give the Manager an agent with a model, or the task another role"
		return out, nil
	}
	if status != "ok" {
		out.Status, out.Message = status, fmt.Sprintf("%s replied %s; its work log says why", in.DoneTask, status)
		return out, nil
	}
	return goOn(in, out, in.DoneTask+" is done", true)
}

// goOn names the next task, and marks the one before it as done if it is.
func goOn(in input, out reply, text string, done bool) (reply, error) {
	source, err := board.ReadFile(in.KanbanFile)
	if err != nil {
		return out, err
	}
	b, err := board.Parse(in.KanbanFile, source)
	if err != nil {
		return out, err
	}
	at := b.Finder()(in.DoneTask)
	if at >= 0 && done {
		if err := mark(b, at); err != nil {
			return out, err
		}
	}
	next, skipped, err := nextTask(b, at, in.DoneTask)
	if next != "" {
		out.NextTask = &next
	} else if err == nil {
		skipped, err = unreadable(b)
		if len(skipped) > 0 {
			out.Status = "blocked"
		}
	}
	out.Message = strings.Join(append([]string{text}, skipped...), "; ")
	return out, err
}

func mark(b *board.Board, i int) error {
	marked, err := b.MarkDone(i)
	if err != nil || bytes.Equal(marked, b.Source) {
		return err
	}
	return board.Save(b.File, marked)
}

// unreadable says which tasks of the list are not marked as done and cannot be
// read: no agent worked on them.
func unreadable(b *board.Board) (all []string, err error) {
	err = eachOpen(b, 0, func(_ *board.Task, path string, fault error) bool {
		if fault != nil {
			all = append(all, fmt.Sprintf("%s was not worked on: %v", path, fault))
		}
		return len(all) < 3
	})
	return all, err
}

// eachOpen reads the entries from a place on that are not marked as done, until each returns false.
func eachOpen(b *board.Board, from int, each func(t *board.Task, path string, fault error) bool) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	place, err := board.OpenPlace(dir, b.File)
	if err != nil {
		return err
	}
	defer place.Close()
	for i, p := range b.TaskPaths()[from:] {
		if b.Entry(from + i).Done() {
			continue
		}
		if task, err := place.ReadTask(p); !each(task, p, err) {
			return nil
		}
	}
	return nil
}

// nextTask is the first entry behind the done one that is marked as done neither on the list nor in
// its file; of a done task that is not listed, the first of all; "" behind the last. A file that
// cannot be read is skipped, in words.
func nextTask(b *board.Board, at int, done string) (next string, skipped []string, err error) {
	err = eachOpen(b, at+1, func(task *board.Task, path string, fault error) bool {
		if fault != nil {
			skipped = append(skipped, fmt.Sprintf("%s is skipped: %v", path, fault))
		} else if !task.Done() && task.Ref.Path != done {
			next = task.Ref.Path
		}
		return next == ""
	})
	return next, skipped, err
}
